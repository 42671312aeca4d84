package postgres_test

import (
	"context"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/turn"
)

var newIDs = ids.New(nil)

// open opens a store and closes it when the test ends, if the test did not.
func open(t testing.TB, url string, cfg postgres.Config) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// alone skips a test in the short form, which the race detector watches: no two goroutines meet in it that do not meet in
// the suite, or only those of different processes.
func alone(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("nothing to watch")
	}
}

// startCluster starts a server of the test's own. Without PostgreSQL's programs the test is
// skipped, or fails where CI=true.
func startCluster(t testing.TB, opts pgtest.Options) *pgtest.Cluster {
	t.Helper()
	c, err := pgtest.Start(t.Context(), opts)
	if err != nil {
		if os.Getenv("CI") == "true" || os.Getenv(pgtest.Variable) != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// connect gives the test a connection of its own to look behind the store's back.
func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return c
}

func execute(t testing.TB, c *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := c.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// ask returns the one value that a statement selects.
func ask[T any](t testing.TB, c *pgx.Conn, sql string, args ...any) (v T) {
	t.Helper()
	if err := c.QueryRow(t.Context(), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// with returns the URL changed.
func with(t testing.TB, address string, change func(*url.URL)) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	change(u)
	return u.String()
}

// parameter sets a parameter of a URL.
func parameter(name, value string) func(*url.URL) {
	return func(u *url.URL) {
		q := u.Query()
		q.Set(name, value)
		u.RawQuery = q.Encode()
	}
}

const simple = pgx.QueryExecModeSimpleProtocol

// said is a turn of a user.
func said(text string) turn.Draft {
	return turn.Draft{Role: turn.User, Content: turn.Text{Text: text}}
}

// create makes a session of the default tenant.
func create(t testing.TB, s store.Store, session string) turn.Key {
	t.Helper()
	k := turn.Key{Tenant: turn.DefaultTenant, Session: session}
	err := s.Update(t.Context(), func(tx store.Tx) error {
		_, err := tx.Log().InsertSession(t.Context(), turn.SessionInfo{
			Key: k, Status: turn.Active, CreatedAt: tx.Now(), LastActivity: tx.Now(),
		})
		return err
	})
	if err != nil {
		t.Fatalf("session %s: %v", session, err)
	}
	return k
}

// seal is safe for concurrent use.
func seal(drafts ...turn.Draft) (sealed []turn.Sealed, err error) {
	limits, err := turn.Limits{}.WithDefaults()
	if err != nil {
		return nil, err
	}
	sealed = make([]turn.Sealed, len(drafts))
	for i, d := range drafts {
		if d.ID == "" {
			d.ID = newIDs.Next(time.Now())
		}
		if sealed[i], err = d.Seal(limits); err != nil {
			return nil, err
		}
	}
	return sealed, nil
}

// try appends in an update of its own. It is safe for concurrent use.
func try(ctx context.Context, s store.Store, k turn.Key, drafts ...turn.Draft) (turns []turn.Turn, err error) {
	sealed, err := seal(drafts...)
	if err != nil {
		return nil, err
	}
	err = s.Update(ctx, func(tx store.Tx) (err error) {
		turns, err = turn.Append(ctx, tx.Log(), k, tx.Now(), sealed...)
		return err
	})
	return turns, err
}

func mustAppend(t testing.TB, s store.Store, k turn.Key, drafts ...turn.Draft) []turn.Turn {
	t.Helper()
	turns, err := try(t.Context(), s, k, drafts...)
	if err != nil {
		t.Fatalf("append to %s: %v", k.Session, err)
	}
	return turns
}

// log returns all turns of a session, oldest first.
func log(t testing.TB, s store.Store, k turn.Key) []turn.Turn {
	t.Helper()
	return query(t, s, k, turn.Query{})
}

// query returns all turns of a session that a query finds.
func query(t testing.TB, s store.Store, k turn.Key, q turn.Query) (found []turn.Turn) {
	t.Helper()
	q.Limit = 10_000
	for {
		search, err := q.Compile()
		if err != nil {
			t.Fatal(err)
		}
		var page turn.Page
		err = s.View(t.Context(), func(tx store.Tx) error {
			info, err := tx.Log().Session(t.Context(), k)
			if err != nil {
				return err
			}
			page, err = search.Run(t.Context(), tx.Log(), info)
			return err
		})
		if err != nil {
			t.Fatalf("query of %s: %v", k.Session, err)
		}
		found = append(found, page.Turns...)
		if q.After = page.Next; page.Next == 0 {
			return found
		}
	}
}
