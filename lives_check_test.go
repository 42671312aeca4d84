package turnstone_test

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/turn"
)

// looking compiles a prompt and keeps nothing of it.
var looking = turnstone.PromptOptions{Model: tight.Model, Context: tight.Context, Preview: true}

// check looks at what must be so of a session at any time.
func (l *lives) check(rt *rapid.T, s *life) {
	path := l.path(rt, s)
	on := func(seq int64) bool {
		return slices.ContainsFunc(path, func(r turn.Range) bool { return seq >= r.From && (r.To == 0 || seq <= r.To) })
	}
	l.historyIsWhole(rt, s, on)
	l.windowIsTheEnd(rt, s, path)
	p, err := s.Prompt(l.ctx, looking)
	if may(rt, err, turnstone.ErrOverBudget); err == nil {
		l.promptIsLegal(rt, s, p, on)
	}
	l.promptsAreAgain(rt, s)
	l.nothingForgottenIsLeft(rt, s, p)
}

// historyIsWhole: it shows what is on the path, and no result without its call.
func (l *lives) historyIsWhole(rt *rapid.T, s *life, on func(int64) bool) {
	turns, err := s.History(l.ctx, turn.HistoryOptions{Turns: 1000, KeepSystem: true})
	may(rt, err)
	began := map[int64]bool{}
	for _, one := range turns {
		if !on(one.Seq) {
			rt.Fatalf("%s: turn %d of its history is not on its path", s.ID(), one.Seq)
		}
		if one.Seq == one.Unit {
			began[one.Unit] = true
		}
		if one.Unit != 0 && !began[one.Unit] {
			rt.Fatalf("%s: turn %d without its call %d", s.ID(), one.Seq, one.Unit)
		}
	}
}

// windowIsTheEnd: what is kept in memory is what the log says.
func (l *lives) windowIsTheEnd(rt *rapid.T, s *life, path []turn.Range) {
	window, err := s.Window(l.ctx)
	may(rt, err)
	end, err := s.History(l.ctx, turn.HistoryOptions{Turns: turn.WindowSize, Path: path})
	may(rt, err)
	same := func(a, b turn.Turn) bool { return a.Seq == b.Seq && a.Gone() == b.Gone() }
	if !slices.EqualFunc(window, end, same) {
		rt.Fatalf("%s: the window has %v, the log ends with %v", s.ID(), seqs(window), seqs(end))
	}
}

// promptIsLegal: it fits, shows nothing that is off the path and no result without its call.
func (l *lives) promptIsLegal(rt *rapid.T, s *life, p *prompt.Prompt, on func(int64) bool) {
	if p.Count.Tokens > tight.Context {
		rt.Fatalf("%s: a prompt of %d tokens", s.ID(), p.Count.Tokens)
	}
	calls := map[string]bool{}
	for _, m := range p.Messages {
		for _, c := range m.Calls {
			calls[c.ID] = true
		}
		if m.Role == prompt.Tool && !calls[m.CallID] {
			rt.Fatalf("%s: a result without its call in\n%s", s.ID(), textOf(p))
		}
		for _, seq := range m.Seqs {
			if !on(seq) {
				rt.Fatalf("%s: turn %d of its prompt is not on its path", s.ID(), seq)
			}
		}
	}
}

// promptsAreAgain: what the model saw can be shown again, but for what was forgotten.
func (l *lives) promptsAreAgain(rt *rapid.T, s *life) {
	calls, err := s.Prompts(l.ctx, 0, 1000)
	may(rt, err)
	for i, c := range calls {
		if c.Number != int64(i+1) {
			rt.Fatalf("%s: prompt %d has the number %d", s.ID(), i+1, c.Number)
		}
		if _, err := s.Again(l.ctx, c); !s.forgotten || !errors.Is(err, prompt.ErrChanged) {
			may(rt, err)
		}
	}
}

// nothingForgottenIsLeft: neither in what would move with the session nor in what the model would be shown.
func (l *lives) nothingForgottenIsLeft(rt *rapid.T, s *life, p *prompt.Prompt) {
	if len(l.gone) == 0 {
		return
	}
	shown := l.bundle(rt, s)
	if p != nil {
		shown = append(shown, textOf(p)...)
	}
	for _, at := range ownWords.FindAllIndex(shown, -1) {
		if word := string(shown[at[0]:at[1]]); slices.Contains(l.gone, word) {
			rt.Fatalf("%s: %s was forgotten, and is in %q", s.ID(), word, shown[max(0, at[0]-300):min(len(shown), at[1]+200)])
		}
	}
}

func (l *lives) bundle(rt *rapid.T, s *life) []byte {
	var out bytes.Buffer
	_, err := s.WriteBundle(l.ctx, &out, replay.WriteOptions{})
	may(rt, err)
	return out.Bytes()
}

// moves: a bundle brings a session whole; each turn of it can be looked at, and its last pass undone.
func (l *lives) moves(rt *rapid.T, s *life, name string) {
	bundle := l.bundle(rt, s)
	moved, err := l.engine.ImportBundle(l.ctx, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(bundle)), nil }, replay.ImportOptions{As: name})
	may(rt, err)
	there, err := s.Epoch(l.ctx, turnstone.Head)
	may(rt, err)
	here, err := moved.Epoch(l.ctx, turnstone.Head)
	may(rt, err)
	if !slices.Equal(there.Path, here.Path) || there.Number != here.Number {
		rt.Fatalf("%s: the epoch %+v became %+v", s.ID(), there, here)
	}
	from, err := s.Prompt(l.ctx, looking)
	to, moveErr := moved.Prompt(l.ctx, looking)
	if (err == nil) != (moveErr == nil) || err == nil && textOf(from) != textOf(to) {
		rt.Fatalf("%s: the prompt (%v)\n%s\nbecame (%v)\n%s", s.ID(), err, textOf(from), moveErr, textOf(to))
	}
	seq := rapid.Int64Range(0, l.head(rt, s)).Draw(rt, "looked at")
	if _, _, err := s.PromptAt(l.ctx, seq, looking); !s.forgotten || !errors.Is(err, prompt.ErrChanged) {
		may(rt, err, turnstone.ErrOverBudget)
	}
	undone, err := s.Undo(l.ctx, 0, looking)
	movedUndone, moveErr := moved.Undo(l.ctx, 0, looking)
	if (err == nil) != (moveErr == nil) || undone != movedUndone {
		rt.Fatalf("%s: undo made %+v (%v), there %+v (%v)", s.ID(), undone, err, movedUndone, moveErr)
	}
	_, err = s.Status(l.ctx, looking)
	may(rt, err, turnstone.ErrOverBudget)
}
