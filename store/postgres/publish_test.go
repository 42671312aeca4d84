package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
)

// export puts exports of a session, which has the given segment, into the outbox. It returns their ids.
func export(t testing.TB, s store.Store, segment int64, n int) (ids []string) {
	t.Helper()
	err := s.Update(t.Context(), func(tx store.Tx) error {
		ids = nil
		for i := range n {
			e := event.Export{
				Tenant: "default", Session: fmt.Sprint("s", segment), Segment: segment, ID: newIDs.Next(time.Now()),
				Last: int64(i), Body: `{}`, At: tx.Now(),
			}
			ids = append(ids, e.ID)
			if err := tx.Outbox().InsertExport(t.Context(), e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// round publishes and returns what was sent.
func round(t testing.TB, s store.Store, limit int) (sent []event.Export) {
	t.Helper()
	n, err := s.Publish(t.Context(), limit, store.Publication{Send: func(_ context.Context, exports []event.Export) (int, error) {
		sent = slices.Clone(exports)
		return len(exports), nil
	}})
	if err != nil || n != len(sent) {
		t.Fatalf("%d of %d exports published: %v", n, len(sent), err)
	}
	return sent
}

func exportIDs(exports []event.Export) (ids []string) {
	for _, e := range exports {
		ids = append(ids, e.ID)
	}
	return ids
}

// Whoever loses the connection that holds its claim cannot note what it sent: others may be sending it
// by then.
func TestPublisherThatLostItsClaimNotesNothing(t *testing.T) {
	direct := pgstore.URL(t)
	line, address := newProxy(t, direct)
	shaky, steady := open(t, address, postgres.Config{}), open(t, direct, postgres.Config{})
	ids := export(t, steady, 1, 3)
	noted := false
	n, err := shaky.Publish(t.Context(), 10, store.Publication{
		Send: func(_ context.Context, exports []event.Export) (int, error) {
			line.hangUp()
			// The server takes a moment to notice that nobody holds the claim any more.
			await(t, connect(t, direct), 0, `SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'
				AND query LIKE '%FROM exports%' AND datname = current_database()`)
			if again := round(t, steady, 10); !slices.Equal(exportIDs(again), ids) {
				t.Errorf("the other sent %v, want %v", exportIDs(again), ids)
			}
			return len(exports), nil
		},
		Note: func(context.Context, store.Tx, []event.Export) error {
			noted = true
			return nil
		},
	})
	if n != 0 || noted || !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("%d published, noted %v, %v; want none and %v", n, noted, err, store.ErrUnavailable)
	}
	if left := round(t, shaky, 10); len(left) != 0 {
		t.Errorf("%d exports left", len(left))
	}
}

// Numbers are never visible before lower ones: who notes waits for who noted first.
func TestNumbersBecomeVisibleInOrder(t *testing.T) {
	address := pgstore.URL(t)
	one, two := open(t, address, postgres.Config{}), open(t, address, postgres.Config{})
	export(t, one, 1, 2)
	noting, release := make(chan struct{}), make(chan struct{})
	done := make(chan error, 2)
	go func() {
		_, err := one.Publish(t.Context(), 10, store.Publication{
			Send: func(_ context.Context, exports []event.Export) (int, error) { return len(exports), nil },
			Note: func(context.Context, store.Tx, []event.Export) error {
				close(noting)
				<-release
				return nil
			},
		})
		done <- err
	}()
	<-noting
	late := export(t, two, 2, 1)
	var number int64
	go func() {
		_, err := two.Publish(t.Context(), 10, store.Publication{
			Send: func(_ context.Context, exports []event.Export) (int, error) { return len(exports), nil },
			Note: func(_ context.Context, _ store.Tx, exports []event.Export) error {
				number = exports[0].Sent
				return nil
			},
		})
		done <- err
	}()
	admin := connect(t, address)
	await(t, admin, 1, `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
	if n := ask[int](t, admin, `SELECT count(*) FROM exports WHERE sent_number IS NOT NULL`); n != 0 {
		t.Errorf("%d numbers are visible, want none", n)
	}
	close(release)
	for range 2 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if number != 3 {
		t.Errorf("export %s has number %d, want 3", late[0], number)
	}
}

// A session with much to publish does not keep the others waiting, nor do sessions in other hands.
func TestSessionsTakeTurns(t *testing.T) {
	s := open(t, pgstore.URL(t), postgres.Config{})
	export(t, s, 1, 7)
	export(t, s, 2, 1)
	export(t, s, 3, 3)
	var rounds []string
	for sent := round(t, s, 2); len(sent) > 0; sent = round(t, s, 2) {
		var sessions []string
		for _, e := range sent {
			sessions = append(sessions, e.Session)
		}
		rounds = append(rounds, strings.Join(sessions, " "))
	}
	want := []string{"s1 s1", "s2 s3", "s1 s1", "s3 s3", "s1 s1", "s1"}
	if !slices.Equal(rounds, want) {
		t.Errorf("rounds %q, want %q", rounds, want)
	}
}

func TestPublishLooksBehindWhatOthersHold(t *testing.T) {
	address := pgstore.URL(t)
	s := open(t, address, postgres.Config{})
	admin := connect(t, address)
	const sessions = postgres.ClaimPage + 3
	execute(t, admin, `INSERT INTO exports SELECT 'default', 'e' || n, 's' || n, n, '', 0, 0, '', '', 0, NULL FROM generate_series(1, $1) n`, sessions)
	execute(t, admin, `INSERT INTO outbox_claims SELECT tenant, segment FROM exports WHERE segment < $1`, sessions)
	holder, err := connect(t, address).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holder.Exec(t.Context(), `SELECT FROM outbox_claims FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	if sent := round(t, s, 1); len(sent) != 1 || sent[0].Segment != sessions {
		t.Errorf("sent %v, want that of the last session", sent)
	}
	if sent := round(t, s, 1); len(sent) != 0 {
		t.Errorf("sent %v of a session in other hands", sent)
	}
	if err := holder.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sent := round(t, s, 2*sessions); len(sent) != sessions-1 {
		t.Errorf("%d exports sent, want %d", len(sent), sessions-1)
	}
}

// Send may read from the store, however many publish.
func TestSendMayReadFromTheStore(t *testing.T) {
	s := open(t, pgstore.URL(t), postgres.Config{MaxConns: 2})
	for segment := range int64(4) {
		export(t, s, segment+1, 1)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			_, err := s.Publish(t.Context(), 1, store.Publication{Send: func(ctx context.Context, exports []event.Export) (int, error) {
				ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
				defer cancel()
				return len(exports), s.View(ctx, func(tx store.Tx) error {
					_, err := tx.Outbox().Export(ctx, exports[0].Tenant, exports[0].ID)
					return err
				})
			}})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

// What is written about a publication has the time of it, not that of the claim.
func TestNoteHasItsOwnTime(t *testing.T) {
	address := pgstore.URL(t)
	admin := connect(t, address)
	set := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	for name, config := range map[string]postgres.Config{"database": {}, "program": {Clock: func() time.Time { return set }}} {
		t.Run(name, func(t *testing.T) {
			s := open(t, address, config)
			export(t, s, 1, 1)
			var sent, noted time.Time
			n, err := s.Publish(t.Context(), 1, store.Publication{
				Send: func(_ context.Context, exports []event.Export) (int, error) {
					set = set.Add(time.Minute)
					sent = set
					if config.Clock == nil {
						sent = ask[time.Time](t, admin, `SELECT clock_timestamp()`)
					}
					return 1, nil
				},
				Note: func(_ context.Context, tx store.Tx, _ []event.Export) error {
					noted = tx.Now()
					return nil
				},
			})
			if n != 1 || err != nil || noted.Before(sent) {
				t.Errorf("%d published, %v; sent at %v, noted at %v", n, err, sent, noted)
			}
		})
	}
}
