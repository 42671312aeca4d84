package commit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// begin checks the exchange, reads what the phases need to know and seals what is to be appended.
func (p *Pipeline) begin(ctx context.Context, r *run) error {
	ex, key := &r.exchange, r.key
	if err := ex.check(); err != nil {
		return err
	}
	if err := ex.checkCandidates(); err != nil {
		return err
	}
	if ex.Key != "" {
		ex.ExportID = ExportIDOf(key.Session, ex.Key)
	}
	r.mayExist = ex.ExportID != ""
	if ex.ExportID == "" {
		r.exchange.ExportID = p.config.NewID()
	}
	s := &r.situation
	s.Interrupted, s.Failure = ex.Interrupted, ex.Failure
	s.Daemons, s.Errors, s.Warnings, s.Notes = ex.DaemonOutputs, ex.Errors, ex.Warnings, ex.Scratch
	r.refused = p.sealDrafts(r)
	if err := p.read(ctx, r); err != nil {
		return err
	}
	if r.prior != nil {
		r.trace = trace.NewRecorder(key.Session, r.prior.row.TurnID, p.config.Clock)
		return nil
	}
	s.Turns = slices.Grow(s.Turns, len(r.drafts)+1) // with room for the Responder's reply
	for i := range r.drafts {
		d := &r.drafts[i]
		s.Turns = append(s.Turns, Said{ID: d.ID, Role: d.Role, Content: d.Content})
	}
	if ex.Opened != "" && (len(s.Turns) == 0 || s.Turns[0].ID != ex.Opened) {
		return invalid.New("turn_id", ex.Opened+" is a summary, which opens no exchange", "give the id of the input")
	}
	r.openedBy = s.Turns[0].ID
	r.trace = trace.NewRecorder(key.Session, r.openedBy, p.config.Clock)
	s.Now = r.trace.Began()
	s.Page = s.Page.At(s.Now) // what is kept of a session may have been read long ago
	if r.exchange.Started.IsZero() || r.exchange.Started.After(s.Now) {
		r.exchange.Started = s.Now
	}
	return nil
}

// sealDrafts seals what is to be appended, with room for the Responder's reply.
func (p *Pipeline) sealDrafts(r *run) error {
	n := len(r.exchange.Turns)
	r.drafts, r.sealed = make([]turn.Draft, 0, n+1), make([]turn.Sealed, 0, n+1)
	for i, d := range r.exchange.Turns {
		if d.ID == "" {
			d.ID = p.config.NewID()
		}
		sealed, err := d.Seal(p.config.Limits)
		if err != nil {
			return record.Within(record.Indexed("turns", i), err)
		}
		r.drafts, r.sealed = append(r.drafts, d), append(r.sealed, sealed)
	}
	return nil
}

// read finds the session, the turns of the exchange that are in the log, and what is known so far.
func (p *Pipeline) read(ctx context.Context, r *run) error {
	if st, ok := p.standings.valid(r.key); ok && r.foreknown(st) && !r.lookFirst() {
		if r.refused != nil {
			return r.refused
		}
		r.base, r.mayExist = st, false
		r.situation.know(st)
		if log := r.exchange.Log; r.exchange.Opened != "" {
			r.follow(log)
		}
		return nil
	}
	read := p.standings.now()
	return p.store.View(ctx, func(tx store.Tx) error {
		info, err := tx.Log().Session(ctx, r.key)
		if err != nil {
			return p.noSession(ctx, tx, r, err)
		}
		known := false
		if r.base, known = p.standings.valid(r.key); !known {
			if r.base, err = p.standings.load(ctx, tx, info, read); err != nil {
				return err
			}
		}
		r.situation.know(r.base)
		r.situation.Session = info
		if r.mayExist {
			if r.prior, err = p.prior(ctx, tx, r); err != nil {
				return err
			}
		}
		if r.prior != nil {
			return nil
		}
		if r.refused != nil {
			return r.refused
		}
		if err := p.readKeyed(ctx, tx, info, r); err != nil {
			return err
		}
		if err := r.readOpened(ctx, tx, info); err != nil {
			return err
		}
		return p.appendable(ctx, tx, info, r)
	})
}

// readOpened reads the turns of an exchange that was opened in the log.
func (r *run) readOpened(ctx context.Context, tx store.Tx, info turn.SessionInfo) error {
	if r.exchange.Opened == "" {
		return nil
	}
	turns, err := since(ctx, tx, info, r.exchange.Opened)
	if err != nil {
		return err
	}
	r.follow(turns)
	if err := r.followPath(ctx, tx, info); err != nil {
		return err
	}
	if err := r.mayOpen(ctx, tx, info, r.base, turns[0].ID, turns); err != nil {
		return err
	}
	r.checked = true
	return r.leaveOut(ctx, tx, info, turns)
}

// noSession is why there is nothing to commit to. What no session would take, and an id that is another exchange's, are refused
// first: nobody need make a session for it.
func (p *Pipeline) noSession(ctx context.Context, tx store.Tx, r *run, err error) error {
	if !errors.Is(err, turn.ErrNotFound) {
		return err
	}
	if r.refused != nil {
		return r.refused
	}
	if r.exchange.Opened != "" {
		return invalid.New("turn_id", fmt.Sprintf("there is no session %s, and so no turn %s in it", r.key.Session, r.exchange.Opened), "leave it out, or name the session that has the turn")
	}
	if refused := rehearse(ctx, tx, turn.SessionInfo{Key: r.key}, &standing{}, r.sealed); refused != nil {
		return refused
	}
	if !r.mayExist {
		return err
	}
	if _, taken := p.prior(ctx, tx, r); taken != nil {
		return taken
	}
	return err
}

// ofTurns names the field of the exchange that an error about one of its drafts is about.
func ofTurns(err error) error {
	var refused *turn.DraftError
	if errors.As(err, &refused) {
		return record.Within(record.Indexed("turns", refused.Index), refused.Err)
	}
	return err
}

// foreknown reports whether all that has to be known of the exchange, besides the session's standing, is. What was committed
// to the session since it was opened may have been this exchange.
func (r *run) foreknown(st *standing) bool {
	ex := &r.exchange
	if keyed(ex.Turns) {
		return false
	}
	if ex.Opened == "" {
		return !r.mayExist
	}
	return len(ex.Log) > 0 && ex.Log[0].ID == ex.Opened && ex.Log[0].Seq > st.info.Head
}

// follow takes the turns that opened the exchange and came after it.
func (r *run) follow(log []turn.Turn) {
	r.openedAt, r.situation.Turns, r.untilSeq = log[0].Seq, saidIn(log), log[len(log)-1].Seq
	r.situation.Session.Head = max(r.situation.Session.Head, r.untilSeq)
}

func (s *Situation) know(st *standing) {
	s.Session, s.Intentions, s.Page = st.info, st.intentions, st.page
}

// since reads the turns from the given one to the end of the session.
func since(ctx context.Context, tx store.Tx, info turn.SessionInfo, id string) ([]turn.Turn, error) {
	first, err := found(ctx, tx, info, turn.Query{ID: id, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(first) == 0 {
		return nil, fmt.Errorf("turn %s of %s: %w", id, info.Session, turn.ErrNotFound)
	}
	turns, err := found(ctx, tx, info, turn.Query{From: first[0].Seq, Limit: MaxTurns + 1})
	if err != nil {
		return nil, err
	}
	if len(turns) > MaxTurns {
		return nil, invalid.New("turn_id", fmt.Sprintf("more than %d turns came after %s", MaxTurns-1, id), "leave it out and commit the reply alone, or give the id of a later turn")
	}
	return turns, nil
}
