package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/turn"
)

// ack is what a writer was told.
type ack struct {
	key turn.Key
	seq int64
	id  string // idempotency key
}

// The server is restarted, and crashes, in the middle of a load. Writers go on as soon as it is back;
// nothing acknowledged is lost and nothing is there twice.
func TestRestartInTheMiddleOfALoad(t *testing.T) {
	cluster := startCluster(t, pgtest.Options{})
	s := open(t, cluster.URL(), postgres.Config{RetryFor: 30 * time.Second})
	const writers, between = 16, 200
	shared := create(t, s, "shared")
	acks := make(chan ack, writers)
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for i := range writers {
		own := create(t, s, fmt.Sprintf("own-%d", i))
		group.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				k := own
				if n%4 == 0 {
					k = shared
				}
				a, err := insist(t.Context(), s, k, fmt.Sprintf("%d-%d", i, n))
				if err != nil {
					t.Error(err)
					return
				}
				acks <- a
			}
		})
	}
	var told []ack
	for i := range 5 {
		for range between {
			told = append(told, <-acks)
		}
		mode := []pgtest.Mode{pgtest.Fast, pgtest.Immediate}[i%2]
		restarted := make(chan error, 1)
		go func() { restarted <- cluster.Restart(t.Context(), mode) }()
		for waiting := true; waiting; {
			select {
			case a := <-acks:
				told = append(told, a)
			case err := <-restarted:
				if err != nil {
					t.Fatal(err)
				}
				waiting = false
			}
		}
	}
	stop()
	go func() { group.Wait(); close(acks) }()
	for a := range acks {
		told = append(told, a)
	}
	checkAcks(t, s, told)
}

// insist appends a turn under an idempotency key until the store says that it is there.
func insist(ctx context.Context, s store.Store, k turn.Key, id string) (ack, error) {
	d := said("turn " + id)
	d.IdempotencyKey = id
	for {
		turns, err := try(ctx, s, k, d)
		if errors.Is(err, store.ErrUnknown) {
			continue
		}
		if err != nil {
			return ack{}, fmt.Errorf("append %s to %s: %w", id, k.Session, err)
		}
		return ack{key: k, seq: turns[0].Seq, id: id}, nil
	}
}

// checkAcks looks for every acknowledged turn in its place, for gaps and for doubles.
func checkAcks(t *testing.T, s store.Store, told []ack) {
	t.Helper()
	logs := make(map[turn.Key][]turn.Turn)
	for _, a := range told {
		turns, read := logs[a.key]
		if !read {
			turns = log(t, s, a.key)
			logs[a.key] = turns
			checkLog(t, a.key, turns)
		}
		if a.seq > int64(len(turns)) || turns[a.seq-1].IdempotencyKey != a.id {
			t.Errorf("session %s: acknowledged turn %d (%s) is lost", a.key.Session, a.seq, a.id)
		}
	}
}

func checkLog(t *testing.T, k turn.Key, turns []turn.Turn) {
	t.Helper()
	seen := make(map[string]bool)
	for i, turn := range turns {
		if turn.Seq != int64(i+1) {
			t.Fatalf("session %s: turn %d stands in place %d", k.Session, turn.Seq, i+1)
		}
		if seen[turn.IdempotencyKey] {
			t.Errorf("session %s: %s is there twice", k.Session, turn.IdempotencyKey)
		}
		seen[turn.IdempotencyKey] = true
	}
}

// While the server is away an update waits for it and then says so.
func TestServerAway(t *testing.T) {
	cluster := startCluster(t, pgtest.Options{})
	s := open(t, cluster.URL(), postgres.Config{RetryFor: 100 * time.Millisecond})
	k := create(t, s, "patient")
	mustAppend(t, s, k, said("before"))
	if err := cluster.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := try(t.Context(), s, k, said("while")); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("update: got %v, want %v", err, store.ErrUnavailable)
	}
	err := s.View(t.Context(), func(tx store.Tx) error {
		_, err := tx.Log().Session(t.Context(), k)
		return err
	})
	if !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("view: got %v, want %v", err, store.ErrUnavailable)
	}
	if _, err := s.Check(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("check: got %v, want %v", err, store.ErrUnavailable)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := try(ctx, s, k, said("in a hurry")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
	if err := cluster.Restart(t.Context(), pgtest.Fast); err != nil {
		t.Fatal(err)
	}
	if turns := mustAppend(t, s, k, said("after")); turns[0].Seq != 2 {
		t.Errorf("turn %d, want 2", turns[0].Seq)
	}
}
