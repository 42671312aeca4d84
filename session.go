package turnstone

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Session is one conversation. It is a name and an engine, costs nothing and is safe for
// concurrent use; appends to one session are put in order by the store.
type Session struct {
	engine *Engine
	key    turn.Key
}

// ID returns the session's id.
func (s *Session) ID() string { return s.key.Session }

// Info returns what is known of the session. turn.ErrNotFound if there is none.
func (s *Session) Info(ctx context.Context) (info turn.SessionInfo, err error) {
	err = s.view(ctx, func(_ store.Tx, i turn.SessionInfo) error {
		info = i
		return nil
	})
	return info, err
}

// Describe sets those of User, Title, Model and Mode that are not empty in the description.
func (s *Session) Describe(ctx context.Context, description turn.SessionInfo) error {
	return s.DescribeIf(ctx, description, func(turn.SessionInfo) error { return nil })
}

// DescribeIf is Describe of a session that is still as it should be: the function is given what it is in the moment of the
// change, and its error is returned with nothing changed. It may be called more than once, and must not wait for anything.
func (s *Session) DescribeIf(ctx context.Context, description turn.SessionInfo, still func(turn.SessionInfo) error) error {
	if err := checkDescription(description); err != nil {
		return err
	}
	return s.update(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		if err := still(info); err != nil {
			return err
		}
		info = info.Described(description)
		s.engine.shared.pipeline.Changed(s.key)
		return tx.Log().UpdateSession(ctx, info)
	})
}

// checkDescription refuses what a session cannot be described with. A session that was stored with another mode stays
// as it is.
func checkDescription(info turn.SessionInfo) error {
	if modes := compress.Modes(); info.Mode != "" && !slices.Contains(modes, info.Mode) {
		return invalid.New("mode", fmt.Sprintf("%q is not a mode", info.Mode), "use "+strings.Join(modes, ", "))
	}
	return info.CheckInfo()
}

// Append writes turns to the end of the session, all or none, and returns them as they stand in
// the log. Drafts need no ID. An ended session goes on. See [turn.Append] for idempotency keys.
func (s *Session) Append(ctx context.Context, drafts ...turn.Draft) ([]turn.Turn, error) {
	done, err := s.Extend(ctx, drafts...)
	return done.Turns, err
}

// Appended is what an append came to.
type Appended struct {
	Turns []turn.Turn // as they stand in the log
	// Reopened says that the session had ended and goes on with these turns. Turns that were in the log already, under
	// their idempotency keys, reopen nothing.
	Reopened bool
}

// Extend is [Session.Append] that also says whether it reopened the session.
func (s *Session) Extend(ctx context.Context, drafts ...turn.Draft) (Appended, error) {
	return s.append(ctx, drafts, func(store.Tx) error { return nil })
}

// ExtendOnce is [Session.Extend] of turns that one key stands for: the same turns again under it change nothing, and the first
// ones are returned. Other turns under it, or more or fewer of them, are a turn.ErrConflict, and so is a key of an exchange. The first
// turn has the key as its idempotency key, the others have [turn.PartKey].
func (s *Session) ExtendOnce(ctx context.Context, key string, drafts ...turn.Draft) (done Appended, err error) {
	if err := turn.CheckKey(key); err != nil {
		return Appended{}, err
	}
	keyed := slices.Clone(drafts)
	for i := range keyed {
		keyed[i].IdempotencyKey = turn.PartKey(key, i)
	}
	sealed, err := s.sealKeyed(keyed)
	if err != nil {
		return Appended{}, err
	}
	err = s.engine.store.Update(ctx, func(tx store.Tx) error {
		info, err := tx.Log().LockSession(ctx, s.key)
		if err != nil {
			return fmt.Errorf("session %s: %w", s.key.Session, err)
		}
		if _, err := s.keyUnused(ctx, tx, key); err != nil {
			return err
		}
		if done, err = s.extendLocked(ctx, tx, info, sealed); err != nil {
			return err
		}
		return sameParts(ctx, tx.Log(), info, key, done.Turns)
	})
	if err != nil {
		return Appended{}, err
	}
	return done, nil
}

