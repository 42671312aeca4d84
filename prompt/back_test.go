package prompt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// undo goes back to what was shown before the last pass.
func (w *world) undo() *prompt.Prompt {
	w.Helper()
	return w.back(prompt.Back{Epoch: w.epochAt(w.epoch().Before), Reason: prompt.ReasonUndo})
}

// goOn lets the agent work until another epoch is opened.
func (w *world) goOn(from int) *prompt.Prompt {
	w.Helper()
	for i := from; i < from+400; i++ {
		w.append(work(i, 1)...)
		if p := w.compile(); p.Opened != "" {
			return p
		}
	}
	w.Fatal("no epoch was opened")
	return nil
}

func TestUndoShowsWhatThePassTookOut(t *testing.T) {
	w := summarised(newWorld(t, 8192))
	var before []int64
	w.lives(2, func(p *prompt.Prompt) {
		if p.Passes < 2 {
			before = shown(p)
		}
	})
	at := w.epoch()
	p := w.undo()
	seqs := shown(p)
	if !slices.Equal(seqs[:len(before)], before) || seqs[len(seqs)-1] != p.End || len(seqs)-len(before) != int(p.End-before[len(before)-1]) {
		t.Errorf("it shows %v, before the pass it were %v", seqs, before)
	}
	e := w.epoch()
	was := w.epochAt(at.Before)
	if p.Opened != prompt.ReasonUndo || e.Number != at.Number+1 || e.From != was.From || !e.Hold || e.Before != was.Before || e.Passes != 2 || e.AfterSeq != p.End {
		t.Errorf("%+v", e)
	}
	if diff := cmp.Diff(was.Checkpoints, e.Checkpoints); diff != "" {
		t.Error(diff)
	}
	w.accounted(p)
	// It holds, past the threshold, until the window is full.
	c, err := w.try(nil)
	if err != nil || c.Fill < 0.80 || c.Opened != nil {
		t.Fatalf("%+v, %v", c.Fill, err)
	}
	for i := 1000; ; i++ {
		free := w.last.Account.Free()
		w.append(work(i, 1)...)
		p := w.compile()
		if p.Opened == "" {
			continue
		}
		if e := w.epoch(); p.Opened != prompt.ReasonFull || free > 400 || e.Hold || e.Passes != 3 || e.Before != at.Number+1 || e.Checkpoints[len(e.Checkpoints)-1].Number != 3 {
			t.Errorf("opened %q with %d tokens free: %+v", p.Opened, free, e)
		}
		break
	}
	// The first pass can be undone, too, and then there is nothing left.
	w.resize(32_768)
	for w.epoch().Before != 0 {
		w.undo()
	}
	if seqs := shown(w.last); int64(len(seqs)) != w.last.End || len(w.last.Checkpoints) != 0 {
		t.Errorf("%d of %d turns are shown, %v", len(seqs), w.last.End, w.last.Checkpoints)
	}
}

// TestNextVersionsComeAfterThoseThatWereUndone has a checkpoint made again that was made again before.
func TestNextVersionsComeAfterThoseThatWereUndone(t *testing.T) {
	w := summarised(newWorld(t, 8192))
	w.lives(3, nil)
	if c := w.epoch().Checkpoints[0]; c.Number != 2 || c.Version != 2 {
		t.Fatalf("%+v", c)
	}
	w.undo()
	if c := w.epoch().Checkpoints; c[0].Number != 1 || c[1].Number != 2 || c[1].Version != 1 {
		t.Fatalf("%+v", c)
	}
	w.goOn(1000)
	if c := w.epoch().Checkpoints; c[0].Number != 2 || c[0].Version != 3 || c[1].Number != 4 || c[1].Version != 1 {
		t.Errorf("%+v", c)
	}
}

