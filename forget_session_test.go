package turnstone_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestForgottenSessionsAndUsersAreNowhere: of a session nothing is left, though a fork that shares its turns goes on;
// of a user neither session is.
func TestForgottenSessionsAndUsersAreNowhere(t *testing.T) {
	for name, target := range map[string]turnstone.Target{"session": {Session: "home", All: true}, "user": {User: "u"}} {
		t.Run(name, func(t *testing.T) {
			onEveryVault(t, func(t *testing.T, v *vault) {
				v.plant(t)
				say(t, v.fork, turn.User, "Only the fork knows of herring.")
				receipt, err := v.engine.Forget(t.Context(), target)
				if err != nil {
					t.Fatal(err)
				}
				for _, leak := range leaks(v.kept(t)) {
					t.Error(leak)
				}
				if receipt.What != name || !slices.Equal(receipt.Sessions[:1], []string{map[string]string{"session": "home", "user": "fork"}[name]}) {
					t.Errorf("receipt %+v", receipt)
				}
				all := v.kept(t)
				if spared := bytes.Contains(all, []byte("herring")); spared != (name == "session") {
					t.Errorf("the fork's own turn is there: %t", spared)
				}
				if bytes.Contains(all, []byte("parcel")) || bytes.Contains(all, []byte("Question 3")) {
					t.Error("other turns of the session are there")
				}
				if name == "user" {
					if page, err := v.engine.Sessions(t.Context(), turn.SessionFilter{User: "u"}); err != nil || len(page) != 0 {
						t.Errorf("sessions of the user: %v, %v", page, err)
					}
				}
				// Lists show what it is, and nothing of what it was.
				if info, err := v.session.Info(t.Context()); err != nil || info.Title != turn.ForgottenText {
					t.Errorf("it is called %q, %v", info.Title, err)
				}
				if info, err := v.fork.Info(t.Context()); err != nil || info.Title == turn.ForgottenText {
					t.Errorf("the fork is called %q, %v", info.Title, err)
				}
				healthy(t, v.st)
				// The session can be talked in again, and shows nothing of before.
				say(t, v.session, turn.User, "Shall we begin anew?")
				p := compiled(t, v.session, small)
				if text := textOf(p); !strings.Contains(text, "begin anew") || strings.Contains(text, turn.ForgottenText) {
					t.Errorf("the prompt says %q", text)
				}
				if _, err := v.engine.Forget(t.Context(), turnstone.Target{User: "u"}); name == "user" && !errors.Is(err, turn.ErrNotFound) {
					t.Errorf("forgotten again: %v", err)
				}
				healthy(t, v.st)
			})
		})
	}
}

// TestReadingAroundATombstone: window, history, query, prompts and bundles take tombstones as they are.
func TestReadingAroundATombstone(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		s := session(t, eng, "talk")
		say(t, s, turn.User, "one walrus")
		say(t, s, turn.Agent, "two")
		_, err := s.Append(t.Context(),
			turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: "a", Name: "look", Arguments: `{}`}, {ID: "b", Name: "look", Arguments: `{}`}}}},
			turn.Draft{Role: turn.User, Content: turn.Text{Text: "meanwhile"}},
			turn.Draft{Role: turn.System, Content: turn.Result{Name: "look", CallID: "b", Status: turn.CallOK, Result: `"x"`}},
			turn.Draft{Role: turn.System, Content: turn.Result{Name: "look", CallID: "a", Status: turn.CallOK, Result: `"y"`}},
		)
		if err != nil {
			t.Fatal(err)
		}
		early := compiled(t, s, small)
		say(t, s, turn.User, "last")
		if _, err := s.Window(t.Context()); err != nil {
			t.Fatal(err)
		}
		compiled(t, s, small)
		if _, err := s.Forget(t.Context(), turnstone.Target{Seqs: []int64{1, 5}}); err != nil {
			t.Fatal(err)
		}
		window, err := s.Window(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var gone []int64
		for _, u := range window {
			if u.Gone() {
				gone = append(gone, u.Seq)
			}
		}
		if !slices.Equal(gone, []int64{1, 3, 5, 6}) {
			t.Errorf("the window has tombstones at %v, want the turn and the whole unit", gone)
		}
		p := compiled(t, s, small)
		want := []string{turn.ForgottenText, "two", turn.ForgottenText, "meanwhile", "last"}
		if got := strings.Split(strings.TrimSpace(textOf(p)), "\n"); !slices.Equal(got, want) {
			t.Errorf("the prompt says %q, want %q", got, want)
		}
		if p.Opened != "" && p.Opened != prompt.ReasonForgot {
			t.Errorf("it was opened for %q", p.Opened)
		}
		_, recorded, err := s.PromptAt(t.Context(), early.End, turnstone.PromptOptions{})
		if !errors.Is(err, turn.ErrForgotten) || !errors.Is(err, prompt.ErrChanged) || !strings.Contains(err.Error(), "turns 1, 3, 5, 6") {
			t.Errorf("the prompt of before: %t, %v", recorded, err)
		}
		if got, _, err := s.PromptAt(t.Context(), p.End, turnstone.PromptOptions{}); err != nil || got.SHA256 != p.SHA256 {
			t.Errorf("the prompt of after cannot be made again: %v", err)
		}
		if page, err := s.Query(t.Context(), turn.Query{Text: "walrus"}); err != nil || len(page.Turns) != 0 {
			t.Errorf("found %v, %v", page.Turns, err)
		}
		healthy(t, st)

		var file bytes.Buffer
		if _, err := s.WriteBundle(t.Context(), &file, replay.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		other := mem.New(mem.Config{})
		_, err = replay.Import(t.Context(), other, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file.Bytes())), nil }, replay.ImportOptions{})
		if err != nil {
			t.Fatal(err)
		}
		healthy(t, other)
		moved := session(t, open(t, other, turnstone.Config{}), "talk")
		if got := textOf(compiled(t, moved, small)); got != textOf(p) {
			t.Errorf("imported, the prompt says %q", got)
		}
	})
}