// sameParts refuses turns of which only some were appended before, or all with more behind them. Info is the session as it was
// before.
func sameParts(ctx context.Context, rows turn.TurnRows, info turn.SessionInfo, key string, turns []turn.Turn) error {
	before := 0
	for i := range turns {
		if turns[i].Seq <= info.Head {
			before++
		}
	}
	if before == 0 || len(turns) == 0 {
		return nil
	}
	differs := before < len(turns)
	if !differs {
		var err error
		if _, differs, err = rows.TurnByKey(ctx, info.Tenant, info.Segment, turn.PartKey(key, len(turns))); err != nil {
			return err
		}
	}
	if differs {
		return fmt.Errorf("idempotency_key %q was used for turn %d with other turns: %w; use a new key", key, turns[0].Seq, turn.ErrConflict)
	}
	return nil
}

// keyUnused refuses the key of an exchange, also of one that is still open: a key names one request of the session. Taken says that an
// export has the key's id, though the key is free: the turn that opened its exchange was forgotten.
func (s *Session) keyUnused(ctx context.Context, tx store.Tx, key string) (taken bool, err error) {
	if key == "" {
		return false, nil
	}
	id := commit.ExportIDOf(s.key.Session, key)
	open, found, err := tx.Log().Exchange(ctx, s.key)
	if err != nil {
		return false, err
	}
	opened := open.Opened
	if !found || open.ExportID != id {
		export, err := tx.Outbox().Export(ctx, s.key.Tenant, id)
		if errors.Is(err, event.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		turns, err := tx.Log().TurnsByID(ctx, s.key.Tenant, export.TurnID)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(turns, func(t turn.Stored) bool { return t.Segment == export.Segment && t.Gone() }) {
			return true, nil
		}
		opened = export.TurnID
	}
	return false, &commit.UsedError{Name: fmt.Sprintf("idempotency_key %q", key), Why: "was used for the exchange that turn " + opened + " opened"}
}

func (s *Session) append(ctx context.Context, drafts []turn.Draft, allowed func(store.Tx) error) (done Appended, err error) {
	sealed, err := s.seal(drafts)
	if err != nil {
		return Appended{}, err
	}
	err = s.engine.store.Update(ctx, func(tx store.Tx) (err error) {
		if err := allowed(tx); err != nil {
			return err
		}
		for _, d := range drafts {
			if _, err := s.keyUnused(ctx, tx, d.IdempotencyKey); err != nil {
				return err
			}
		}
		done, err = s.extend(ctx, tx, sealed)
		return err
	})
	if err != nil {
		return Appended{}, err
	}
	return done, nil
}

// extend appends turns in a transaction. Where the session had ended it goes on with them, which is announced.
func (s *Session) extend(ctx context.Context, tx store.Tx, sealed []turn.Sealed) (Appended, error) {
	info, err := tx.Log().LockSession(ctx, s.key)
	if err != nil {
		return Appended{}, fmt.Errorf("session %s: %w", s.key.Session, err)
	}
	return s.extendLocked(ctx, tx, info, sealed)
}

// extendLocked is extend to a session that the transaction has locked.
func (s *Session) extendLocked(ctx context.Context, tx store.Tx, info turn.SessionInfo, sealed []turn.Sealed) (Appended, error) {
	turns, err := turn.Extend(ctx, tx.Log(), info, tx.Now(), sealed...)
	if err != nil {
		return Appended{}, err
	}
	s.afterCommit(tx, turns)
	said := func(t turn.Turn) bool { return t.Seq > info.Head } // not one that was sent again
	if info.Status != turn.Ended || !slices.ContainsFunc(turns, said) {
		return Appended{Turns: turns}, nil
	}
	return Appended{turns, true}, s.announce(ctx, tx, event.SessionReopened, "{}")
}

// seal gives ids to drafts that have none and seals all of them. Their keys are a client's.
func (s *Session) seal(drafts []turn.Draft) (sealed []turn.Sealed, err error) {
	for i, d := range drafts {
		if err := turn.CheckKey(d.IdempotencyKey); err != nil {
			return nil, &turn.DraftError{Index: i, Err: err}
		}
	}
	return s.sealKeyed(drafts)
}

// sealKeyed is seal of drafts with any keys.
func (s *Session) sealKeyed(drafts []turn.Draft) (sealed []turn.Sealed, err error) {
	sealed = make([]turn.Sealed, len(drafts))
	for i, d := range drafts {
		if d.ID == "" {
			d.ID = s.engine.newID()
		}
		if sealed[i], err = d.Seal(s.engine.config.Limits); err != nil {
			return nil, &turn.DraftError{Index: i, Err: err}
		}
	}
	return sealed, nil
}

// afterCommit brings the recent window up to turns that the transaction appends.
func (s *Session) afterCommit(tx store.Tx, turns []turn.Turn) {
	tx.AfterCommit(func() { s.engine.windows.push(s.key, turns) })
}

// Window returns the last 7 utterances on the session's path with the tool results that belong to them,
// ascending. From an embedded store it is served from memory: the slice is shared and must not be changed.
func (s *Session) Window(ctx context.Context) ([]turn.Turn, error) {
	return s.engine.windows.last(ctx, s.key, turn.WindowSize)
}

// History is the seed's compile_history; see [turn.History]. It follows the path that prompts did at that point
// ([Session.Epoch]), unless the options give another: one range from turn 1 on is the whole log, with what restores
// left behind. Up to 7 utterances come from the recent window, so that the slice must not be changed.
func (s *Session) History(ctx context.Context, o turn.HistoryOptions) (turns []turn.Turn, err error) {
	if o.Turns > 0 && o.Turns <= turn.WindowSize && !o.KeepSystem && o.UpTo == 0 && len(o.Path) == 0 {
		return s.engine.windows.last(ctx, s.key, o.Turns)
	}
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) (err error) {
		if len(o.Path) == 0 {
			at := info.Head
			if o.UpTo > 0 {
				at = min(at, o.UpTo)
			}
			epoch, err := prompt.InForce(ctx, tx.Prompt(), info, at)
			if err != nil {
				return err
			}
			o.Path = epoch.Path
		}
		turns, err = turn.History(ctx, tx.Log(), info, o)
		return err
	})
	return turns, err
}

