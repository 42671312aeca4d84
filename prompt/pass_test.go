package prompt_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// watched has the jobs of passes looked at before they are run.
func (w *world) watched(look func(*compress.Job)) {
	w.request.Pass = func(ctx context.Context, j *compress.Job) (compress.Outcome, error) {
		look(j)
		return extractive(ctx, j)
	}
}

func seqsOf(turns []turn.Turn) []int64 {
	var seqs []int64
	for i := range turns {
		seqs = append(seqs, turns[i].Seq)
	}
	return seqs
}

// wholeUnits reports a unit of the source that is not whole.
func wholeUnits(s *compress.Source) error {
	if !slices.IsSorted(seqsOf(s.Turns)) {
		return fmt.Errorf("the turns are out of order: %v", seqsOf(s.Turns))
	}
	units := map[int64][]turn.Turn{}
	for _, t := range s.Turns {
		if t.Unit != 0 {
			units[t.Unit] = append(units[t.Unit], t)
		}
	}
	for unit, members := range units {
		if members[0].Seq != unit || !turn.Complete(members) {
			return fmt.Errorf("unit %d is split: %v", unit, seqsOf(members))
		}
	}
	return nil
}

func TestAUnitThatStraddlesTheCutStaysWhole(t *testing.T) {
	w := newWorld(t, 4096)
	var read [][]int64
	w.watched(func(j *compress.Job) {
		if err := wholeUnits(&j.New); err != nil {
			t.Error(err)
		}
		read = append(read, seqsOf(j.New.Turns))
	})
	w.append(user("begin"))
	w.append(work(0, 3)...)
	at := w.append(call("slow", "fast"))
	w.append(user("Meanwhile, what is 2+2?"))
	w.append(work(3, 4)...)
	w.append(result("fast", "quick"))
	for i := 7; w.last == nil || w.last.Passes < 1; i++ {
		w.append(work(i, 1)...)
		w.compile()
	}
	if w.last.From <= at+2 || slices.Contains(read[0], at) || slices.Contains(shown(w.last), at) {
		t.Fatalf("from %d, read %v", w.last.From, read[0])
	}
	if !slices.Contains(shown(w.last), at+1) {
		t.Errorf("what the user said meanwhile is not shown: %v", shown(w.last))
	}
	// It stands where its last result is, and goes with the turns there.
	last := w.append(result("slow", "at last"))
	p := w.compile()
	if seqs := shown(p); !slices.Equal(seqs[len(seqs)-3:], []int64{at, last, at + 7}) {
		t.Errorf("it shows %v", seqs)
	}
	for i := 40; w.last.Passes < 3; i++ {
		w.append(work(i, 1)...)
		w.compile()
	}
	if w.last.From <= last {
		t.Fatalf("from %d", w.last.From)
	}
	found := 0
	for _, seqs := range read[1:] {
		if slices.Contains(seqs, at) && slices.Contains(seqs, at+7) && slices.Contains(seqs, last) {
			found++
		}
	}
	if found == 0 || slices.Contains(shown(w.last), at) {
		t.Errorf("its turns were never summarised: %v", read)
	}
}

// TestAPinnedUnitThatStraddlesTheCutIsShownOnce has its call before the cut and its result after it.
func TestAPinnedUnitThatStraddlesTheCutIsShownOnce(t *testing.T) {
	w := summarised(newWorld(t, 4096))
	w.append(user("begin"))
	at := w.append(call("slow"))
	w.pin(at)
	w.compile()
	w.last = nil
	w.grow(work(0, 40)...)
	last := w.append(result("slow", "at last"))
	w.append(work(40, 8)...)
	p := w.compile()
	seqs := shown(p)
	if p.Passes != 1 || p.From <= at || p.From > last || !slices.Contains(seqs, at) || !slices.Contains(seqs, last) {
		t.Fatalf("from %d: %v", p.From, seqs)
	}
	if n := len(slices.DeleteFunc(slices.Clone(seqs), func(seq int64) bool { return seq != at })); n != 1 {
		t.Errorf("it is shown %d times: %v", n, seqs)
	}
	w.laidOut(p)
}

