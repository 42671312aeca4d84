package turnstone_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// Windows in which what comes back fits, and in which all of it does.
var (
	medium = turnstone.PromptOptions{Model: "gpt-4o", Context: 16384}
	large  = turnstone.PromptOptions{Model: "gpt-4o", Context: 65536}
)

// undoing is a session whose passes are taken back.
type undoing struct {
	*testing.T
	*turnstone.Session
	said int
}

func newUndoing(t *testing.T, c turnstone.Config) *undoing {
	return &undoing{T: t, Session: session(t, open(t, mem.New(mem.Config{}), c), "s")}
}

// passes makes passes, each after ten more exchanges.
func (u *undoing) passes(n int, o turnstone.PromptOptions) (list []prompt.Pass) {
	u.Helper()
	for range n {
		converseTo(u.T, u.Session, u.said, u.said+10)
		u.said += 10
		pass, err := u.Compress(u.T.Context(), o)
		if err != nil {
			u.Fatal(err)
		}
		list = append(list, pass)
	}
	return list
}

func (u *undoing) undo(pass int64, o turnstone.PromptOptions) turnstone.Undone {
	u.Helper()
	done, err := u.Undo(u.T.Context(), pass, o)
	if err != nil {
		u.Fatal(err)
	}
	return done
}

func (u *undoing) restore(name string, o turnstone.PromptOptions) {
	u.Helper()
	if _, err := u.Restore(u.T.Context(), name, o); err != nil {
		u.Fatal(err)
	}
}

// refuses fails unless the undo of a pass is refused in these words and changes nothing.
func (u *undoing) refuses(pass int64, o turnstone.PromptOptions, want string) {
	u.Helper()
	before := u.epoch()
	_, err := u.Undo(u.T.Context(), pass, o)
	var bad *turn.FieldError
	if !errors.As(err, &bad) || bad.Name != "pass" || bad.Problem+"; "+bad.Fix != want {
		u.Errorf("undo of pass %d: %v, want %s", pass, err, want)
	}
	if now := u.epoch(); now.Number != before.Number {
		u.Errorf("undo of pass %d opened epoch %d", pass, now.Number)
	}
}

func (u *undoing) epoch() prompt.Epoch {
	u.Helper()
	e, err := u.Epoch(u.T.Context(), turnstone.Head)
	if err != nil {
		u.Fatal(err)
	}
	return e
}

// shows fails if a prompt does not show the turns that people said in a range.
func (u *undoing) shows(o turnstone.PromptOptions, want turn.Range) {
	u.Helper()
	shown := seqsOf(compiled(u.T, u.Session, o))
	page, err := u.Query(u.T.Context(), turn.Query{From: want.From, To: want.To, Kind: turn.KindTurn, Limit: 1000})
	if err != nil || len(page.Turns) == 0 {
		u.Fatalf("%d turns, %v", len(page.Turns), err)
	}
	for _, at := range page.Turns {
		if !slices.Contains(shown, at.Seq) {
			u.Errorf("turn %d of %v is not shown", at.Seq, want)
		}
	}
}

func seqsOf(p *prompt.Prompt) (seqs []int64) {
	for _, m := range p.Messages {
		seqs = append(seqs, m.Seqs...)
	}
	return seqs
}

// hidesNothing fails if an undo takes out what was shown before it.
func (u *undoing) hidesNothing(pass int64, o turnstone.PromptOptions) turnstone.Undone {
	u.Helper()
	before := seqsOf(compiled(u.T, u.Session, o))
	done := u.undo(pass, o)
	after := seqsOf(compiled(u.T, u.Session, o))
	for _, seq := range before {
		if !slices.Contains(after, seq) {
			u.Errorf("the undo of pass %d took turn %d out", pass, seq)
		}
	}
	return done
}

func TestUndoOfAPassThatARestoreTookOutOfForce(t *testing.T) {
	u := newUndoing(t, turnstone.Config{})
	u.refuses0(t)
	first := u.passes(1, medium)[0]
	snap(t, u.Session, "one")
	u.passes(2, medium)
	u.restore("one", medium)
	for _, pass := range []int64{2, 3} {
		u.refuses(pass, medium, "pass "+string('0'+rune(pass))+" is out of force: a restore went back to a time before it; undo the restore first, without the number of a pass")
	}
	// What the snapshot had let go stays so until it is undone, and then beside its checkpoint: the restore holds.
	if done := u.hidesNothing(1, medium); done.Pass != 1 || done.Turns != first.Range {
		t.Errorf("%+v", done)
	}
	u.shows(medium, first.Range)
	u.refuses(1, medium, "pass 1 was undone already: its turns are shown beside its checkpoint; no pass is in force")
	if done := u.undo(0, large); done.Pass != 0 {
		t.Errorf("%+v, want the restore", done)
	}
	if done := u.undo(3, large); done.Pass != 3 {
		t.Errorf("%+v", done)
	}
	// A restore to a time before anything was compiled leaves nothing in force.
	u = newUndoing(t, turnstone.Config{})
	snap(t, u.Session, "empty")
	u.passes(1, medium)
	u.restore("empty", medium)
	u.refuses(1, medium, "pass 1 is out of force: a restore went back to a time before it; undo the restore first, without the number of a pass")
}

