package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/store"
)

// errEnded is the answer of a Tx that outlived its function.
var errEnded = errors.New("transaction is over; use its Tx only inside the function it was given to")

// errNoText is for what no column of text can hold. What is written was checked before, so that it is something that was
// looked for.
var errNoText = invalid.New("", "a text holds a NUL or is not UTF-8", "leave it out")

// SQLSTATEs that decide what happens next.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	uniqueViolation      = "23505"
	invalidPassword      = "28P01"
	invalidAuthorization = "28000"
	noSuchDatabase       = "3D000"
	noSuchSchema         = "3F000"
	noText               = "22021"
)

// passing are the SQLSTATEs of a server that goes away, comes back or has too much to do at the moment, and
// of transactions that stood in each other's way: what was tried can be tried again.
var passing = map[string]bool{
	serializationFailure: true,
	deadlockDetected:     true,
	"25P03":              true, // idle in transaction for too long
	"53300":              true, // too many connections
	"57P01":              true, // shutdown by the administrator
	"57P02":              true, // crash of another server process
	"57P03":              true, // starting up or shutting down
	"57P05":              true, // idle for too long
}

// causes are the SQLSTATEs that have a sentinel, with what to do about them.
var causes = map[string]struct {
	is  error
	fix string
}{
	serializationFailure: {store.ErrLocked, "try again"},
	deadlockDetected:     {store.ErrLocked, "try again"},
	"55P03":              {store.ErrLocked, "try again"},
	"53100":              {store.ErrFull, "make room on the database's disk"},
	"25006":              {store.ErrReadOnly, "connect to the primary server"},
	"42501":              {store.ErrReadOnly, "give the database's user the right to it"},
	"53200":              {store.ErrUnavailable, "give the database's server more memory"},
	"57014":              {store.ErrUnavailable, "try again; raise statement_timeout where it is too short"},
	"58030":              {store.ErrUnavailable, "check the database's disk"},
	"XX001":              {store.ErrCorrupt, "restore a backup"},
	"XX002":              {store.ErrCorrupt, "run REINDEX DATABASE"},
}

func sqlState(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// lost reports whether an error took a transaction away through no fault of its own: the connection
// broke or could not be made, or the server ended it. Broken says what became of the connection.
func lost(err error, broken bool) bool {
	if code := sqlState(err); code != "" {
		return passing[code] || strings.HasPrefix(code, "08")
	}
	var connecting *pgconn.ConnectError
	return broken || errors.As(err, &connecting)
}

// explain gives a driver's error its sentinel and says what to do. The driver's own text stays in it.
func explain(address string, err error) error {
	code := sqlState(err)
	if cause, known := causes[code]; known {
		return fmt.Errorf("%w; %s: %w", cause.is, cause.fix, err)
	}
	switch code {
	case invalidPassword, invalidAuthorization:
		return fmt.Errorf("%s refuses the user or the password; correct them in the URL: %w", address, err)
	case noText:
		return fmt.Errorf("%w: %w", errNoText, err)
	case noSuchDatabase:
		return fmt.Errorf("%s does not exist; create it first (createdb): %w", address, err)
	case noSuchSchema:
		return fmt.Errorf("%s has no schema of the search_path; create it first (CREATE SCHEMA): %w", address, err)
	}
	return err
}

// unavailable is the error for a database that could not be worked with for too long.
func unavailable(address string, err error) error {
	if _, locked := causes[sqlState(err)]; locked {
		return explain(address, err)
	}
	return fmt.Errorf("%w: %s; see that it runs and is let through: %w", store.ErrUnavailable, address, err)
}

// ended returns the error of the first context that is over, nil where none is.
func ended(contexts ...context.Context) error {
	for _, ctx := range contexts {
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
