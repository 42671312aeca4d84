package prompt_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// importer is a conversation with two checkpoints, and a pinned turn and a long paste of the user in the first.
func importer(t *testing.T) *world {
	w := newWorld(t, 4608)
	w.begin(prompt.Settings{System: "Be brief."})
	w.append(
		user("Write the importer for /srv/data."), agent("The format is CSV with a header."), user("Here is one:"+strings.Repeat(" 17;31;ok", 140)),
		agent("I see."), part("m", "Look at"), part("m", "both files."), agent("Done."),
		user("And the other one?"), call("a"), result("a", "none"), agent("There is none."), user("Good."), agent("What now?"),
	)
	w.compile()
	passes := make([]prompt.Pass, 2)
	var refs []prompt.Ref
	for i, r := range []turn.Range{{From: 1, To: 7}, {From: 8, To: 11}} {
		out, err := scripted(t.Context(), &compress.Job{Pass: compress.Pass{Number: int64(i + 1), Range: r}})
		if err != nil {
			t.Fatal(err)
		}
		passes[i].Made = out.Made
		refs = append(refs, prompt.RefOf(&out.Made[0]))
	}
	w.update(func(tx store.Tx) error {
		info, err := tx.Log().Session(t.Context(), w.key)
		if err != nil {
			return err
		}
		return putCheckpoints(t.Context(), tx, info, passes)
	})
	w.pin(2)
	w.reopen(func(e *prompt.Epoch) {
		e.From, e.Passes, e.Checkpoints = 12, 2, refs
		e.Kept = slices.Concat(kept(prompt.Said, 1), kept(prompt.Pinned, 2), kept(prompt.Said, 8))
		e.Paged = []prompt.Handle{w.handle(3, 850), {Range: turn.Range{From: 5, To: 6}, Messages: 1, Tokens: 12}}
	})
	w.compile()
	return w
}

// scripted makes one checkpoint of what leaves, whatever it is.
func scripted(_ context.Context, j *compress.Job) (compress.Outcome, error) {
	c := compress.Checkpoint{
		ID: fmt.Sprint("checkpoint-", j.Pass.Number), Number: j.Pass.Number, Version: 1, Level: compress.Detailed, Range: j.Pass.Range,
		Summary: fmt.Sprintf("agent: wrote part %d of the importer\n\n", j.Pass.Number), CreatedAt: passTime, CompressedAt: passTime,
		OriginalTokens: 1000, CurrentTokens: 10, CompressionCount: 1, SourceHash: j.New.Hash(),
		Receipt: compress.Receipt{By: compress.ByExtract, Before: 1000, After: 10, SourceHash: j.New.Hash()},
	}
	return compress.Outcome{Live: append(slices.Clone(j.Live), c), Made: []compress.Checkpoint{c}}, nil
}

func TestAWholePrompt(t *testing.T) {
	w := importer(t)
	golden(t, "prompt-1.jsonl", strings.TrimSuffix(textOf(w.last), "\n"))
	e := w.epoch()
	if len(e.Checkpoints) != 2 || len(e.Paged) != 2 || !slices.Contains(e.Kept, kept(prompt.Pinned, 2)[0]) {
		t.Errorf("%+v", e)
	}
	w.laidOut(w.last)
}

var noteOf = regexp.MustCompile(`^\[Turnstone note, not said by the user\]\nTurns (\d+) to (\d+) of this conversation(, in short:\n| are not shown\.)`)

// laidOut checks the order of a prompt: the sections in the order of the log, each with its note first, then the
// handles of what the user said in it, then what is kept of it in order, and the recent turns at the end.
func (w *world) laidOut(p *prompt.Prompt) {
	w.Helper()
	e := w.epoch()
	var section turn.Range
	var kept []prompt.Kept
	notes, handles := 0, 0
	for _, m := range p.Messages {
		text := ""
		if len(m.Parts) > 0 {
			text = m.Parts[0].Text
		}
		switch found := noteOf.FindStringSubmatch(text); {
		case m.Role == prompt.Note && found != nil:
			next := turn.Range{From: number(w, found[1]), To: number(w, found[2])}
			if next.From <= section.To {
				w.Fatalf("section %v comes after %v", next, section)
			}
			i := slices.IndexFunc(e.Checkpoints, func(r prompt.Ref) bool { return r.Range == next })
			if summarised := strings.HasPrefix(found[3], ","); summarised != (i >= 0) {
				w.Fatalf("section %v: %q, the checkpoints are %v", next, text, e.Checkpoints)
			}
			section = next
			notes++
		case m.Role == prompt.Note && strings.Contains(text, "Messages of the user that stand in the log"):
			for _, h := range e.Paged[handles:] {
				if h.To > section.To {
					break
				}
				handles++
			}
			if lines := strings.Count(text, "\n- "); lines == 0 || lines > handles {
				w.Fatalf("%q names %d messages", text, lines)
			}
		case len(m.Seqs) > 0 && len(kept) < len(e.Kept):
			last := m.Seqs[len(m.Seqs)-1]
			k := e.Kept[len(kept)]
			if last < k.From || last > k.To || k.To > section.To || k.To < section.From {
				w.Fatalf("turn %d is shown in section %v where %v is to be", last, section, k)
			}
			if last == k.To || m.Role == prompt.Tool {
				kept = e.Kept[:len(kept)+1]
			}
		}
	}
	if handles != len(e.Paged) || len(kept) != len(e.Kept) || notes < len(e.Checkpoints) {
		w.Fatalf("%d of %d handles, %d of %d kept, %d notes for %d checkpoints", handles, len(e.Paged), len(kept), len(e.Kept), notes, len(e.Checkpoints))
	}
}

func number(w *world, s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		w.Fatal(err)
	}
	return n
}

func TestSectionsOfAPrompt(t *testing.T) {
	for name, w := range map[string]*world{
		"summarised": summarised(newWorld(t, 8192)), "truncated": newWorld(t, 8192), "progressive": summarised(newWorld(t, 16_384)),
	} {
		t.Run(name, func(t *testing.T) {
			w.append(user(words(w.request.Window.Usable/4)), agent("A key: 7f3a."))
			w.pin(2)
			w.lives(4, func(p *prompt.Prompt) {
				if p.Opened == prompt.ReasonFull {
					w.laidOut(p)
					w.accounted(p)
				}
			})
			text := textOf(w.last)
			if !regexp.MustCompile(`- turn 1, \d+ tokens: \\"word word `).MatchString(text) {
				t.Errorf("the handle is missing: %.2000s", text)
			}
			if strings.Contains(text, "are not shown.") != (name == "truncated") {
				t.Errorf("%.400s", text)
			}
		})
	}
}