// TestForgettingWaitsForNobodyAtWork: whoever holds the lease is not disturbed, and a commit or a prompt that began before
// brings nothing back.
func TestForgettingWaitsForNobodyAtWork(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		var meet func()
		eng := open(t, st, turnstone.Config{Observe: func(_ turn.Key, state commit.State) {
			if state == commit.Committing && meet != nil {
				meet()
			}
		}})
		s := session(t, eng, "talk")
		first := say(t, s, turn.User, "my walrus is blue")
		lease, err := s.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var held *turn.LeaseHeldError
		if _, err := s.Forget(t.Context(), turnstone.Target{Seqs: []int64{1}}); !errors.As(err, &held) {
			t.Errorf("forgot in the middle of an exchange: %v", err)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		meet = func() {
			meet = nil
			if _, err := s.Forget(t.Context(), turnstone.Target{Seqs: []int64{1}}); err != nil {
				t.Error(err)
			}
		}
		_, err = s.Commit(t.Context(), commit.Exchange{Opened: first.ID, Turns: []turn.Draft{{Role: turn.Agent, Content: turn.Text{Text: "a blue walrus"}}}})
		if !errors.Is(err, turn.ErrForgotten) {
			t.Errorf("committed what was forgotten meanwhile: %v", err)
		}
		if strings.Contains(contents(t, st), "walrus") {
			t.Error("it came back")
		}
		// What is left of the exchange can be committed.
		_, err = s.Commit(t.Context(), commit.Exchange{Opened: first.ID, Turns: []turn.Draft{{Role: turn.Agent, Content: turn.Text{Text: "all right"}}}})
		if err != nil {
			t.Error(err)
		}
		healthy(t, st)
	})
}

// TestAPromptThatWasCompiledBeforeIsStale: between compiling and keeping it, one of its turns is forgotten.
func TestAPromptThatWasCompiledBeforeIsStale(t *testing.T) {
	faults := faulty.New(mem.New(mem.Config{}))
	s := session(t, open(t, faults, turnstone.Config{}), "talk")
	say(t, s, turn.User, "my walrus is blue")
	compiled(t, s, small)
	say(t, s, turn.Agent, "noted")
	done := false
	faults.Set(func(point string) error {
		if done || point != "begin" {
			return nil
		}
		done = true
		_, err := s.Forget(t.Context(), turnstone.Target{Seqs: []int64{1}})
		return err
	})
	p := compiled(t, s, small)
	faults.Set(nil)
	if text := textOf(p); !done || strings.Contains(text, "walrus") || !strings.Contains(text, turn.ForgottenText) {
		t.Errorf("forgotten meanwhile: %t; the prompt says %q", done, text)
	}
	if again, _, err := s.PromptAt(t.Context(), turnstone.Head, turnstone.PromptOptions{}); err != nil || again.SHA256 != p.SHA256 {
		t.Errorf("it cannot be made again: %v", err)
	}
}