func TestAnUndoThatDoesNotFitIsRefused(t *testing.T) {
	w := summarised(newWorld(t, 8192))
	w.lives(1, nil)
	w.append(work(1000, 30)...)
	w.compile()
	before := w.epoch()
	b := prompt.Back{Epoch: w.epochAt(before.Before), Reason: prompt.ReasonUndo}
	w.request.Back = &b
	c, err := w.try(nil)
	over := overBudget(err)
	if over == nil || over.Why != "the turns that would come back do not fit into this window any more" || over.Account.Free() >= 0 || c.Opened != nil {
		t.Fatalf("%+v, %v", c.Opened, err)
	}
	if want := fmt.Sprintf("give it a context of %d tokens if the model has one", over.Account.Needs()); over.Remedy != want || over.Account.Needs() <= 8192 {
		t.Errorf("%q", over.Remedy)
	}
	w.request.Back = nil
	if p := w.compile(); p.Opened != "" || p.Epoch != before.Number {
		t.Errorf("opened %q", p.Opened)
	}
}

func TestTurnsOfAnOlderPassAreShownBesideItsCheckpoint(t *testing.T) {
	w := summarised(newWorld(t, 16_384))
	w.append(user(words(3000)), call("a"), agent("meanwhile"), result("a", "alpha"))
	w.lives(2, nil)
	e := w.epoch()
	first := w.epochAt(e.Before)
	show := turn.Range{From: 1, To: first.From - 1}
	if len(e.Checkpoints) != 2 || e.Paged[0].From != 1 || e.Checkpoints[0].Range != show {
		t.Fatalf("%+v", e)
	}
	w.resize(20_000)
	p := w.back(prompt.Back{Epoch: e, Show: show, Reason: prompt.ReasonUndo})
	seqs := shown(p)
	sorted := slices.Clone(seqs)
	slices.Sort(sorted)
	if int64(len(slices.Compact(sorted))) != int64(len(seqs)) {
		t.Errorf("turns are shown twice: %v", seqs)
	}
	for seq := int64(1); seq < first.From; seq++ {
		if !slices.Contains(seqs, seq) {
			t.Errorf("turn %d is not shown", seq)
		}
	}
	now := w.epoch()
	if diff := cmp.Diff(e.Checkpoints, now.Checkpoints); diff != "" || now.From != e.From || now.Paged != nil || !now.Hold {
		t.Errorf("%+v %s", now, diff)
	}
	if was := w.made[len(w.made)-2].prompt; lineOf(p, budget.Recent) <= lineOf(was, budget.Recent)+1000 || lineOf(p, budget.Said) >= lineOf(was, budget.Said)+3000 {
		t.Errorf("%+v", p.Account.Lines)
	}
	w.accounted(p)
	w.laidOut(p)
	// A change of the settings leaves them where they are, the next pass does not.
	w.begin(prompt.Settings{System: "Be brief."})
	if p := w.compile(); p.Opened != prompt.ReasonSettings || !slices.Contains(shown(p), 3) {
		t.Errorf("opened %q", p.Opened)
	}
	p = w.goOn(1000)
	if p.Opened != prompt.ReasonFull || slices.Contains(shown(p), 3) || slices.Contains(shown(p), 1) || p.Paged[0].From != 1 || p.Paged[0].Messages != 1 {
		t.Errorf("opened %q: %v, paged %v", p.Opened, shown(p)[:5], p.Paged)
	}
	if slices.ContainsFunc(w.epoch().Kept, func(k prompt.Kept) bool { return k.Why == prompt.Undone }) {
		t.Errorf("%v", w.epoch().Kept)
	}
	w.accounted(p)
}

