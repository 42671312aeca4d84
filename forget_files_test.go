package turnstone_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// watched is a store that says when something was read, but for what is done in the background.
type watched struct {
	store.Store
	read atomic.Value // of type func()
}

func (w *watched) View(ctx context.Context, fn func(store.Tx) error) error {
	err := w.Store.View(ctx, fn)
	if read, ok := w.read.Load().(func()); ok && ctx.Value(byItself{}) == nil {
		read()
	}
	return err
}

// What is forgotten while a file of its session is being written does not come back with the file.
func TestForgetWhileAFileIsWritten(t *testing.T) {
	for kind, folder := range map[string]string{"bundle": "b", "document": "s"} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir, st := t.TempDir(), &watched{Store: mem.New(mem.Config{})}
				chat := session(t, open(t, st, filesOf(dir)), "talk")
				say(t, chat, turn.User, "My word is xyzzyplugh.")
				var once atomic.Bool
				forgotten := make(chan error, 1)
				st.read.Store(func() {
					half, err := filepath.Glob(filepath.Join(dir, folder, "*", ".*"))
					if err != nil || len(half) == 0 || once.Swap(true) {
						return
					}
					go func() {
						_, err := chat.Forget(t.Context(), turnstone.Target{All: true})
						forgotten <- err
					}()
					synctest.Wait() // until it is done, or waits for the file
				})
				if _, err := chat.End(t.Context()); err != nil {
					t.Fatal(err)
				}
				if err := <-forgotten; err != nil {
					t.Fatal(err)
				}
				if bytes.Contains(filesIn(t, dir), []byte("xyzzyplugh")) {
					t.Error("it is in a file")
				}
			})
		})
	}
}

