package turnstone

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Target is what is to be forgotten: turns of a session, a whole session, or all sessions of a user. One that names none of these
// is refused.
type Target struct {
	// Session is the session that is meant: the turns of it that are named, or all of it.
	Session string
	// Seqs and TurnIDs name turns. A tool call and its results go together, whichever of them is named.
	Seqs    []int64
	TurnIDs []string
	// All means the whole session, in the place of turns.
	All bool
	// User is whose sessions are meant, in the place of a session.
	User string
	// Preview says what would be forgotten, and forgets nothing.
	Preview bool
}

// Receipt says what was forgotten and where. It holds nothing of what was said, but in a preview. It is stored as an event of the kind
// event.Forgotten in every session that it reached.
type Receipt struct {
	// What is "turns", "session" or "user".
	What string `json:"what"`
	// Sessions are those that were reached, the one that was asked for first. Forks share the turns of the session
	// they come from, and imports brought copies of them: both are reached.
	Sessions []string `json:"sessions"`
	// Turns is how many turns are tombstones now that were none before.
	Turns int `json:"turns"`
	// Shared is how many turns a session that was forgotten as a whole still has in its log, since they are those of Parent,
	// the session it was forked from; 0 where it was not. Its prompts do not show them any more. Whoever wants them forgotten
	// too forgets them there.
	Shared int64  `json:"shared,omitempty"`
	Parent string `json:"parent,omitempty"`
	// Removed is how many rows, or files, of each kind were emptied, deleted or made anew without it.
	Removed []Removed `json:"removed,omitempty"`
	// Touched are the goals, actions, slots, notes and items of memory that were reached, at most 256 of them, and
	// TouchedMore is how many more there are.
	Touched     []Touched `json:"touched,omitempty"`
	TouchedMore int       `json:"touched_more,omitempty"`
	// Repeats are other turns that still say something of the turns word for word, a literal or words in a row: at most 64 of
	// them, and RepeatsMore is how many more there are. They stay, until they are forgotten too.
	Repeats     []Repeat `json:"repeats,omitempty"`
	RepeatsMore int      `json:"repeats_more,omitempty"`
	// Files are the bundles and documents of ended sessions that are written again without it. Unreachable are files that are missing
	// or could not be deleted. Whoever moved them, or has them on another machine, sees to them there. The stored receipt has neither.
	Files       []string `json:"files,omitempty"`
	Unreachable []string `json:"unreachable,omitempty"`
	// Warnings say what is still to be done, by itself, though nothing is left of what was forgotten. They come with the
	// receipt that is returned, and are not stored.
	Warnings []string `json:"warnings,omitempty"`
	// Preview is set where nothing was forgotten.
	Preview bool      `json:"preview,omitempty"`
	At      time.Time `json:"at"`
}

// Removed is how much was removed at one place: the name of a table of the store, "bundle" or "document" for a file.
type Removed struct {
	Where string `json:"where"`
	Count int    `json:"count"`
}

// Forget forgets turns of the session, or all of it; see [Engine.Forget].
func (s *Session) Forget(ctx context.Context, what Target) (Receipt, error) {
	if what.User != "" || what.Session != "" && what.Session != s.key.Session {
		return Receipt{}, invalid.New("session", "the target is not of this session", "leave out Session and User, or call Engine.Forget")
	}
	what.Session = s.key.Session
	return s.engine.Forget(ctx, what)
}