// refuses0 checks what is said while nothing was compiled yet, and when nothing has left.
func (u *undoing) refuses0(t *testing.T) {
	t.Helper()
	for _, pass := range []int64{0, 1} {
		if _, err := u.Undo(t.Context(), pass, medium); !errors.Is(err, turnstone.ErrNothingToUndo) {
			t.Errorf("undo of pass %d: %v", pass, err)
		}
	}
	compiled(t, u.Session, medium)
	u.refuses(1, medium, "there never was a pass 1: no turns have left the prompt; ")
}

func TestAnUndoIsRefusedWithWhatToDo(t *testing.T) {
	u := newUndoing(t, turnstone.Config{})
	u.passes(3, medium)
	u.refuses(17, medium, "there never was a pass 17: the last one was pass 3; the newest that is in force is pass 3")
	u.refuses(-1, medium, "-1 is no number of a pass; the newest that is in force is pass 3")
	u.undo(3, large)
	u.refuses(3, large, "pass 3 was undone already; the newest that is in force is pass 2")
	u.undo(1, large)
	u.refuses(1, large, "pass 1 was undone already: its turns are shown beside its checkpoint; the newest that is in force is pass 2")
	// What an older pass took out stays when a newer one is undone, too.
	if done := u.hidesNothing(0, large); done.Pass != 2 {
		t.Errorf("%+v", done)
	}
	if done := u.hidesNothing(0, large); done.Pass != 1 {
		t.Errorf("%+v", done)
	}
	u.refuses(1, large, "pass 1 is not in force any more: all that it took out is shown again; no pass is in force")
	u.passes(1, medium)
	u.refuses(2, large, "pass 2 was undone already; the newest that is in force is pass 4")
}

func TestUndoOfAPassInALargerWindow(t *testing.T) {
	u := newUndoing(t, turnstone.Config{})
	compiled(t, u.Session, small)
	u.passes(3, small)
	u.hidesNothing(u.widens(t, medium), medium)

	u = newUndoing(t, turnstone.Config{})
	compiled(t, u.Session, small)
	u.passes(3, small)
	compiled(t, u.Session, large)
	for pass := range int64(3) {
		u.refuses(pass+1, large, "pass "+string('1'+rune(pass))+" is not in force any more: all that it took out is shown again; no pass is in force")
	}
}

// A status counts the passes that are in force: undone, or taken back by a restore, one is no compression any more.
func TestAnUndonePassIsNotCounted(t *testing.T) {
	u := newUndoing(t, turnstone.Config{})
	counts := func(want int64) {
		t.Helper()
		status, err := u.Status(t.Context(), medium)
		if err != nil || status.Passes != want {
			t.Errorf("%d compressions, want %d: %v", status.Passes, want, err)
		}
	}
	snap(t, u.Session, "before")
	u.passes(2, medium)
	counts(2)
	u.undo(1, medium)
	counts(1)
	u.restore("before", medium)
	counts(0)
	u.undo(0, medium)
	counts(1)
	u.undo(0, medium)
	counts(0)
}

// What a larger window showed again another pass may have taken out since, also behind a restore.
func TestUndoOfAPassWhoseTurnsAnotherTookOutAgain(t *testing.T) {
	u := newUndoing(t, turnstone.Config{})
	compiled(t, u.Session, small)
	u.passes(1, small)
	snap(t, u.Session, "one")
	u.restore("one", small)
	compiled(t, u.Session, large)
	u.refuses(1, large, "pass 1 is not in force any more: all that it took out is shown again; no pass is in force")
	converseTo(t, u.Session, 10, 200)
	u.said = 200
	u.passes(1, large)
	u.refuses(1, large, "pass 1 is not in force any more: what it took out came back, and pass 2 took it out again; the newest that is in force is pass 2")
}

