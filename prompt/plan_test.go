package prompt_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func (w *world) tryPlan() (planned *prompt.Planned, err error) {
	err = w.view(func(tx store.Tx, info turn.SessionInfo) (err error) {
		r := w.request
		r.Session = info
		planned, err = prompt.Plan(w.Context(), w.rows(tx), r)
		return err
	})
	return planned, err
}

func (w *world) plan() *prompt.Planned {
	w.Helper()
	planned, err := w.tryPlan()
	if err != nil {
		w.Fatal(err)
	}
	return planned
}

// drafted plans a pass and makes its summaries.
func (w *world) drafted() *prompt.Draft {
	w.Helper()
	planned := w.plan()
	if planned == nil {
		w.Fatal("there is nothing to plan")
	}
	out, err := extractive(w.Context(), planned.Job)
	if err != nil {
		w.Fatal(err)
	}
	return planned.Draft(out)
}

// fill lets the agent work until the conversation takes so much of its room.
func (w *world) fill(from int, share float64) {
	w.Helper()
	for i := from; i < from+400; i++ {
		w.append(work(i, 1)...)
		w.compile()
		if c, err := w.try(w.earlier); err != nil {
			w.Fatal(err)
		} else if c.Fill >= share {
			return
		}
	}
	w.Fatal("it is never full")
}

// using gives the requests a draft.
func (w *world) using(d *prompt.Draft) {
	w.request.Draft = func(int64) *prompt.Draft { return d }
}

func TestADraftIsAdoptedWhenItsTimeComes(t *testing.T) {
	w := summarised(newWorld(t, 8192))
	w.append(user("begin"))
	w.lives(1, nil)
	w.fill(500, 0.60)
	at := w.epoch()
	d := w.drafted()
	if d.Epoch != at.Number || d.From <= at.From || d.From > w.last.End || len(d.Outcome.Made) == 0 {
		t.Fatalf("%+v", d)
	}
	w.using(d)
	w.append(user("in between"))
	w.pin(at.From + 1)
	if p := w.compile(); p.Opened != "" {
		t.Fatalf("it was adopted too soon: %q", p.Opened)
	}
	p := w.goOn(700)
	if p.Opened != prompt.ReasonFull || p.From != d.From || len(w.passes) != 1 || !w.passes[0].Drafted || p.Passes != 2 {
		t.Errorf("opened %q, from %d, %+v", p.Opened, p.From, w.passes)
	}
	if diff := cmp.Diff(d.Outcome.Made, w.passes[0].Made); diff != "" {
		t.Error(diff)
	}
	if !slices.ContainsFunc(w.epoch().Kept, func(k prompt.Kept) bool { return k.Why == prompt.Pinned && k.From <= at.From+1 && at.From+1 <= k.To }) {
		t.Errorf("the pin is missing: %v", w.epoch().Kept)
	}
	w.accounted(p)
	w.laidOut(p)
	// It is for that epoch alone.
	if p := w.goOn(900); p.From == d.From || w.passes[0].Drafted {
		t.Errorf("%+v", w.passes)
	}
}

// TestADraftLeavesAsMuchAsAPassWould compares a draft made early with a pass made late.
func TestADraftLeavesAsMuchAsAPassWould(t *testing.T) {
	sizes := map[bool]int64{}
	for _, ahead := range []bool{false, true} {
		w := summarised(newWorld(t, 8192))
		w.append(user("begin"))
		w.fill(0, 0.60)
		if ahead {
			w.using(w.drafted())
		}
		p := w.goOn(500)
		sizes[ahead] = p.Shown
	}
	if d := sizes[true] - sizes[false]; d < -6 || d > 6 {
		t.Errorf("%d turns are left of a draft, %d of a pass", sizes[true], sizes[false])
	}
}