// Forget removes what was said, and all that was made of it, everywhere: content in the log, words in indexes, memory,
// notes, slots, summaries, decisions, checkpoints (made anew without it), late blocks, drafts, exports that wait or were
// sent, what is tried again, traces, the follow-up context, images and recordings that nothing else refers to, and
// bundles and documents that the engine wrote. Of goals and actions only the words go. A turn leaves its seq, id, role
// and form, with a tombstone for its content; prompts show [turn.ForgottenText] in its place, and a prompt that may
// have shown it cannot be made again any more. See docs/adr/0014-forgetting.md for what belongs to what.
//
// It is one update for each session that was asked for, with its forks and copies; the files follow. What was broken off is gone on with by
// asking again; asking for what was forgotten already changes nothing. Every session that is reached must be at rest:
// exchanges of this engine are waited for, until ctx ends, so that what one of them runs must not wait for it; an
// [ErrBusy] says that a worker of another engine is at work. turn.ErrNotFound if there is no such turn, session or user.
//
// Backups, daemons that were sent exports, and the model's provider have their own copies.
func (e *Engine) Forget(ctx context.Context, what Target) (Receipt, error) {
	if err := what.check(); err != nil {
		return Receipt{}, err
	}
	if what.User == "" {
		r, err := e.forget(ctx, what)
		if err != nil {
			return r, fmt.Errorf("forget: %w", err)
		}
		return r, e.scrub(ctx, what)
	}
	r, err := e.forgetUser(ctx, what)
	if err != nil {
		return r, fmt.Errorf("forget: %w", err)
	}
	return r, e.scrub(ctx, what)
}

func (t *Target) check() error {
	turns := len(t.Seqs) + len(t.TurnIDs)
	switch {
	case t.Session != "" && t.User != "":
		return invalid.New("target", "names both a session and a user", "give one")
	case t.Session == "" && t.User == "":
		return invalid.New("target", "names neither a session nor a user", "give one")
	case t.User != "" && (turns > 0 || t.All):
		return invalid.New("target", "names turns, or all, beside a user", "name the session that they are of, or the user alone")
	case t.User == "" && turns == 0 && !t.All:
		return invalid.New("seqs", "are missing", "name turns by seqs or turn_ids, or give all for the whole session")
	case turns > 0 && t.All:
		return invalid.New("all", "is given beside turns", "give one of them")
	}
	return nil
}

// forgetTries is how often forgetting begins anew because a fork was made meanwhile.
const forgetTries = 5

// forget forgets one session, or turns of it.
func (e *Engine) forget(ctx context.Context, what Target) (Receipt, error) {
	for range forgetTries {
		f := e.forgetting(what)
		if what.Preview {
			return f.preview(ctx)
		}
		if err := e.store.View(ctx, func(tx store.Tx) error { return f.reach(ctx, tx) }); err != nil {
			return Receipt{}, err
		}
		err := f.run(ctx)
		if !errors.Is(err, errReach) {
			return f.receipt(), err
		}
	}
	return Receipt{}, ErrBusy
}

func (e *Engine) forgetting(what Target) *forgetting {
	return &forgetting{engine: e, target: what, tenant: e.config.Tenant, token: e.newID()}
}

// errReach says that another session came to share the turns meanwhile.
var errReach = errors.New("a session was forked meanwhile")

// run forgets. Files go before rows: what a crash leaves in between has lost a copy that is made again, and kept no
// secret.
func (f *forgetting) run(ctx context.Context) error {
	files, err := f.atRest(ctx)
	if err != nil {
		return errors.Join(err, f.writeAgain(ctx, files))
	}
	var failed error
	for i := range f.sessions {
		if i > 0 && !f.sessions[i].concerned() {
			continue
		}
		warning, err := f.sessions[i].follow(ctx)
		if warning != "" {
			f.warnings = append(f.warnings, warning)
		}
		failed = errors.Join(failed, err)
	}
	return errors.Join(failed, f.writeAgain(ctx, files))
}

