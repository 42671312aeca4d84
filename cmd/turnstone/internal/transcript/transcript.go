// Package transcript writes turns and dialogue state for people to read.
package transcript

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/turn"
)

// Format is how a transcript looks. The zero value is plain text in UTC.
type Format struct {
	Style terminal.Style
	// Location is the zone that times are shown in. Defaults to UTC.
	Location *time.Location
	// Most is how many characters of a turn's text, of a call or of a result are shown. Defaults to
	// all of them.
	Most int
	// Off says which turns are marked as off the session's path, by their numbers. Defaults to none.
	Off func(seq int64) bool
}

const (
	clock     = "2006-01-02 15:04:05"
	roleWidth = len("system")
)

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
	p := newPage(f, turns)
	for i := range turns {
		t := &turns[i]
		if result, ok := t.Content.(turn.Result); ok {
			if !p.called[t.Unit] {
				dst = p.lines(dst, p.head(t), fmt.Sprintf("<- %s %s (call %s of turn %d)", result.Name, outcome(result), result.CallID, t.Unit))
			}
			continue
		}
		head := p.head(t)
		if text := body(t); text != "" || len(t.Calls()) == 0 {
			dst = p.lines(dst, head, text)
			head = p.margin
		}
		for _, call := range t.Calls() {
			dst = p.lines(dst, head, fmt.Sprintf("-> %s %s (call %s)", call.Name, call.Arguments, call.ID))
			dst = p.results(dst, t.Seq, call.ID)
			head = p.margin
		}
	}
	return dst
}

// page is a list of turns with columns that fit all of them.
type page struct {
	Format
	turns    []turn.Turn
	called   map[int64]bool // the turns that call tools, by seq
	seqWidth int
	margin   string // stands before what belongs to the line above it
}

func newPage(f Format, turns []turn.Turn) *page {
	p := &page{Format: f, turns: turns, called: make(map[int64]bool), seqWidth: 4}
	for i := range turns {
		p.seqWidth = max(p.seqWidth, len(strconv.FormatInt(turns[i].Seq, 10)))
		if len(turns[i].Calls()) > 0 {
			p.called[turns[i].Seq] = true
		}
	}
	p.margin = strings.Repeat(" ", p.seqWidth+2+len(clock)+2+roleWidth+2)
	return p
}

// results writes the results of one call among the turns.
func (p *page) results(dst []byte, unit int64, callID string) []byte {
	for i := range p.turns {
		t := &p.turns[i]
		if result, ok := t.Content.(turn.Result); ok && t.Unit == unit && result.CallID == callID {
			dst = p.lines(dst, p.head(t), "   <- "+outcome(result))
		}
	}
	return dst
}

// Interrupted marks a reply that was cut short.
const Interrupted = "(interrupted)"

// OffPath marks a turn that was left behind when its session went back to a snapshot.
const OffPath = "(off the path)"

func (p *page) head(t *turn.Turn) string {
	place := p.Style.Dim(fmt.Sprintf("%*d  %s", p.seqWidth, t.Seq, p.Time(t.CreatedAt)))
	head := place + "  " + p.role(t.Role) + strings.Repeat(" ", roleWidth-len(t.Role)) + "  "
	if p.Off != nil && p.Off(t.Seq) {
		head += p.Style.Dim(OffPath) + " "
	}
	if t.Meta.Interrupted {
		head += p.Style.Dim(Interrupted) + " "
	}
	return head
}

// lines writes the text after head, its further lines below its first.
func (p *page) lines(dst []byte, head, text string) []byte {
	dst = append(dst, head...)
	for i, line := range strings.Split(terminal.Clean(p.shorten(text)), "\n") {
		if i > 0 {
			dst = append(dst, p.margin...)
		}
		dst = append(dst, line...)
		dst = append(dst, '\n')
	}
	return dst
}

// shorten cuts a long text and says how much is missing.
func (f Format) shorten(text string) string {
	more := utf8.RuneCountInString(text) - f.Most
	if f.Most <= 0 || more <= 0 {
		return text
	}
	shown := 0
	for i := range text {
		if shown == f.Most {
			return fmt.Sprintf("%s… (%s; --json shows all)", text[:i], progress.Count(int64(more), "more character"))
		}
		shown++
	}
	return text
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
			of := fmt.Sprintf("turn %d", t.Covers.From)
			if t.Covers.To > t.Covers.From {
				of = fmt.Sprintf("turns %d-%d", t.Covers.From, t.Covers.To)
			}
			text = "[summary of " + of + "] " + text
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
	case turn.Forgotten:
		return turn.ForgottenText
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

// Words is what a turn says in a line or more, with its calls or its result.
func Words(t *turn.Turn) string {
	if result, ok := t.Content.(turn.Result); ok {
		return joined("<-", result.Name, outcome(result))
	}
	text := body(t)
	for _, call := range t.Calls() {
		text = joined(text, "->", call.Name, call.Arguments)
	}
	return text
}
