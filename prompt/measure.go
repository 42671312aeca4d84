package prompt

import (
	"context"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

// maxMeasured is how many turns are held against a prompt at most: the newest of those that left it.
const maxMeasured = 4096

// Measure says how much of what matters in the turns that left a prompt it still holds, or names so that it can
// be looked up: of decisions, requests, files, next steps, what the mode protects, and literals. Of a long
// session the newest 4,096 such turns are measured. Named is how much of what it holds it only names.
func Measure(ctx context.Context, rows AllRows, session turn.SessionInfo, p *Prompt) (held, named, total int, err error) {
	l := log{ctx, rows.Turns, &session}
	turns, err := l.scan(p.Path, 1, p.From-1, true, maxMeasured)
	if err != nil || len(turns) == 0 {
		return 0, 0, 0, err
	}
	slices.Reverse(turns)
	if turns, err = l.whole(p.Path, turns, p.From-1); err != nil || len(turns) == 0 {
		return 0, 0, 0, err
	}
	said := map[int64]bool{}
	for i := range turns {
		said[turns[i].Seq] = turns[i].Role == turn.User
	}
	quoted := quotation{quotes: p.Quotes, unquoted: p.Unquoted}
	reached := func(seq int64, kind compress.FactKind) bool {
		if said[seq] {
			return slices.ContainsFunc(p.Paged, func(h Handle) bool { return seq >= h.From && seq <= h.To })
		}
		// A range of turns is named for what it decides, and not for all that stands in it.
		return kind.Quoted() && quoted.names(seq)
	}
	source := compress.NewSource(turn.Range{From: turns[0].Seq, To: turns[len(turns)-1].Seq}, turns, nil)
	held, named, total = compress.Measure(source, session.Mode, p.text(), p.named(), reached)
	return held, named, total, nil
}

// text is everything that a prompt says.
func (p *Prompt) text() string {
	var b strings.Builder
	for i := range p.Messages {
		m := &p.Messages[i]
		for _, part := range m.Parts {
			b.WriteString(part.Text)
			b.WriteByte('\n')
		}
		for _, c := range m.Calls {
			b.WriteString(c.Name + " " + c.Arguments + "\n")
		}
	}
	return b.String()
}
