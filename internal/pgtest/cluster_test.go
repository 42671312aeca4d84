package pgtest

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

func startCluster(t *testing.T, opts Options) *Cluster {
	t.Helper()
	c, err := Start(t.Context(), opts)
	if errors.Is(err, errNoServer) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Logf("close of connection: %v", err)
		}
	})
	return conn
}

func value[T any](t *testing.T, conn *pgx.Conn, sql string) T {
	t.Helper()
	var v T
	if err := conn.QueryRow(t.Context(), sql).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func TestDataSurvivesEveryEnd(t *testing.T) {
	c := startCluster(t, Options{})
	url := c.URL()
	conn := connect(t, url)
	if _, err := conn.Exec(t.Context(), `CREATE TABLE kept (n int)`); err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		name     string
		recovers bool
		end      func() error
	}{
		{"fast restart", false, func() error { return c.Restart(t.Context(), Fast) }},
		{"immediate restart", true, func() error { return c.Restart(t.Context(), Immediate) }},
		{"kill", true, func() error {
			if err := c.Kill(); err != nil {
				return err
			}
			if conn, err := pgx.Connect(t.Context(), url); err == nil {
				t.Error("a killed server accepts a connection")
				return conn.Close(t.Context())
			}
			return c.Restart(t.Context(), Fast)
		}},
	} {
		if _, err := conn.Exec(t.Context(), `INSERT INTO kept VALUES ($1)`, i); err != nil {
			t.Fatalf("before %s: %v", step.name, err)
		}
		if err := step.end(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if err := conn.Ping(t.Context()); err == nil {
			t.Errorf("a connection survived the %s", step.name)
		}
		if got := strings.Contains(c.log.String(), "was not properly shut down"); got != step.recovers {
			t.Errorf("%s: recovery %v, want %v\n%s", step.name, got, step.recovers, c.log)
		}
		if c.URL() != url {
			t.Errorf("URL changed over the %s", step.name)
		}
		conn = connect(t, url)
		if got, want := value[int](t, conn, `SELECT count(*) FROM kept`), i+1; got != want {
			t.Errorf("%d rows after the %s, want %d", got, step.name, want)
		}
	}
}

func TestSettings(t *testing.T) {
	for _, test := range []struct {
		name string
		opts Options
		want string
	}{
		{"default", Options{}, "off"},
		{"durable", Options{Durable: true}, "on"},
	} {
		t.Run(test.name, func(t *testing.T) {
			conn := connect(t, startCluster(t, test.opts).URL())
			for _, setting := range []string{"fsync", "full_page_writes"} {
				if got := value[string](t, conn, `SHOW `+setting); got != test.want {
					t.Errorf("%s = %s, want %s", setting, got, test.want)
				}
			}
			if got := value[int](t, conn, `SELECT current_setting('max_connections')::int`); got < 200 {
				t.Errorf("max_connections = %d, want at least 200", got)
			}
			if value[int](t, conn, `SELECT current_setting('server_version_num')::int`) >= 150000 &&
				!value[bool](t, conn, `SELECT 'a' < 'B'`) {
				t.Error("text is ordered by bytes: a forgotten COLLATE would not be found")
			}
		})
	}
}

func TestOnlyTheURLOpensTheClusterAndStopRemovesIt(t *testing.T) {
	c := startCluster(t, Options{})
	wrong := strings.Replace(c.URL(), c.password, "guess", 1)
	if conn, err := pgx.Connect(t.Context(), wrong); err == nil {
		t.Errorf("a wrong password is accepted: %v", conn.Close(t.Context()))
	}
	info, err := os.Stat(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o700 {
		t.Errorf("folder with socket and data has mode %o, want 700", mode)
	}
	for range 2 {
		if err := c.Stop(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(c.dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("folder after Stop: %v", err)
		}
	}
}

func TestFailedStartLeavesNothing(t *testing.T) {
	if _, err := installedPrograms(); err != nil && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Setenv("TMP", tmp)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("start with a cancelled context: %v", err)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) != 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
}
