package sqlite

import (
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// commitRound makes the round durable: in one transaction, with a savepoint for each update so that
// one that fails harms no other. One update alone needs none.
//
// HAZARD: when the disk is full or fails or memory runs out, SQLite rolls back the whole
// transaction and not only the statement. Nothing of the others is there then, and statements that
// followed would each be a transaction of their own. tx.fail notices it and lets none through; each
// update of the round is then run again alone.
//
// HAZARD: no statement here may be interrupted, so contexts are looked at between statements and
// not inside: an interrupted write rolls back the whole transaction and with it other people's updates.
func (w *writer) commitRound() {
	if len(w.round) > 1 && w.commit(w.round) {
		w.round = w.round[:0]
	}
	w.oneByOne()
}

// oneByOne makes a transaction of each update of the round.
func (w *writer) oneByOne() {
	for len(w.round) > 0 {
		w.commit(w.round[:1])
		w.round = w.round[1:]
	}
}

// commit runs the updates in one transaction and answers them once it is durable. Those that failed
// are answered then, too: their answer may rest on what others wrote before them. One update alone
// is always answered; several are answered all, or none of them if the transaction was lost, and
// commit reports false.
func (w *writer) commit(batch []*update) bool {
	if err := w.begin(); err != nil {
		w.refuse(batch, err)
		return true
	}
	alone := len(batch) == 1
	ran := false
	for _, u := range batch {
		if !u.begin() {
			continue
		}
		ran = true
		if !w.apply(u, !alone) && !alone {
			w.rollback()
			return false
		}
	}
	if !ran || alone && batch[0].failed() {
		w.rollback()
	} else if err := w.c.Prepare(`COMMIT`).Run(); err != nil {
		w.rollback()
		if !alone {
			return false
		}
		batch[0].err = w.commitError(err)
	} else {
		w.log.watch(w.c)
	}
	w.answer(batch)
	return true
}

// begin opens the transaction and looks whether somebody else wrote since the last one.
func (w *writer) begin() error {
	if err := w.c.Prepare(`BEGIN IMMEDIATE`).Run(); err != nil {
		return w.s.translate(err)
	}
	w.look()
	return nil
}

// apply runs one update. It reports false if the transaction was lost.
func (w *writer) apply(u *update, savepoint bool) bool {
	t := &tx{s: w.s, c: w.c, ctx: u.ctx, now: w.s.now(), writable: true}
	if !savepoint {
		u.call(t)
		return t.lost == nil
	}
	if err := w.c.Prepare(`SAVEPOINT one`).Run(); err != nil {
		return false
	}
	u.call(t)
	if t.lost != nil {
		return false
	}
	if u.failed() {
		if err := w.c.Prepare(`ROLLBACK TO one`).Run(); err != nil {
			return false
		}
	}
	return w.c.Prepare(`RELEASE one`).Run() == nil
}

// refuse answers everybody with the reason why there is no transaction.
func (w *writer) refuse(batch []*update, err error) {
	for _, u := range batch {
		if u.begin() {
			u.err = err
			u.answer()
		}
	}
}

// answer tells everybody how it went, in order, and first runs what was to be run after the commit.
func (w *writer) answer(batch []*update) {
	for _, u := range batch {
		if u.state.Load() != begun {
			continue
		}
		if !u.failed() {
			w.s.text.note(u.tx.appended)
			u.announce()
		}
		u.answer()
	}
}

// commitError is the error of a commit that failed. If the disk failed after the log was written, a
// process that starts after a crash may still find the update there.
func (w *writer) commitError(err error) error {
	translated := w.s.translate(err)
	if code(err) == lite.IOError && !errors.Is(translated, store.ErrFull) {
		return fmt.Errorf("%w: check the disk of %s: %w", store.ErrUnknown, w.s.path, err)
	}
	return translated
}

// rollback ends the transaction if there still is one. Should it fail, the next begin does and says
// why.
func (w *writer) rollback() {
	if w.c.InTransaction() {
		w.c.Prepare(`ROLLBACK`).Run()
	}
}
