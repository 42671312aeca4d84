package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/store"
)

// Everybody may be told of a condition: it says what is wrong and what to do, and nothing of where the store is.
func TestConditions(t *testing.T) {
	for _, is := range []error{store.ErrRemoved, store.ErrFull, store.ErrReadOnly, store.ErrLocked, store.ErrUnavailable, store.ErrClosed, store.ErrUnknown} {
		told := store.Condition(fmt.Errorf("append: %w: make room on /secret/place", is))
		if !strings.HasPrefix(told, is.Error()+"; ") || strings.Contains(told, "secret") {
			t.Errorf("%v: %q", is, told)
		}
	}
	if told := store.Condition(fmt.Errorf("%w: %w", store.ErrUnknown, store.ErrRemoved)); !strings.HasPrefix(told, store.ErrRemoved.Error()) || !strings.Contains(told, "may have been kept") {
		t.Error(told)
	}
	if told := store.Condition(errors.New("boom")); told != "" {
		t.Error(told)
	}
	for err, lasting := range map[error]bool{store.ErrFull: true, store.ErrReadOnly: true, store.ErrRemoved: true, store.ErrLocked: false, store.ErrUnavailable: false} {
		if store.Lasting(err) != lasting {
			t.Errorf("%v: lasting is %v", err, !lasting)
		}
	}
}
