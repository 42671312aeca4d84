package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 20)
	for _, test := range []struct {
		name, input string
		want        []string
	}{
		{"none", "", nil},
		{"two", "a\nb\n", []string{"a", "b"}},
		{"no end", "a\nb", []string{"a", "b"}},
		{"empty ones", "\n\na\n\n", []string{"", "", "a", ""}},
		{"windows", "a\r\nb\r\n", []string{"a", "b"}},
		{"too long", "a\n" + long + "\nb\n", []string{"a", "too long", "b"}},
		{"too long at the end", "a\n" + long, []string{"a", "too long"}},
		{"just fits", "123456789\n", []string{"123456789"}},
		{"does not fit", "1234567890\n", []string{"too long"}},
	} {
		a := &app{system: system{stdin: strings.NewReader(test.input)}}
		var got []string
		for line, err := range a.lines(t.Context(), 10) {
			switch {
			case errors.Is(err, errLongLine):
				got = append(got, "too long")
			case err != nil:
				t.Errorf("%s: %v", test.name, err)
			default:
				got = append(got, string(line))
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestLongLinePastTheBuffer(t *testing.T) {
	in := bufio.NewReaderSize(strings.NewReader(strings.Repeat("y", 5000)+"\nnext\n"), 16)
	line, err := readLine(in, 10_000)
	if err != nil || len(line) != 5000 {
		t.Errorf("got %d bytes, %v", len(line), err)
	}
	if line, err = readLine(in, 10_000); err != nil || string(line) != "next" {
		t.Errorf("got %q, %v", line, err)
	}
}

// silent is standard input that never says anything.
type silent struct{ asked chan struct{} }

func (s silent) Read([]byte) (int, error) {
	close(s.asked)
	select {}
}

func TestInterruptedInput(t *testing.T) {
	for name, read := range map[string]func(context.Context, *app) error{
		"lines": func(ctx context.Context, a *app) error {
			for _, err := range a.lines(ctx, 10) {
				return err
			}
			return nil
		},
		"whole": func(ctx context.Context, a *app) error {
			_, err := a.readInput(ctx, 10, "--max-text")
			return err
		},
		"spooled": func(ctx context.Context, a *app) error {
			dir := t.TempDir()
			t.Setenv("TMPDIR", dir)
			_, err := a.spool(ctx)
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			return err
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		in := silent{make(chan struct{})}
		go func() {
			<-in.asked
			cancel()
		}()
		if err := read(ctx, &app{system: system{stdin: in}}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", name, err)
		}
		cancel()
	}
}

// failing is standard input that breaks.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestBrokenInput(t *testing.T) {
	a := &app{system: system{stdin: failing{}}}
	for _, err := range a.lines(t.Context(), 10) {
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("lines: got %v", err)
		}
	}
	if _, err := a.readInput(t.Context(), 10, "--max-text"); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("whole: got %v", err)
	}
	for flag, next := range map[string]string{"--max-text": "send less or raise --max-text", "": "send less"} {
		a.stdin = strings.NewReader("12345678901")
		var bad *usageError
		if _, err := a.readInput(t.Context(), 10, flag); !errors.As(err, &bad) || bad.next != next {
			t.Errorf("too much: got %v", err)
		}
	}
}