// widens compiles a prompt in a larger window that shows the turns of some passes and not of others, and returns the
// newest of those.
func (u *undoing) widens(t *testing.T, o turnstone.PromptOptions) int64 {
	t.Helper()
	p := compiled(t, u.Session, o)
	if p.Opened != prompt.ReasonWindow || len(p.Checkpoints) == 0 {
		t.Fatalf("opened %q, %d checkpoints", p.Opened, len(p.Checkpoints))
	}
	return p.Checkpoints[len(p.Checkpoints)-1].Number
}

// A pass that begins the epoch of a larger window took out turns that came back with it.
func TestUndoOfAPassThatCameWithALargerWindow(t *testing.T) {
	for strategy, context := range map[budget.Strategy]int{budget.Summarize: 20480, budget.Truncate: 28672} {
		wide := turnstone.PromptOptions{Model: "gpt-4o", Context: context}
		t.Run(string(strategy), func(t *testing.T) {
			for _, pass := range []int64{0, 4} {
				u := newUndoing(t, turnstone.Config{Compression: budget.Compression{Strategy: strategy}})
				compiled(t, u.Session, small)
				u.passes(3, small)
				made := u.passes(1, wide)[0]
				if e := u.epoch(); e.Reason != prompt.ReasonWindow || made.Number != 4 {
					t.Fatalf("%+v", e)
				}
				if done := u.hidesNothing(pass, wide); done.Pass != 4 || done.Turns != made.Range {
					t.Errorf("%+v, want turns %v", done, made.Range)
				}
				u.shows(wide, made.Range)
				if e := u.epoch(); len(e.Checkpoints) > 0 && e.Checkpoints[len(e.Checkpoints)-1].To >= e.From {
					t.Errorf("%+v", e)
				}
			}
		})
	}
}

func TestUndoOfAPassWhoseCheckpointWasMerged(t *testing.T) {
	u := newUndoing(t, turnstone.Config{})
	made := u.passes(4, small)
	e := u.epoch()
	if slices.ContainsFunc(e.Checkpoints, func(r prompt.Ref) bool { return r.Number == 1 }) {
		t.Fatalf("%+v", e.Checkpoints)
	}
	if done := u.hidesNothing(1, large); done.Turns != made[0].Range {
		t.Errorf("%+v, want turns %v", done, made[0].Range)
	}
	u.shows(large, made[0].Range)
	if text := textOf(compiled(t, u.Session, large)); !strings.Contains(text, "Order A-1000 went out on day 0.") {
		t.Error(text)
	}
}

// A checkpoint that is found to be damaged while an undo or a restore goes back to it is made again, which is told.
func TestGoingBackToADamagedCheckpointIsTold(t *testing.T) {
	for name, back := range map[string]func(*turnstone.Session) error{
		"undo": func(s *turnstone.Session) error {
			_, err := s.Undo(t.Context(), 0, medium)
			return err
		},
		"restore": func(s *turnstone.Session) error {
			_, err := s.Restore(t.Context(), "one", medium)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log.db")
			reopened := func() *turnstone.Engine {
				st, err := sqlite.Open(t.Context(), path, sqlite.Config{})
				if err != nil {
					t.Fatal(err)
				}
				return open(t, st, turnstone.Config{})
			}
			u := &undoing{T: t, Session: session(t, reopened(), "s")}
			first := u.passes(1, medium)[0]
			snap(t, u.Session, "one")
			u.passes(1, medium)
			damage(t, path, `UPDATE checkpoints SET doc = '{' WHERE number = 1`)
			eng := reopened()
			u.Session = session(t, eng, "s")
			if err := back(u.Session); err != nil {
				t.Fatal(err)
			}
			told := eventsOf(t, eng, u.Session, event.CompressionError)
			if len(told) != 1 || !strings.Contains(told[0].Data, "a checkpoint was damaged") {
				t.Errorf("%+v", told)
			}
			if c := u.epoch().Checkpoints; len(c) != 1 || c[0].Number != 3 || c[0].Range != first.Range {
				t.Errorf("%+v", c)
			}
			u.refuses(3, medium, "pass 3 took no turns out: it made a damaged checkpoint again; the newest that is in force is pass 1")
		})
	}
}

// as opens an epoch as if the engine had.
func (u *undoing) as(st store.Store, change func(*prompt.Epoch)) {
	u.Helper()
	e := u.epoch()
	before := e.Number
	e.Number++
	e.Passes++
	e.Reason = prompt.ReasonFull
	e.Before, e.Began = before, e.From
	change(&e)
	err := st.Update(u.T.Context(), func(tx store.Tx) error {
		info, err := tx.Log().Session(u.T.Context(), turn.Key{Tenant: "default", Session: "s"})
		if err != nil {
			return err
		}
		return prompt.Open(u.T.Context(), tx.Prompt(), info, e, tx.Now())
	})
	if err != nil {
		u.Fatal(err)
	}
}

