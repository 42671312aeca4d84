package sqlite

import (
	"errors"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// commitRound makes the round durable in one transaction.
//
// Savepoints would let an update, or one target of it, fail without harm to what else is in the
// transaction, but SQLite keeps a copy of every page that is changed after one, which costs a seventh of
// all that the statements do. Hardly anything ever fails, so updates are run without any first. Where
// something has to be undone the whole transaction is, and what it was made of is run again with a
// savepoint for each update and each target.
//
// HAZARD: when the disk is full or fails or memory runs out, SQLite rolls back the whole
// transaction and not only the statement. Nothing of the others is there then, and statements that
// followed would each be a transaction of their own. tx.fail notices it and lets none through; each
// update of the round is then run again alone.
//
// HAZARD: no statement here may be interrupted, so contexts are looked at between statements and
// not inside: an interrupted write rolls back the whole transaction and with it other people's updates.
func (w *writer) commitRound() {
	if (len(w.round) > 1 || w.flight.Load() != nil) && w.together() {
		w.round = w.round[:0]
	}
	w.oneByOne()
}

// wary is for how many rounds savepoints are made at once after one that had to be run again.
const wary = 16

// together makes one transaction of the round. It reports false if that cannot be.
func (w *writer) together() bool {
	if w.wary == 0 {
		if w.commit(w.round, false, false) {
			return true
		}
		w.wary = wary
	}
	w.wary--
	return w.commit(w.round, false, true)
}

// oneByOne makes a transaction of each update of the round.
func (w *writer) oneByOne() {
	for len(w.round) > 0 {
		w.single(w.round[:1])
		w.round = w.round[1:]
	}
}

// single makes a transaction of one update. It is run again with savepoints, and again where a flight was lost meanwhile:
// none takes off before it is answered.
func (w *writer) single(one []*update) {
	for savepoints := false; !w.commit(one, true, savepoints); {
		savepoints = true
	}
}

// commit runs the updates in one transaction, those of the round and what joins it or one alone, and answers them once it
// is durable. Those that failed are answered then, too: their answer may rest on what others wrote before them. All are
// answered, or none of them and commit reports false: if something was to be undone without savepoints, if the transaction
// of several was lost, or if the round before it was, which any of them may have read.
func (w *writer) commit(batch []*update, alone, savepoints bool) bool {
	flying := w.flight.Load() != nil
	if err := w.begin(); err != nil {
		w.refuse(batch, err)
		return true
	}
	ran, changes := false, w.c.TotalChanges()
	for i := 0; i < len(batch) || !alone && w.join(); i++ {
		if !alone {
			batch = w.round
		}
		u := batch[i]
		if !u.begin() {
			continue
		}
		ran = true
		if !w.apply(u, savepoints, alone) {
			w.rollback()
			return false
		}
	}
	w.settle()
	if flying && w.c.Unsure() {
		w.rollback()
		return false
	}
	if !ran || alone && batch[0].failed() {
		w.rollback()
		w.answer(batch)
		return true
	}
	return w.end(batch, alone, w.c.TotalChanges() != changes)
}

// end commits the transaction and answers the updates, or reports false. It is durable by then, unless nobody waits for
// that. Where others wait for the writer they need not wait for the disk.
func (w *writer) end(batch []*update, alone, changed bool) bool {
	waited := slices.ContainsFunc(batch, func(u *update) bool { return u.state.Load() == begun && !u.tx.later })
	var f *flight
	if waited && changed && !alone && len(w.queue) > 0 && w.c.LogBuffered() {
		f = w.takeOff()
	}
	w.c.SyncLater(!waited || f != nil)
	if err := w.c.Prepare(`COMMIT`).Run(); err != nil {
		w.rollback()
		if f != nil {
			w.stay(f)
		}
		if !alone {
			return false
		}
		batch[0].err = w.commitError(err)
		w.answer(batch)
		return true
	}
	if f != nil {
		go w.fly(f, slices.Clone(batch))
	}
	if err := w.s.files.check(); err == nil {
		w.log.watch(w.c, len(w.queue) > 0)
	} else if f == nil {
		w.lose(batch, err)
	}
	if f == nil {
		w.answer(batch)
	}
	return true
}

// begin opens the transaction and looks whether somebody else wrote since the last one.
func (w *writer) begin() error {
	if err := w.s.files.checked(); err != nil {
		return err
	}
	if err := w.mend(); err != nil {
		return err
	}
	if err := w.c.Prepare(`BEGIN IMMEDIATE`).Run(); err != nil {
		return w.s.translate(err)
	}
	w.rested = 0
	w.note(w.c.DataVersion())
	return nil
}

// apply runs one update. It reports false if the transaction cannot go on.
func (w *writer) apply(u *update, savepoints, alone bool) bool {
	t := &tx{s: w.s, c: w.c, ctx: u.ctx, now: w.s.now(), writable: true, savepoints: savepoints}
	if alone {
		// The transaction is its savepoint.
		u.call(t)
		return t.lost != errAgain
	}
	if !savepoints {
		before := w.c.TotalChanges()
		u.call(t)
		return t.lost == nil && (!u.failed() || w.c.TotalChanges() == before)
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
	next := 0
	defer func() {
		if next < len(batch) { // a hook ended the goroutine, which is on its way out
			batch[next].answer()
			w.answer(batch[next+1:])
		}
	}()
	for ; next < len(batch); next++ {
		u := batch[next]
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
// process that starts after a crash may still find the update there, and so it may where a file was removed.
func (w *writer) commitError(err error) error {
	translated := w.s.translate(err)
	if errors.Is(err, store.ErrRemoved) {
		return fmt.Errorf("%w: %w", store.ErrUnknown, err)
	}
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
