package turnstone

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Engine is the way to all sessions of one tenant. It is safe for concurrent use. A store serves
// one engine at a time, with any number of tenants.
type Engine struct {
	store   store.Store
	config  Config
	ids     *ids.Source
	windows *windows
	shared  *shared
}

// Open makes an engine on a store, which the engine owns from then on: Close closes it. Values of ctx,
// but not its end, are passed on to what runs in the background.
func Open(ctx context.Context, st store.Store, config Config) (*Engine, error) {
	if invalid.Nil(st) {
		return nil, fmt.Errorf("open engine: %w", invalid.New("store", "is nil", "open one first, as with sqlite.Open"))
	}
	config, err := config.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("open engine: %w", err)
	}
	e := &Engine{store: st, config: config, ids: ids.New(config.Entropy), windows: newWindows(st, config.Windows)}
	if err := startShared(ctx, e); err != nil {
		return nil, fmt.Errorf("open engine: %w", err)
	}
	return e, nil
}

// Close interrupts the exchanges that are under way and waits until they are committed as that, ends what runs in the
// background and closes the store. Everything acknowledged is on disk; what could not be published any more is when
// an engine is opened on the store again.
func (e *Engine) Close() error {
	e.shared.floors.close()
	return errors.Join(e.shared.close(), e.store.Close())
}

// Tenant is whose sessions the engine sees.
func (e *Engine) Tenant() string { return e.config.Tenant }

// Profile is what the engine knows of a model; see [budget.Profiles.Find] for one that it knows nothing of.
func (e *Engine) Profile(model string) (budget.Profile, bool) { return e.config.Profiles.Find(model) }

// ContextOf is the size of the context, in tokens, of prompts for a model where nobody says another: Config.Context, of a known
// model that has less all that it has, or what its profile says.
func (e *Engine) ContextOf(model string) int {
	profile, known := e.Profile(model)
	switch size := e.config.Context; {
	case size == 0:
		return profile.Usual()
	case known:
		return min(size, profile.Context)
	default:
		return size
	}
}

// ForTenant returns the same engine for another tenant's sessions. Only one of them is closed.
func (e *Engine) ForTenant(tenant string) (*Engine, error) {
	if err := ids.CheckName("tenant", tenant); err != nil {
		return nil, err
	}
	other := *e
	other.config.Tenant = tenant
	return &other, nil
}

// Session returns the session of that id and makes it where there is none.
func (e *Engine) Session(ctx context.Context, id string) (*Session, error) {
	s, err := e.Find(ctx, id)
	if errors.Is(err, turn.ErrNotFound) {
		s, err = e.Create(ctx, turn.SessionInfo{Key: turn.Key{Session: id}})
	}
	if errors.Is(err, turn.ErrExists) {
		return e.Find(ctx, id)
	}
	return s, err
}

// Find returns the session of that id, ErrNotFound where there is none.
func (e *Engine) Find(ctx context.Context, id string) (*Session, error) {
	s, err := e.handle(id)
	if err != nil {
		return nil, err
	}
	if _, err := s.Info(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Named returns the session of that id without a look at the store: whether there is one, what it is asked says. The
// error is an *invalid field for what cannot be an id.
func (e *Engine) Named(id string) (*Session, error) { return e.handle(id) }

// Tenants lists the tenants that have a session in the store, by name: for those who look after all of them.
func (e *Engine) Tenants(ctx context.Context) (names []string, err error) {
	err = e.store.View(ctx, func(tx store.Tx) (err error) {
		names, err = tx.Log().Tenants(ctx)
		return err
	})
	return names, err
}

// Create makes a new session with the given User, Title, Model and Mode. An empty id is given a
// ULID. turn.ErrExists if the id is taken.
func (e *Engine) Create(ctx context.Context, info turn.SessionInfo) (*Session, error) {
	if info.Session == "" {
		info.Session = e.newID()
	}
	s, err := e.handle(info.Session)
	if err != nil {
		return nil, err
	}
	// Only what describes the session is the caller's to say.
	info = turn.SessionInfo{Key: s.key, User: info.User, Title: info.Title, Model: info.Model, Mode: info.Mode, Status: turn.Active}
	if err := checkDescription(info); err != nil {
		return nil, err
	}
	err = e.store.Update(ctx, func(tx store.Tx) error { return e.makeSession(ctx, tx, info) })
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", info.Session, err)
	}
	return s, nil
}

// makeSession makes a session that nothing was said in yet.
func (e *Engine) makeSession(ctx context.Context, tx store.Tx, info turn.SessionInfo) error {
	made, err := insertSession(ctx, tx, info)
	if err == nil {
		e.shared.pipeline.Made(tx, made)
	}
	return err
}

// insertSession makes a session with its first state revision. One that does not say when it was created is
// created now.
func insertSession(ctx context.Context, tx store.Tx, info turn.SessionInfo) (made turn.SessionInfo, err error) {
	if info.CreatedAt.IsZero() || info.CreatedAt.After(tx.Now()) {
		info.CreatedAt = tx.Now()
	}
	info.LastActivity = tx.Now()
	if info.Segment, err = tx.Log().InsertSession(ctx, info); err != nil {
		return info, err
	}
	_, err = dialogue.Start(ctx, tx.Dialogue(), info.Tenant, info.Segment, tx.Now())
	return info, err
}

// Sessions lists sessions of the engine's tenant, newest first, at most 100 if the filter sets no
// limit. The Segment of the last one is the cursor for the next page.
func (e *Engine) Sessions(ctx context.Context, f turn.SessionFilter) (list []turn.SessionInfo, err error) {
	f.Tenant = e.config.Tenant
	if f.Limit <= 0 {
		f.Limit = 100
	}
	err = e.store.View(ctx, func(tx store.Tx) (err error) {
		list, err = tx.Log().Sessions(ctx, f)
		return err
	})
	return list, err
}

// Blob returns the bytes of an image or a recording by their hash. turn.ErrNotFound where the
// tenant has none.
func (e *Engine) Blob(ctx context.Context, sha256 string) (b turn.Blob, err error) {
	err = e.store.View(ctx, func(tx store.Tx) (err error) {
		b, err = tx.Log().Blob(ctx, e.config.Tenant, sha256)
		return err
	})
	if err != nil {
		return turn.Blob{}, fmt.Errorf("blob %s: %w", sha256, err)
	}
	return b, nil
}

// SweepBlobs deletes bytes that nothing has referred to for the grace period, of all tenants. [Engine.Sweep] does it too.
func (e *Engine) SweepBlobs(ctx context.Context) (int64, error) { return e.shared.sweepBlobs(ctx) }

// Light answers one request of the follow-up context, JSON in and JSON out.
func (e *Engine) Light(ctx context.Context, request []byte) []byte {
	return dialogue.HandleLight(ctx, e.store.Light(), e.config.Tenant, request)
}

func (e *Engine) handle(id string) (*Session, error) {
	key, err := turn.NewKey(e.config.Tenant, id)
	if err != nil {
		return nil, err
	}
	return &Session{engine: e, key: key}, nil
}

// newID makes an id before the transaction that uses it has a time of its own.
func (e *Engine) newID() string { return e.ids.Next(e.config.Clock()) }
