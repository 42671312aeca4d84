package commit_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/scratch"
)

// unstorable are changes that no payload can hold, by the field that is wrong.
var unstorable = map[string]func(*commit.Exchange){
	"progress": func(ex *commit.Exchange) {
		ex.Intentions.Goals = append(ex.Intentions.Goals, cortex.GoalChange{Title: ptr("Bad"), Progress: ptr(math.NaN())})
	},
	"title": func(ex *commit.Exchange) {
		ex.Intentions.Goals = append(ex.Intentions.Goals, cortex.GoalChange{Title: ptr("Bad\xff")})
	},
	"id": func(ex *commit.Exchange) {
		ex.Intentions.Goals = append(ex.Intentions.Goals, cortex.GoalChange{ID: "x\xff", Title: ptr("Bad")})
	},
	"parent": func(ex *commit.Exchange) {
		ex.Intentions.Goals = append(ex.Intentions.Goals, cortex.GoalChange{Title: ptr("Bad"), Parent: ptr("x\xff")})
	},
	"due_at": func(ex *commit.Exchange) {
		late := time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)
		ex.Intentions.Actions = append(ex.Intentions.Actions, cortex.ActionChange{Title: ptr("Bad"), DueAt: &late})
	},
	"confidence": func(ex *commit.Exchange) {
		ex.Scratch.Put = append(ex.Scratch.Put, scratch.Change{Type: ptr("x"), Content: ptr("bad"), Confidence: ptr(math.Inf(1))})
	},
	"content": func(ex *commit.Exchange) {
		ex.Scratch.Put = append(ex.Scratch.Put, scratch.Change{Type: ptr("x"), Content: ptr("bad\xff")})
	},
	"archive": func(ex *commit.Exchange) { ex.Scratch.Archive = []string{"bad\xff"} },
	"clear":   func(ex *commit.Exchange) { ex.Scratch.Clear = []string{"bad\xff"} },
}

// What can never be legal is refused by itself, also where the target is put off: what stands beside it is written later.
func TestWhatIsRefusedDoesNotSpoilWhatIsPutOff(t *testing.T) {
	onStoresOfParts(t, func(t *testing.T, open func(*testing.T, commit.Config) *world) {
		for field, add := range unstorable {
			t.Run(field, func(t *testing.T) {
				w := open(t, commit.Config{Retries: []time.Duration{time.Hour}})
				faults := faulty.New(w.store)
				w.withStore(faults)
				faults.Set(func(at string) error {
					if at == "InsertVersion" || at == "PutObservation" {
						return errPlanted
					}
					return nil
				})
				ex := everything(1)
				add(&ex)
				res := w.commit(ex)
				faults.Set(nil)
				if len(res.Deferred) != 2 || len(res.Refused) != 1 || !strings.HasPrefix(res.Refused[0].Reason, field+": ") {
					t.Errorf("put off %v, refused %+v", res.Deferred, res.Refused)
				}
				if told := w.export(res.ExportID).Metadata.Warnings; !slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, ": "+field+": ") }) {
					t.Errorf("the export warns of %q", told)
				}
				w.settleAll()
				if w.there(1) != allTargets {
					t.Error("something is lost that is legal")
				}
				if status := w.export(res.ExportID).Status; status != commit.CompleteWithErrors {
					t.Errorf("in the end it is %s", status)
				}
			})
		}
	})
}

// It is refused by itself where nothing is put off, too: some stores cannot even be asked whether there is something of such an id.
func TestWhatIsRefusedDoesNotSpoilWhatIsWritten(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		ex := everything(1)
		for _, id := range []string{"x\xff", "x\x00"} {
			ex.Intentions.Goals = append(ex.Intentions.Goals, cortex.GoalChange{ID: id, Title: ptr("Bad")}, cortex.GoalChange{Title: ptr("Bad"), Parent: &id})
			ex.Intentions.Actions = append(ex.Intentions.Actions, cortex.ActionChange{ID: id, Title: ptr("bad")})
			ex.Scratch.Put = append(ex.Scratch.Put, scratch.Change{ID: id, Type: ptr("x"), Content: ptr("bad")})
		}
		if res := w.commit(ex); len(res.Refused) != 8 || len(res.Deferred) != 0 || w.there(1) != allTargets {
			t.Errorf("put off %v, refused %+v", res.Deferred, res.Refused)
		}
	})
}

// What has nothing that is legal is refused, and not put off.
func TestNothingIsPutOffOfWhatIsRefusedWhole(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{time.Hour}})
	faults := faulty.New(w.store)
	w.withStore(faults)
	faults.Set(failAt("InsertVersion"))
	w.commit(everything(1))
	faults.Set(nil)
	ex := talk("q2", "a2")
	unstorable["title"](&ex)
	if res := w.commit(ex); len(res.Deferred) != 0 || len(res.Refused) != 1 || len(w.deferrals()) != 1 {
		t.Errorf("put off %v, refused %+v", res.Deferred, res.Refused)
	}
}
