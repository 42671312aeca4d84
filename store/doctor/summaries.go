package doctor

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// summaries is what epochs show in the place of turns, and what there is of it. Epochs come before checkpoints.
type summaries struct {
	shown map[reference]version // by the first epoch that shows it
	made  map[place]summary
}

// place is a version of a checkpoint in a segment.
type place struct {
	in              *segment
	number, version int64
}

// reference is a version of a checkpoint as the epochs of a segment know it.
type reference struct {
	place
	turn.Range
	sum [sha256.Size]byte
}

// summary is what is known of a version of a checkpoint.
type summary struct {
	turn.Range
	after   int64
	sum     [sha256.Size]byte
	damaged bool // and reported
}

func newSummaries() summaries {
	return summaries{shown: make(map[reference]version), made: make(map[place]summary)}
}

// refer notes what an epoch shows in the place of turns. These lie before those that it shows in full, the oldest
// first.
func (e *examination) refer(f fields, s *segment, epoch *prompt.Epoch) {
	next := int64(1)
	for _, r := range epoch.Checkpoints {
		if r.From < next || r.To < r.From || r.To >= epoch.From {
			e.wrong(f.table, s, "epoch %d has checkpoint %d for turns %d–%d, where there is room from %d to %d", epoch.Number, r.Number, r.From, r.To, next, epoch.From-1)
		}
		next = max(next, r.To+1)
		ref := reference{place: place{s, r.Number, r.Version}, Range: r.Range}
		if n, err := hex.Decode(ref.sum[:], []byte(r.SHA256[:min(len(r.SHA256), 2*sha256.Size)])); err != nil || n != sha256.Size || len(r.SHA256) != 2*sha256.Size {
			e.wrong(f.table, s, "epoch %d has %.80q for the SHA-256 of checkpoint %d", epoch.Number, r.SHA256, r.Number)
			continue
		}
		if _, noted := e.summaries.shown[ref]; !noted {
			e.summaries.shown[ref] = version{epoch.Number, epoch.AfterSeq}
		}
	}
}

// seen returns a version of a checkpoint as the session sees it: its own, or the one it inherits.
func (e *examination) seen(p place) (found summary, ok bool) {
	if found, ok = e.summaries.made[p]; ok {
		return found, true
	}
	for _, in := range slices.Backward(p.in.inherited) {
		found, ok = e.summaries.made[place{e.segments[in.Segment], p.number, p.version}]
		// What hangs on the fork point itself is the fork's own.
		if ok && found.after < in.To {
			return found, true
		}
	}
	return summary{}, false
}

// finishSummaries holds what epochs show against what there is.
func (e *examination) finishSummaries() {
	refs := slices.SortedFunc(maps.Keys(e.summaries.shown), func(a, b reference) int {
		return cmp.Or(cmp.Compare(a.in.number, b.in.number), cmp.Compare(e.summaries.shown[a].number, e.summaries.shown[b].number),
			cmp.Compare(a.number, b.number), cmp.Compare(a.version, b.version))
	})
	for _, ref := range refs {
		epoch := e.summaries.shown[ref]
		found, ok := e.seen(ref.place)
		switch {
		case !ok:
			e.wrong("epochs", ref.in, "epoch %d shows version %d of checkpoint %d, which there is not: %s", epoch.number, ref.version, ref.number, madeAnew)
		case found.damaged:
		case found.sum != ref.sum || found.Range != ref.Range:
			e.wrong("epochs", ref.in, "epoch %d shows version %d of checkpoint %d, which was another one then: %s", epoch.number, ref.version, ref.number, madeAnew)
		case found.after > epoch.after:
			e.wrong("epochs", ref.in, "epoch %d, opened after turn %d, shows version %d of checkpoint %d, which was made after turn %d",
				epoch.number, epoch.after, ref.version, ref.number, found.after)
		}
	}
}
