package turnstone_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/turn"
)

// twoEngines opens two engines on one PostgreSQL, as two machines would.
func twoEngines(t *testing.T) []*turnstone.Engine {
	t.Helper()
	return twoLike(t, turnstone.Config{})
}

// twoLike is twoEngines with a configuration.
func twoLike(t *testing.T, config turnstone.Config) []*turnstone.Engine {
	t.Helper()
	url := pgstore.URL(t)
	engines := make([]*turnstone.Engine, 2)
	for i := range engines {
		st, err := postgres.Open(t.Context(), url, postgres.Config{})
		if err != nil {
			t.Fatal(err)
		}
		eng, err := turnstone.Open(t.Context(), st, config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := eng.Close(); err != nil {
				t.Error(err)
			}
		})
		engines[i] = eng
	}
	return engines
}

func TestTwoEnginesCommitToOneSession(t *testing.T) {
	engines := twoEngines(t)
	ctx := t.Context()
	if _, err := engines[0].Session(ctx, "talk"); err != nil {
		t.Fatal(err)
	}
	const each = 25
	title := "Count"
	var wg sync.WaitGroup
	for i, eng := range engines {
		wg.Go(func() {
			chat, err := eng.Session(ctx, "talk")
			if err != nil {
				t.Error(err)
				return
			}
			for n := range each {
				name := fmt.Sprintf("%d-%d", i, n)
				_, err := chat.Commit(ctx, commit.Exchange{
					Turns: []turn.Draft{
						{Role: turn.User, Content: turn.Text{Text: "q" + name}},
						{Role: turn.Agent, Content: turn.Text{Text: "a" + name}},
					},
					Candidates: []memory.Candidate{{Type: memory.UserData, Text: "f" + name, Source: memory.FromUser}},
					// Every commit adds a milestone: a lost update would lose one.
					Intentions: cortex.Changes{Goals: []cortex.GoalChange{{ID: "g", Title: &title, AddMilestones: []cortex.Milestone{{Description: "m" + name}}}}},
				})
				if err != nil {
					t.Errorf("commit %s: %v", name, err)
				}
			}
		})
	}
	wg.Wait()
	chat, err := engines[1].Find(ctx, "talk")
	if err != nil {
		t.Fatal(err)
	}
	state, err := chat.Intentions(ctx, true)
	if err != nil {
		t.Fatal(err)
	}
	goal, _ := state.Goal("g")
	if len(goal.Milestones) != 2*each || goal.Version != 2*each {
		t.Errorf("%d milestones, version %d, want %d of both", len(goal.Milestones), goal.Version, 2*each)
	}
	page, err := chat.Query(ctx, turn.Query{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	checkExchangesInOrder(t, page.Turns, each)
	items, err := chat.Remembered(ctx, memory.Search{Limit: 1000})
	if err != nil || len(items.Items) != 2*each {
		t.Errorf("%d items, %v", len(items.Items), err)
	}
	digest, err := chat.Digest(ctx)
	if err != nil || digest.ThroughSeq != int64(6*each-1) {
		t.Errorf("the digest goes to %d, %v", digest.ThroughSeq, err)
	}
	checkDeliveredInOrder(t, engines, page.Turns, 2*each)
}

// checkExchangesInOrder: input, reply and summary of an exchange stand together, and each engine's
// exchanges are in its order.
func checkExchangesInOrder(t *testing.T, turns []turn.Turn, each int) {
	t.Helper()
	if len(turns) != 6*each {
		t.Fatalf("%d turns, want %d", len(turns), 6*each)
	}
	next := [2]int{}
	for i := 0; i < len(turns); i += 3 {
		var engine, n int
		if _, err := fmt.Sscanf(turns[i].Content.Searchable(), "q%d-%d", &engine, &n); err != nil || n != next[engine] {
			t.Fatalf("turn %d is %q, %v", turns[i].Seq, turns[i].Content.Searchable(), err)
		}
		next[engine]++
		if want := fmt.Sprintf("a%d-%d", engine, n); turns[i+1].Content.Searchable() != want || turns[i+2].Kind != turn.KindSummary {
			t.Fatalf("turn %d is %q, want %q", turns[i+1].Seq, turns[i+1].Content.Searchable(), want)
		}
	}
}

// checkDeliveredInOrder: whichever relay publishes, a daemon gets the session's exports once, in order.
func checkDeliveredInOrder(t *testing.T, engines []*turnstone.Engine, turns []turn.Turn, count int) {
	t.Helper()
	got := make(chan string, 2*count)
	for _, eng := range engines {
		_, err := eng.Subscribe(t.Context(), "watcher", func(_ context.Context, m event.Message) (int, error) {
			got <- m.TurnID
			return 1, nil
		}, bus.Options{})
		if err != nil {
			t.Fatal(err)
		}
	}
	timeout := time.After(2 * time.Minute)
	for i := range count {
		select {
		case id := <-got:
			if want := turns[3*i].ID; id != want {
				t.Fatalf("delivery %d is of turn %s, want %s", i, id, want)
			}
		case <-timeout:
			t.Fatalf("%d of %d were delivered", i, count)
		}
	}
	select {
	case id := <-got:
		t.Errorf("turn %s was delivered twice", id)
	case <-time.After(200 * time.Millisecond):
	}
}

func TestTheLoserOfALockedDecisionIsTold(t *testing.T) {
	engines := twoEngines(t)
	ctx := t.Context()
	var chats []*turnstone.Session
	for _, eng := range engines {
		chat, err := eng.Session(ctx, "talk")
		if err != nil {
			t.Fatal(err)
		}
		chats = append(chats, chat)
	}
	title := "Choose"
	if _, err := chats[0].Intend(ctx, cortex.Changes{Goals: []cortex.GoalChange{{ID: "g", Title: &title, AddDecisions: []cortex.Decision{{Description: "database"}}}}}); err != nil {
		t.Fatal(err)
	}
	// Both decide on the same version of the goal, and both lock what they decided.
	results := make([]commit.Result, 2)
	var wg sync.WaitGroup
	for i, chat := range chats {
		wg.Go(func() {
			why := fmt.Sprint("engine ", i)
			locked := true
			res, err := chat.Commit(ctx, commit.Exchange{
				Turns:      []turn.Draft{{Role: turn.User, Content: turn.Text{Text: "decide"}}, {Role: turn.Agent, Content: turn.Text{Text: "done"}}},
				Intentions: cortex.Changes{Goals: []cortex.GoalChange{{ID: "g", Version: 1, SetDecisions: []cortex.DecisionChange{{Description: "database", Rationale: &why, Locked: &locked}}}}},
			})
			if err != nil {
				t.Error(err)
			}
			results[i] = res
		})
	}
	wg.Wait()
	told := 0
	for _, res := range results {
		if len(res.Refused) == 1 && res.Refused[0].What == "goal g" && strings.Contains(res.Refused[0].Reason, "version") && res.Status == commit.CompleteWithErrors {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%d were told: %+v", told, results)
	}
	// Read again and decided anew, it is locked and stays so.
	other := "another"
	_, err := chats[1].Intend(ctx, cortex.Changes{Goals: []cortex.GoalChange{{ID: "g", SetDecisions: []cortex.DecisionChange{{Description: "database", Rationale: &other}}}}})
	var refused *turnstone.RefusedError
	if !errors.As(err, &refused) || !slices.ContainsFunc(refused.Reasons, func(r string) bool { return strings.Contains(r, "locked") }) {
		t.Errorf("changing what is locked: %v", err)
	}
}

func TestACommitThroughALeaseThatWasLostIsRefused(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	chat := session(t, eng, "talk")
	lease, err := chat.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ex := said("hello", "hi")
	ex.ExportID = "01JH5T8Q3VXK6Z0M4N7P9R2S1W"
	if res, err := lease.Commit(t.Context(), ex); err != nil || res.Status != commit.Complete {
		t.Fatalf("%+v, %v", res, err)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := lease.Commit(t.Context(), said("more", "no")); !errors.Is(err, turn.ErrLeaseLost) {
		t.Errorf("without the lease: %v", err)
	}
	// What is committed already is no write.
	if res, err := lease.Commit(t.Context(), ex); err != nil || !res.Repeated {
		t.Errorf("again: %+v, %v", res, err)
	}
}

// Sessions that rest are ended by one of the engines that look for them, which announces it once.
func TestTwoEnginesEndIdleSessions(t *testing.T) {
	engines := twoLike(t, turnstone.Config{IdleAfter: time.Nanosecond})
	var want []string
	for i := range 8 {
		s := session(t, engines[i%2], fmt.Sprintf("s%d", i))
		say(t, s, turn.User, "hello")
		want = append(want, s.ID())
	}
	var ended [2][]string
	var wg sync.WaitGroup
	for i, eng := range engines {
		wg.Go(func() {
			var err error
			if ended[i], err = eng.EndIdle(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	// What one of them found the other at work on is left to the next time.
	last, err := engines[0].EndIdle(t.Context())
	if err != nil {
		t.Error(err)
	}
	all := slices.Sorted(slices.Values(slices.Concat(ended[0], ended[1], last)))
	if !slices.Equal(all, want) {
		t.Errorf("ended %v and %v, then %v", ended[0], ended[1], last)
	}
	for _, id := range want {
		if got := eventsOf(t, engines[1], session(t, engines[1], id), event.SessionEnded); len(got) != 1 {
			t.Errorf("%s: announced %+v", id, got)
		}
	}
}
