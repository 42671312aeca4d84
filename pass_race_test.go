package turnstone_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// halted is a session whose summariser waits for the test: asked says that it was asked, and closing answer lets
// it answer.
type halted struct {
	*turnstone.Session
	eng    *turnstone.Engine
	by     *summariser
	asked  chan struct{}
	answer chan struct{}
}

func newHalted(t *testing.T, exchanges int) *halted {
	t.Helper()
	h := &halted{asked: make(chan struct{}, 100), answer: make(chan struct{})}
	h.by = &summariser{do: func(ctx context.Context, r compress.Request) (string, error) {
		h.asked <- struct{}{}
		select {
		case <-h.answer:
			return extract(ctx, r)
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}}
	h.eng = open(t, mem.New(mem.Config{}), turnstone.Config{Summariser: h.by, SummariserName: "model"})
	h.Session = session(t, h.eng, "s")
	converseTo(t, h.Session, 0, exchanges)
	return h
}

// TestATurnAppendedWhileAPassRuns: the pass is for an epoch, and what is appended meanwhile does not disturb it.
func TestATurnAppendedWhileAPassRuns(t *testing.T) {
	h := newHalted(t, 9)
	var pass prompt.Pass
	var err error
	var wait sync.WaitGroup
	wait.Go(func() { pass, err = h.Compress(t.Context(), small) })
	<-h.asked
	converse(t, h.Session, 9)
	late := say(t, h.Session, turn.User, "Is anybody there?")
	close(h.answer)
	wait.Wait()
	if err != nil || h.by.asked.Load() != 1 || pass.Made[0].Receipt.By != "model" || pass.Range.To >= 18 {
		t.Fatalf("pass %+v, asked %d times, %v", pass.Range, h.by.asked.Load(), err)
	}
	p := compiled(t, h.Session, small)
	legal(t, p, 10)
	text := textOf(p)
	if !strings.Contains(text, "Is anybody there?") || !strings.Contains(text, "Order A-1009 went out") || p.End != late.Seq+1 || p.Passes != 1 {
		t.Errorf("%d passes, end %d: %s", p.Passes, p.End, text)
	}
}

// TestARestoreDuringAPass: the pass is for an epoch that is not in force any more, and is made again for the one
// that is. Nothing of what was taken back comes in with it.
func TestARestoreDuringAPass(t *testing.T) {
	h := newHalted(t, 9)
	compiled(t, h.Session, small)
	if _, err := h.Snapshot(t.Context(), "before"); err != nil {
		t.Fatal(err)
	}
	say(t, h.Session, turn.User, "Forget the orders, paint the fence.")
	say(t, h.Session, turn.Agent, strings.Repeat("The fence is painted green now, and it took all day to paint the fence. ", 40))
	say(t, h.Session, turn.User, "What now?")
	var err error
	var wait sync.WaitGroup
	wait.Go(func() { _, err = h.Compress(t.Context(), small) })
	<-h.asked
	if _, err := h.Restore(t.Context(), "before", small); err != nil {
		t.Fatal(err)
	}
	close(h.answer)
	wait.Wait()
	if err != nil {
		t.Fatal(err)
	}
	p := compiled(t, h.Session, small)
	legal(t, p, 9)
	if text := textOf(p); strings.Contains(text, "fence") || p.Passes != 1 {
		t.Errorf("%d passes: %s", p.Passes, text)
	}
	// The restore came before the pass: undone in their order, the fence is back.
	for range 2 {
		if _, err := h.Undo(t.Context(), 0, turnstone.PromptOptions{Model: "gpt-4o", Context: 32768}); err != nil {
			t.Fatal(err)
		}
	}
	p = compiled(t, h.Session, turnstone.PromptOptions{Model: "gpt-4o", Context: 32768})
	legal(t, p, 9)
	if text := textOf(p); !strings.Contains(text, "paint the fence") || len(p.Checkpoints) != 0 {
		t.Errorf("after both were undone: %s", text)
	}
}

// TestUndoAfterThreeMorePasses: the turns of an older pass come back word for word, beside the checkpoints.
func TestUndoAfterThreeMorePasses(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s := session(t, eng, "s")
	large := turnstone.PromptOptions{Model: "gpt-4o", Context: 16384}
	var second prompt.Pass
	for pass := range 5 {
		converseTo(t, s, 10*pass, 10*pass+10)
		made, err := s.Compress(t.Context(), large)
		if err != nil {
			t.Fatal(err)
		}
		if pass == 1 {
			second = made
		}
	}
	before := compiled(t, s, large)
	done, err := s.Undo(t.Context(), second.Number, large)
	if err != nil || done.Pass != 2 || done.Turns != second.Range {
		t.Fatalf("%+v, %v; want turns %v", done, err, second.Range)
	}
	p := compiled(t, s, large)
	legal(t, p, 50)
	shown := make(map[int64]bool)
	for _, m := range p.Messages {
		for _, seq := range m.Seqs {
			shown[seq] = true
		}
	}
	page, err := s.Query(t.Context(), turn.Query{From: done.Turns.From, To: done.Turns.To, Kind: turn.KindTurn, Limit: 1000})
	if err != nil || len(page.Turns) < 16 {
		t.Fatalf("%d turns, %v", len(page.Turns), err)
	}
	text := textOf(p)
	for _, at := range page.Turns {
		if !shown[at.Seq] || !strings.Contains(text, at.Content.Searchable()) {
			t.Errorf("turn %d is not shown", at.Seq)
		}
	}
	if len(p.Checkpoints) != len(before.Checkpoints) || p.Passes != before.Passes {
		t.Errorf("%d checkpoints, %d passes; before %d, %d", len(p.Checkpoints), p.Passes, len(before.Checkpoints), before.Passes)
	}
	if _, err := s.Undo(t.Context(), 17, large); err == nil {
		t.Error("a pass was undone that never was")
	}
}

// TestADamagedCheckpointIsMadeAgain: the next prompt has another in its place and says so; those that showed it
// cannot be made again, and say that.
func TestADamagedCheckpointIsMadeAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	reopened := func() *turnstone.Engine {
		st, err := sqlite.Open(t.Context(), path, sqlite.Config{})
		if err != nil {
			t.Fatal(err)
		}
		return open(t, st, turnstone.Config{})
	}
	for name, statement := range map[string]string{
		"text":    `UPDATE checkpoints SET doc = replace(doc, 'Order A-1001', 'Order B-6666')`,
		"garbage": `UPDATE checkpoints SET doc = '{'`,
		"lost":    `DELETE FROM checkpoints`,
	} {
		t.Run(name, func(t *testing.T) {
			eng := reopened()
			s := session(t, eng, name)
			converseTo(t, s, 0, 9)
			compressed(t, s)
			before := compiled(t, s, small)
			legal(t, before, 9)
			calls, err := s.Prompts(t.Context(), 0, 100)
			if err != nil || len(calls) == 0 {
				t.Fatal(calls, err)
			}
			damage(t, path, statement)
			other := reopened()
			s = session(t, other, name)
			p := compiled(t, s, small)
			legal(t, p, 9)
			text := textOf(p)
			if p.Opened != prompt.ReasonDamaged || strings.Contains(text, "B-6666") || len(p.Checkpoints) != 1 || p.Checkpoints[0].Range != before.Checkpoints[0].Range {
				t.Errorf("opened %q, checkpoints %+v: %s", p.Opened, p.Checkpoints, text)
			}
			if _, err := s.Again(t.Context(), calls[len(calls)-1]); !errors.Is(err, prompt.ErrChanged) {
				t.Errorf("the older prompt: %v", err)
			}
			if again := compiled(t, s, small); again.SHA256 != p.SHA256 || again.Opened != "" {
				t.Errorf("compiled again it is another: %s", again.Opened)
			}
			if told := eventsOf(t, other, s, event.CompressionError); len(told) != 1 || !strings.Contains(told[0].Data, "damaged") {
				t.Errorf("told of the damage: %+v", told)
			}
		})
	}
}

