package commit_test

import (
	"context"
	"errors"
	"testing"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestSomethingElseIsWrittenInTheSameUpdate(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		ran, fault := 0, errors.New("no")
		begun := turn.OpenExchange{ExportID: w.config.NewID(), Opened: w.config.NewID()}
		ex := talk("hello", "hi")
		ex.ExportID = begun.ExportID
		ex.Within = func(ctx context.Context, tx store.Tx) error {
			ran++
			if err := tx.Log().PutExchange(ctx, key, begun); err != nil {
				return err
			}
			info, err := tx.Log().Session(ctx, key)
			if err != nil || info.Head != 0 {
				t.Errorf("it comes after turn %d: %v", info.Head, err)
			}
			return fault
		}
		written := func() (ok bool) {
			err := w.store.View(t.Context(), func(tx store.Tx) (err error) {
				_, ok, err = tx.Log().Exchange(t.Context(), key)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return ok
		}
		if _, err := w.pipeline.Commit(t.Context(), key, ex); !errors.Is(err, fault) || written() || len(w.turns()) != 0 {
			t.Errorf("its error: %v, log %q", err, w.turns())
		}
		fault = nil
		if res := w.commit(ex); res.Repeated || !written() || len(w.turns()) != 3 {
			t.Errorf("%+v, log %q", res, w.turns())
		}
		before := ran
		if res := w.commit(ex); !res.Repeated || ran != before {
			t.Errorf("again: %+v, it ran %d times", res, ran)
		}
	})
}