// writeAgain writes the files that were deleted, also where ctx has ended: nobody would do so later.
func (f *forgetting) writeAgain(ctx context.Context, files []keptFile) (failed error) {
	ctx = context.WithoutCancel(ctx)
	for _, file := range files {
		if file.lost {
			continue
		}
		switch err := file.again(ctx); {
		case err == nil:
		case file.foreign:
			f.warnings = append(f.warnings, filepath.Base(file.path)+" was deleted and could not be written again; the log says why")
			bus.Logger(f.engine.config.Log).LogAttrs(ctx, slog.LevelError, "file not written again", slog.String("path", file.path), slog.Any("error", err))
		default:
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// atRest removes files and rows while nobody is at work on what is reached. It returns the files with an error too.
func (f *forgetting) atRest(ctx context.Context) (files []keptFile, err error) {
	keys := make([]turn.Key, len(f.sessions))
	for i := range f.sessions {
		keys[i] = f.sessions[i].handle.key
	}
	ctx, leave, err := f.engine.shared.floors.takeAll(ctx, keys)
	if err != nil {
		return nil, err
	}
	defer leave()
	// Before the leases, which do not last as long as a file may take.
	ctx, leaveFiles, err := f.engine.shared.files.takeAll(ctx, keys)
	if err != nil {
		return nil, err
	}
	defer leaveFiles()
	if err := f.acquire(ctx); err != nil {
		var held *turn.LeaseHeldError
		if errors.As(err, &held) {
			return nil, busy(err)
		}
		return nil, errors.Join(err, f.release(context.WithoutCancel(ctx)))
	}
	if err = f.readAtRest(ctx); err == nil {
		files, err = f.removeFiles()
	}
	if err == nil {
		err = f.engine.store.Update(ctx, func(tx store.Tx) error {
			f.counts, f.touched = nil, nil
			if err := f.rewrite(ctx, tx); err != nil {
				return err
			}
			f.countFiles(files)
			return f.note(ctx, tx)
		})
	}
	if err != nil {
		err = errors.Join(err, f.release(context.WithoutCancel(ctx)))
	}
	return files, err
}

// readAtRest finds out what only the turns say once nobody can say or forget anything in the sessions any more.
func (f *forgetting) readAtRest(ctx context.Context) error {
	held := f.keys()
	if err := f.engine.store.View(ctx, func(tx store.Tx) error { return f.read(ctx, tx) }); err != nil {
		return err
	}
	if !slices.Equal(f.keys(), held) {
		return errReach
	}
	return nil
}

// acquire takes the leases of all sessions that are reached, and closes what was left open in them.
func (f *forgetting) acquire(ctx context.Context) error {
	f.leased = f.keys()
	return f.engine.store.Update(ctx, func(tx store.Tx) error {
		for i := range f.sessions {
			s := f.sessions[i].handle
			if _, err := turn.Acquire(ctx, tx.Log(), s.key, f.token, tx.Now()); err != nil {
				return err
			}
			closed, err := turn.CloseOpenCalls(ctx, tx.Log(), s.key, tx.Now(), f.engine.newID)
			if err != nil {
				return err
			}
			s.afterCommit(tx, closed)
		}
		return nil
	})
}

func (f *forgetting) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeWait)
	defer cancel()
	err := f.engine.store.Update(ctx, func(tx store.Tx) error {
		for _, key := range f.leased {
			err := turn.Release(ctx, tx.Log(), key, f.token)
			if err != nil && !errors.Is(err, turn.ErrLeaseLost) {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("give the leases back: %w", err)
	}
	return nil
}

// note ends the update: the receipt is stored, and whoever kept something in memory is told.
func (f *forgetting) note(ctx context.Context, tx store.Tx) error {
	r := f.receipt()
	r.At = tx.Now()
	f.at = tx.Now()
	r.Files, r.Unreachable = nil, nil // whoever reads events need not know where files are
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	e := f.engine
	e.shared.pipeline.Forgot(tx)
	for i := range f.sessions {
		s := f.sessions[i].handle
		if err := turn.Release(ctx, tx.Log(), s.key, f.token); err != nil {
			return err
		}
		e.shared.pipeline.ForgotTurns(tx, s.key.Tenant, f.sessions[i].info.Segment)
		// Also where no turn was its own: what it showed of its parent's is not on its path any more.
		tx.AfterCommit(func() {
			e.windows.forget(s.key)
			e.shared.projections.forget(s.key)
			e.shared.manager.Drop(s.key)
		})
		if r.Turns == 0 && len(r.Removed) == 0 || !slices.Contains(r.Sessions, s.key.Session) {
			continue
		}
		if err := s.announce(ctx, tx, event.Forgotten, string(data)); err != nil {
			return err
		}
	}
	return nil
}

// follow does what no update can: it clears the follow-up context, and makes summaries anew that stood for what was
// forgotten. Where that fails there is a warning: they were emptied, and the next prompt makes them.
func (r *reached) follow(ctx context.Context) (warning string, err error) {
	s := r.handle
	if err := s.engine.store.Light().Clear(ctx, dialogue.LightKey{Tenant: s.key.Tenant, Session: s.key.Session}); err != nil {
		return "", fmt.Errorf("follow-up context of %s: %w", s.key.Session, err)
	}
	if err := r.remake(ctx); err != nil {
		return fmt.Sprintf("the next prompt of %s makes its summaries anew, since that could not be done now: %v", s.key.Session, err), nil
	}
	return "", nil
}

// forgetUser forgets the user's sessions one after the other, and then what else is known of the user.
func (e *Engine) forgetUser(ctx context.Context, what Target) (Receipt, error) {
	all := Receipt{What: "user", Preview: what.Preview}
	var sessions []turn.SessionInfo
	err := e.store.View(ctx, func(tx store.Tx) error {
		sessions = nil
		filter := turn.SessionFilter{Tenant: e.config.Tenant, User: what.User, Limit: 500}
		for {
			page, err := tx.Log().Sessions(ctx, filter)
			sessions = append(sessions, page...)
			if err != nil || len(page) < filter.Limit {
				return err
			}
			filter.Before = page[len(page)-1].Segment
		}
	})
	if err != nil {
		return all, err
	}
	items, left, err := e.itemsOf(ctx, what, sessions)
	if err != nil {
		return all, err
	}
	if len(sessions) == 0 && items == 0 {
		return all, fmt.Errorf("sessions or memory of that user: %w", turn.ErrNotFound)
	}
	targets := make([]Target, len(sessions))
	for i, info := range sessions {
		targets[i] = Target{Session: info.Session, All: true, User: what.User, Preview: what.Preview}
	}
	// What is left of the user's memory is of sessions that are another's by now.
	if what.Preview {
		err = e.previewAll(ctx, targets, &all)
	} else if err = e.forgetAll(ctx, targets, &all); err == nil {
		left, err = e.forgetItemsOf(ctx, what)
	}
	if err != nil {
		return all, err
	}
	all.add(Receipt{Removed: []Removed{{"memory_items", left}}})
	return all, nil
}

// forgetAll forgets one session after the other and adds up the receipts.
func (e *Engine) forgetAll(ctx context.Context, targets []Target, all *Receipt) error {
	for _, target := range targets {
		one, err := e.forget(ctx, target)
		all.add(one)
		if err != nil {
			return err
		}
	}
	return nil
}

// scrub sees to what the store's files still hold.
func (e *Engine) scrub(ctx context.Context, what Target) error {
	if what.Preview {
		return nil
	}
	if err := e.store.Scrub(ctx); err != nil {
		return fmt.Errorf("it is forgotten, and what is left of it in the store's files will be cleared away later: %w", err)
	}
	return nil
}

// add adds up receipts.
func (r *Receipt) add(o Receipt) {
	for _, s := range o.Sessions {
		if !slices.Contains(r.Sessions, s) {
			r.Sessions = append(r.Sessions, s)
		}
	}
	r.Turns += o.Turns
	r.name(o.Touched, o.TouchedMore)
	r.nameRepeats(o.Repeats, o.RepeatsMore)
	r.Files, r.Unreachable = union(r.Files, o.Files), union(r.Unreachable, o.Unreachable)
	r.Warnings = append(r.Warnings, o.Warnings...)
	for _, c := range o.Removed {
		r.count(c.Where, c.Count)
	}
	if o.At.After(r.At) {
		r.At = o.At
	}
}

func (r *Receipt) count(where string, n int) {
	if n == 0 {
		return
	}
	for i := range r.Removed {
		if r.Removed[i].Where == where {
			r.Removed[i].Count += n
			return
		}
	}
	r.Removed = append(r.Removed, Removed{where, n})
}