// TestShownTurnsAreNotNamedTwice shows messages that had a handle together, and lets them go again.
func TestShownTurnsAreNotNamedTwice(t *testing.T) {
	w := summarised(newWorld(t, 8192))
	for i := 0; w.last == nil || w.last.Passes < 2; i += 2 {
		w.append(repeat(4, func(int) []turn.Draft { return []turn.Draft{user(words(30))} })...)
		w.append(work(i, 2)...)
		w.compile()
	}
	e := w.epoch()
	named := w.accounted(w.last)
	if len(e.Paged) != 1 || e.Paged[0].Messages != int64(named) || named < 10 {
		t.Fatalf("%v", e.Paged)
	}
	w.back(prompt.Back{Epoch: e, Show: turn.Range{From: 1, To: 20}, Reason: prompt.ReasonUndo})
	w.accounted(w.last)
	p := w.goOn(1000)
	if named := w.accounted(p); len(p.Paged) != 1 || p.Paged[0].Messages != int64(named) {
		t.Errorf("%d are named: %v", named, p.Paged)
	}
}

// holed goes back to the session as it was after that turn, as a restore does.
func (w *world) holed(after int64) *prompt.Prompt {
	w.Helper()
	e := w.epoch()
	e.Path = []turn.Range{{From: 1, To: after}, {From: w.last.End + 1}}
	e.Before = w.epoch().Number
	return w.back(prompt.Back{Epoch: e, Reason: prompt.ReasonRestore})
}

func TestWhatARestoreLeavesOutIsNeitherShownNorSummarised(t *testing.T) {
	w := newWorld(t, 4096)
	hole := turn.Range{}
	w.watched(func(j *compress.Job) {
		for _, s := range append(slices.Clone(j.Sources), j.New) {
			if err := wholeUnits(&s); err != nil {
				t.Error(err)
			}
			for _, seq := range seqsOf(s.Turns) {
				if hole.To > 0 && seq >= hole.From && seq <= hole.To {
					t.Fatalf("turn %d is summarised: %v", seq, seqsOf(s.Turns))
				}
			}
		}
	})
	w.append(user("begin"))
	w.append(work(0, 10)...)
	at := w.append(call("before", "both")) // its results are in the hole and after it
	w.compile()
	w.append(result("before", "gone"), user("gone"), call("within"), agent("The secret is 4711, which was decided."))
	w.append(work(10, 10)...)
	w.compile()
	hole = turn.Range{From: at + 1, To: w.last.End}
	p := w.holed(at)
	if p.Opened != prompt.ReasonRestore || w.epoch().Before != 1 || !w.epoch().Hold {
		t.Errorf("%+v", w.epoch())
	}
	w.append(user("on"), result("both", "after"), result("within", "after"))
	for i := 100; w.last.Passes < 4; i++ {
		w.append(work(i, 1)...)
		w.compile()
		for _, seq := range shown(w.last) {
			if seq >= at && seq <= hole.To {
				t.Fatalf("turn %d is shown", seq)
			}
		}
		w.accounted(w.last)
	}
	if text := textOf(w.last); strings.Contains(text, "4711") || strings.Contains(text, "gone") {
		t.Error(text)
	}
	// A pin of a unit that is not whole on the path shows nothing of it.
	w.pin(at)
	if p := w.compile(); p.Opened != "" {
		t.Errorf("opened %q", p.Opened)
	}
	// From far behind it is the same.
	w.last = nil
	w.grow(work(500, 600)...)
	w.compile()
	w.accounted(w.last)
	// The path as it was comes back.
	w.back(prompt.Back{Epoch: prompt.Epoch{Path: []turn.Range{{From: 1}}, From: w.epoch().From, Checkpoints: w.epoch().Checkpoints}, Reason: prompt.ReasonRestore})
	if len(w.epoch().Path) != 1 {
		t.Errorf("%+v", w.epoch())
	}
}

func TestARestoreThatDoesNotFitMakesAPass(t *testing.T) {
	w := summarised(newWorld(t, 4096))
	w.lives(2, nil)
	p := w.back(prompt.Back{Epoch: prompt.Epoch{Path: []turn.Range{{From: 1}}, From: 1}, Reason: prompt.ReasonRestore})
	if e := w.epoch(); p.Opened != prompt.ReasonRestore || e.Passes != 3 || e.Hold || e.Before != e.Number-1 || len(w.passes) != 1 || e.From == 1 {
		t.Errorf("opened %q: %+v", p.Opened, e)
	}
	w.accounted(p)
}

