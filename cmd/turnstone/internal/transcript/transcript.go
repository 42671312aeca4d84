// Package transcript writes turns and dialogue state for people to read.
package transcript

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/turn"
)

// Format is how a transcript looks. The zero value is plain text in UTC.
type Format struct {
	Style terminal.Style
	// Location is the zone that times are shown in. Defaults to UTC.
	Location *time.Location
}

const (
	clock     = "2006-01-02 15:04:05"
	seqWidth  = 4
	roleWidth = len("system")
	indent    = seqWidth + 2 + len(clock) + 2 + roleWidth + 2
)

// margin stands before what belongs to the line above it.
var margin = strings.Repeat(" ", indent)

// Time writes a moment in the format's zone.
func (f Format) Time(t time.Time) string {
	if f.Location == nil {
		return t.UTC().Format(clock)
	}
	return t.In(f.Location).Format(clock)
}

// Append appends the turns to dst, a line or more each. The result of a tool call stands under its
// call where that is among the turns.
func (f Format) Append(dst []byte, turns []turn.Turn) []byte {
	called := make(map[int64]bool)
	for i := range turns {
		if len(turns[i].Calls()) > 0 {
			called[turns[i].Seq] = true
		}
	}
	for i := range turns {
		t := &turns[i]
		if result, ok := t.Content.(turn.Result); ok {
			if !called[t.Unit] {
				dst = f.row(dst, t, fmt.Sprintf("<- %s %s (call %s of turn %d)", result.Name, outcome(result), result.CallID, t.Unit))
			}
			continue
		}
		head := f.head(t)
		if text := body(t); text != "" || len(t.Calls()) == 0 {
			dst = f.lines(dst, head, text)
			head = margin
		}
		for _, call := range t.Calls() {
			dst = f.lines(dst, head, fmt.Sprintf("-> %s %s (call %s)", call.Name, call.Arguments, call.ID))
			dst = f.results(dst, t.Seq, call.ID, turns)
			head = margin
		}
	}
	return dst
}

// results writes the results of one call among the turns.
func (f Format) results(dst []byte, unit int64, callID string, turns []turn.Turn) []byte {
	for i := range turns {
		t := &turns[i]
		if result, ok := t.Content.(turn.Result); ok && t.Unit == unit && result.CallID == callID {
			dst = f.row(dst, t, "   <- "+outcome(result))
		}
	}
	return dst
}

func (f Format) row(dst []byte, t *turn.Turn, text string) []byte {
	return f.lines(dst, f.head(t), text)
}

func (f Format) head(t *turn.Turn) string {
	place := f.Style.Dim(fmt.Sprintf("%*d  %s", seqWidth, t.Seq, f.Time(t.CreatedAt)))
	return place + "  " + f.role(t.Role) + strings.Repeat(" ", roleWidth-len(t.Role)) + "  "
}

// lines writes the text after head, its further lines below its first.
func (f Format) lines(dst []byte, head, text string) []byte {
	dst = append(dst, head...)
	for i, line := range strings.Split(terminal.Clean(text), "\n") {
		if i > 0 {
			dst = append(dst, margin...)
		}
		dst = append(dst, line...)
		dst = append(dst, '\n')
	}
	return dst
}

func (f Format) role(r turn.Role) string {
	switch r {
	case turn.User:
		return f.Style.Accent(string(r))
	case turn.Agent:
		return f.Style.Good(string(r))
	default:
		return f.Style.Notice(string(r))
	}
}

// body is what a turn says, apart from its calls.
func body(t *turn.Turn) string {
	switch c := t.Content.(type) {
	case turn.Text:
		text := c.Text
		if t.Kind == turn.KindSummary {
			text = fmt.Sprintf("[summary of turns %d-%d] %s", t.Covers.From, t.Covers.To, text)
		}
		if c.Thinking != "" {
			return strings.TrimRight("(thinking) "+c.Thinking+"\n"+text, "\n")
		}
		return text
	case turn.Speech:
		return c.Transcript + "\n" + speech(c)
	case turn.Image:
		return strings.TrimRight(fmt.Sprintf("[image %s, %s] %s", c.MediaType, blob(c.Blob), c.Alt), " ")
	case turn.Action:
		return joined("["+c.Name+"]", c.Target, c.Payload)
	}
	return ""
}

func speech(c turn.Speech) string {
	parts := []string{"speech"}
	if c.Language != "" {
		parts = append(parts, c.Language)
	}
	if c.Confidence != nil {
		parts = append(parts, "confidence "+strconv.FormatFloat(*c.Confidence, 'g', -1, 64))
	}
	if c.Audio != nil {
		parts = append(parts, c.Audio.MediaType, blob(c.Audio.Blob))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func blob(b turn.Blob) string { return fmt.Sprintf("%d bytes, sha256 %s", b.Size, b.SHA256) }

func outcome(r turn.Result) string {
	status := string(r.Status)
	if r.Synthetic {
		status += " (no tool answered)"
	}
	return joined(status, r.Result)
}

func joined(parts ...string) string {
	kept := parts[:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, " ")
}