// TestTwoEnginesCompressOneSession: of two passes over one epoch exactly one wins, and the other is made over the
// next or not at all.
func TestTwoEnginesCompressOneSession(t *testing.T) {
	engines := twoEngines(t)
	ctx := t.Context()
	sessions := make([]*turnstone.Session, len(engines))
	for i, eng := range engines {
		sessions[i] = session(t, eng, "talk")
	}
	won, useless := 0, 0
	const rounds = 6
	for round := range rounds {
		converseTo(t, sessions[0], 8*round, 8*round+8)
		errs := make([]error, len(sessions))
		var wait sync.WaitGroup
		for i, s := range sessions {
			wait.Go(func() { _, errs[i] = s.Compress(ctx, small) })
		}
		wait.Wait()
		for _, err := range errs {
			switch {
			case err == nil:
				won++
			case errors.Is(err, turnstone.ErrNothingToCompress):
				useless++
			default:
				t.Errorf("round %d: %v", round, err)
			}
		}
		prompts := make([]*prompt.Prompt, len(sessions))
		for i, s := range sessions {
			wait.Go(func() {
				p, err := s.Prompt(ctx, small)
				if err != nil {
					t.Error(err)
				}
				prompts[i] = p
			})
		}
		wait.Wait()
		if prompts[0] == nil || prompts[1] == nil || prompts[0].SHA256 != prompts[1].SHA256 {
			t.Fatalf("round %d: the engines show different prompts", round)
		}
		legal(t, prompts[1], 8*round+8)
		if prompts[0].Passes != int64(won) {
			t.Fatalf("round %d: %d passes won, the prompt went through %d", round, won, prompts[0].Passes)
		}
	}
	told := eventsOf(t, engines[1], sessions[1], event.Compressed)
	for i, e := range told {
		if !strings.HasPrefix(e.Data, fmt.Sprintf(`{"pass":%d,`, i+1)) {
			t.Errorf("pass %d was announced as %s", i+1, e.Data)
		}
	}
	if len(told) != won || won < rounds || won+useless != 2*rounds {
		t.Errorf("%d passes were announced, %d won, %d were of no use", len(told), won, useless)
	}
	checkPassRows(t, engines[1], sessions[1], won)
}