func TestGoingBackBeforeTheFirstPrompt(t *testing.T) {
	w := newWorld(t, 4096)
	w.append(user("one"), agent("two"), user("three"))
	p := w.back(prompt.Back{Epoch: prompt.Epoch{Path: []turn.Range{{From: 1, To: 1}, {From: 4}}, From: 1}, Reason: prompt.ReasonRestore})
	wantShown(t, p, 1)
	if e := w.epoch(); e.Number != 1 || p.Epoch != 1 || p.Opened != prompt.ReasonRestore || e.Before != 0 {
		t.Errorf("%+v", e)
	}
	w.append(user("four"))
	wantShown(t, w.compile(), 1, 4)
}

// TestTheLastWordsOnThePathAreFoundFromFarBehind has the user say more in the hole.
func TestTheLastWordsOnThePathAreFoundFromFarBehind(t *testing.T) {
	w := newWorld(t, 2048)
	w.append(agent("hi"), user("the task"))
	w.compile()
	w.append(user("gone"), user("gone too"))
	w.compile()
	w.holed(2)
	w.last = nil
	w.grow(repeat(1500, func(int) []turn.Draft { return []turn.Draft{agent("x")} })...)
	w.begin(prompt.Settings{System: "Otherwise."})
	if p := w.compile(); shown(p)[0] != 2 || shown(p)[1] < 100 {
		t.Errorf("it shows %v", shown(p)[:2])
	}
}

func TestWhatIsNewIsShownAfterGoingBack(t *testing.T) {
	w := summarised(newWorld(t, 8192))
	w.append(user("begin"), agent("A key: 7f3a."))
	w.lives(2, nil)
	w.pin(2)
	w.request.Goal = fullGoal()
	w.begin(prompt.Settings{System: "Be brief."})
	w.compile()
	p := w.undo()
	if !slices.Contains(w.epoch().Kept, kept(prompt.Pinned, 2)[0]) || !slices.Contains(shown(p), 2) {
		t.Errorf("%v", w.epoch().Kept)
	}
	if text := p.Messages[0].Parts[0].Text; p.Opened != prompt.ReasonUndo || !strings.Contains(text, "Be brief.") || !strings.Contains(text, "Ship the parser") {
		t.Errorf("%q", text)
	}
	if p := w.compile(); p.Opened != "" {
		t.Errorf("opened %q", p.Opened)
	}
}

// TestAnUndoReadsWhatAModelCouldHold, and not all that a pass took out, which may be any number of turns.
func TestAnUndoReadsWhatAModelCouldHold(t *testing.T) {
	w := summarised(newWorld(t, 8192))
	small := exact
	small.Context = 32_768
	w.request.Counter = budget.NewCounter(small, nil, false, budget.Calibration{})
	const all, size = 6_000, 40
	drafts := make([]turn.Draft, all)
	for i := range drafts {
		drafts[i] = agent(words(size))
	}
	w.append(drafts...)
	w.goOn(0)
	e := w.epoch()
	if e.From < all/2 {
		t.Fatalf("the recent turns begin at %d", e.From)
	}
	w.goOn(1000)
	for name, b := range map[string]prompt.Back{
		"beside the checkpoint": {Epoch: w.epoch(), Show: turn.Range{From: 1, To: e.From - 1}, Reason: prompt.ReasonUndo},
		"in its place":          {Epoch: prompt.Epoch{Path: e.Path, From: 1}, Reason: prompt.ReasonUndo},
	} {
		w.request.Back = &b
		w.faults.read = 0
		_, err := w.try(nil)
		over := overBudget(err)
		if over == nil || over.Remedy != fmt.Sprintf("give it a context of more than %d tokens if the model has one", over.Account.Needs()) {
			t.Fatalf("%s: %v", name, err)
		}
		if w.faults.read > all/2 {
			t.Errorf("%s: %d turns were read", name, w.faults.read)
		}
	}
}
