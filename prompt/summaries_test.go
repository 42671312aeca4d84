package prompt_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// uncounted leaves out what a prompt took before a pass: from far behind not all of it was read.
var uncounted = cmpopts.IgnoreFields(prompt.Pass{}, "Before")

var passTime = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)

// extractive makes the summaries of a pass without a model.
func extractive(ctx context.Context, j *compress.Job) (compress.Outcome, error) {
	n := 0
	return j.Run(ctx, nil, compress.Options{}, func() string {
		n++
		return fmt.Sprintf("checkpoint-%d-%d", j.Pass.Number, n)
	}, passTime)
}

// summarised is a world whose turns leave their summaries behind.
func summarised(w *world) *world {
	w.request.Pass = extractive
	return w
}

func putCheckpoints(ctx context.Context, tx store.Tx, info turn.SessionInfo, passes []prompt.Pass) error {
	for _, p := range passes {
		for i := range p.Made {
			c := &p.Made[i]
			err := tx.Compress().InsertCheckpoint(ctx, info.Tenant, info.Segment, compress.Row{
				Number: c.Number, Version: c.Version, AfterSeq: info.Head, Doc: string(c.AppendJSON(nil)), At: tx.Now(),
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// compiled makes the next prompt with what the request says for it alone.
func (w *world) compiled(edit func(*prompt.Request)) *prompt.Prompt {
	w.Helper()
	request := w.request
	defer func() { w.request = request }()
	edit(&w.request)
	return w.compile()
}

// force makes a pass now.
func (w *world) force() *prompt.Prompt {
	w.Helper()
	return w.compiled(func(r *prompt.Request) { r.Force = true })
}

// back opens an epoch that shows what an earlier one did.
func (w *world) back(b prompt.Back) *prompt.Prompt {
	w.Helper()
	w.earlier, w.last = nil, nil
	return w.compiled(func(r *prompt.Request) { r.Back = &b })
}

// epochAt returns the epoch of that number.
func (w *world) epochAt(number int64) (e prompt.Epoch) {
	w.Helper()
	err := w.view(func(tx store.Tx, info turn.SessionInfo) error {
		row, err := tx.Prompt().Epoch(w.Context(), w.key.Tenant, info.Lineage(info.Head), number)
		if err == nil {
			e, err = prompt.DecodeEpoch(row)
		}
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return e
}

// standing are the checkpoints of the last epoch.
func (w *world) standing() (all []compress.Checkpoint) {
	w.Helper()
	refs := w.epoch().Checkpoints
	err := w.view(func(tx store.Tx, info turn.SessionInfo) error {
		for _, r := range refs {
			row, err := tx.Compress().Checkpoint(w.Context(), w.key.Tenant, info.Lineage(info.Head), r.Number, r.Version)
			if err != nil {
				return err
			}
			c, err := compress.DecodeCheckpoint(row.Doc)
			if err != nil {
				return err
			}
			if diff := cmp.Diff(r, prompt.RefOf(&c)); diff != "" {
				w.Errorf("checkpoint %d: %s", r.Number, diff)
			}
			all = append(all, c)
		}
		return nil
	})
	if err != nil {
		w.Fatal(err)
	}
	return all
}

// work is n turns of an agent that has something to tell, and results of its tools.
func work(from, n int) []turn.Draft {
	var drafts []turn.Draft
	for i := from; i < from+n; i++ {
		if i%5 == 4 {
			id := fmt.Sprint("c", i)
			drafts = append(drafts, call(id), result(id, fmt.Sprintf("file%d.go has %d lines and %d errors", i, 31*i, i%7)))
			continue
		}
		drafts = append(drafts, agent(fmt.Sprintf(
			"In step %d the parser of module%d read %d records from /srv/data/batch%d.csv. It took %d ms, which is fine. We decided to keep buffer%d. The next one is about retries and their order.",
			i, i%13, 1000+i, i, 20+i, i)))
	}
	return drafts
}

// lives lets the agent work, and the user speak now and then, until so many passes were made since the beginning.
func (w *world) lives(passes int64, each func(*prompt.Prompt)) {
	w.Helper()
	for i := 0; i < 4000; i += 4 {
		w.append(user(fmt.Sprintf("Request %d: see to table%d, please.", i, i)))
		w.append(work(i, 4)...)
		p := w.compile()
		if each != nil {
			each(p)
		}
		if p.Passes >= passes {
			return
		}
	}
	w.Fatalf("there were only %d passes", w.last.Passes)
}

// accounted checks that every message of the user on the path is in the prompt word for word or named by a
// handle, and returns how many are only named.
func (w *world) accounted(p *prompt.Prompt) (named int) {
	w.Helper()
	e := w.epoch()
	verbatim := map[int64]string{}
	for _, m := range p.Messages {
		if m.Role != prompt.User {
			continue
		}
		for i, seq := range m.Seqs {
			verbatim[seq] = m.Parts[i].Text
		}
	}
	err := w.view(func(tx store.Tx, info turn.SessionInfo) error {
		for _, s := range info.Spans(p.End) {
			turns, err := tx.Log().Scan(w.Context(), w.key.Tenant, s, turn.RowFilter{Role: turn.User}, 1<<30)
			if err != nil {
				return err
			}
			for _, t := range turns {
				text, isText := t.Content.(turn.Text)
				if !isText || !slices.ContainsFunc(e.Path, func(r turn.Range) bool { return t.Seq >= r.From && (t.Seq <= r.To || r.To == 0) }) {
					continue
				}
				shown, ok := verbatim[t.Seq]
				switch {
				case ok && shown != text.Text:
					return fmt.Errorf("turn %d was changed to %q", t.Seq, shown)
				case ok:
				case slices.ContainsFunc(p.Paged, func(h prompt.Handle) bool { return h.From <= t.Seq && t.Seq <= h.To }):
					named++
				default:
					return fmt.Errorf("turn %d is neither shown nor named: %v", t.Seq, p.Paged)
				}
			}
		}
		return nil
	})
	if err != nil {
		w.Fatal(err)
	}
	w.named(p)
	return named
}

// named checks that the handles are in order, apart from each other, and in the prompt.
func (w *world) named(p *prompt.Prompt) {
	w.Helper()
	text := textOf(p)
	end := int64(0)
	for _, h := range p.Paged {
		if h.From <= end || h.To < h.From || h.To >= p.From {
			w.Fatalf("handle %+v is out of order: %v", h, p.Paged)
		}
		end = h.To
		line := fmt.Sprintf("- turns %d to %d", h.From, h.To)
		if h.From == h.To {
			line = fmt.Sprintf("- turn %d,", h.From)
		}
		if !strings.Contains(text, line) {
			w.Fatalf("handle %+v is not in the prompt", h)
		}
	}
}

func overBudget(err error) *budget.OverBudgetError {
	var over *budget.OverBudgetError
	if errors.As(err, &over) {
		return over
	}
	return nil
}
