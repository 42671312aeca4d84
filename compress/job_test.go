package compress_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/turn"
)

// of returns the turns of some ranges.
func (l *log) of(ranges []turn.Range) []turn.Turn {
	var turns []turn.Turn
	for _, r := range ranges {
		turns = append(turns, l.turns[r.From-1:r.To]...)
	}
	return turns
}

// job is that of a pass, with all of its sources.
func (l *log) job(p compress.Pass, live []compress.Checkpoint, w budget.Window) *compress.Job {
	j := compress.NewJob(p, live, w, 1024)
	j.Count = count
	for i := range j.Steps {
		j.Sources = append(j.Sources, compress.NewSource(j.Steps[i].Range, l.of(j.Steps[i].Sources()), nil))
	}
	if p.Tokens > 0 {
		j.New = compress.NewSource(p.Range, l.of([]turn.Range{p.Range}), nil)
	}
	return j
}

// ids makes the ids of checkpoints: cp1, cp2, …
func ids() func() string {
	n := 0
	return func() string {
		n++
		return fmt.Sprintf("cp%d", n)
	}
}

// standing is what a test wants to know of a checkpoint.
type standing struct {
	ID              string
	Number, Version int64
	Level           compress.Level
	Range           turn.Range
	By              string
}

func standings(all []compress.Checkpoint) []standing {
	var out []standing
	for _, c := range all {
		out = append(out, standing{c.ID, c.Number, c.Version, c.Level, c.Range, c.Receipt.By})
	}
	return out
}

// passes makes so many passes of ten exchanges each and returns the log, what stands and where it ends.
func passes(t *testing.T, w budget.Window, n int, newID func() string) (*log, []compress.Checkpoint) {
	t.Helper()
	l := &log{}
	var live []compress.Checkpoint
	for number := range int64(n) {
		out := mustRun(t, l.job(l.next(number+1, w), live, w), newID)
		live = out.Live
	}
	return l, live
}

// next adds ten exchanges, and is the pass over them.
func (l *log) next(number int64, w budget.Window) compress.Pass {
	from := int64(len(l.turns) + 1)
	for i := range 10 {
		chatter(l, int(from)+i)
	}
	return compress.Pass{
		Number: number, Range: turn.Range{From: from, To: int64(len(l.turns))}, Tokens: compress.Cap(compress.Detailed, w, 1024),
	}
}