func TestDraftsThatAreNotUsed(t *testing.T) {
	w := summarised(newWorld(t, 8192))
	w.append(user("begin"))
	w.fill(0, 0.60)
	good := w.drafted()
	for name, edit := range map[string]func(*prompt.Draft){
		"another epoch":   func(d *prompt.Draft) { d.Epoch++ },
		"nothing leaves":  func(d *prompt.Draft) { d.From = 1 },
		"beyond the end":  func(d *prompt.Draft) { d.From = 10_000 },
		"no gain from it": func(d *prompt.Draft) { d.From = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			d := *good
			edit(&d)
			w.using(&d)
			w.request.Force = true
			c, err := w.try(nil)
			w.request.Force = false
			if err != nil || len(c.Passes) != 1 || c.Passes[0].Drafted {
				t.Errorf("%+v, %v", c.Passes, err)
			}
		})
	}
	t.Run("another goal", func(t *testing.T) {
		w.using(good)
		w.request.Goal, w.request.Force = fullGoal(), true
		c, err := w.try(nil)
		if err != nil || len(c.Passes) != 1 || c.Passes[0].Drafted {
			t.Errorf("%+v, %v", c.Passes, err)
		}
	})
}

// TestAPassIsHeldOffForADraft waits for a draft as long as the prompt fits, and no longer.
func TestAPassIsHeldOffForADraft(t *testing.T) {
	w := summarised(newWorld(t, 8192))
	w.request.Wait = true
	w.append(user("begin"))
	w.fill(0, 0.85)
	if w.last.Passes != 0 {
		t.Fatal("it did not wait")
	}
	c, err := w.try(nil)
	if err != nil || c.Opened != nil {
		t.Fatal(err)
	}
	d := w.drafted()
	w.using(d)
	if c, err := w.try(nil); err != nil || len(c.Passes) != 1 || !c.Passes[0].Drafted {
		t.Errorf("the draft was ready: %+v, %v", c.Passes, err)
	}
	w.request.Draft = nil
	w.request.Late = []string{words(100)}
	p := w.goOn(500)
	if w.passes[0].Drafted || p.Passes != 1 || w.made[len(w.made)-2].prompt.Account.Free() > 250 {
		t.Errorf("%+v, %d were free", w.passes, w.made[len(w.made)-2].prompt.Account.Free())
	}
}

func TestThereIsNothingToPlan(t *testing.T) {
	w := summarised(newWorld(t, 4096))
	w.append(user("begin"))
	if w.plan() != nil {
		t.Error("there is no epoch yet")
	}
	w.compile()
	if w.plan() != nil {
		t.Error("nothing can leave")
	}
	w.fill(0, 0.60)
	if w.plan() == nil {
		t.Error("there is something to plan")
	}
	w.request.Goal = fullGoal()
	if w.plan() != nil {
		t.Error("another epoch must be opened first")
	}
	w.request.Goal = nil
	w.append(work(500, 1200)...)
	if w.plan() != nil {
		t.Error("not everything could be read")
	}
}

func TestAPlanForNow(t *testing.T) {
	w := summarised(newWorld(t, 8192))
	w.append(user("begin"))
	w.fill(0, 0.65)
	later := w.plan()
	w.request.Force = true
	now := w.plan()
	if now == nil || later == nil || now.From >= later.From {
		t.Fatalf("now from %+v, later from %+v", now, later)
	}
	d := w.drafted()
	w.request.Force = false
	w.using(d)
	if p := w.force(); p.From != now.From || !w.passes[0].Drafted {
		t.Errorf("from %d, %+v", p.From, w.passes)
	}
}

// TestAPlanHasWhatAPassReads compares the job of a plan with the one that the pass makes itself.
func TestAPlanHasWhatAPassReads(t *testing.T) {
	w := summarised(newWorld(t, 8192))
	w.lives(2, nil)
	w.fill(1000, 0.70)
	w.pin(w.epoch().From + 2)
	w.request.Force = true
	planned := w.plan()
	w.request.Force = false
	want, err := extractive(w.Context(), planned.Job)
	if err != nil {
		t.Fatal(err)
	}
	p := w.force()
	if diff := cmp.Diff(want.Made, w.passes[0].Made); diff != "" || p.From != planned.From || planned.Epoch != p.Epoch-1 {
		t.Errorf("from %d, planned %d: %s", p.From, planned.From, diff)
	}
	if len(planned.Job.Steps) == 0 {
		t.Error("nothing ages")
	}
}
