package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestOutcomes(t *testing.T) {
	for _, test := range []struct {
		err  error
		code int
		line string // empty: what is wrong is said elsewhere
	}{
		{errors.New("odd"), 1, "odd; try again; if it stays, report it with the output of: turnstone version"},
		{usage("do that", "bad %s", "flag"), 2, "bad flag; do that"},
		{&turn.FieldError{Name: "role", Problem: "is missing", Fix: "give one"}, 2, "role: is missing; give one"},
		{&turn.FieldError{Name: "role", Problem: "is missing"}, 2, "role: is missing; see turnstone help"},
		{&dialogue.OpError{Op: "pop", Problem: "no", Legal: "push"}, 2, "pop: no; push"},
		{&turnstone.RefusedError{Reasons: []string{"goal g: no; legal: yes"}}, 2, "goal g: no; legal: yes"},
		{&agent.LimitError{Limit: "MaxRounds", Most: 8}, 8, "the model did not come to an end within MaxRounds 8; ask for less, or raise the limit"},
		{fmt.Errorf("bundle of s: %w", syscall.ENOSPC), 5, "bundle of s: no space left on device; make room there, or give another path"},
		{turn.ErrNotFound, 3, ""},
		{dialogue.ErrNotFound, 3, ""},
		{fs.ErrNotExist, 3, ""},
		{cortex.ErrNotFound, 3, ""},
		{memory.ErrNotFound, 3, ""},
		{event.ErrNotFound, 3, ""},
		{turn.ErrExists, 4, ""},
		{turn.ErrConflict, 4, ""},
		{dialogue.ErrConflict, 4, ""},
		{event.ErrExists, 4, ""},
		{store.ErrNotEmpty, 4, ""},
		{fs.ErrExist, 4, ""},
		{store.ErrLocked, 5, ""},
		{store.ErrFull, 5, ""},
		{store.ErrReadOnly, 5, ""},
		{store.ErrUnavailable, 5, ""},
		{store.ErrUnknown, 5, ""},
		{store.ErrClosed, 5, ""},
		{&fs.PathError{Op: "open", Path: "x.json", Err: fs.ErrPermission}, 5, "open x.json: permission denied; allow it to this user, or give another path"},
		{context.DeadlineExceeded, 5, ""},
		{agent.ErrNoAnswer, 5, ""},
		{nats.ErrNoServers, 5, ""},
		{nats.ErrTimeout, 5, ""},
		{nats.ErrAuthorization, 5, ""},
		{store.ErrCorrupt, 6, ""},
		{errFindings, 6, ""},
		{&store.NewerSchemaError{Have: 2, Know: 1}, 6, ""},
		{replay.ErrDamaged, 6, ""},
		{&replay.NewerVersionError{Have: 2, Know: 1}, 6, ""},
		{&turn.LeaseHeldError{Session: "s"}, 7, ""},
		{turn.ErrLeaseLost, 7, ""},
		{prompt.ErrStale, 7, ""},
		{prompt.ErrChanged, 6, ""},
		{prompt.ErrNotFound, 3, ""},
		{compress.ErrNotFound, 3, ""},
		{snapshot.ErrNotFound, 3, ""},
		{turnstone.ErrNothingToUndo, 3, ""},
		{&budget.OverBudgetError{}, 8, ""},
		{&outputError{syscall.ENOSPC}, 1, "standard output could not be written: no space left on device; see where it goes"},
		{context.Canceled, 130, "interrupted; nothing half-done was left behind"},
		{&interrupted{context.Canceled, "the message is kept"}, 130, "interrupted; the message is kept"},
		// The graver cause decides.
		{fmt.Errorf("%w: %w", replay.ErrDamaged, turn.ErrConflict), 6, "session bundle is damaged: conflict; use a copy that is whole"},
		{errors.Join(turn.ErrNotFound, errors.New("close: odd\x1b[31m")), 3, `not found, close: odd\x1b[31m; check the name`},
	} {
		wrapped := fmt.Errorf("wrapped: %w", test.err)
		if got := outcomeOf(t.Context(), wrapped).code; got != test.code {
			t.Errorf("%v: exit code %d, want %d", test.err, got, test.code)
		}
		got := outcomeOf(t.Context(), test.err).line(test.err)
		problem, next, _ := strings.Cut(got, "; ")
		if problem == "" || next == "" || strings.Contains(got, "\n") {
			t.Errorf("%v: %q does not say what is wrong and what to do in one line", test.err, got)
		}
		if test.line != "" && got != test.line {
			t.Errorf("%v: got line %q, want %q", test.err, got, test.line)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := outcomeOf(ctx, errors.New("pipe broke")).code; got != exitInterrupted {
		t.Errorf("an error after an interruption: exit code %d", got)
	}
}

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"one":                             "one",
		"cannot reach:\n\ta: no\n\ta: no": "cannot reach: a: no",
		"a\nb\na":                         "a, b",
		"\na\n":                           "a",
	} {
		if got := oneLine(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestAdviceComesOnce holds the line to errors of a store in a file, which say what to do themselves.
func TestAdviceComesOnce(t *testing.T) {
	for _, err := range []error{
		fmt.Errorf("%w: allow writing to x and its folder: odd", store.ErrReadOnly),
		fmt.Errorf("open store x: allow this user to make files in y: %w", fs.ErrPermission),
		fmt.Errorf("%w: make room on the device of x: odd", store.ErrFull),
		fmt.Errorf("%w: check the disk and the file x: odd", store.ErrUnavailable),
	} {
		if got := outcomeOf(t.Context(), err).line(err); got != err.Error() {
			t.Errorf("got %q", got)
		}
	}
}

func TestOutcomesAreDistinct(t *testing.T) {
	seen := map[int]bool{exitOK: true}
	for i, o := range outcomes {
		if seen[o.code] {
			t.Errorf("code %d stands twice", o.code)
		}
		seen[o.code] = true
		if o.meaning == "" || o.next == "" || strings.ContainsAny(o.meaning+o.next, "\n") {
			t.Errorf("code %d is not explained in one line", o.code)
		}
		if last := i == len(outcomes)-1; last != (o.is == nil && o.causes == nil) {
			t.Errorf("code %d: only the last row takes what is left", o.code)
		}
	}
}

func TestAdvise(t *testing.T) {
	if err := advise(nil, fs.ErrExist, "so"); err != nil {
		t.Errorf("no error: got %v", err)
	}
	other := errors.New("other")
	if err := advise(other, fs.ErrExist, "so"); err != other {
		t.Errorf("another kind: got %v", err)
	}
	err := advise(fmt.Errorf("file: %w", fs.ErrExist), fs.ErrExist, "so")
	if err.Error() != "file: file already exists; so" || !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
}
