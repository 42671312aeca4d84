package pgtest

import (
	"fmt"
	"net/url"
	"runtime"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestURLIsASchemaOfItsOwn(t *testing.T) {
	cluster := startCluster(t, Options{}).URL()
	t.Setenv(Variable, cluster)
	outside := connect(t, cluster)
	const schemas = `SELECT count(*) FROM pg_namespace WHERE nspname LIKE 't\_%'`
	t.Run("inside", func(t *testing.T) {
		first, second := connect(t, URL(t)), connect(t, URL(t))
		for _, conn := range []*pgx.Conn{first, second} {
			if _, err := conn.Exec(t.Context(), `CREATE TABLE same_name (n int)`); err != nil {
				t.Errorf("table in a fresh schema: %v", err)
			}
		}
		if got := value[int](t, outside, schemas); got != 2 {
			t.Errorf("%d schemas while the test runs, want 2", got)
		}
		if value[bool](t, outside, `SELECT to_regclass('same_name') IS NOT NULL`) {
			t.Error("the table is visible outside its schema")
		}
	})
	if got := value[int](t, outside, schemas); got != 0 {
		t.Errorf("%d schemas left after the test, want 0", got)
	}
}

func TestURLKeepsTheOtherParameters(t *testing.T) {
	got, err := withParameters("postgres://u:p@host:1/db?sslmode=disable&search_path=public", map[string]string{"search_path": "t_1"})
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(got)
	if err != nil {
		t.Fatal(err)
	}
	if u.Query().Get("sslmode") != "disable" || u.Query().Get("search_path") != "t_1" || u.Host != "host:1" || u.Path != "/db" {
		t.Errorf("got %s", got)
	}
}

// outcome records how URL ended a test instead of ending it.
type outcome struct {
	testing.TB
	said string
}

func (o *outcome) Helper() {}

func (o *outcome) Fatalf(format string, args ...any) {
	o.said = "fatal: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (o *outcome) Skipf(format string, args ...any) {
	o.said = "skip: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestURLWithoutACluster(t *testing.T) {
	for _, test := range []struct {
		name, ci, want string
	}{
		{"at home", "", "skip: needs PostgreSQL: run it with make test, which sets TURNSTONE_TEST_POSTGRES"},
		{"in CI", "true", "fatal: TURNSTONE_TEST_POSTGRES is not set: in CI every backend is tested"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv(Variable, "")
			t.Setenv("CI", test.ci)
			o := &outcome{TB: t}
			done := make(chan struct{})
			go func() {
				defer close(done)
				URL(o)
			}()
			<-done
			if o.said != test.want {
				t.Errorf("got  %q\nwant %q", o.said, test.want)
			}
		})
	}
}
