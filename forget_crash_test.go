package turnstone_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/internal/litetest"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// In the environment of a child that forgets: the folder of its store and its files, and at how manyeth point it dies.
const (
	forgetFolder = "TURNSTONE_FORGET_FOLDER"
	forgetPoint  = "TURNSTONE_FORGET_POINT"
)

func filesOf(folder string) turnstone.Config {
	return turnstone.Config{BundleDir: filepath.Join(folder, "b"), SessionsDir: filepath.Join(folder, "s")}
}

// forgetUntilDead forgets the session "home" until the process is killed at its point.
func forgetUntilDead(ctx context.Context, folder string) error {
	st, err := sqlite.Open(ctx, filepath.Join(folder, "log.db"), sqlite.Config{})
	if err != nil {
		return err
	}
	left, err := strconv.Atoi(os.Getenv(forgetPoint))
	if err != nil {
		return err
	}
	die := func() error {
		if left--; left != 0 {
			return nil
		}
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		fmt.Fprintln(os.Stderr, "still alive:", err)
		select {}
	}
	faults := faulty.New(st)
	eng, err := turnstone.Open(context.WithValue(ctx, byItself{}, true), patient{&mortal{faults, die}}, filesOf(folder))
	if err != nil {
		return err
	}
	faults.Set(func(string) error { return die() })
	_, err = eng.Forget(ctx, turnstone.Target{Session: "home", All: true})
	return err
}

// mortal is a store whose process may die before it scrubs and after.
type mortal struct {
	store.Store
	die func() error
}

func (m *mortal) Scrub(ctx context.Context) error {
	return errors.Join(m.die(), m.Store.Scrub(ctx), m.die())
}

// TestTortureForgettingSurvivesKill kills a process at every step of forgetting, and asks again on what it left.
func TestTortureForgettingSurvivesKill(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for point := 1; ; point++ {
		v := &vault{folder: t.TempDir()}
		path := litetest.File(t, filepath.Join(v.folder, "log.db"))
		open := func() {
			st, err := sqlite.Open(t.Context(), path, sqlite.Config{})
			if err != nil {
				t.Fatal(err)
			}
			v.st, v.raw = st, func(*testing.T) []byte { return nil } // its folder is looked through anyway
			if v.engine, err = turnstone.Open(context.WithValue(t.Context(), byItself{}, true), patient{st}, filesOf(v.folder)); err != nil {
				t.Fatal(err)
			}
		}
		open()
		v.plant(t)
		if err := v.engine.Close(); err != nil {
			t.Fatal(err)
		}
		child := exec.CommandContext(t.Context(), self)
		child.Env = append(os.Environ(), forgetFolder+"="+v.folder, forgetPoint+"="+strconv.Itoa(point))
		child.Stderr = os.Stderr
		lived := child.Run() == nil
		open()
		v.session, v.fork = session(t, v.engine, "home"), session(t, v.engine, "fork")
		if left := len(v.secrets(t)); left != 0 && left != len(v.turns) {
			t.Errorf("point %d: %d of %d turns are left", point, left, len(v.turns))
		}
		healthy(t, v.st)
		if !lived {
			// Its leases run out in time.
			err := v.st.Update(t.Context(), func(tx store.Tx) error {
				return errors.Join(tx.Log().SetLease(t.Context(), turn.Key{Tenant: turn.DefaultTenant, Session: "home"}, turn.Lease{}),
					tx.Log().SetLease(t.Context(), turn.Key{Tenant: turn.DefaultTenant, Session: "fork"}, turn.Lease{}))
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := v.engine.Forget(t.Context(), turnstone.Target{Session: "home", All: true}); err != nil {
				t.Fatalf("point %d: again: %v", point, err)
			}
		}
		for _, leak := range leaks(v.kept(t)) {
			t.Errorf("point %d: %s", point, leak)
		}
		healthy(t, v.st)
		if err := v.engine.Close(); err != nil {
			t.Fatal(err)
		}
		if lived {
			if point < 8 {
				t.Errorf("there were only %d points", point-1)
			}
			return
		}
	}
}
