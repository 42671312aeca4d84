package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/prompt"
)

func TestEveryReasonIsExplained(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range []prompt.Reason{prompt.ReasonStart, prompt.ReasonSettings, prompt.ReasonGoal, prompt.ReasonPin, prompt.ReasonFull} {
		text := reasonOf(r)
		if text == string(r) || seen[text] {
			t.Errorf("%s: got %q", r, text)
		}
		seen[text] = true
	}
	if got := reasonOf("moon"); got != "moon" {
		t.Errorf("one that is not known: got %q", got)
	}
}

func TestReadText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := readText(path, 5); got != "12345" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	var bad *usageError
	if _, err := readText(path, 4); !errors.As(err, &bad) || !strings.HasSuffix(err.Error(), "more than 4 bytes; give a smaller one") {
		t.Errorf("got %v", err)
	}
}

// interrupting is an input during which the user presses ^C.
type interrupting struct{ cancel context.CancelFunc }

func (i interrupting) Read([]byte) (int, error) {
	i.cancel()
	return 0, io.EOF
}

func TestInterruptedReading(t *testing.T) {
	for _, args := range [][]string{
		{"import", "-", "--session", "demo"}, {"tokens", "--model", "gpt-4o"}, {"prompt", "--session", "demo", "--system", "-"},
	} {
		store := filepath.Join(t.TempDir(), "store.db")
		ctx, cancel := context.WithCancel(t.Context())
		var out, errs strings.Builder
		code := run(ctx, args, system{
			stdin: interrupting{cancel}, stdout: &out, stderr: &errs,
			getenv: func(name string) string { return map[string]string{envStore: store}[name] },
		})
		if code != exitInterrupted || out.String() != "" || errs.String() != "turnstone: interrupted; nothing half-done was left behind\n" {
			t.Errorf("%s: got %d, %q, %q", args[0], code, out.String(), errs.String())
		}
		if _, err := os.Stat(store); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: a store was made: %v", args[0], err)
		}
	}
}