// A pass may only make checkpoints smaller. Its undo brings back what they were while nothing was built on it.
func TestUndoOfAPassThatTookNothingOut(t *testing.T) {
	st := mem.New(mem.Config{})
	u := &undoing{T: t, Session: session(t, open(t, st, turnstone.Config{}), "s")}
	u.passes(2, medium)
	was := u.epoch()
	u.as(st, func(e *prompt.Epoch) { e.Checkpoints = e.Checkpoints[1:] })
	if done := u.undo(3, medium); done.Pass != 3 || len(u.epoch().Checkpoints) != len(was.Checkpoints) {
		t.Errorf("%+v", done)
	}
	u.as(st, func(e *prompt.Epoch) { e.Checkpoints = e.Checkpoints[1:] })
	u.passes(1, medium)
	u.refuses(4, medium, "pass 4 took no turns out: it only folded checkpoints into smaller ones; undo the passes after it, the newest first, and then this one")
	// Of one that came before the window became larger nothing is left to be undone.
	u.as(st, func(e *prompt.Epoch) { e.Checkpoints = e.Checkpoints[1:] })
	u.as(st, func(e *prompt.Epoch) {
		*e = e.Since(was.From)
		e.Passes, e.Before, e.Began, e.Reason = e.Passes-1, e.Before-1, 0, prompt.ReasonWindow
	})
	u.refuses(6, large, "pass 6 is not in force any more: all that it took out is shown again; the newest that is in force is pass 2")
}

// TestNothingIsUndoneOfAForgottenSession: what was before is gone, and prompts do not fill with tombstones.
func TestNothingIsUndoneOfAForgottenSession(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		u := &undoing{T: t, Session: session(t, eng, "s")}
		snap(t, u.Session, "at the beginning")
		u.passes(2, medium)
		snap(t, u.Session, "before")
		taken, err := u.Snapshots(t.Context(), "", 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := eng.Forget(t.Context(), turnstone.Target{Session: "s", All: true}); err != nil {
			t.Fatal(err)
		}
		refused := func() {
			t.Helper()
			if _, err := u.Undo(t.Context(), 0, large); !errors.Is(err, turnstone.ErrNothingToUndo) || !strings.Contains(err.Error(), "was forgotten") {
				t.Errorf("the last change: %v", err)
			}
			var bad *turn.FieldError
			if _, err := u.Undo(t.Context(), 1, large); !errors.As(err, &bad) || !strings.Contains(err.Error(), "was forgotten") {
				t.Errorf("a pass: %v", err)
			}
			for _, s := range taken {
				if _, err := u.Restore(t.Context(), s.ID, large); !errors.Is(err, snapshot.ErrNotFound) || !strings.Contains(err.Error(), "was forgotten") {
					t.Errorf("the snapshot of turn %d: %v", s.Turn, err)
				}
			}
			if text := textOf(compiled(t, u.Session, large)); strings.Contains(text, turn.ForgottenText) {
				t.Error(text)
			}
		}
		refused()
		say(t, u.Session, turn.User, "Hello again.")
		compiled(t, u.Session, small)
		refused()
		// What came since is taken back as ever.
		snap(t, u.Session, "since")
		u.passes(1, medium)
		if done := u.undo(0, large); done.Pass != 3 {
			t.Errorf("%+v", done)
		}
		refused()
		if _, err := u.Restore(t.Context(), "since", large); err != nil {
			t.Error(err)
		}
		if done := u.undo(0, large); done.Pass != 0 {
			t.Errorf("%+v", done)
		}
		refused()
	})
}

// TestARestoreToBeforeTheFirstTurnIsNoForgetting, though what is shown begins anew behind it too.
func TestARestoreToBeforeTheFirstTurnIsNoForgetting(t *testing.T) {
	u := newUndoing(t, turnstone.Config{})
	snap(t, u.Session, "empty")
	u.passes(1, medium)
	snap(t, u.Session, "full")
	for _, name := range []string{"empty", "full", "empty"} {
		if _, err := u.Restore(t.Context(), name, medium); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for range 3 {
		u.undo(0, medium)
	}
	if done := u.undo(0, medium); done.Pass != 1 {
		t.Errorf("%+v", done)
	}
	if _, err := u.Undo(t.Context(), 0, medium); !errors.Is(err, turnstone.ErrNothingToUndo) || strings.Contains(err.Error(), "forgotten") {
		t.Error(err)
	}
}