func mustRun(t *testing.T, j *compress.Job, newID func() string) compress.Outcome {
	t.Helper()
	out, err := j.Run(t.Context(), nil, compress.Options{}, newID, start)
	if err != nil {
		t.Fatal(err)
	}
	for i := range out.Made {
		if err := out.Made[i].Check(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestJobAgesAndAdds(t *testing.T) {
	w := window(t, 16384)
	newID := ids()
	l, live := passes(t, w, 3, newID)
	j := l.job(l.next(4, w), live, w)
	j.Goal, j.Insights, j.Mode = &cortex.Goal{Title: "Ship it"}, []string{"mind the gap"}, compress.ModePlanning
	deaf := &summariser{answers: []string{""}}
	out, err := j.Run(t.Context(), deaf, compress.Options{}, newID, start)
	if err != nil {
		t.Fatal(err)
	}
	const by = compress.ByExtract
	made := []standing{
		{"cp1", 1, 2, compress.Moderate, turn.Range{From: 1, To: 20}, by},
		{"cp4", 4, 1, compress.Detailed, turn.Range{From: 61, To: 80}, by},
	}
	if diff := cmp.Diff(made, standings(out.Made)); diff != "" {
		t.Errorf("made (-want +got)\n%s", diff)
	}
	want := []standing{
		made[0],
		{"cp2", 2, 1, compress.Detailed, turn.Range{From: 21, To: 40}, by},
		{"cp3", 3, 1, compress.Detailed, turn.Range{From: 41, To: 60}, by},
		made[1],
	}
	if diff := cmp.Diff(want, standings(out.Live)); diff != "" {
		t.Errorf("live (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(live[1:], out.Live[1:3]); diff != "" {
		t.Errorf("what does not age was changed:\n%s", diff)
	}
	if out.Made[0].CurrentTokens >= live[0].CurrentTokens || out.Made[0].Receipt.After > int64(j.Steps[0].Budget) || !out.Made[0].Receipt.Fallback() {
		t.Errorf("%+v of %+v", out.Made[0], live[0])
	}
	if len(deaf.asked) != 4 {
		t.Fatalf("asked %d times", len(deaf.asked))
	}
	for i, guide := range []string{live[0].Summary, live[0].Summary, "", ""} {
		if r := deaf.asked[i]; r.Guide != guide || r.Goal != j.Goal || r.Mode != j.Mode || len(r.Insights) != 1 || r.Insights[0] != "mind the gap" {
			t.Errorf("asked for %+v", r)
		}
	}
}

func TestJobRollsOver(t *testing.T) {
	w := window(t, 4096)
	newID := ids()
	l, live := passes(t, w, 2, newID)
	out := mustRun(t, l.job(l.next(3, w), live, w), newID)
	want := []standing{{"cp3", 3, 1, compress.Detailed, turn.Range{From: 1, To: 60}, compress.ByExtract}}
	if diff := cmp.Diff(want, standings(out.Live)); diff != "" {
		t.Errorf("live (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(out.Live, out.Made); diff != "" {
		t.Errorf("what was made is not what stands:\n%s", diff)
	}
}

func TestJobOnlyAges(t *testing.T) {
	w := window(t, 16384)
	l, live := passes(t, w, 1, ids())
	out := mustRun(t, l.job(compress.Pass{Number: 7}, live, w), nil)
	want := []standing{{"cp1", 1, 2, compress.Compact, turn.Range{From: 1, To: 20}, compress.ByExtract}}
	if diff := cmp.Diff(want, standings(out.Live)); diff != "" || len(out.Made) != 1 {
		t.Errorf("live (-want +got)\n%s", diff)
	}
}

// TestJobLeavesWhatIsTooSmall has steps, and then new turns, that take no more than a summary would.
func TestJobLeavesWhatIsTooSmall(t *testing.T) {
	w := window(t, 16384)
	newID := ids()
	l, live := passes(t, w, 3, newID)
	tiny := []turn.Turn{{Seq: 2, Role: turn.Agent, Kind: turn.KindTurn, Content: turn.Text{Text: "Fine."}}}

	j := l.job(l.next(4, w), live, w)
	j.Sources[0].Turns = tiny
	out := mustRun(t, j, newID)
	if diff := cmp.Diff(live, out.Live[:3]); diff != "" || len(out.Live) != 4 || len(out.Made) != 1 || out.Made[0].Number != 4 {
		t.Errorf("%+v\n%s", standings(out.Live), diff)
	}

	j = l.job(l.next(4, w), live, w)
	j.New.Turns = tiny
	out = mustRun(t, j, newID)
	if len(out.Live) != 3 || len(out.Made) != 1 || out.Live[0].Version != 2 {
		t.Errorf("%+v", standings(out.Live))
	}

	j.Sources[0].Turns = tiny
	out = mustRun(t, j, newID)
	if diff := cmp.Diff(compress.Outcome{Live: live}, out); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestJobRollsOverWhatItCan cannot merge the new turns with the old ones, and adds them.
func TestJobRollsOverWhatItCan(t *testing.T) {
	w := window(t, 4096)
	newID := ids()
	l, live := passes(t, w, 1, newID)
	j := l.job(l.next(2, w), live, w)
	j.Sources[0].Turns = nil
	out := mustRun(t, j, newID)
	want := []standing{
		{"cp1", 1, 1, compress.Detailed, turn.Range{From: 1, To: 20}, compress.ByExtract},
		{"cp2", 2, 1, compress.Detailed, turn.Range{From: 21, To: 40}, compress.ByExtract},
	}
	if diff := cmp.Diff(want, standings(out.Live)); diff != "" {
		t.Errorf("live (-want +got)\n%s", diff)
	}
}

// TestJobAfterUndo makes versions again that an undo took out of the prompt.
func TestJobAfterUndo(t *testing.T) {
	w := window(t, 16384)
	newID := ids()
	l, live := passes(t, w, 3, newID)
	j := l.job(l.next(4, w), live, w)
	j.Versions = map[int64]int64{1: 4, 2: 1, 3: 1, 4: 2}
	out := mustRun(t, j, newID)
	if len(out.Made) != 2 || out.Made[0].Version != 5 || out.Made[1].Version != 3 {
		t.Errorf("%+v", standings(out.Made))
	}
}

func TestJobEndsWithItsContext(t *testing.T) {
	w := window(t, 16384)
	newID := ids()
	l, live := passes(t, w, 3, newID)
	aging, adding := l.job(l.next(4, w), live, w), l.job(l.next(4, w), nil, w)
	if len(aging.Steps) == 0 || len(adding.Steps) > 0 {
		t.Fatal("the jobs are not what they are for")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, j := range []*compress.Job{aging, adding} {
		out, err := j.Run(ctx, nil, compress.Options{}, newID, start)
		if !errors.Is(err, context.Canceled) || out.Live != nil || out.Made != nil {
			t.Errorf("%v, %+v", err, out)
		}
	}
}

func TestNewSource(t *testing.T) {
	l := &log{}
	l.user("Hello.").agent("Hello yourself.").agent("The port is 8471.").user("Thanks.")
	l.tool("read", `{"path":"a.go"}`, turn.CallOK, `"x"`).tool("read", `{"path":"b.go"}`, "", "").agent("Well.")
	r := turn.Range{From: 1, To: 8}
	s := compress.NewSource(r, l.turns, []turn.Range{{From: 3, To: 3}, {From: 11, To: 12}})
	want := compress.Source{Range: r, Turns: l.turns, Beside: []turn.Range{{From: 1, To: 1}, {From: 3, To: 4}, {From: 7, To: 7}}}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestTokensThatAreMissingAreGivenBack by checkpoints, down to the last, which goes where nothing smaller stands for it.
func TestTokensThatAreMissingAreGivenBack(t *testing.T) {
	w := window(t, 8192)
	newID := ids()
	l, live := passes(t, w, 3, newID)
	size := func(all []compress.Checkpoint) (n int) {
		for i := range all {
			n += int(all[i].CurrentTokens) + compress.Frame
		}
		return n
	}
	before := size(live)
	for _, missing := range []int{1, before / 4, before / 2, before - 2*compress.Frame} {
		out := mustRun(t, l.job(compress.Pass{Number: 4, Missing: missing}, live, w), newID)
		if after := size(out.Live); after > before-missing || len(out.Live) == 0 {
			t.Errorf("%d are missing of %d: %d stand, %d tokens", missing, before, len(out.Live), after)
		}
	}
	if out := mustRun(t, l.job(compress.Pass{Number: 4, Missing: before}, live, w), newID); len(out.Live)+len(out.Made) > 0 {
		t.Errorf("%d still stand", len(out.Live))
	}
}

// TestJobTellsTheModel: whoever summarises is told whom the prompt is for.
func TestJobTellsTheModel(t *testing.T) {
	w := window(t, 16384)
	l, live := passes(t, w, 3, ids())
	j := l.job(l.next(4, w), live, w)
	j.Model = "llama3.2"
	by := &summariser{answers: []string{""}}
	if _, err := j.Run(t.Context(), by, compress.Options{}, ids(), start); err != nil {
		t.Fatal(err)
	}
	if len(by.asked) < 2 {
		t.Fatalf("asked %d times", len(by.asked))
	}
	for _, r := range by.asked {
		if r.Model != "llama3.2" || r.Window != w.Usable {
			t.Errorf("the prompt is for %q with %d tokens", r.Model, r.Window)
		}
	}
}