// TestEveryTurnThatLeavesIsSummarised has no hole between what the passes read.
func TestEveryTurnThatLeavesIsSummarised(t *testing.T) {
	w := newWorld(t, 8192)
	next, jobs := int64(1), 0
	w.watched(func(j *compress.Job) {
		if j.Pass.Range.From != next {
			return // compiled once more from the store
		}
		seqs := seqsOf(j.New.Turns)
		if j.New.Range != j.Pass.Range || seqs[0] != next || int64(len(seqs)) != j.Pass.Range.To-next+1 {
			t.Errorf("%v is read of %v, from %d on", seqs, j.Pass.Range, next)
		}
		if j.Mode != "developer" || j.Goal == nil || j.SummaryMax != w.request.Compression.SummaryMaxTokens || j.Window != w.request.Window || j.Count("one two") != 2 && j.Count("one two") > 24 {
			t.Errorf("%+v", j)
		}
		next = j.Pass.Range.To + 1
		jobs++
	})
	w.request.Goal = fullGoal()
	mode := w.request.Pass
	w.request.Pass = func(ctx context.Context, j *compress.Job) (compress.Outcome, error) {
		j.Mode = "developer"
		return mode(ctx, j)
	}
	w.lives(4, nil)
	if jobs != 4 {
		t.Errorf("%d jobs", jobs)
	}
	var covered int64
	for _, c := range w.standing() {
		if c.Range.From != covered+1 {
			t.Errorf("%v comes after %d", c.Range, covered)
		}
		covered = c.Range.To
	}
	if covered != w.last.From-1 {
		t.Errorf("covered up to %d, the recent turns begin at %d", covered, w.last.From)
	}
}

// TestWhatIsTooLittleForASummaryIsSummarisedLater has the user speak alone, so that there is nothing to
// summarise at first.
func TestWhatIsTooLittleForASummaryIsSummarisedLater(t *testing.T) {
	w := summarised(newWorld(t, 8192))
	for range 120 {
		w.append(user(words(45)))
		w.compile()
	}
	if p := w.last; p.Passes == 0 || len(p.Checkpoints) != 0 || !strings.Contains(textOf(p), "are not shown.") {
		t.Fatalf("%d passes, %v", p.Passes, p.Checkpoints)
	}
	for i := 0; len(w.last.Checkpoints) == 0; i += 4 {
		w.append(work(i, 4)...)
		w.compile()
	}
	if c := w.last.Checkpoints[0]; c.From != 1 || c.To != w.last.From-1 {
		t.Errorf("%v, the recent turns begin at %d", c, w.last.From)
	}
	w.accounted(w.last)
	w.laidOut(w.last)
}

