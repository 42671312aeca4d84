package turnstone_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
)

func scopes(t *testing.T, names string) access.Scopes {
	t.Helper()
	set, err := access.ParseScopes(names)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestKeysOpenTheirTenant(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		other, err := eng.ForTenant("other")
		if err != nil {
			t.Fatal(err)
		}
		keyed := func(want bool) {
			t.Helper()
			if got, err := eng.Keyed(t.Context()); err != nil || got != want {
				t.Errorf("keyed %v, %v", got, err)
			}
		}
		keyed(false)
		secret, key, err := other.CreateKey(t.Context(), "web", scopes(t, "read,write"))
		if err != nil {
			t.Fatal(err)
		}
		keyed(true)
		for range 2 {
			caller, err := eng.Identify(t.Context(), secret)
			if want := (access.Caller{Key: key.ID, Tenant: "other", Scopes: key.Scopes}); err != nil || caller != want {
				t.Errorf("got %+v, %v", caller, err)
			}
		}
		if keys, err := other.Keys(t.Context()); err != nil || len(keys) != 1 || keys[0] != key || key.Name != "web" {
			t.Errorf("keys %+v, %v", keys, err)
		}
		if keys, err := eng.Keys(t.Context()); err != nil || len(keys) != 0 {
			t.Errorf("keys of another tenant: %+v, %v", keys, err)
		}
		if err := eng.RevokeKey(t.Context(), key.ID); !errors.Is(err, access.ErrUnknownKey) {
			t.Errorf("revoked by another tenant: %v", err)
		}
		for range 2 {
			if err := other.RevokeKey(t.Context(), strings.ToLower(key.ID)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := eng.Identify(t.Context(), secret); !errors.Is(err, access.ErrUnknownKey) {
			t.Errorf("revoked: %v", err)
		}
		keyed(false)
		if keys, err := other.Keys(t.Context()); err != nil || len(keys) != 1 || keys[0].RevokedAt.IsZero() {
			t.Errorf("keys %+v, %v", keys, err)
		}
	})
}

func TestSecretsThatOpenNothing(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	secret, _, err := eng.CreateKey(t.Context(), "", access.Everything())
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, _, err := open(t, mem.New(mem.Config{}), turnstone.Config{}).CreateKey(t.Context(), "", access.Everything())
	if err != nil {
		t.Fatal(err)
	}
	for name, shown := range map[string]string{
		"none": "", "a word": "sesame", "of another store": elsewhere, "another's random part": secret[:30] + elsewhere[30:],
	} {
		if caller, err := eng.Identify(t.Context(), shown); !errors.Is(err, access.ErrUnknownKey) || caller != (access.Caller{}) {
			t.Errorf("%s: %+v, %v", name, caller, err)
		}
	}
	var field *access.FieldError
	if secret, _, err := eng.CreateKey(t.Context(), "", 0); !errors.As(err, &field) || secret != "" {
		t.Errorf("a key that opens nothing: %q, %v", secret, err)
	}
	if keys, err := eng.Keys(t.Context()); err != nil || len(keys) != 1 {
		t.Errorf("keys %+v, %v", keys, err)
	}
}

// readCounter counts how often keys are read, and can refuse it. What runs in the background reads other things.
type readCounter struct {
	store.Store
	reads atomic.Int64
	gone  atomic.Bool
}

func (c *readCounter) View(ctx context.Context, fn func(store.Tx) error) error {
	if c.gone.Load() {
		return store.ErrUnavailable
	}
	return c.Store.View(ctx, func(tx store.Tx) error { return fn(countedTx{tx, c}) })
}

type countedTx struct {
	store.Tx
	counter *readCounter
}

func (t countedTx) Access() access.Rows {
	t.counter.reads.Add(1)
	return t.Tx.Access()
}

// That there is no such key is known for a second.
func TestUnknownKeysAreNotReadEachTime(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	var offset atomic.Int64
	st := &readCounter{Store: mem.New(mem.Config{})}
	eng := open(t, st, turnstone.Config{Clock: func() time.Time { return now.Add(time.Duration(offset.Load())) }, SweepEvery: time.Hour})
	secret, _, err := open(t, mem.New(mem.Config{}), turnstone.Config{}).CreateKey(t.Context(), "", access.Everything())
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		at   time.Duration
		read int64
	}{{0, 1}, {0, 0}, {999 * time.Millisecond, 0}, {time.Second, 1}, {time.Second, 0}, {0, 1}} {
		offset.Store(int64(step.at))
		before := st.reads.Load()
		if _, err := eng.Identify(t.Context(), secret); !errors.Is(err, access.ErrUnknownKey) {
			t.Errorf("at %v: %v", step.at, err)
		}
		if read := st.reads.Load() - before; read != step.read {
			t.Errorf("at %v: read %d times, want %d", step.at, read, step.read)
		}
	}
}

