package trace

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Style is how a timeline is drawn.
type Style struct {
	Width int  // of a line, in characters; at least 60 are used
	ASCII bool // only characters of ASCII
	Local *time.Location
}

// Render draws the trace as a timeline: a line for each phase with its time and a bar that shows when
// it ran, then what happened, in order.
func Render(t TurnTrace, style Style) string {
	if style.Local == nil {
		style.Local = time.UTC
	}
	var b strings.Builder
	fmt.Fprintf(&b, "turn %s  session %s  %s\n", t.TurnID, t.Session, t.Status)
	fmt.Fprintf(&b, "began %s", t.Started.In(style.Local).Format("2006-01-02 15:04:05.000"))
	if t.ExportID != "" {
		fmt.Fprintf(&b, "  export %s", t.ExportID)
	}
	b.WriteString("\n")
	for _, x := range t.Elsewhere {
		fmt.Fprintf(&b, "the turn opened an exchange elsewhere too: session %s  export %s\n", x.Session, x.ExportID)
	}
	b.WriteString("\n")
	total := time.Duration(0)
	for _, s := range t.Spans {
		total = max(total, s.Start+s.Length)
	}
	const left = len("phase      ") + len("   at ms") + len("  took ms") + 2
	bar := max(style.Width, 60) - left
	fmt.Fprintf(&b, "%-11s%8s%9s\n", "phase", "at ms", "took ms")
	for _, s := range t.Spans {
		fmt.Fprintf(&b, "%-11s%8s%9s  %s\n", s.Phase, millis(s.Start), millis(s.Length), strings.TrimRight(drawBar(s, total, bar, style.ASCII), " "))
		if s.Error != "" {
			fmt.Fprintf(&b, "%-11s%s\n", "", s.Error)
		}
	}
	if len(t.Entries) > 0 {
		b.WriteString("\n")
	}
	for _, e := range t.Entries {
		fmt.Fprintf(&b, "%s  %-15s %s\n", pad(millis(e.At), 8), e.Kind, oneLine(e.Text))
	}
	return b.String()
}

// drawBar shows when the span ran. Every span is at least one character long.
func drawBar(s Span, total time.Duration, width int, ascii bool) string {
	if total <= 0 {
		return ""
	}
	block := "█"
	if ascii {
		block = "#"
	}
	place := func(at time.Duration) int { return int(float64(width) * min(max(float64(at)/float64(total), 0), 1)) }
	from, to := min(place(s.Start), width-1), place(s.Start+s.Length)
	return strings.Repeat(" ", from) + strings.Repeat(block, max(to-from, 1))
}

func millis(d time.Duration) string {
	return fmt.Sprintf("%.3f", float64(d.Microseconds())/1000)
}

func pad(text string, width int) string {
	return strings.Repeat(" ", max(width-utf8.RuneCountInString(text), 0)) + text
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
