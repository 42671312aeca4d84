package turnstone_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestChangesThatShareATransactionSeeEachOther: SQLite folds updates that wait into one transaction, so that
// a commit may follow a change of the same goal or note that is not durable yet.
func TestChangesThatShareATransactionSeeEachOther(t *testing.T) {
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "log.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	eng := open(t, st, turnstone.Config{})
	chat := session(t, eng, "talk")
	title, kind, content := "Goal", "alert", "noticed"
	begin := commit.Exchange{
		Turns:      []turn.Draft{{Role: turn.User, Content: turn.Text{Text: "begin"}}, {Role: turn.Agent, Content: turn.Text{Text: "ok"}}},
		Intentions: cortex.Changes{Goals: []cortex.GoalChange{{ID: "g", Title: &title}}},
		Scratch:    scratch.Changes{Put: []scratch.Change{{ID: "o", Type: &kind, Content: &content}}},
	}
	if _, err := chat.Commit(t.Context(), begin); err != nil {
		t.Fatal(err)
	}
	const rounds = 20
	for n := range rounds {
		var wg sync.WaitGroup
		release, blocked := make(chan struct{}), make(chan struct{})
		wg.Go(func() {
			err := st.Update(t.Context(), func(store.Tx) error {
				close(blocked)
				<-release
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		<-blocked
		tags, source := []string{fmt.Sprint("round", n)}, fmt.Sprint("source", n)
		wg.Go(func() {
			if _, err := chat.Note(t.Context(), scratch.Changes{Put: []scratch.Change{{ID: "o", Tags: &tags}}}); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if _, err := chat.Intend(t.Context(), cortex.Changes{Goals: []cortex.GoalChange{{ID: "g", AddMilestones: []cortex.Milestone{{Description: fmt.Sprint("m", n)}}}}}); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			res, err := chat.Commit(t.Context(), commit.Exchange{
				Turns:      []turn.Draft{{Role: turn.User, Content: turn.Text{Text: "q"}}, {Role: turn.Agent, Content: turn.Text{Text: "a"}}},
				Intentions: cortex.Changes{Goals: []cortex.GoalChange{{ID: "g", AddMilestones: []cortex.Milestone{{Description: fmt.Sprint("c", n)}}}}},
				Scratch:    scratch.Changes{Put: []scratch.Change{{ID: "o", Source: &source}}},
			})
			if err != nil || res.Status != commit.Complete {
				t.Errorf("commit: %+v, %v", res, err)
			}
		})
		close(release)
		wg.Wait()
		page, err := chat.Notes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		o, _ := page.Observation("o")
		if len(o.Tags) != 1 || o.Tags[0] != tags[0] || o.Source != source {
			t.Fatalf("round %d: the note is %+v", n, o)
		}
	}
	state, err := chat.Intentions(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if goal, _ := state.Goal("g"); len(goal.Milestones) != 2*rounds {
		t.Errorf("%d milestones, want %d", len(goal.Milestones), 2*rounds)
	}
}
