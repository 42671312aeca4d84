package storetest

import (
	"errors"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// failer is what both a test and a property can do.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
}

// same fails the test where got is not want. Nil and empty are the same.
func same(t failer, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, equal...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

var equal = []cmp.Option{
	bothEmpty[turn.Turn](), bothEmpty[turn.Span](), bothEmpty[string](), bothEmpty[cortex.Row](), bothEmpty[scratch.Row](),
	bothEmpty[memory.Row](), bothEmpty[event.Export](), bothEmpty[event.Deferral](), bothEmpty[event.Event](),
	bothEmpty[event.Mark](), bothEmpty[event.Letter](), bothEmpty[trace.Part](),
	bothEmpty[prompt.EpochRow](), bothEmpty[prompt.CallRow](), bothEmpty[prompt.PinRow](), bothEmpty[budget.CalibrationRow](),
	bothEmpty[compress.Row](), bothEmpty[snapshot.Row](),
}

func bothEmpty[V any]() cmp.Option {
	return cmp.FilterValues(func(a, b []V) bool { return len(a)+len(b) == 0 }, cmp.Ignore())
}

// is fails the test where err is not the wanted sentinel.
func is(t failer, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got error %v, want %v", what, err, want)
	}
}

// refused fails the test where err does not name the field.
func refused(t failer, what string, err error, field string) {
	t.Helper()
	var bad *turn.FieldError
	if !errors.As(err, &bad) || bad.Name != field {
		t.Errorf("%s: got error %v, want one that names %s", what, err, field)
	}
}
