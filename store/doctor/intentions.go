package doctor

import (
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/scratch"
)

// intention is a goal or an action of a session.
type intention struct {
	kind cortex.Kind
	id   string
}

// version is one of its versions, and the turn it was written after.
type version struct{ number, after int64 }

// intentions is where the versions stand: those of one goal come one after the other.
type intentions struct {
	of    *segment
	which intention
	last  version
	begun []beginning // by forks
}

// beginning is the first version that a fork's own segment has of something.
type beginning struct {
	in     *segment
	which  intention
	number int64
}

func (e *examination) intention(f fields) {
	s, ok := e.owner(f)
	if !ok {
		return
	}
	which := intention{cortex.Kind(f.text("kind")), f.text("id")}
	v := version{f.int("version"), f.int("after_seq")}
	at := &e.intentions
	switch {
	case at.of == s && at.which == which:
		if v.number != at.last.number+1 || v.after < at.last.after {
			e.wrong(f.table, s, "version %d of %s %s after turn %d follows version %d after turn %d", v.number, which.kind, which.id, v.after, at.last.number, at.last.after)
		}
	case len(s.inherited) > 0:
		at.begun = append(at.begun, beginning{s, which, v.number})
	case v.number != 1:
		e.wrong(f.table, s, "the first version of %s %s is %d", which.kind, which.id, v.number)
	}
	at.of, at.which, at.last = s, which, v
	if v.after < s.forkSeq || v.after > s.head {
		e.wrong(f.table, s, "version %d of %s %s comes after turn %d of %d–%d", v.number, which.kind, which.id, v.after, s.forkSeq, s.head)
	}
	if s.bequeaths {
		if s.versions == nil {
			s.versions = make(map[intention][]version)
		}
		s.versions[which] = append(s.versions[which], v)
	}
	e.intended(f, s, which, v.number)
}

// intended holds a version's document against its row.
func (e *examination) intended(f fields, s *segment, which intention, number int64) {
	var id string
	var counted int64
	var live bool
	var err error
	switch which.kind {
	case cortex.KindGoal:
		var g cortex.Goal
		g, err = cortex.DecodeGoal(f.text("doc"))
		id, counted, live = g.ID, g.Version, g.Live()
	case cortex.KindAction:
		var a cortex.PendingAction
		a, err = cortex.DecodeAction(f.text("doc"))
		id, counted, live = a.ID, a.Version, a.Live()
	default:
		e.wrong(f.table, s, "%q is neither a goal nor an action", which.kind)
		return
	}
	switch {
	case err != nil:
		e.wrong(f.table, s, "version %d of %s %s: %v", number, which.kind, which.id, err)
	case id != which.id || counted != number:
		e.wrong(f.table, s, "version %d of %s %s holds version %d of %s", number, which.kind, which.id, counted, id)
	case live != (f.int("live") != 0):
		e.wrong(f.table, s, "version %d of %s %s is live as a row or as a document, not as both", number, which.kind, which.id)
	}
}

// finishIntentions holds what forks wrote first against what they inherit. A fork inherits what was
// written before the turn it was forked after, and has copies of what was written at it.
func (e *examination) finishIntentions() {
	for _, b := range e.intentions.begun {
		highest := int64(0)
		for _, in := range b.in.inherited {
			for _, v := range e.segments[in.Segment].versions[b.which] {
				if v.after < in.To {
					highest = max(highest, v.number)
				}
			}
		}
		if b.number != highest+1 {
			e.wrong("intentions", b.in, "version %d of %s %s follows version %d that it inherits", b.number, b.which.kind, b.which.id, highest)
		}
	}
}

// page is a session's observations while they go by.
type page struct {
	of      *segment
	changed int64   // when the last one was
	expires []int64 // when those end that are live
}

func (e *examination) observation(f fields) {
	s, ok := e.owner(f)
	if !ok {
		return
	}
	if e.page.of != s {
		e.finishPage()
		e.page = page{of: s}
	}
	id, status := f.text("observation_id"), scratch.Status(f.text("status"))
	e.page.changed = max(e.page.changed, f.int("changed_at"))
	if status != scratch.Archived {
		e.page.expires = append(e.page.expires, f.int("expires_at"))
	}
	switch o, err := scratch.DecodeObservation(f.text("doc")); {
	case err != nil:
		e.wrong(f.table, s, "observation %s: %v", id, err)
	case o.ID != id || o.Status != status || o.Type != f.text("type"):
		e.wrong(f.table, s, "observation %s, %s and %s, holds %s, %s and %s", id, f.text("type"), status, o.ID, o.Type, o.Status)
	}
}

// finishPage counts what was live when the page was last changed: what had expired by then may not be
// swept yet.
func (e *examination) finishPage() {
	live := 0
	for _, expires := range e.page.expires {
		if expires > e.page.changed {
			live++
		}
	}
	if live > scratch.MaxLive {
		e.wrong("observations", e.page.of, "%d were live at %s, %d may be", live, time.UnixMicro(e.page.changed).UTC().Format(time.RFC3339), scratch.MaxLive)
	}
	e.page = page{}
}
