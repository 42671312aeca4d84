package natsbus

import (
	"context"
	"errors"
	"testing"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/store"
)

type broken struct{ store.Store }

func (broken) Update(context.Context, func(store.Tx) error) error { return errEnd }

type recorder int

func (r *recorder) Completed(context.Context, []bus.Completion) error { *r++; return nil }

// TestCompletionsAreRecordedLast: dead letters are kept once however often they come, completions are not.
func TestCompletionsAreRecordedLast(t *testing.T) {
	var r recorder
	b := &Bus{recorder: &r, cfg: Config{Letters: broken{}}}
	if err := b.keepCompletions(t.Context(), []bus.Completion{{Status: bus.Dead}}); !errors.Is(err, errEnd) || r != 0 {
		t.Errorf("%v, recorded %d times", err, r)
	}
	if err := b.keepCompletions(t.Context(), []bus.Completion{{Status: bus.OK}}); err != nil || r != 1 {
		t.Errorf("%v, recorded %d times", err, r)
	}
}
