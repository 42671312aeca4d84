package commit

import (
	"context"
	"errors"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Target is one of the four places that a commit writes to.
type Target string

// The four targets, in the order they are written.
const (
	History Target = "history" // turns, turn summary, rolling summary, key topics, decision log
	Memory  Target = "memory"  // episodic memory
	Cortex  Target = "cortex"  // goals and actions
	Scratch Target = "scratch" // scratch page
)

// part is what a commit has for one target. It is applied in a savepoint of its own. It is never applied
// twice: the export, or the deferral that is gone, says that it was.
type part interface {
	target() Target
	// empty reports whether there is nothing to write.
	empty() bool
	// apply writes it. The place is that of an update that holds the session's lock.
	apply(ctx context.Context, p *Pipeline, at *place) error
	// foretell has the export tell what the part, which is put off, comes to on what is there now.
	foretell(ctx context.Context, p *Pipeline, at *place) error
	// storable returns the part without what no payload can hold, which is refused. It is asked of a part that is to be put off.
	storable() (part, []Refusal)
	// payload is what decodePart makes the part of again, if it is storable.
	payload() []byte
}

// place is where parts are applied: a session, locked, and what is known of it.
type place struct {
	tx     store.Tx
	info   turn.SessionInfo // as it was before the update
	now    time.Time
	before *standing
	outcome
}

// outcome is what came of the parts so far.
type outcome struct {
	next  standing
	turns []turn.Turn // what was appended
	// reopened says that the session had ended and goes on with them.
	reopened bool
	cortex   CortexUpdate
	scratch  ScratchUpdate
	refused  []Refusal
	// What follows are the goals and actions, and the notes, as they were written.
	stagedIn cortex.Staged
	stagedOn scratch.Staged
}

// changed is what was written of goals, actions and notes.
func (o *outcome) changed() []Changed {
	n := len(o.stagedIn.Rows) + len(o.stagedOn.Rows)
	if n == 0 {
		return nil
	}
	list := make([]Changed, 0, n)
	for i := range o.stagedIn.Rows {
		row, update := &o.stagedIn.Rows[i], &o.stagedIn.Updates[i]
		list = append(list, Changed{Kind: string(row.Kind), ID: row.ID, Title: update.Title, Status: update.Status})
	}
	for i := range o.stagedOn.Rows {
		row := &o.stagedOn.Rows[i]
		list = append(list, Changed{Kind: "observation", ID: row.ID, Title: beginningOf(o.stagedOn.Next.Content(row.ID)), Status: string(row.Status)})
	}
	return list
}

// beginningOf is how a note is told from others.
func beginningOf(content string) string { return clip(content, 80) }

// fatal reports whether an error of a target is one that the whole update cannot survive, or one that the
// caller must hear of: trying it again would not help.
func fatal(err error) bool {
	var field *invalid.Field
	if errors.As(err, &field) {
		return true
	}
	for _, e := range []error{
		context.Canceled, context.DeadlineExceeded, turn.ErrConflict, turn.ErrNotFound, turn.ErrLeaseLost,
		store.ErrClosed, store.ErrReadOnly, store.ErrRemoved, store.ErrFull, store.ErrLocked, store.ErrCorrupt, store.ErrUnavailable, store.ErrUnknown,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
