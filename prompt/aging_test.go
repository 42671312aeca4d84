package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestCheckpointsAgeWithinTheirShare(t *testing.T) {
	for _, tt := range []struct{ context, passes, most int }{
		{4096, 8, 1}, {8192, 8, 2}, {16_384, 7, 5},
	} {
		t.Run(fmt.Sprint(tt.context), func(t *testing.T) {
			w := summarised(newWorld(t, tt.context))
			seen := map[[2]int64]string{} // hash by number and version
			versions := map[int64]int64{}
			side := 0
			w.lives(int64(tt.passes), func(p *prompt.Prompt) {
				if p.Opened != prompt.ReasonFull {
					return
				}
				if got, share := lineOf(p, budget.Checkpoints), w.request.Window.Usable*30/100; got > share+compress.Frame {
					t.Errorf("after %d passes the checkpoints take %d of %d", p.Passes, got, share)
				}
				if side = max(side, len(p.Checkpoints)); len(p.Checkpoints) > tt.most {
					t.Errorf("%d checkpoints", len(p.Checkpoints))
				}
				for _, r := range p.Checkpoints {
					id := [2]int64{r.Number, r.Version}
					if was, ok := seen[id]; ok && was != r.SHA256 {
						t.Errorf("version %d of checkpoint %d was changed", r.Version, r.Number)
					} else if !ok && r.Version != versions[r.Number]+1 {
						t.Errorf("version %d of checkpoint %d comes after %d", r.Version, r.Number, versions[r.Number])
					}
					seen[id], versions[r.Number] = r.SHA256, r.Version
				}
			})
			all := w.standing()
			if all[0].Range.From != 1 || all[len(all)-1].Range.To != w.last.From-1 {
				t.Errorf("they cover %v to %v, the recent turns begin at %d", all[0].Range, all[len(all)-1].Range, w.last.From)
			}
			for i := range all[1:] {
				if all[i+1].Range.From != all[i].Range.To+1 || all[i+1].Level < all[i].Level {
					t.Errorf("%v, %s comes before %v, %s", all[i].Range, all[i].Level, all[i+1].Range, all[i+1].Level)
				}
			}
			if side < min(tt.most, 4) {
				t.Errorf("never more than %d side by side", side)
			}
		})
	}
}

// TestAStepReadsWhatItStandsFor checks that an older checkpoint is made again of its own turns.
func TestAStepReadsWhatItStandsFor(t *testing.T) {
	w := newWorld(t, 8192)
	steps := 0
	w.watched(func(j *compress.Job) {
		if len(j.Sources) != len(j.Steps) {
			t.Fatalf("%d sources for %d steps", len(j.Sources), len(j.Steps))
		}
		for i, s := range j.Steps {
			steps++
			src := &j.Sources[i]
			if src.Range != s.Range || len(src.Turns) == 0 {
				t.Errorf("step of %v reads %d turns of %v", s.Range, len(src.Turns), src.Range)
			}
			if err := wholeUnits(src); err != nil {
				t.Error(err)
			}
			for _, turn := range src.Turns {
				if turn.Seq > s.Range.To {
					t.Errorf("it reads turn %d of %v", turn.Seq, s.Range)
				}
			}
		}
	})
	w.lives(5, nil)
	if steps == 0 {
		t.Error("nothing ever aged")
	}
	if !strings.Contains(textOf(w.last), "buffer") {
		t.Error("the summaries say nothing")
	}
}

// TestRolloverReadsEverything has one summary of all, made of the older turns and the new ones.
func TestRolloverReadsEverything(t *testing.T) {
	w := newWorld(t, 4096)
	var last *compress.Job
	w.watched(func(j *compress.Job) { last = j })
	w.lives(2, nil)
	if len(last.Steps) != 1 || !last.Steps[0].New {
		t.Fatalf("%+v", last.Steps)
	}
	seqs := seqsOf(last.Sources[0].Turns)
	if fresh := seqsOf(last.New.Turns); seqs[0] >= fresh[0] || seqs[len(seqs)-1] != fresh[len(fresh)-1] {
		t.Errorf("it reads %v, new are %v", seqs, fresh)
	}
	if c := w.last.Checkpoints; len(c) != 1 || c[0].Range != (turn.Range{From: 1, To: w.last.From - 1}) || c[0].Number != 2 {
		t.Errorf("%v", c)
	}
}

func TestASmallerWindowMakesCheckpointsSmaller(t *testing.T) {
	w := summarised(newWorld(t, 16_384))
	w.lives(4, nil)
	before := w.last
	if len(before.Checkpoints) < 3 {
		t.Fatalf("%v", before.Checkpoints)
	}
	w.resize(4096)
	p := w.compile()
	if p.Opened != prompt.ReasonFull || len(p.Checkpoints) != 1 || p.Checkpoints[0].From != 1 || lineOf(p, budget.Checkpoints) > w.request.Window.Usable*30/100+compress.Frame {
		t.Errorf("opened %q, %v take %d", p.Opened, p.Checkpoints, lineOf(p, budget.Checkpoints))
	}
	w.accounted(p)
}

