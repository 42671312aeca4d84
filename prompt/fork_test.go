package prompt_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// own are the rows that hang on the session's own segment.
func (w *world) own() (epochs, calls, pins []int64) {
	w.Helper()
	err := w.view(func(tx store.Tx, info turn.SessionInfo) error {
		spans := []turn.Span{{Segment: info.Segment, From: 1, To: info.Head}}
		e, err := tx.Prompt().Epochs(w.Context(), w.key.Tenant, spans, 0, 1000)
		if err != nil {
			return err
		}
		for _, r := range e {
			epochs = append(epochs, r.Number)
		}
		c, err := tx.Prompt().Calls(w.Context(), w.key.Tenant, spans, 0, 1000)
		if err != nil {
			return err
		}
		for _, r := range c {
			calls = append(calls, r.Number)
		}
		p, err := tx.Prompt().Pins(w.Context(), w.key.Tenant, spans)
		for _, r := range p {
			pins = append(pins, r.Seq)
		}
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return epochs, calls, pins
}

// inSession goes back to another session of the world.
func (w *world) inSession(name string) {
	w.key.Session, w.earlier, w.last = name, nil, nil
}

func TestAForkCopiesWhatHangsOnItsPoint(t *testing.T) {
	w := newWorld(t, 4096)
	w.append(user("one"))
	w.compile() // epoch 1, call 1
	w.pin(1)
	w.append(agent("two"))
	w.compile() // call 2
	w.request.Goal = fullGoal()
	w.compile() // epoch 2, call 3
	w.begin(prompt.Settings{System: "Otherwise."})
	want := w.compile() // epoch 3, call 4
	w.pin(2)
	w.append(agent("three"))
	w.compile() // call 5
	w.fork("fork", 2)
	epochs, calls, pins := w.own()
	if diff := cmp.Diff([][]int64{{2, 3}, {2, 3, 4}, {2}}, [][]int64{epochs, calls, pins}); diff != "" {
		t.Errorf("copied (-want +got)\n%s", diff)
	}
	if p := w.compile(); p.SHA256 != want.SHA256 || p.Opened != "" {
		t.Errorf("opened %q: %v", p.Opened, said(p))
	}
	w.fork("before", 1)
	epochs, calls, pins = w.own()
	if diff := cmp.Diff([][]int64{{1}, {1}, {1}}, [][]int64{epochs, calls, pins}); diff != "" {
		t.Errorf("copied (-want +got)\n%s", diff)
	}
	w.fork("nothing", 0)
	if epochs, calls, pins := w.own(); epochs != nil || calls != nil || pins != nil {
		t.Errorf("copied %v, %v, %v", epochs, calls, pins)
	}
}

func TestAForkBeforeAnyPrompt(t *testing.T) {
	w := newWorld(t, 2048)
	w.append(user("one"), agent("two"))
	w.fork("fork", 1)
	if epochs, calls, pins := w.own(); epochs != nil || calls != nil || pins != nil {
		t.Errorf("copied %v, %v, %v", epochs, calls, pins)
	}
	w.append(agent("other"))
	p := w.compile()
	wantLines(t, said(p), "user: one", "assistant: other")
	if p.Opened != prompt.ReasonStart {
		t.Errorf("opened %q", p.Opened)
	}
}

func TestAForkPointThatNothingHangsOn(t *testing.T) {
	w := newWorld(t, 4096)
	w.append(user("one"))
	w.compile()
	w.append(agent("two"))
	w.fork("fork", 2)
	if epochs, calls, pins := w.own(); epochs != nil || calls != nil || pins != nil {
		t.Errorf("copied %v, %v, %v", epochs, calls, pins)
	}
	if p := w.compile(); p.Opened != "" || p.Epoch != 1 {
		t.Errorf("opened %q", p.Opened)
	}
}

func TestWhatTheParentChangesLaterDoesNotReachTheFork(t *testing.T) {
	w := newWorld(t, 4096)
	w.append(user("one"), agent("two"), user("three"))
	w.compile()
	w.fork("fork", 3)
	w.append(agent("mine"))
	want := w.compile()

	w.inSession("main")
	w.begin(prompt.Settings{System: "Otherwise."})
	w.pin(1)
	w.compile()
	w.append(agent("yours"))
	w.request.Goal = fullGoal()
	w.compile()

	w.inSession("fork")
	w.request.Settings, w.request.Goal = nil, nil
	p := w.compile()
	if p.SHA256 != want.SHA256 || p.Opened != "" {
		t.Errorf("opened %q: %v", p.Opened, said(p))
	}
	w.inSession("main")
	w.request.Goal = fullGoal()
	if lines := said(w.compile()); lines[len(lines)-1] != "assistant: yours" {
		t.Errorf("%v", lines)
	}
}

func TestForksOfForksFollowTheirTurns(t *testing.T) {
	w := newWorld(t, 2048)
	at := w.append(call("a"), user("begin"), result("a", "alpha"))
	w.compile()
	w.pin(1)
	var path []int64
	for i, name := range []string{"a", "b", "c", "d"} {
		for range 25 {
			at = w.append(user(words(20)), agent(words(20)))
			w.compile()
		}
		path = append(path, at)
		// What is said after the fork point is not the fork's.
		w.append(agent("elsewhere"), call("x"), result("x", "elsewhere"))
		w.compile()
		w.fork(name, at)
		p := w.compile()
		if p.Opened != "" || p.End != at {
			t.Fatalf("fork %d opened %q at %d", i, p.Opened, p.End)
		}
		for _, line := range said(p) {
			if line == "assistant: elsewhere" || line == "tool: elsewhere" {
				t.Fatalf("fork %d shows what was said elsewhere", i)
			}
		}
	}
	e := w.epoch()
	if e.From <= path[1] || !slices.ContainsFunc(e.Kept, func(k prompt.Kept) bool { return k.Why == prompt.Pinned && k.Range == turn.Range{From: 1, To: 3} }) {
		t.Errorf("%+v", e)
	}
	// Far behind, over several segments.
	w.last = nil
	w.grow(talk(600)...)
	w.fork("e", w.append(user("fork")))
	w.append(talk(600)...)
	if p := w.compile(); p.Opened != prompt.ReasonFull {
		t.Errorf("opened %q", p.Opened)
	}
	if len(w.made) < 100 {
		t.Error("prompts are missing")
	}
}

func TestAForkKeepsItsGoal(t *testing.T) {
	w := newWorld(t, 4096)
	w.request.Goal = fullGoal()
	w.append(user("one"))
	w.compile()
	w.fork("fork", 1)
	w.request.Goal = fullGoal()
	w.request.Goal.Status = cortex.GoalPaused
	if p := w.compile(); p.Opened != "" || p.Late == "" {
		t.Errorf("opened %q, late %q", p.Opened, p.Late)
	}
}

func TestAForkNamesTheEpochThatCannotBeRead(t *testing.T) {
	w := newWorld(t, 4096)
	w.append(user("one"))
	w.compile()
	w.request.Goal = fullGoal()
	w.compile()
	w.faults.fail = failing("Epoch", 0)
	err := w.db.Update(t.Context(), func(tx store.Tx) error {
		parent, err := tx.Log().Session(t.Context(), w.key)
		if err != nil {
			return err
		}
		return prompt.Fork(t.Context(), w.faults.prompts(tx.Prompt()), w.key.Tenant, parent.Lineage(1), 99, 1)
	})
	if !errors.Is(err, errFault) || err.Error() != "epoch 1: "+errFault.Error() {
		t.Error(err)
	}
}