// What a crash left of a file goes with what was said, and of that session alone.
func TestForgetWhatWasLeftOfFiles(t *testing.T) {
	dir := t.TempDir()
	chat := session(t, open(t, mem.New(mem.Config{}), filesOf(dir)), "talk")
	say(t, chat, turn.User, "My word is xyzzyplugh.")
	for _, folder := range []string{"b", "s"} {
		if err := os.MkdirAll(filepath.Join(dir, folder, "default"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	left := map[string]bool{
		"b/default/.talk.bundle-123": false, "b/default/.talk.bundle-124": false, "s/default/.talk.json-4711": false,
		"b/default/.talk.bundle-1.bundle-5": true, "b/default/.talks.bundle-123": true, "s/default/.talk.bundle-123": true,
	}
	for name := range left {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte("xyzzyplugh"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	receipt, err := chat.Forget(t.Context(), turnstone.Target{All: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range receipt.Removed {
		if r.Where == "bundle" || r.Where == "document" {
			t.Errorf("%+v", r)
		}
	}
	for name, stays := range left {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
	if files, err := filepath.Glob(filepath.Join(dir, "*", "*", "talk.*")); err != nil || len(files) > 0 {
		t.Errorf("%q were made, %v", files, err)
	}
}

// Asked for again, nothing is claimed that was not done; a file that was put back is found all the same.
func TestForgetAgainCountsNoFiles(t *testing.T) {
	for name, target := range map[string]turnstone.Target{"turn": {Seqs: []int64{1}}, "session": {All: true}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			eng := open(t, mem.New(mem.Config{}), filesOf(dir))
			chat := session(t, eng, "talk")
			say(t, chat, turn.User, "My word is xyzzyplugh.")
			say(t, chat, turn.Agent, "Thank you.")
			if _, err := chat.End(t.Context()); err != nil {
				t.Fatal(err)
			}
			kept := map[string][]byte{}
			for _, path := range []string{chat.BundlePath(), chat.DocumentPath()} {
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				kept[path] = data
			}
			files := func(preview bool) string {
				t.Helper()
				what := target
				what.Preview = preview
				r, err := chat.Forget(t.Context(), what)
				if err != nil {
					t.Fatal(err)
				}
				var found string
				for _, c := range r.Removed {
					if c.Where == "bundle" || c.Where == "document" {
						found += fmt.Sprintf("%s:%d ", c.Where, c.Count)
					}
				}
				return found
			}
			told := func() (n int) {
				t.Helper()
				list, err := eng.Events(t.Context(), "talk", "", 100)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range list {
					if e.Kind == event.Forgotten {
						n++
					}
				}
				return n
			}
			for i, step := range []struct {
				putBack bool
				want    string
				events  int
			}{{false, "bundle:1 document:1 ", 1}, {false, "", 1}, {true, "bundle:1 document:1 ", 2}, {false, "", 2}} {
				for path, data := range kept {
					if !step.putBack {
						break
					}
					if err := os.WriteFile(path, data, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				for _, preview := range []bool{true, false} {
					if got := files(preview); got != step.want {
						t.Errorf("time %d, preview %v: the receipt counts %q, want %q", i+1, preview, got, step.want)
					}
				}
				if got := told(); got != step.events {
					t.Errorf("time %d: %d events tell of it, want %d", i+1, got, step.events)
				}
				for path := range kept {
					if _, err := os.Stat(path); err != nil {
						t.Errorf("time %d: %v", i+1, err)
					}
				}
				if bytes.Contains(filesIn(t, dir), []byte("xyzzyplugh")) {
					t.Errorf("time %d: it is in a file", i+1)
				}
			}
		})
	}
}

// Files that were written into a folder that this engine does not know of are reached too; one that is not there any more is named.
func TestForgetReachesFilesThatWereWrittenElsewhere(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		ctx, dir := t.Context(), t.TempDir()
		writer := open(t, st, filesOf(dir))
		gone := open(t, st, filesOf(filepath.Join(dir, "gone")))
		for _, eng := range []*turnstone.Engine{writer, gone} {
			s := session(t, eng, "talk")
			say(t, s, turn.User, "My word is xyzzyplugh.")
			if _, err := s.End(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.RemoveAll(filepath.Join(dir, "gone")); err != nil {
			t.Fatal(err)
		}
		here, away := session(t, writer, "talk"), session(t, gone, "talk")
		chat := session(t, open(t, st, turnstone.Config{}), "talk")
		for _, preview := range []bool{true, false} {
			r, err := chat.Forget(ctx, turnstone.Target{All: true, Preview: preview})
			if err != nil {
				t.Fatal(err)
			}
			if want := []string{here.BundlePath(), here.DocumentPath()}; !slices.Equal(r.Files, want) {
				t.Errorf("preview %v: the receipt names %q, want %q", preview, r.Files, want)
			}
			if want := []string{away.BundlePath(), away.DocumentPath()}; !slices.Equal(r.Unreachable, want) {
				t.Errorf("preview %v: not reached are %q, want %q", preview, r.Unreachable, want)
			}
		}
		if all := filesIn(t, dir); bytes.Contains(all, []byte("xyzzyplugh")) || !bytes.Contains(all, []byte("forgotten")) {
			t.Error("it is in a file, or the file is not there")
		}
		for _, told := range receipts(t, writer, "talk") {
			if strings.Contains(told, dir) {
				t.Errorf("what everybody may read says where the files are: %s", told)
			}
		}
	})
}

// A process that was killed while it wrote a file leaves the beginning of one; the next to write in that folder takes it away.
func TestEndTakesAwayWhatWasLeftOfFiles(t *testing.T) {
	dir := t.TempDir()
	chat := session(t, open(t, mem.New(mem.Config{}), filesOf(dir)), "talk")
	say(t, chat, turn.User, "Hello.")
	old := time.Now().Add(-time.Hour)
	left := map[string]bool{
		"b/default/.other.bundle-123": false, "b/default/.talk.bundle-124": false, "s/default/.talk.json-4711": false,
		"b/default/.turnstone-123": true, "b/default/other.bundle": true, "b/default/.other.bundle": true, "b/default/.notes-123": true,
	}
	for name := range left {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600), os.Chtimes(path, old, old)); err != nil {
			t.Fatal(err)
		}
	}
	// Somebody is writing this one.
	left["b/default/.third.bundle-7"] = true
	if err := os.WriteFile(filepath.Join(dir, "b", "default", ".third.bundle-7"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := chat.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, stays := range left {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Forgetting that fails once the files are deleted leaves them as they were, and asked for again it writes them.
func TestForgetThatFailsKeepsFiles(t *testing.T) {
	for name, stop := range map[string]func(cancel func()) error{
		"fault": func(func()) error { return errDied },
		"ended": func(cancel func()) error { cancel(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			dir, st := t.TempDir(), faulty.New(mem.New(mem.Config{}))
			chat := session(t, open(t, st, filesOf(dir)), "talk")
			say(t, chat, turn.User, "My word is xyzzyplugh.")
			if _, err := chat.End(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var once atomic.Bool
			st.Set(func(string) error {
				if _, err := os.Stat(chat.BundlePath()); err == nil || once.Swap(true) {
					return nil
				}
				return stop(cancel)
			})
			if _, err := chat.Forget(ctx, turnstone.Target{All: true}); err == nil {
				t.Fatal("it did not fail")
			}
			st.Set(nil)
			for _, path := range []string{chat.BundlePath(), chat.DocumentPath()} {
				if _, err := os.Stat(path); err != nil {
					t.Error(err)
				}
			}
			r, err := chat.Forget(t.Context(), turnstone.Target{All: true})
			if err != nil || len(r.Files) != 2 || len(r.Unreachable) > 0 {
				t.Errorf("the receipt names %q, and %q as not reached, %v", r.Files, r.Unreachable, err)
			}
		})
	}
}

// A file in a folder of another that cannot be written again is named without its folder, and the log says why.
func TestForgetWarnsOfAFileWithoutItsFolder(t *testing.T) {
	dir, st := t.TempDir(), &watched{Store: mem.New(mem.Config{})}
	writer := session(t, open(t, st, filesOf(dir)), "talk")
	say(t, writer, turn.User, "My word is xyzzyplugh.")
	if _, err := writer.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	chat := session(t, open(t, st, turnstone.Config{Log: slog.NewTextHandler(&logged, nil)}), "talk")
	folder := filepath.Dir(writer.BundlePath())
	var once atomic.Bool
	st.read.Store(func() {
		if _, err := os.Stat(writer.BundlePath()); err != nil && !once.Swap(true) {
			if err := errors.Join(os.RemoveAll(folder), os.WriteFile(folder, nil, 0o600)); err != nil {
				t.Error(err)
			}
		}
	})
	r, err := chat.Forget(t.Context(), turnstone.Target{All: true})
	if err != nil || len(r.Warnings) != 1 || strings.Contains(r.Warnings[0], dir) || !strings.Contains(r.Warnings[0], "talk.bundle") {
		t.Errorf("warnings %q, %v", r.Warnings, err)
	}
	if !strings.Contains(logged.String(), writer.BundlePath()) {
		t.Errorf("logged is %s", &logged)
	}
}

// The receipt lists no file of a fork that merely shows what was forgotten before.
func TestForgetListsNoFilesOfWhomItDoesNotConcern(t *testing.T) {
	dir := t.TempDir()
	eng := open(t, mem.New(mem.Config{}), filesOf(dir))
	home := session(t, eng, "home")
	say(t, home, turn.User, "Hello.")
	fork, err := home.Fork(t.Context(), turnstone.Head, turn.SessionInfo{Key: turn.Key{Session: "fork"}})
	if err != nil {
		t.Fatal(err)
	}
	say(t, home, turn.User, "My word is xyzzyplugh.")
	if _, err := home.Forget(t.Context(), turnstone.Target{Seqs: []int64{1}}); err != nil {
		t.Fatal(err)
	}
	if _, err := fork.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, preview := range []bool{true, false} {
		r, err := home.Forget(t.Context(), turnstone.Target{Seqs: []int64{2}, Preview: preview})
		if err != nil || !slices.Equal(r.Sessions, []string{"home"}) || len(r.Files) > 0 || len(r.Unreachable) > 0 {
			t.Errorf("preview %v: %+v, %v", preview, r, err)
		}
	}
	if _, err := os.Stat(fork.BundlePath()); err != nil {
		t.Error(err)
	}
}