// checkPassRows fails unless so many passes left exactly what they should: one summary in the log and one snapshot
// each, and checkpoints of their numbers whose versions have no gaps.
func checkPassRows(t *testing.T, eng *turnstone.Engine, s *turnstone.Session, passes int) {
	t.Helper()
	page, err := s.Query(t.Context(), turn.Query{Kind: turn.KindSummary, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	made := eventsOf(t, eng, s, event.AutoSummaryCreated)
	if len(page.Turns) != len(made) || len(made) != passes {
		t.Errorf("%d summaries in the log, %d announced, %d passes", len(page.Turns), len(made), passes)
	}
	next := int64(1)
	for i, sum := range page.Turns {
		if want := fmt.Sprintf("checkpoint-%d", i+1); sum.MessageID != want || sum.Covers.From > next || sum.Covers.To < next {
			t.Errorf("summary %d is %s of %v, from %d on", i+1, sum.MessageID, sum.Covers, next)
		}
		next = sum.Covers.To + 1
		versions, err := s.CheckpointVersions(t.Context(), int64(i+1))
		if err != nil {
			t.Fatal(err)
		}
		for k, c := range versions {
			if c.Number != int64(i+1) || c.Version != int64(k+1) {
				t.Errorf("version %d of checkpoint %d is %d of %d", k+1, i+1, c.Version, c.Number)
			}
		}
	}
	if taken := eventsOf(t, eng, s, event.AutoSnapshotCreated); len(taken) < passes {
		t.Errorf("%d snapshots before %d passes", len(taken), passes)
	}
}