// TestForgettingReachesCopies: a session that was imported next to its original has copies of its turns.
func TestForgettingReachesCopies(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		s := session(t, eng, "talk")
		say(t, s, turn.User, "my walrus is blue")
		say(t, s, turn.Agent, "noted")
		var file bytes.Buffer
		if _, err := s.WriteBundle(t.Context(), &file, replay.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		_, err := replay.Import(t.Context(), st, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file.Bytes())), nil }, replay.ImportOptions{As: "copy"})
		if err != nil {
			t.Fatal(err)
		}
		say(t, session(t, eng, "copy"), turn.User, "the copy goes on")
		for _, target := range []turnstone.Target{{Session: "copy", Seqs: []int64{1}}, {Session: "talk", All: true}} {
			if r, err := eng.Forget(t.Context(), target); err != nil || len(r.Sessions) != 2 {
				t.Errorf("%+v: %+v, %v", target, r, err)
			}
		}
		left := contents(t, st)
		if strings.Contains(left, "walrus") || strings.Contains(left, "noted") || !strings.Contains(left, "the copy goes on") {
			t.Errorf("what is left: %s", left)
		}
		healthy(t, st)
	})
}

// TestForgettingBrokenOff fails, or ends the process, at every point of it: nothing is half done, and asked for again it is
// done.
func TestForgettingBrokenOff(t *testing.T) {
	for _, panics := range []bool{false, true} {
		for nth := 1; ; nth++ {
			v := &vault{folder: t.TempDir(), st: mem.New(mem.Config{}), raw: func(*testing.T) []byte { return nil }}
			faults := faulty.New(v.st)
			v.engine = open(t, faults, turnstone.Config{BundleDir: filepath.Join(v.folder, "b"), SessionsDir: filepath.Join(v.folder, "s")})
			v.plant(t)
			target := turnstone.Target{Seqs: seqsOfTurns(v.turns)}
			passed, hit := 0, false
			faults.Set(func(string) error {
				if passed++; passed != nth {
					return nil
				}
				hit = true
				if panics {
					panic("dead")
				}
				return errors.New("boom")
			})
			before := len(v.turns)
			failed := crashed(func() error {
				_, err := v.session.Forget(t.Context(), target)
				return err
			})
			faults.Set(nil)
			if !hit {
				break
			}
			if left := len(v.secrets(t)); left != before && left != 0 {
				t.Fatalf("point %d: %d of %d turns are left", nth, left, before)
			}
			if failed && panics {
				// A process that died gives nothing back: its leases run out.
				err := v.st.Update(t.Context(), func(tx store.Tx) error {
					return errors.Join(tx.Log().SetLease(t.Context(), turn.Key{Tenant: turn.DefaultTenant, Session: "home"}, turn.Lease{}),
						tx.Log().SetLease(t.Context(), turn.Key{Tenant: turn.DefaultTenant, Session: "fork"}, turn.Lease{}))
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if _, err := v.session.Forget(t.Context(), target); err != nil {
				t.Fatalf("point %d: again: %v", nth, err)
			}
			for _, leak := range leaks(v.kept(t)) {
				t.Errorf("point %d: %s", nth, leak)
			}
			healthy(t, v.st)
		}
	}
}

// TestAFileIsScrubbedByWhoeverOpensItNext: a process that dies between the update and the scrubbing leaves it to the next.
func TestAFileIsScrubbedByWhoeverOpensItNext(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "log.db")
	reopen := func() (*turnstone.Engine, *sqlite.Store) {
		st, err := sqlite.Open(t.Context(), path, sqlite.Config{})
		if err != nil {
			t.Fatal(err)
		}
		eng, err := turnstone.Open(t.Context(), &unscrubbed{st}, turnstone.Config{})
		if err != nil {
			t.Fatal(err)
		}
		return eng, st
	}
	eng, st := reopen()
	s := session(t, eng, "talk")
	for range 50 {
		say(t, s, turn.User, "it is "+secret+" "+strings.Repeat("and so on ", 400))
	}
	if err := st.IndexText(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Forget(t.Context(), turnstone.Target{All: true}); !errors.Is(err, errUnscrubbed) {
		t.Fatalf("scrubbing was to fail: %v", err)
	}
	if err := eng.Close(); err != nil {
		t.Fatal(err)
	}
	eng, st = reopen()
	// IndexText does what the background would do before long.
	if err := st.IndexText(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found := leaks(filesIn(t, folder)); len(found) > 0 {
		t.Error(found[0])
	}
	if err := eng.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 1<<20 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
}

var errUnscrubbed = errors.New("not now")

// unscrubbed is a store whose process dies before it scrubs.
type unscrubbed struct{ store.Store }

func (*unscrubbed) Scrub(context.Context) error { return errUnscrubbed }

// TestForgetRefuses what is no target.
func TestForgetRefuses(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s := session(t, eng, "talk")
	say(t, s, turn.User, "hello")
	for name, target := range map[string]turnstone.Target{
		"nothing": {}, "both": {Session: "talk", User: "u"}, "turns of a user": {User: "u", Seqs: []int64{1}},
	} {
		var field *turn.FieldError
		if _, err := eng.Forget(t.Context(), target); !errors.As(err, &field) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, target := range map[string]turnstone.Target{
		"a turn": {Session: "talk", Seqs: []int64{2}}, "an id": {Session: "talk", TurnIDs: []string{"01JZZZZZZZZZZZZZZZZZZZZZZZ"}},
		"a session": {Session: "nobody", All: true}, "a user": {User: "nobody"},
	} {
		if _, err := eng.Forget(t.Context(), target); !errors.Is(err, turn.ErrNotFound) {
			t.Errorf("%s that there is not: %v", name, err)
		}
	}
	if _, err := s.Forget(t.Context(), turnstone.Target{Session: "other", Seqs: []int64{1}}); err == nil {
		t.Error("a session forgot another")
	}
	// A list that was filtered down to nothing is not all there is.
	for name, target := range map[string]turnstone.Target{
		"zero": {}, "no turns": {Seqs: []int64{}, TurnIDs: []string{}}, "a preview": {Preview: true}, "the session": {Session: "talk"},
	} {
		_, err := s.Forget(t.Context(), target)
		if field := new(turn.FieldError); !errors.As(err, &field) || !strings.Contains(err.Error(), "all for the whole session") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := eventsOf(t, eng, s, event.Forgotten); len(got) != 0 {
		t.Errorf("receipts of nothing: %v", got)
	}
	say(t, s, turn.User, "bye")
	if _, err := s.Forget(t.Context(), turnstone.Target{Seqs: []int64{1}}); err != nil {
		t.Fatal(err)
	}
	if got := eventsOf(t, eng, s, event.Forgotten); len(got) != 1 || !strings.HasPrefix(got[0].Data, `{"what":"turns","sessions":["talk"],"turns":1,`) {
		t.Errorf("receipts: %+v", got)
	}
}

// TestForgettingIsDoneThoughSummariesDoNotFit: the receipt warns that they are made later, since it is done.
func TestForgettingIsDoneThoughSummariesDoNotFit(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s := session(t, eng, "s")
	o := turnstone.PromptOptions{Model: "gpt-4o", Context: 2048}
	for n := range 12 {
		converse(t, s, n)
		compiled(t, s, o)
	}
	say(t, s, turn.User, strings.Repeat("The gauge was read by hand in the yard. ", 140))
	if _, err := s.Prompt(t.Context(), o); !errors.Is(err, turnstone.ErrOverBudget) {
		t.Fatal(err)
	}
	r, err := eng.Forget(t.Context(), turnstone.Target{Session: "s", Seqs: []int64{4}})
	if err != nil || r.Turns == 0 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "the next prompt of s makes its summaries anew") {
		t.Errorf("%+v, %v", r, err)
	}
	page, err := s.Query(t.Context(), turn.Query{From: 4, To: 4})
	if err != nil || len(page.Turns) != 1 || page.Turns[0].Content != (turn.Forgotten{}) {
		t.Errorf("%+v, %v", page.Turns, err)
	}
	if text := textOf(compiled(t, s, medium)); strings.Contains(text, "parcel 1 was") {
		t.Error(text)
	}
}

// A fork that said nothing yet is forgotten too: window, history and prompt begin anew together.
func TestAForkWithoutTurnsOfItsOwnIsForgotten(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	parent := session(t, eng, "home")
	say(t, parent, turn.User, "Hello.")
	o := turnstone.PromptOptions{Model: "llama3.2", Context: 8192}
	if _, err := parent.Prompt(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	say(t, parent, turn.Agent, "Hello?")
	fork, err := parent.Fork(t.Context(), turnstone.Head, turn.SessionInfo{})
	if err != nil {
		t.Fatal(err)
	}
	shown := func() (window, history int) {
		t.Helper()
		w, werr := fork.Window(t.Context())
		h, herr := fork.History(t.Context(), turn.HistoryOptions{Turns: 9, KeepSystem: true})
		if err := errors.Join(werr, herr); err != nil {
			t.Fatal(err)
		}
		return len(w), len(h)
	}
	if w, h := shown(); w != 2 || h != 2 {
		t.Errorf("before: %d, %d", w, h)
	}
	if receipt, err := fork.Forget(t.Context(), turnstone.Target{All: true}); err != nil || receipt.Shared != 2 {
		t.Errorf("%+v, %v", receipt, err)
	}
	if w, h := shown(); w != 0 || h != 0 {
		t.Errorf("after: %d, %d", w, h)
	}
	if p, err := fork.Prompt(t.Context(), o); err != nil || len(p.Messages) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	if w, err := parent.Window(t.Context()); err != nil || len(w) != 2 {
		t.Errorf("%v, %v", w, err)
	}
}
