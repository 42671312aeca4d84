package doctor

import (
	"crypto/sha256"
	"encoding/json"
	"time"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/snapshot"
)

// madeAnew is what becomes of a damaged checkpoint.
const madeAnew = "prompts that showed it cannot be made again; the next prompt that needs it makes it anew"

// checkpoints is where the versions of checkpoints stand: those of one number come one after the other.
type checkpoints struct {
	of         *segment
	number     int64
	last       version
	begun      []agedFirst
	bequeathed map[checkpoint][]version // of segments that forks inherit from
}

// checkpoint is a number in a segment.
type checkpoint struct {
	in     *segment
	number int64
}

// agedFirst is the first version that a fork's own segment has of a checkpoint.
type agedFirst struct {
	checkpoint
	version int64
}

func (e *examination) checkpoint(f fields) {
	s, ok := e.owner(f)
	if !ok {
		return
	}
	number, v, at := f.int("number"), version{f.int("version"), f.int("after_seq")}, &e.checkpoints
	switch {
	case at.of == s && at.number == number:
		if v.number != at.last.number+1 || v.after < at.last.after {
			e.wrong(f.table, s, "version %d of checkpoint %d after turn %d follows version %d after turn %d", v.number, number, v.after, at.last.number, at.last.after)
		}
	case len(s.inherited) > 0:
		at.begun = append(at.begun, agedFirst{checkpoint{s, number}, v.number})
	case v.number != 1:
		e.wrong(f.table, s, "the first version of checkpoint %d is %d", number, v.number)
	}
	at.of, at.number, at.last = s, number, v
	if v.after < s.forkSeq || v.after > s.head {
		e.wrong(f.table, s, "version %d of checkpoint %d comes after turn %d of %d–%d", v.number, number, v.after, s.forkSeq, s.head)
	}
	if s.bequeaths {
		if at.bequeathed == nil {
			at.bequeathed = make(map[checkpoint][]version)
		}
		at.bequeathed[checkpoint{s, number}] = append(at.bequeathed[checkpoint{s, number}], v)
	}
	e.summaries.made[place{s, number, v.number}] = e.summary(f, s, number, v)
}

// summary looks at the document of a checkpoint.
func (e *examination) summary(f fields, s *segment, number int64, v version) summary {
	doc := f.text("doc")
	found := summary{after: v.after, sum: sha256.Sum256([]byte(doc)), damaged: true}
	if doc == "" {
		return found // it was emptied since a turn of it was forgotten, or lost before a bundle was made: it is made anew
	}
	if !json.Valid([]byte(doc)) {
		e.wrong(f.table, s, "the document of version %d of checkpoint %d is not JSON: %s", v.number, number, madeAnew)
		return found
	}
	c, err := compress.DecodeCheckpoint(doc)
	switch {
	case err != nil:
		e.wrong(f.table, s, "version %d of checkpoint %d: %v: %s", v.number, number, err, madeAnew)
	case c.Number != number || c.Version != v.number:
		e.wrong(f.table, s, "version %d of checkpoint %d holds version %d of checkpoint %d: %s", v.number, number, c.Version, c.Number, madeAnew)
	case c.Range.To > v.after:
		e.wrong(f.table, s, "version %d of checkpoint %d, made after turn %d, covers turns %d–%d: %s", v.number, number, v.after, c.Range.From, c.Range.To, madeAnew)
	default:
		found.Range, found.damaged = c.Range, false
	}
	return found
}

// finishCheckpoints holds what forks aged first against what they inherit. A fork may have copies of what
// its parent has at the fork point and counts on from there; what the parent adds there later does not count.
func (e *examination) finishCheckpoints() {
	for _, first := range e.checkpoints.begun {
		before, at := int64(0), int64(0)
		for _, in := range first.in.inherited {
			for _, v := range e.checkpoints.bequeathed[checkpoint{e.segments[in.Segment], first.number}] {
				if v.after < in.To {
					before = max(before, v.number)
				}
				if v.after <= in.To {
					at = max(at, v.number)
				}
			}
		}
		if first.version <= before || first.version > at+1 {
			e.wrong("checkpoints", first.in, "version %d of checkpoint %d follows version %d that it inherits", first.version, first.number, at)
		}
	}
}

func (e *examination) breaker(f fields) {
	s, ok := e.owner(f)
	if !ok {
		return
	}
	const forgotten = "it counts as none, and the next pass writes it anew"
	if !json.Valid([]byte(f.text("doc"))) {
		e.wrong(f.table, s, "what is known of its failed passes is not JSON: %s", forgotten)
	} else if _, err := compress.DecodeBreaker(f.text("doc")); err != nil {
		e.wrong(f.table, s, "what is known of its failed passes: %v: %s", err, forgotten)
	}
}

func (e *examination) snapshot(f fields) {
	s, ok := e.owner(f)
	if !ok {
		return
	}
	id, after := f.text("snapshot_id"), f.int("after_seq")
	if !ids.Valid(id) {
		e.wrong(f.table, s, "snapshot %q: its id is not a ULID", id)
	}
	if after < s.forkSeq || after > s.head {
		e.wrong(f.table, s, "snapshot %s comes after turn %d of %d–%d", id, after, s.forkSeq, s.head)
	}
	if auto := f.value("auto"); auto != nil && auto != int64(1) {
		e.wrong(f.table, s, "snapshot %s was taken by %v, which is neither the user (null) nor the engine (1)", id, auto)
	}
	const lost = "it cannot be gone back to; delete it"
	if !json.Valid([]byte(f.text("doc"))) {
		e.wrong(f.table, s, "the document of snapshot %s is not JSON: %s", id, lost)
		return
	}
	row := snapshot.Row{ID: id, AfterSeq: after, Auto: f.value("auto") == int64(1), Doc: f.text("doc"), At: time.UnixMicro(f.int("created_at")).UTC()}
	switch taken, err := snapshot.Decode(row); {
	case err != nil:
		e.wrong(f.table, s, "%v: %s", err, lost)
	case taken.Epoch != 0 && !e.prompts.known.has(epochPlace(s, taken.Epoch)) && !e.prompts.epochs.inherits(e, s, taken.Epoch):
		e.wrong(f.table, s, "snapshot %s is of epoch %d, which there is not: %s", id, taken.Epoch, lost)
	}
}
