package turnstone_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/recall"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

func recalled(t *testing.T, s *turnstone.Session, query string, o turnstone.RecallOptions) []recall.Hit {
	t.Helper()
	hits, err := s.Recall(t.Context(), query, o)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

func cited(hits []recall.Hit) []string {
	list := []string{}
	for _, h := range hits {
		list = append(list, h.Citation)
	}
	return list
}

func TestRecall(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		s, err := eng.Create(t.Context(), turn.SessionInfo{Key: turn.Key{Session: "s"}, User: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		say(t, s, turn.User, "The heron stands at the gate.")
		say(t, s, turn.Agent, "I see.")
		if _, err := eng.Create(t.Context(), turn.SessionInfo{Key: turn.Key{Session: "other"}, User: "bob"}); err != nil {
			t.Fatal(err)
		}
		say(t, session(t, eng, "other"), turn.User, "No heron here.")
		for scope, want := range map[recall.Scope][]string{
			"": {"[turn 1]", "[turn 2]"}, recall.OfUser: {"[turn 1]", "[turn 2]"},
			recall.OfTenant: {"[turn 1 of session other]", "[turn 1]", "[turn 2]"},
		} {
			if diff := cmp.Diff(want, cited(recalled(t, s, "heron", turnstone.RecallOptions{Scope: scope}))); diff != "" {
				t.Errorf("%q: %s", scope, diff)
			}
		}
		if got := recalled(t, s, "heron", turnstone.RecallOptions{Exclude: []turn.Range{{From: 1, To: 1}}}); len(got) != 1 {
			t.Errorf("excluded: %v", cited(got))
		}
		if _, err := eng.Recall(t.Context(), "", "heron", turnstone.RecallOptions{Exclude: []turn.Range{{From: 1, To: 1}}}); err == nil || !strings.HasPrefix(err.Error(), "exclude: ") {
			t.Error(err)
		}
		tenant, err := eng.ForTenant("acme")
		if err != nil {
			t.Fatal(err)
		}
		if got := recalled(t, session(t, tenant, "s"), "heron", turnstone.RecallOptions{Scope: recall.OfTenant}); len(got) > 0 {
			t.Errorf("of another tenant: %v", cited(got))
		}
	})
}

func TestRecallKeepsWithinLimitAndTokens(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s := session(t, eng, "s")
	for i := range 60 {
		say(t, s, turn.User, fmt.Sprintf("heron number %d", i))
	}
	for limit, want := range map[int]int{0: 10, 3: 3, 30: 30} {
		if got := recalled(t, s, "heron", turnstone.RecallOptions{Limit: limit}); len(got) != want {
			t.Errorf("limit %d: %d hits", limit, len(got))
		}
	}
	sum := 0
	hits := recalled(t, s, "heron", turnstone.RecallOptions{Tokens: 150})
	for _, h := range hits {
		sum += h.Tokens
	}
	if len(hits) < 2 || sum == 0 || sum > 150 {
		t.Errorf("%d hits, %d tokens", len(hits), sum)
	}
	for i, h := range recalled(t, s, "heron", turnstone.RecallOptions{Count: true}) {
		if h.Tokens == 0 || h.Clipped || i < len(hits) && h.Tokens != hits[i].Tokens {
			t.Errorf("%s has %d tokens", h.Citation, h.Tokens)
		}
	}
}

func TestRecallOptionsAreChecked(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s := session(t, eng, "s")
	for field, o := range map[string]turnstone.RecallOptions{
		"limit": {Limit: 101}, "tokens": {Tokens: -1}, "scope": {Scope: recall.OfUser},
	} {
		var refused *recall.FieldError
		if _, err := s.Recall(t.Context(), "heron", o); !errors.As(err, &refused) || refused.Name != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := s.Recall(t.Context(), "heron", turnstone.RecallOptions{Limit: -1}); err == nil {
		t.Error("a negative limit was taken")
	}
}

// TestRecallLeavesOutWhatThePromptShows goes on until turns have left the prompt: those are found, those that
// it still shows are not.
func TestRecallLeavesOutWhatThePromptShows(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{Context: 4096})
	s := session(t, eng, "s")
	unseen := turnstone.RecallOptions{Unseen: true, Limit: 100}
	say(t, s, turn.Agent, "A heron stands at the gate.")
	if got := recalled(t, s, "heron", unseen); len(got) > 0 {
		t.Errorf("before the first prompt: %v", cited(got))
	}
	for i := range 240 {
		say(t, s, turn.User, fmt.Sprintf("Question %d?", i))
		say(t, s, turn.Agent, fmt.Sprintf("Answer %d, and some more words to fill the window.", i))
	}
	compiled(t, s, turnstone.PromptOptions{})
	epoch, err := s.Epoch(t.Context(), turnstone.Head)
	if err != nil || epoch.From < 2 {
		t.Fatalf("%+v, %v", epoch, err)
	}
	if got := recalled(t, s, "where was the heron", unseen); len(got) == 0 || got[0].Citation != "[turn 1]" {
		t.Errorf("%v", cited(got))
	}
	for _, h := range recalled(t, s, "answer question", unseen) {
		if last := h.Turns[len(h.Turns)-1].Seq; last >= epoch.From {
			t.Errorf("turn %d is shown from %d on", last, epoch.From)
		}
	}
	// It enters the prompt at its end, marked, and nothing else of the prompt changes.
	before := compiled(t, s, turnstone.PromptOptions{Preview: true})
	hits := recalled(t, s, "where was the heron", turnstone.RecallOptions{Unseen: true, Limit: 1})
	after := compiled(t, s, turnstone.PromptOptions{Preview: true, Late: recall.Late(hits)})
	if was, is := lines(before), lines(after); strings.Contains(was, "Recalled from") || !strings.Contains(is, "[Recalled from turn 1, said by the agent on ") {
		t.Errorf("%s\n\n%s", was, is)
	}
}

// TestRecallFollowsThePath goes back to a snapshot: what came after it is found only with All.
func TestRecallFollowsThePath(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s := session(t, eng, "s")
	say(t, s, turn.User, "A heron.")
	snap(t, s, "before")
	list, err := s.Snapshots(t.Context(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	say(t, s, turn.User, "Another heron.")
	if _, err := s.Restore(t.Context(), list[0].ID, turnstone.PromptOptions{}); err != nil {
		t.Fatal(err)
	}
	say(t, s, turn.User, "A third heron.")
	if got := cited(recalled(t, s, "heron", turnstone.RecallOptions{})); len(got) != 2 || slices.Contains(got, "[turn 2]") {
		t.Errorf("%v", got)
	}
	if got := cited(recalled(t, s, "heron", turnstone.RecallOptions{All: true})); !slices.Contains(got, "[turn 2]") {
		t.Errorf("all: %v", got)
	}
}

// TestRecalledTextIsNeverRemembered shows recalled text to the model and commits the exchange: neither the log
// nor memory has it afterwards.
func TestRecalledTextIsNeverRemembered(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s := session(t, eng, "s")
	say(t, s, turn.User, "A heron stands at the gate.")
	hits := recalled(t, s, "heron", turnstone.RecallOptions{})
	asked := say(t, s, turn.User, "Where was it?")
	compiled(t, s, turnstone.PromptOptions{Late: recall.Late(hits)})
	_, err := s.Commit(t.Context(), commit.Exchange{
		Opened: asked.ID, Turns: []turn.Draft{{Role: turn.Agent, Content: turn.Text{Text: "At the gate."}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"recalled", "information"} {
		if page, err := s.Query(t.Context(), turn.Query{Text: query}); err != nil || len(page.Turns) > 0 {
			t.Errorf("in the log: %s, %v", texts(page.Turns), err)
		}
		if page, err := eng.Remembered(t.Context(), memory.Search{Text: query}); err != nil || len(page.Items) > 0 {
			t.Errorf("in memory: %v, %v", page.Items, err)
		}
	}
}

// backwards is a model to which the last text means the most.
type backwards struct{ err error }

func (b backwards) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i := range vectors {
		vectors[i] = []float32{1, float32(len(texts) - i)}
	}
	vectors[0] = []float32{1, 0}
	return vectors, b.err
}

func TestRecallAsksTheEmbedder(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s := session(t, eng, "s")
	for range 3 {
		say(t, s, turn.User, "A heron.")
	}
	plain := recalled(t, s, "heron", turnstone.RecallOptions{})
	fused := recalled(t, s, "heron", turnstone.RecallOptions{Embedder: backwards{}})
	if len(fused) != 3 || fused[0].Score == plain[0].Score {
		t.Errorf("%v", cited(fused))
	}
	broken := errors.New("broken")
	byWords, err := s.Recall(t.Context(), "heron", turnstone.RecallOptions{Embedder: backwards{broken}})
	if !errors.Is(err, recall.ErrEmbedder) || !errors.Is(err, broken) || !slices.Equal(cited(byWords), cited(plain)) {
		t.Errorf("%v, %v", cited(byWords), err)
	}
	gone, cancel := context.WithCancel(t.Context())
	leaving := embedding(func([]string) ([][]float32, error) { cancel(); return nil, broken })
	if hits, err := s.Recall(gone, "heron", turnstone.RecallOptions{Embedder: leaving}); !errors.Is(err, context.Canceled) || hits != nil {
		t.Errorf("%v, %v", cited(hits), err)
	}
}

// TestWhatWasForgottenIsNoHit: it stands among turns that answer, and would be an empty hit for that.
func TestWhatWasForgottenIsNoHit(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		s := session(t, open(t, st, turnstone.Config{}), "s")
		say(t, s, turn.User, "Which port does billing use?")
		say(t, s, turn.Agent, "Billing uses port 8443.")
		say(t, s, turn.User, "My password is swordfish.")
		say(t, s, turn.User, "And the port of shipping?")
		for _, all := range []bool{false, true} {
			o := turnstone.RecallOptions{All: all}
			if before := cited(recalled(t, s, "port", o)); !slices.Contains(before, "[turn 3]") {
				t.Fatalf("turn 3 stands among the others: %v", before)
			}
		}
		if _, err := s.Forget(t.Context(), turnstone.Target{Seqs: []int64{3}}); err != nil {
			t.Fatal(err)
		}
		for _, all := range []bool{false, true} {
			got := cited(recalled(t, s, "port", turnstone.RecallOptions{All: all}))
			slices.Sort(got)
			if diff := cmp.Diff([]string{"[turn 1]", "[turn 2]", "[turn 4]"}, got); diff != "" {
				t.Errorf("all %v: (-want +got)\n%s", all, diff)
			}
		}
	})
}

// TestRecallLeavesOutWhatStaysInThePrompt has the user's words stay when the answer leaves the prompt: they find it, and
// are not found.
func TestRecallLeavesOutWhatStaysInThePrompt(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{Context: 4096})
	s := session(t, eng, "s")
	say(t, s, turn.User, "Where does the heron stand?")
	say(t, s, turn.Agent, "At the gate.")
	for i := range 30 {
		say(t, s, turn.User, fmt.Sprintf("Question %d?", i))
		say(t, s, turn.Agent, fmt.Sprintf("Answer %d. ", i)+strings.Repeat("Some more words to fill the window. ", 20))
	}
	compiled(t, s, turnstone.PromptOptions{})
	epoch, err := s.Epoch(t.Context(), turnstone.Head)
	if err != nil || epoch.From < 3 || len(epoch.Kept) == 0 || epoch.Kept[0].From != 1 {
		t.Fatalf("%+v, %v", epoch, err)
	}
	if got := cited(recalled(t, s, "my heron", turnstone.RecallOptions{})); got[0] != "[turn 1]" {
		t.Errorf("%v", got)
	}
	if got := cited(recalled(t, s, "my heron", turnstone.RecallOptions{Unseen: true})); got[0] != "[turn 2]" || slices.Contains(got, "[turn 1]") {
		t.Errorf("%v", got)
	}
}
