package prompt

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

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
	if g := next.epoch.Goal; g != nil && !strings.Contains(next.messages[0].Parts[0].Text, goalBlock(g)) {
		return fmt.Errorf("goal %s: %w", g.ID, errLost)
	}
	return nil
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
