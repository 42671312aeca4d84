package prompt

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

// errLost says that a pass would lose what may never be compressed. It is a mistake of the engine, found
// before it did any harm: the pass is not made.
var errLost = errors.New("a pass would lose what is never compressed, and was not made; please report this")

// proved checks, after a pass, that everything is still there that is never compressed: what the user said, word
// for word or by a handle, the pins and the goal. Blocks are those that were shown or read before it.
func (next *Projection) proved(blocks []block, ch change) error {
	for i := range blocks {
		if b := &blocks[i]; b.said && !next.holds(b) && !next.names(b.Range) {
			return fmt.Errorf("turn %d, said by the user: %w", b.From, errLost)
		}
	}
	for _, r := range ch.pins {
		if r.To < ch.from && !slices.ContainsFunc(next.epoch.Kept, func(k Kept) bool { return k.Range == r && k.Why == Pinned }) {
			return fmt.Errorf("turn %d, which is pinned: %w", r.From, errLost)
		}
	}
	if g := next.epoch.Goal; g != nil && !strings.Contains(next.messages[0].Parts[0].Text, unforged(goalBlock(g))) {
		return fmt.Errorf("goal %s: %w", g.ID, errLost)
	}
	return nil
}

// lost are the turns that say what may not be rewritten and would neither be quoted nor named after a pass: of what is
// found now in the turns that left, all of those that were not looked at, and what the prompt before quoted or named. It
// is an error if what is quoted is not shown.
func (next *Projection) lost(before *Projection, left []turn.Turn, unseen turn.Range, mode string) (lost []turn.Range, err error) {
	now, was := next.quoted(), before.quoted()
	lose := func(seq int64) { lost = append(lost, turn.Range{From: seq, To: seq}) }
	note := Message{Role: Note, Parts: []Part{{Text: now.note()}}}.unforged()
	if text := note.Parts[0].Text; text != "" && !slices.ContainsFunc(next.messages, func(m Message) bool { return m.Role == Note && m.Parts[0].Text == text }) {
		return nil, fmt.Errorf("what is quoted is not shown: %w", errLost)
	}
	held := now.held()
	said := make(map[string][]int64) // who said what was quoted before
	holds := func(seq int64, words string) bool {
		return now.names(seq) || slices.ContainsFunc(held, func(text string) bool { return strings.Contains(text, words) }) ||
			slices.ContainsFunc(said[words], now.names)
	}
	for i, q := range was.quotes {
		if was.texts[i] == "" {
			continue // nobody can quote it any more
		}
		if q.Tokens > 0 && !now.names(q.Turn) || q.Tokens == 0 && !holds(q.Turn, was.texts[i]) {
			lose(q.Turn)
		}
		if q.Tokens == 0 {
			said[was.texts[i]] = append(said[was.texts[i]], q.Turn)
		}
	}
	for _, r := range append(slices.Clone(was.unquoted), unseen) {
		if r.From <= r.To && r.To > 0 && !slices.ContainsFunc(now.unquoted, func(o turn.Range) bool { return o.From <= r.From && r.To <= o.To }) {
			lost = append(lost, r)
		}
	}
	source := compress.Source{Turns: left}
	wording := make(map[int64]string)
	for i := range left {
		wording[left[i].Seq] = compress.Wording(&left[i])
	}
	for _, q := range source.Quotes(mode) {
		if !holds(q.Seq, wording[q.Seq][q.From:q.To]) {
			lose(q.Seq)
		}
	}
	return lost, nil
}

// holds reports whether the projection shows a block as it is.
func (p *Projection) holds(b *block) bool {
	for _, blocks := range [][]block{p.kept, p.recent} {
		if slices.ContainsFunc(blocks, func(o block) bool { return o.Range == b.Range && reflect.DeepEqual(o.messages, b.messages) }) {
			return true
		}
	}
	return false
}

// names reports whether a handle names all of a range.
func (p *Projection) names(r turn.Range) bool {
	return slices.ContainsFunc(p.epoch.Paged, func(h Handle) bool { return h.From <= r.From && r.To <= h.To })
}
