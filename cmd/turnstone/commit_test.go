package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Where trying again may help, the error says under which id that commits the exchange once.
func TestCommittingAgainUnderTheSameID(t *testing.T) {
	for _, test := range []struct {
		err  error
		id   string
		says bool
	}{
		{store.ErrLocked, "01X", true}, {store.ErrUnavailable, "01X", true}, {store.ErrUnknown, "01X", true},
		{turn.ErrConflict, "01X", false}, {store.ErrFull, "01X", false}, {store.ErrLocked, "", false},
	} {
		err := fmt.Errorf("commit to s: %w", test.err)
		got := underTheSameID(err, test.id)
		if says := strings.Contains(got.Error(), "--export-id 01X"); says != test.says || !errors.Is(got, test.err) {
			t.Errorf("%v of %q is told as %q", err, test.id, got)
		}
	}
}
