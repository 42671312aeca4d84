// Package progress draws a bar for work that takes a while.
package progress

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Redraws are bounded, so that a fast loop does not spend its time on the terminal.
const interval = 100 * time.Millisecond

// Bar is one line on a terminal that is drawn again and again and gone when the work is done. A nil
// Bar draws nothing. It is used by one goroutine at a time.
type Bar struct {
	w     io.Writer
	now   func() time.Time
	width int
	label string
	unit  string
	total int64

	done    int64
	started time.Time
	drawn   time.Time
	length  int // of the line on the screen
}

// Config is how a bar looks. The zero value of a field is its default.
type Config struct {
	// Label says what is being done. Defaults to none.
	Label string
	// Unit is what is counted, "turns" or "bytes". Defaults to none.
	Unit string
	// Total is how much there is to do. Defaults to unknown: a count is drawn in place of a bar.
	Total int64
	// Width is how many columns there are. Defaults to 80.
	Width int
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time
}

// New draws a bar on a terminal.
func New(w io.Writer, c Config) *Bar {
	if c.Width <= 0 {
		c.Width = 80
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	b := &Bar{w: w, now: c.Now, width: c.Width, label: c.Label, unit: c.Unit, total: c.Total, started: c.Now()}
	b.draw(b.started)
	return b
}

// Set says how much of the work is done.
func (b *Bar) Set(done int64) {
	if b == nil {
		return
	}
	b.done = done
	whole := b.total > 0 && done >= b.total
	if now := b.now(); whole || now.Sub(b.drawn) >= interval {
		b.draw(now)
	}
}

// Add says that more of the work is done.
func (b *Bar) Add(more int64) {
	if b != nil {
		b.Set(b.done + more)
	}
}

// Report says how much of how much is done.
func (b *Bar) Report(done, total int64) {
	if b != nil {
		b.total = total
		b.Set(done)
	}
}

// Clear takes the bar off the screen: for good, or until more of the work is done.
func (b *Bar) Clear() {
	if b != nil {
		b.put("")
	}
}

func (b *Bar) draw(now time.Time) {
	b.drawn = now
	if b.total <= 0 {
		count := "..." // there may be nothing to count by
		if b.done > 0 {
			count = b.count(b.done)
		}
		b.put(b.label + "  " + count)
		return
	}
	done := min(b.done, b.total)
	tail := fmt.Sprintf(" %3d%%  %s", done*100/b.total, b.count(b.done))
	if left := b.left(now); left > 0 {
		tail += "  " + left.String() + " left"
	}
	const frame = len("  []")
	room := max(min(b.width-1-len(b.label)-len(tail)-frame, 40), 0)
	full := int(int64(room) * done / b.total)
	b.put(b.label + "  [" + strings.Repeat("#", full) + strings.Repeat("-", room-full) + "]" + tail)
}

// left is how long the rest takes at the pace so far; zero while there is nothing to judge by.
func (b *Bar) left(now time.Time) time.Duration {
	spent := now.Sub(b.started)
	if b.done <= 0 || b.done >= b.total || spent < time.Second {
		return 0
	}
	return (time.Duration(float64(spent) * float64(b.total-b.done) / float64(b.done))).Round(time.Second)
}

func (b *Bar) count(n int64) string {
	text := Thousands(n)
	if b.unit == "bytes" {
		text = Bytes(n)
	} else if b.unit != "" {
		text += " " + b.unit
	}
	return text
}

// put replaces the line. It is padded rather than erased, so that no escape sequence is needed.
func (b *Bar) put(line string) {
	if len(line) >= b.width {
		line = line[:b.width-1]
	}
	text := "\r" + line + strings.Repeat(" ", max(b.length-len(line), 0))
	if line == "" {
		text += "\r"
	}
	b.length = len(line)
	if _, err := io.WriteString(b.w, text); err != nil {
		// A terminal that is gone takes no more lines; the work itself goes on.
		b.w = io.Discard
	}
}