// TestCheckpointsAloneCanShrink has so little said since the last pass that nothing can leave, and a window that has
// become too small for the checkpoints.
func TestCheckpointsAloneCanShrink(t *testing.T) {
	w := summarised(newWorld(t, 16_384))
	w.begin(prompt.Settings{System: "Be brief."})
	w.lives(4, nil)
	w.reopen(func(e *prompt.Epoch) {
		e.From = w.last.End + 1
		e.Kept, e.Paged = nil, []prompt.Handle{{Range: turn.Range{From: 1, To: w.last.End}}}
	})
	w.append(user("on"))
	w.compile()
	w.last, w.earlier = nil, nil
	w.resize(4096)
	w.begin(prompt.Settings{System: words(1000)})
	p := w.compile()
	if p.Opened != prompt.ReasonSettings || len(p.Checkpoints) != 1 || p.Passes != 5 || len(w.passes) != 1 || len(w.passes[0].Made) != 1 {
		t.Errorf("opened %q after %d passes: %v, %v", p.Opened, p.Passes, p.Checkpoints, w.passes)
	}
	wantShown(t, p, p.End)
}

func TestALargerWindowBringsBackWholeCheckpoints(t *testing.T) {
	w := summarised(newWorld(t, 8192))
	w.append(user(words(1500)), user("begin"))
	w.lives(2, nil)
	before := w.epoch()
	if len(before.Checkpoints) != 2 || len(before.Paged) != 1 {
		t.Fatalf("%v, %v", before.Checkpoints, before.Paged)
	}
	next := 2 // how many stand
	for context := 8500; next > 0; context += 500 {
		w.resize(context)
		p := w.compile()
		e := w.epoch()
		if p.Opened != prompt.ReasonWindow || p.Passes != 2 || e.Context != int64(context) || e.Before != before.Before {
			t.Fatalf("%d: opened %q: %+v", context, p.Opened, e)
		}
		c, err := w.try(nil)
		if err != nil || c.Opened != nil || c.Fill > 0.80 {
			t.Fatalf("%d: it is full: %v, %v", context, c.Fill, err)
		}
		w.accounted(p)
		w.laidOut(p)
		n := len(e.Checkpoints)
		if n == next {
			if e.From != max(before.From, 1) && n == 2 {
				t.Errorf("%d: from %d", context, e.From)
			}
			continue
		}
		// They come back one by one, as soon as they take no more than an epoch begins with.
		if next--; n != next || e.From != before.Checkpoints[n].From || c.Fill > 0.80*prompt.MostShare || c.Fill < 0.60*prompt.MostShare {
			t.Errorf("%d: from %d, fill %.2f, %v", context, e.From, c.Fill, e.Checkpoints)
		}
	}
	if w.last.Shown != w.last.End || w.last.Paged != nil {
		t.Errorf("%d of %d turns are shown, %v", w.last.Shown, w.last.End, w.last.Paged)
	}
	w.resize(100_000)
	if p := w.compile(); p.Opened != "" {
		t.Errorf("opened %q where everything is shown", p.Opened)
	}
}

// TestALargerWindowDropsTheHandlesOfWhatItShows has the user's words of the first checkpoints named together with
// those of the last.
func TestALargerWindowDropsTheHandlesOfWhatItShows(t *testing.T) {
	w := summarised(newWorld(t, 8192))
	for i := 0; len(w.epochOr().Checkpoints) < 2; i += 2 {
		w.append(repeat(6, func(int) []turn.Draft { return []turn.Draft{user(words(30))} })...)
		w.append(work(i, 2)...)
		w.compile()
	}
	e := w.epoch()
	h := e.Paged[0]
	if len(e.Paged) != 1 || h.To < e.Checkpoints[1].From {
		t.Fatalf("%v, %v", e.Paged, e.Checkpoints)
	}
	for context := 9000; len(w.epoch().Checkpoints) == 2; context += 500 {
		w.resize(context)
		w.compile()
	}
	e = w.epoch()
	if diff := fmt.Sprint(e.Paged); len(e.Checkpoints) != 1 || len(e.Paged) != 1 || e.Paged[0] != (prompt.Handle{Range: turn.Range{From: h.From, To: e.From - 1}}) {
		t.Errorf("%s, from %d", diff, e.From)
	}
	w.accounted(w.last)
	w.laidOut(w.last)
}

// epochOr is the last epoch, a clean one where there is none yet.
func (w *world) epochOr() prompt.Epoch {
	if w.last == nil {
		return prompt.Epoch{}
	}
	return w.epoch()
}

// TestCheckpointsMakeRoomForTheLastTurn: what can be made smaller, or only be named, is not in the way of what must be
// shown.
func TestCheckpointsMakeRoomForTheLastTurn(t *testing.T) {
	for _, left := range []int{1200, 400} {
		w := summarised(newWorld(t, 8192))
		w.lives(3, nil)
		before := lineOf(w.last, budget.Checkpoints)
		if before < 500 {
			t.Fatalf("the checkpoints take %d", before)
		}
		w.append(user("Read it."), agent(words(w.request.Window.Usable-w.request.Window.Reserve-left)))
		p := w.compile()
		if after := lineOf(p, budget.Checkpoints); after >= before || after > left {
			t.Errorf("with %d left the checkpoints take %d, before %d", left, after, before)
		}
		w.accounted(p)
	}
}
