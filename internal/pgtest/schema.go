package pgtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Variable is the environment variable that names the cluster tests run on, as a postgres:// URL
// of a user who may create schemas. make test sets it.
const Variable = "TURNSTONE_TEST_POSTGRES"

// patience is for how many seconds a connection is waited for: on a machine that has much else to do a server takes its time.
const patience = "120"

// URL makes an empty schema on the cluster that Variable names and returns a URL whose
// connections see only that schema. The schema is dropped when the test ends, so the test must
// have closed its connections in a Cleanup of its own. Without the variable the test is
// skipped, or fails where CI=true: a backend is never left out unnoticed.
func URL(t testing.TB) string {
	t.Helper()
	cluster := address(t)
	// The test's own context is cancelled before its cleanup runs.
	ctx := context.WithoutCancel(t.Context())
	schema := "t_" + strings.ToLower(rand.Text())
	if err := execute(ctx, cluster, "CREATE SCHEMA "+schema); err != nil {
		t.Fatalf("schema for test: %v", err)
	}
	t.Cleanup(func() {
		if err := execute(ctx, cluster, "SET lock_timeout = '2min'; DROP SCHEMA "+schema+" CASCADE"); err != nil {
			t.Errorf("drop schema of test (a connection left open may hold it): %v", err)
		}
	})
	within, err := withParameters(cluster, map[string]string{"search_path": schema, "connect_timeout": patience})
	if err != nil {
		t.Fatalf("%s: %v", Variable, err)
	}
	return within
}

// address is where the cluster is that Variable names.
func address(t testing.TB) string {
	t.Helper()
	cluster := os.Getenv(Variable)
	if cluster == "" {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not set: in CI every backend is tested", Variable)
		}
		t.Skipf("needs PostgreSQL: run it with make test, which sets %s", Variable)
	}
	return cluster
}

func withParameters(cluster string, parameters map[string]string) (string, error) {
	u, err := url.Parse(cluster)
	if err != nil {
		return "", err
	}
	query := u.Query()
	for name, value := range parameters {
		query.Set(name, value)
	}
	u.RawQuery = query.Encode()
	return u.String(), nil
}

func execute(ctx context.Context, cluster, sql string) (err error) {
	conn, err := pgx.Connect(ctx, cluster)
	if err != nil {
		return err
	}
	defer func() {
		if closing := conn.Close(ctx); err == nil {
			err = closing
		}
	}()
	if _, err := conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("%s: %w", sql, err)
	}
	return nil
}
