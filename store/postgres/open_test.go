package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
)

func TestOpenSaysWhatIsWrong(t *testing.T) {
	alone(t)
	address := pgtest.URL(t)
	admin := connect(t, address)
	execute(t, admin, `CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0 LOCALE_PROVIDER libc`)
	t.Cleanup(func() {
		if _, err := admin.Exec(context.WithoutCancel(t.Context()), `DROP DATABASE latin WITH (FORCE)`); err != nil {
			t.Error(err)
		}
	})
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	const secret = "s3cret:p@ss/word"
	password := func(u *url.URL) { u.User = url.UserPassword(u.User.Username(), secret) }
	for _, test := range []struct {
		name string
		url  string
		cfg  postgres.Config
		is   error
		want []string
	}{
		{
			name: "nobody listens",
			url:  with(t, with(t, address, password), func(u *url.URL) { u.Host = nobody }),
			is:   store.ErrUnavailable, want: []string{nobody, "see that it runs"},
		},
		{
			name: "wrong password", url: with(t, address, password),
			want: []string{"refuses the user or the password", "127.0.0.1"},
		},
		{
			name: "no such database", url: with(t, address, func(u *url.URL) { u.Path = "/nowhere" }),
			want: []string{"database nowhere at 127.0.0.1", "does not exist; create it first"},
		},
		{
			name: "no such schema", url: with(t, address, parameter("search_path", "nowhere")),
			want: []string{"no schema of the search_path; create it first"},
		},
		{
			name: "another encoding", url: with(t, address, func(u *url.URL) { u.Path = "/latin" }),
			want: []string{"database latin", "LATIN1", "create it with the encoding UTF8"},
		},
		{
			name: "password with special characters", url: "postgres://user:" + secret + "@127.0.0.1/db",
			want: []string{"url: the database's URL cannot be read; write postgres://"},
		},
		{
			name: "password that looks like a port", url: "postgres://user:s3cret@127.0.0.1:p@ss/db",
			want: []string{"url: the database's URL cannot be read"},
		},
		{
			name: "password that looks like a port and a parameter", url: "postgres://user:5?s3cret@127.0.0.1/db",
			want: []string{"url: the database's URL cannot be read"},
		},
		{
			name: "password that looks like a port and a fragment", url: "postgres://user:5#s3cret@127.0.0.1/db",
			want: []string{"url: the database's URL cannot be read"},
		},
		{name: "no URL at all", url: "host=127.0.0.1 password=s3cret", want: []string{"url: the database's URL cannot be read"}},
		{name: "bad parameter", url: with(t, address, parameter("sslmode", "perhaps")), want: []string{"url: sslmode is invalid"}},
		{
			name: "acknowledging too early", url: with(t, address, parameter("synchronous_commit", "off")),
			want: []string{"synchronous_commit: off would acknowledge what is not on disk; leave it out of the URL"},
		},
		{name: "negative setting", url: address, cfg: postgres.Config{MaxConns: -1}, want: []string{"config: ", "MaxConns", "use 0 for the default"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := postgres.Open(t.Context(), test.url, test.cfg)
			if err == nil {
				t.Fatal(s.Close(), "opened")
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("got %v, want %v", err, test.is)
			}
			for _, part := range append(test.want, "open PostgreSQL store: ") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q is not in: %v", part, err)
				}
			}
			for _, part := range []string{secret, "s3cret", "p@ss", "/word"} {
				if strings.Contains(err.Error(), part) {
					t.Errorf("the password is in: %v", err)
				}
			}
		})
	}
}

func TestOpenRefusesANewerSchema(t *testing.T) {
	alone(t)
	address := pgtest.URL(t)
	if err := open(t, address, postgres.Config{}).Close(); err != nil {
		t.Fatal(err)
	}
	next := store.SchemaVersion + 1
	execute(t, connect(t, address), fmt.Sprintf(`INSERT INTO schema_migrations (version, name, applied_at) VALUES (%d, 'future', 0)`, next))
	_, err := postgres.Open(t.Context(), address, postgres.Config{})
	var newer *store.NewerSchemaError
	if !errors.As(err, &newer) || newer.Have != next || newer.Know < 1 {
		t.Errorf("got %v, want a NewerSchemaError for version %d", err, next)
	}
}

func TestOpenTogether(t *testing.T) {
	address := pgtest.URL(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			s, err := postgres.Open(t.Context(), address, postgres.Config{})
			if err == nil {
				err = s.Close()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := ask[int](t, connect(t, address), `SELECT count(*) FROM schema_migrations`); n != store.SchemaVersion {
		t.Errorf("%d migrations were applied, want %d", n, store.SchemaVersion)
	}
}

func TestOpenWithACancelledContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := postgres.Open(ctx, pgtest.URL(t), postgres.Config{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A schema further back in the search_path may belong to another program, also one that calls its
// tables the same.
func TestOpenLooksIntoTheFirstSchemaOnly(t *testing.T) {
	alone(t)
	address := pgtest.URL(t)
	admin := connect(t, address)
	theirs := ask[string](t, admin, `SELECT current_schema()::text`)
	execute(t, admin, `CREATE TABLE schema_migrations (version bigint PRIMARY KEY, dirty boolean)`)
	execute(t, admin, `INSERT INTO schema_migrations VALUES (99, false)`)
	ours := ask[string](t, connect(t, pgtest.URL(t)), `SELECT current_schema()::text`)
	s := open(t, with(t, address, parameter("search_path", ours+","+theirs)), postgres.Config{})
	k := create(t, s, "first")
	mustAppend(t, s, k, said("hello"))
	if n := ask[int](t, admin, `SELECT count(*) FROM `+ours+`.turns`); n != 1 {
		t.Errorf("%d turns in the first schema, want 1", n)
	}
}

func TestOpenInASchemaWithAnyName(t *testing.T) {
	alone(t)
	address := pgtest.URL(t)
	admin := connect(t, address)
	name := `"Strange ` + ask[string](t, admin, `SELECT current_schema()::text`) + `"`
	execute(t, admin, `CREATE SCHEMA `+name)
	defer execute(t, admin, `DROP SCHEMA `+name+` CASCADE`)
	s := open(t, with(t, address, func(u *url.URL) { u.RawQuery = "search_path=" + url.PathEscape(name) }), postgres.Config{})
	mustAppend(t, s, create(t, s, "first"), said("hello"))
	tables, err := s.Tables(t.Context())
	if err != nil || len(tables) != len(store.Schema)+len(postgres.Derived) {
		t.Errorf("%d tables, %v", len(tables), err)
	}
	if problems, err := s.Check(t.Context()); err != nil || len(problems) != 0 {
		t.Errorf("check: %v, %v", problems, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