// Query answers a query on all turns of the session; see [turn.Query].
func (s *Session) Query(ctx context.Context, q turn.Query) (page turn.Page, err error) {
	search, err := q.Compile()
	if err != nil {
		return turn.Page{}, err
	}
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) (err error) {
		page, err = search.Run(ctx, tx.Log(), info)
		return err
	})
	return page, err
}

// QueryFlow is Query among the turns that a flow points at, none for a flow nobody knows.
func (s *Session) QueryFlow(ctx context.Context, flow string, q turn.Query) (page turn.Page, err error) {
	if _, err := q.Compile(); err != nil {
		return turn.Page{}, err
	}
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		ids, err := tx.Dialogue().FlowTurns(ctx, s.key.Tenant, info.Lineage(info.Head), flow, info.Head)
		if err != nil {
			return fmt.Errorf("turns of flow %s: %w", flow, err)
		}
		among := q
		among.Among = append([]string{}, ids...)
		search, err := among.Compile()
		if err != nil {
			return err
		}
		page, err = search.Run(ctx, tx.Log(), info)
		return err
	})
	return page, err
}

func (s *Session) view(ctx context.Context, fn func(store.Tx, turn.SessionInfo) error) error {
	return s.engine.store.View(ctx, func(tx store.Tx) error {
		info, err := s.home(ctx, tx)
		if err != nil {
			return err
		}
		return fn(tx, info)
	})
}

func (s *Session) update(ctx context.Context, fn func(store.Tx, turn.SessionInfo) error) error {
	return s.engine.store.Update(ctx, func(tx store.Tx) error {
		info, err := tx.Log().LockSession(ctx, s.key)
		if err != nil {
			return fmt.Errorf("session %s: %w", s.key.Session, err)
		}
		return fn(tx, info)
	})
}