// What is known of a key is read again after a second, and so revoked within two whoever revoked it.
func TestKeysAreReadNowAndThen(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	var offset atomic.Int64
	clock := func() time.Time { return now.Add(time.Duration(offset.Load())) }
	st := &readCounter{Store: mem.New(mem.Config{})}
	eng := open(t, st, turnstone.Config{Clock: clock, SweepEvery: time.Hour})
	secret, key, err := eng.CreateKey(t.Context(), "", access.Everything())
	if err != nil {
		t.Fatal(err)
	}
	identify := func(at time.Duration) (read int64, err error) {
		offset.Store(int64(at))
		before := st.reads.Load()
		_, err = eng.Identify(t.Context(), secret)
		return st.reads.Load() - before, err
	}
	for _, step := range []struct {
		at   time.Duration
		read int64
	}{
		{0, 1}, {0, 0}, {999 * time.Millisecond, 0}, {time.Second, 1}, {1999 * time.Millisecond, 0},
		{time.Hour, 1}, {time.Hour, 0}, {time.Minute, 1}, {time.Minute, 0},
	} {
		if read, err := identify(step.at); err != nil || read != step.read {
			t.Errorf("at %v: %d reads, %v; want %d", step.at, read, err, step.read)
		}
	}
	// As another process would: this engine does not notice.
	err = st.Update(t.Context(), func(tx store.Tx) error {
		return tx.Access().RevokeKey(t.Context(), key.Tenant, key.ID, tx.Now())
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := identify(time.Minute + 500*time.Millisecond); err != nil {
		t.Errorf("while it is still believed: %v", err)
	}
	st.gone.Store(true)
	if _, err := identify(time.Minute + time.Second); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("without a store: %v", err)
	}
	st.gone.Store(false)
	for range 2 {
		if _, err := identify(time.Minute + time.Second); !errors.Is(err, access.ErrUnknownKey) {
			t.Errorf("a second later: %v", err)
		}
	}
}

// While one looks whether a key is still good the others go on, but not for ever.
func TestKeysThatAreBeingReadAgain(t *testing.T) {
	var offset atomic.Int64
	clock := func() time.Time { return time.UnixMicro(0).UTC().Add(time.Duration(offset.Load())) }
	st := &heldViews{Store: mem.New(mem.Config{})}
	eng := open(t, st, turnstone.Config{Clock: clock})
	secret, _, err := eng.CreateKey(t.Context(), "", access.Everything())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Identify(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	reading, release := make(chan struct{}, 2), make(chan struct{})
	st.hold(func() {
		reading <- struct{}{}
		<-release
	})
	offset.Store(int64(1500 * time.Millisecond))
	done := make(chan error, 2)
	look := func() {
		_, err := eng.Identify(t.Context(), secret)
		done <- err
	}
	go look()
	<-reading
	if _, err := eng.Identify(t.Context(), secret); err != nil {
		t.Error(err)
	}
	offset.Store(int64(2 * time.Second))
	go look()
	<-reading
	close(release)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A key that is revoked while somebody reads it opens nothing afterwards.
func TestKeysThatAreRevokedWhileTheyAreRead(t *testing.T) {
	st := &heldViews{Store: mem.New(mem.Config{})}
	eng := open(t, st, turnstone.Config{Clock: func() time.Time { return time.UnixMicro(0).UTC() }})
	secret, key, err := eng.CreateKey(t.Context(), "", access.Everything())
	if err != nil {
		t.Fatal(err)
	}
	revoke := func() {
		if err := eng.RevokeKey(t.Context(), key.ID); err != nil {
			t.Error(err)
		}
	}
	st.after.Store(&revoke)
	if _, err := eng.Identify(t.Context(), secret); err != nil {
		t.Errorf("shown before: %v", err)
	}
	st.after.Store(nil)
	if _, err := eng.Identify(t.Context(), secret); !errors.Is(err, access.ErrUnknownKey) {
		t.Errorf("shown after: %v", err)
	}
}

// heldViews is a store whose views wait before they read keys, and after they did.
type heldViews struct {
	store.Store
	before, after atomic.Pointer[func()]
}

func (h *heldViews) hold(f func()) { h.before.Store(&f) }

func (h *heldViews) View(ctx context.Context, fn func(store.Tx) error) error {
	read := false
	err := h.Store.View(ctx, func(tx store.Tx) error { return fn(heldTx{tx, h, &read}) })
	if f := h.after.Load(); read && f != nil {
		(*f)()
	}
	return err
}

type heldTx struct {
	store.Tx
	views *heldViews
	read  *bool
}

func (t heldTx) Access() access.Rows {
	*t.read = true
	if f := t.views.before.Load(); f != nil {
		(*f)()
	}
	return t.Tx.Access()
}
