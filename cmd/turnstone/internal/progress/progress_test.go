package progress_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
)

// clock is a time that moves when it is told to.
type clock struct{ at time.Time }

func (c *clock) now() time.Time           { return c.at }
func (c *clock) after(d time.Duration)    { c.at = c.at.Add(d) }
func newClock() *clock                    { return &clock{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }
func lines(screen *bytes.Buffer) []string { return strings.Split(screen.String(), "\r") }

func TestBar(t *testing.T) {
	var screen bytes.Buffer
	c := newClock()
	bar := progress.New(&screen, progress.Config{Label: "export", Unit: "turns", Total: 4000, Width: 60, Now: c.now})
	bar.Set(1) // too soon to be drawn
	c.after(100 * time.Millisecond)
	bar.Set(1000)
	c.after(2 * time.Second)
	bar.Add(1000)
	bar.Report(5000, 5000) // the end is always drawn
	bar.Clear()
	want := []string{
		"",
		"export  [-----------------------------------]   0%  0 turns",
		"export  [#######------------------------]  25%  1,000 turns",
		"export  [###########-----------]  50%  2,000 turns  2s left",
		"export  [###############################] 100%  5,000 turns",
		strings.Repeat(" ", 59),
		"",
	}
	if diff := cmp.Diff(want, lines(&screen)); diff != "" {
		t.Errorf("screen (-want +got):\n%s", diff)
	}
}

func TestCountWithoutTotal(t *testing.T) {
	var screen bytes.Buffer
	c := newClock()
	bar := progress.New(&screen, progress.Config{Label: "backup", Unit: "bytes", Now: c.now})
	c.after(time.Second)
	bar.Add(5 << 20)
	c.after(time.Second)
	bar.Set(3)
	want := []string{"", "backup  ...", "backup  5.0 MiB", "backup  3 B    "}
	if diff := cmp.Diff(want, lines(&screen)); diff != "" {
		t.Errorf("screen (-want +got):\n%s", diff)
	}
}

func TestNarrowTerminal(t *testing.T) {
	var screen bytes.Buffer
	progress.New(&screen, progress.Config{Label: "a label that is long", Unit: "turns", Total: 10, Width: 16, Now: newClock().now})
	if got := lines(&screen)[1]; got != "a label that is" {
		t.Errorf("got %q", got)
	}
}

func TestNoBar(t *testing.T) {
	var bar *progress.Bar
	bar.Set(1)
	bar.Add(1)
	bar.Report(1, 2)
	bar.Clear()
}

func TestTerminalGone(t *testing.T) {
	c := newClock()
	gone := &broken{}
	bar := progress.New(gone, progress.Config{Now: c.now})
	c.after(time.Second)
	bar.Set(1)
	if gone.writes != 1 {
		t.Errorf("%d writes to a terminal that is gone, want 1", gone.writes)
	}
}

type broken struct{ writes int }

func (b *broken) Write([]byte) (int, error) {
	b.writes++
	return 0, errors.New("gone")
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000"} {
		if got := progress.Thousands(n); got != want {
			t.Errorf("Thousands(%d): got %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1048575: "1.0 MiB", 20 << 20: "20.0 MiB", 3 << 40: "3.0 TiB",
	} {
		if got := progress.Bytes(n); got != want {
			t.Errorf("Bytes(%d): got %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 turns", 1: "1 turn", 2000: "2,000 turns"} {
		if got := progress.Count(n, "turn"); got != want {
			t.Errorf("Count(%d): got %s, want %s", n, got, want)
		}
	}
}
