package compress_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

var errFault = errors.New("fault")

// faultyRows fails in one method.
type faultyRows struct {
	compress.Rows
	method string
}

func (r faultyRows) fault(method string) error {
	if r.method == method {
		return errFault
	}
	return nil
}

func (r faultyRows) Checkpoints(ctx context.Context, tenant string, spans []span.Span, after int64, limit int) ([]compress.Row, error) {
	rows, err := r.Rows.Checkpoints(ctx, tenant, spans, after, limit)
	return rows, errors.Join(err, r.fault("Checkpoints"))
}

func (r faultyRows) InsertCheckpoint(ctx context.Context, tenant string, segment int64, row compress.Row) error {
	return errors.Join(r.Rows.InsertCheckpoint(ctx, tenant, segment, row), r.fault("InsertCheckpoint"))
}

func (r faultyRows) Breaker(ctx context.Context, tenant string, segment int64) (string, bool, error) {
	doc, ok, err := r.Rows.Breaker(ctx, tenant, segment)
	return doc, ok, errors.Join(err, r.fault("Breaker"))
}

func (r faultyRows) PutBreaker(ctx context.Context, tenant string, segment int64, doc string, at time.Time) error {
	return errors.Join(r.Rows.PutBreaker(ctx, tenant, segment, doc, at), r.fault("PutBreaker"))
}

func TestForkCopiesWhatHangsOnItsPoint(t *testing.T) {
	const many = 200 // more than a page, each aged at the fork point
	st := mem.New(mem.Config{})
	parent := turn.SessionInfo{Key: turn.Key{Tenant: "acme", Session: "s"}, Segment: 1, Head: 9}
	err := st.Update(t.Context(), func(tx store.Tx) error {
		for number := range int64(many) {
			for version, after := range []int64{3, 5, 5, 7} {
				row := compress.Row{Number: number + 1, Version: int64(version + 1), AfterSeq: after, Doc: fmt.Sprint(number, version), At: start}
				if err := tx.Compress().InsertCheckpoint(t.Context(), "acme", 1, row); err != nil {
					return err
				}
			}
		}
		return tx.Compress().PutBreaker(t.Context(), "acme", 1, `{"failures":3,"skipped":1,"epoch":4,"range":{"from":1,"to":2}}`, start)
	})
	if err != nil {
		t.Fatal(err)
	}
	for method, want := range map[string]string{
		"Checkpoints": "checkpoints at turn 5: fault", "InsertCheckpoint": "version 2 of checkpoint 1: fault",
		"Breaker": "failed passes: fault", "PutBreaker": "failed passes: fault",
	} {
		err := st.Update(t.Context(), func(tx store.Tx) error {
			return compress.Fork(t.Context(), faultyRows{tx.Compress(), method}, parent, 2, 5, start)
		})
		if !errors.Is(err, errFault) || err.Error() != want {
			t.Errorf("%s: %v, want %s", method, err, want)
		}
	}
	err = st.Update(t.Context(), func(tx store.Tx) error { return compress.Fork(t.Context(), tx.Compress(), parent, 2, 5, start) })
	if err != nil {
		t.Fatal(err)
	}
	var want, got []compress.Row
	var breaker string
	err = st.View(t.Context(), func(tx store.Tx) error {
		all, err := tx.Compress().Checkpoints(t.Context(), "acme", []span.Span{{Segment: 1, To: 9}}, 0, many)
		for _, row := range all {
			if row.AfterSeq == 5 {
				want = append(want, row)
			}
		}
		var err2, err3 error
		got, err2 = tx.Compress().Checkpoints(t.Context(), "acme", []span.Span{{Segment: 2, To: 9}}, 0, many)
		breaker, _, err3 = tx.Compress().Breaker(t.Context(), "acme", 2)
		return errors.Join(err, err2, err3)
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) != 2*many {
		t.Errorf("copied %d (-want +got)\n%s", len(got), diff)
	}
	if breaker != `{"failures":3,"skipped":1}` {
		t.Errorf("breaker %s", breaker)
	}
}