// TestAPassThatDoesNotHelpIsNotMade has a summary that is as long as what it stands for.
func TestAPassThatDoesNotHelpIsNotMade(t *testing.T) {
	w := newWorld(t, 4096)
	tries := 0
	w.request.Pass = func(ctx context.Context, j *compress.Job) (compress.Outcome, error) {
		tries++
		out, err := scripted(ctx, j)
		out.Made[0].Summary = words(1500)
		out.Live[len(out.Live)-1] = out.Made[0]
		return out, err
	}
	for i := range 80 {
		w.append(work(i, 1)...)
		c, err := w.try(nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.Stuck == nil {
			w.compile()
			continue
		}
		if c.Opened != nil || c.Passes != nil || c.Stuck.From != 1 || c.Stuck.To >= c.Prompt.End || c.Fill < 0.8 {
			t.Errorf("%+v", c)
		}
		// What is known to be of no use is not tried again.
		until := c.Stuck.Until
		tries = 0
		w.request.Blocked = func(epoch, from, tokens int64) (bool, error) {
			if epoch != c.Prompt.Epoch || from != 1 || tokens != until-int64(float64(c.Prompt.Window.Usable)*0.02) {
				t.Errorf("asked about %d tokens from %d on in epoch %d, until %d", tokens, from, epoch, until)
			}
			return true, nil
		}
		if c, err := w.try(nil); err != nil || c.Stuck != nil || tries != 0 || c.Opened != nil {
			t.Errorf("%d tries, %+v, %v", tries, c.Stuck, err)
		}
		w.request.Blocked = func(int64, int64, int64) (bool, error) { return false, errFault }
		if _, err := w.try(nil); !errors.Is(err, errFault) {
			t.Error(err)
		}
		return
	}
	t.Fatal("it was never full")
}

func TestAPassThatFailsIsAnError(t *testing.T) {
	w := newWorld(t, 4096)
	w.request.Pass = func(context.Context, *compress.Job) (compress.Outcome, error) { return compress.Outcome{}, errFault }
	w.append(work(0, 80)...)
	if c, err := w.try(nil); !errors.Is(err, errFault) || c.Prompt != nil {
		t.Error(err)
	}
}

func TestWhatAPassReports(t *testing.T) {
	w := summarised(newWorld(t, 8192))
	w.lives(3, func(p *prompt.Prompt) {
		if p.Opened != prompt.ReasonFull {
			if len(w.passes) != 0 {
				t.Errorf("passes without an epoch: %v", w.passes)
			}
			return
		}
		if len(w.passes) != 1 {
			t.Fatalf("%d passes", len(w.passes))
		}
		pass := w.passes[0]
		if pass.Number != p.Passes || pass.Range.To != p.From-1 || pass.After >= pass.Before || pass.Drafted || len(pass.Made) == 0 {
			t.Errorf("%+v", pass)
		}
		if e := w.epoch(); pass.Range.From != w.epochAt(e.Before).From || e.Before != e.Number-1 {
			t.Errorf("%+v comes before %+v", w.epochAt(e.Before), e)
		}
	})
}

func TestForce(t *testing.T) {
	w := summarised(newWorld(t, 8192))
	w.append(user("begin"))
	w.append(work(0, 6)...)
	w.compile()
	if p := w.force(); p.Opened != "" {
		t.Errorf("there is nothing that could leave, and it opened %q", p.Opened)
	}
	w.append(work(6, 50)...)
	if p := w.compile(); p.Opened != "" {
		t.Fatalf("opened %q", p.Opened)
	}
	if p := w.force(); p.Opened != prompt.ReasonFull || p.Passes != 1 || len(p.Checkpoints) != 1 {
		t.Errorf("opened %q, %v", p.Opened, p.Checkpoints)
	}
	w.request.Compression.Off = true
	w.append(work(56, 30)...)
	if p := w.force(); p.Opened != "" {
		t.Errorf("it was off and opened %q", p.Opened)
	}
}

// TestWordsAndUnitsOverRandomPasses lets anything happen and checks after every prompt that no message of the user
// was lost, that what was summarised were whole units, and that it fits.
func TestWordsAndUnitsOverRandomPasses(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		context := rapid.SampledFrom([]int{2048, 4096, 8192}).Draw(r, "context")
		steps := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) [2]int {
			return [2]int{rapid.IntRange(0, 9).Draw(r, "kind"), rapid.IntRange(1, 150).Draw(r, "size")}
		}), 20, 60).Draw(r, "steps")
		w := newWorld(t, context)
		w.watched(func(j *compress.Job) {
			for _, s := range append(slices.Clone(j.Sources), j.New) {
				if err := wholeUnits(&s); err != nil {
					r.Error(err)
				}
			}
		})
		open := []string{}
		counted := 0
		for i, s := range steps {
			switch kind, size := s[0], s[1]; {
			case kind < 3:
				w.append(user(words(size)))
				counted++
			case kind < 5:
				id := fmt.Sprint("c", i)
				open = append(open, id)
				w.append(call(id, id+"b"))
				w.append(result(id+"b", words(size)))
			case kind < 7 && len(open) > 0:
				w.append(result(open[0], words(size)))
				open = open[1:]
			default:
				w.append(work(10*i, 3)...)
			}
			if i%3 > 0 {
				continue
			}
			p := w.compile()
			named := w.accounted(p)
			if p.Account.Free() < 0 {
				r.Errorf("over by %d", -p.Account.Free())
			}
			total := int64(0)
			for _, h := range p.Paged {
				total += h.Messages
			}
			if total != int64(named) {
				r.Errorf("%d messages are named, the handles say %d: %v", named, total, p.Paged)
			}
			if share := w.request.Window.Usable * 30 / 100; lineOf(p, budget.Checkpoints) > share+compress.Frame {
				r.Errorf("checkpoints take %d of %d", lineOf(p, budget.Checkpoints), share)
			}
		}
		w.laidOut(w.last)
		if diff := cmp.Diff(w.epoch().Checkpoints, w.last.Checkpoints); diff != "" {
			r.Error(diff)
		}
	})
}
