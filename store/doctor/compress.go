package doctor

import (
	"encoding/json"

	"github.com/turnstone-dev/turnstone/internal/ids"
)

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
	if !json.Valid([]byte(f.text("doc"))) {
		e.wrong(f.table, s, "the document of version %d of checkpoint %d is not JSON", v.number, number)
	}
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
	if s, ok := e.owner(f); ok && !json.Valid([]byte(f.text("doc"))) {
		e.wrong(f.table, s, "what is known of its failed passes is not JSON")
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
	if !json.Valid([]byte(f.text("doc"))) {
		e.wrong(f.table, s, "the document of snapshot %s is not JSON", id)
	}
}
