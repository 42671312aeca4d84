package turnstone_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// small is what the conversations of these tests are held in.
var small = turnstone.PromptOptions{Model: "gpt-4o", Context: 8192}

// converse appends an exchange of about 500 tokens that is like no other.
func converse(t *testing.T, s *turnstone.Session, n int) {
	t.Helper()
	say(t, s, turn.User, fmt.Sprintf("Question %d: what became of order A-%d?", n, 1000+n))
	say(t, s, turn.Agent, fmt.Sprintf("Order A-%d went out on day %d. ", 1000+n, n)+
		strings.Repeat(fmt.Sprintf("The %s of parcel %d was checked by hand before it left the yard. ", []string{"label", "weight", "seal", "address"}[n%4], n), 28))
}

// textOf is everything that a prompt says.
func textOf(p *prompt.Prompt) string {
	var b strings.Builder
	for _, m := range p.Messages {
		for _, part := range m.Parts {
			b.WriteString(part.Text + "\n")
		}
	}
	return b.String()
}

// legal fails if a prompt does not fit, or lost something that the user said in one of so many exchanges.
func legal(t *testing.T, p *prompt.Prompt, exchanges int) {
	t.Helper()
	if free := p.Account.Free(); free < 0 || p.Count.Upper() > p.Window.Usable-p.Window.Reserve {
		t.Fatalf("the prompt does not fit: %+v", p.Account)
	}
	for _, line := range p.Account.Lines {
		if line.Part == budget.Checkpoints && line.Count.Upper() > p.Window.Usable*30/100 {
			t.Fatalf("the checkpoints take %d of %d tokens", line.Count.Upper(), p.Window.Usable)
		}
	}
	said := make(map[string]bool)
	shown := make(map[int64]bool)
	for _, m := range p.Messages {
		for _, seq := range m.Seqs {
			if shown[seq] {
				t.Fatalf("turn %d is shown twice", seq)
			}
			shown[seq] = true
		}
		if m.Role == prompt.User {
			said[m.Parts[0].Text] = true
		}
	}
	named := int64(0)
	for _, h := range p.Paged {
		named += h.Messages
	}
	missing := int64(0)
	for n := range exchanges {
		if !said[fmt.Sprintf("Question %d: what became of order A-%d?", n, 1000+n)] {
			missing++
		}
	}
	if missing != named {
		t.Fatalf("%d messages of the user are not shown, %d are named: %+v", missing, named, p.Paged)
	}
}

// TestTortureTwoHundredPassesInOneConversation: whatever leaves, the window never overflows, the checkpoints stay within
// their share, and the active goal is there with everything that was locked.
func TestTortureTwoHundredPassesInOneConversation(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{Prompt: prompt.Settings{System: "You look after orders."}})
	s := session(t, eng, "s")
	title := "Ship the autumn orders"
	decide := func(n int) string {
		text := fmt.Sprintf("decision %d: parcels above %d kg go by rail", n, 20+n)
		_, err := s.Intend(t.Context(), cortex.Changes{Goals: []cortex.GoalChange{{
			ID: "g", Title: &title, AddDecisions: []cortex.Decision{{Description: text, Locked: true}},
			AddMilestones: []cortex.Milestone{{Description: fmt.Sprintf("milestone %d", n), Status: cortex.MilestoneCompleted}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	must := []string{title, decide(0), "[x] milestone 0"}
	passes, most := int64(0), 200
	if testing.Short() {
		most = 20
	}
	for n := 0; passes < int64(most); n++ {
		if n%150 == 149 && len(must) < 24 {
			must = append(must, decide(n), fmt.Sprintf("[x] milestone %d", n))
		}
		converse(t, s, n)
		p := compiled(t, s, small)
		legal(t, p, n+1)
		text := textOf(p)
		for _, m := range must {
			if !strings.Contains(text, m) {
				t.Fatalf("exchange %d, pass %d: %q is not in the prompt", n, p.Passes, m)
			}
		}
		passes = p.Passes
	}
	list, err := s.Checkpoints(t.Context())
	if err != nil || len(list) == 0 || list[0].CompressionCount < int64(most)-10 {
		t.Errorf("%d checkpoints, %v: %+v", len(list), err, list)
	}
}

// agentFacts are what the agent finds out early and what is asked for much later.
var agentFacts = []struct{ text, literal string }{
	{"The staging server answers on port 8471.", "8471"},
	{"The customer's contract number is KX-20931.", "KX-20931"},
	{"The nightly backup goes to s3://acme-backups/nightly.", "s3://acme-backups/nightly"},
	{"The failing test is in pkg/ledger/rounding_test.go.", "pkg/ledger/rounding_test.go"},
	{"Maria from accounting signs off every invoice above $12,500.", "$12,500"},
	{"The certificate expires on 2027-03-14.", "2027-03-14"},
	{"The old importer needs the flag --legacy-dates.", "--legacy-dates"},
	{"The queue drops messages when maxInflight is too low.", "maxInflight"},
}

// TestTortureFactsLiveThroughAging states facts early and goes on until the checkpoint that covers them is ultra: nearly
// all of them are in the prompt or reached by a handle in it.
func TestTortureFactsLiveThroughAging(t *testing.T) {
	held, all := 0, 0
	for _, context := range []int{8192, 16384, 32768} {
		eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
		s := session(t, eng, "s")
		o := turnstone.PromptOptions{Model: "gpt-4o", Context: context}
		seqs := make([]int64, len(agentFacts))
		for i, f := range agentFacts {
			say(t, s, turn.User, "Go on.")
			seqs[i] = say(t, s, turn.Agent, f.text+" That took a while to find out, as nobody had written it down.").Seq
		}
		var p *prompt.Prompt
		for n, ultra := 0, false; !ultra; n++ {
			if n == 48*40 {
				t.Fatalf("context %d: after %d exchanges and %d passes it is not ultra", context, n, p.Passes)
			}
			converse(t, s, n)
			p = compiled(t, s, o)
			if n%48 != 47 {
				continue
			}
			list, err := s.Checkpoints(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ultra = len(list) > 0 && list[0].Level == compress.Ultra && list[0].Range.From == 1
		}
		text := textOf(p)
		list, err := s.Checkpoints(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var handles []turn.Range
		for i := range list {
			handles = append(handles, compress.Handles(list[i].Summary, list[i].Range)...)
		}
		for i, f := range agentFacts {
			all++
			reached := slices.ContainsFunc(handles, func(r turn.Range) bool { return seqs[i] >= r.From && seqs[i] <= r.To })
			if strings.Contains(text, f.literal) || reached {
				held++
			} else {
				t.Logf("context %d: after %d passes %q is neither held nor reached", context, p.Passes, f.text)
			}
		}
	}
	t.Logf("%d of %d facts", held, all)
	if held*100 < 95*all {
		t.Errorf("%d of %d facts are held or reached by a handle, want 95 %%", held, all)
	}
}
