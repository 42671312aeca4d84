package history

import (
	"context"
	"fmt"
	"html"
	"strings"
	"time"
	"unicode"

	"github.com/turnstone-dev/turnstone/turn"
)

// markdown writes a transcript for people. What was said stands in fences that it cannot close.
func (e *exporter) markdown(ctx context.Context) error {
	h := &e.header
	title := h.Title
	if title == "" {
		title = "Conversation"
	}
	e.write("# ", inline(title), "\n")
	separator := "\n"
	for _, f := range []struct{ name, value string }{
		{"Session", h.Session}, {"User", h.User}, {"Model", strings.Trim(h.Provider+" "+h.Model, " ")},
		{"Started", clock(h.Started)}, {"Last activity", clock(h.LastActivity)},
		{"Tokens", count(h.Tokens)}, {"Compressions", count(int64(h.Compressions))},
	} {
		if f.value != "" {
			e.write(separator, "- ", f.name, ": ", inline(f.value), "\n")
			separator = ""
		}
	}
	return e.units(ctx, func(u *unit) error {
		first := u.turns[0]
		e.write(fmt.Sprintf("\n## %d · %s", first.Seq, speaker(first)))
		if at := clock(first.CreatedAt); at != "" {
			e.write(" · ", at)
		}
		e.write("\n")
		for _, t := range u.turns {
			e.markdownTurn(u, t)
		}
		return nil
	})
}

func speaker(t turn.Turn) string {
	switch {
	case t.Kind == turn.KindSummary:
		return fmt.Sprintf("Summary of turns %d to %d", t.Covers.From, t.Covers.To)
	case t.Role == turn.User:
		return "User"
	case t.Role == turn.Agent:
		return "Agent"
	}
	return "System"
}

func (e *exporter) markdownTurn(u *unit, t turn.Turn) {
	switch c := t.Content.(type) {
	case turn.Text:
		if c.Thinking != "" {
			e.folded("Thinking", fence("text", c.Thinking))
		}
		if c.Text != "" {
			e.write("\n", fence("text", c.Text))
		}
		for _, call := range c.ToolCalls {
			e.markdownCall(u, call)
		}
	case turn.Speech:
		e.write("\n*spoken*\n\n", fence("text", c.Transcript))
		if c.Audio != nil {
			e.lose(t, "recordings", "named only")
		}
	case turn.Image:
		e.lose(t, "images", "described only")
		alt := c.Alt
		if alt == "" {
			alt = "no description"
		}
		e.write(fmt.Sprintf("\n*Image (%s): %s*\n", inline(c.MediaType), inline(alt)))
	case turn.Action:
		e.write("\nAction: ", inline(c.Name), "\n")
		if c.Target != "" {
			e.write("\n", fence("text", c.Target))
		}
		if c.Payload != "" {
			e.write("\n", fence("json", c.Payload))
		}
	case turn.Result:
		e.folded("Result of no open call: "+c.Name, fence("json", c.Result))
	case turn.Forgotten:
		e.write("\n*forgotten*\n")
	}
}

func (e *exporter) markdownCall(u *unit, c turn.ToolCall) {
	r := e.result(u, c)
	body := "Arguments:\n\n" + fence("json", c.Arguments)
	if r.Result != "" {
		body += "\nResult:\n\n" + fence("json", r.Result)
	}
	e.folded("Tool call: "+c.Name+" ("+string(r.Status)+")", body)
}

// folded writes a block that is closed until it is clicked.
func (e *exporter) folded(summary, body string) {
	e.write("\n<details>\n<summary>", html.EscapeString(oneLine(summary)), "</summary>\n\n", body, "\n</details>\n")
}

// fence puts a text between lines of more backticks than it has anywhere in a row.
func fence(language, text string) string {
	longest, run := 2, 0
	for i := range len(text) {
		if text[i] == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	ticks := strings.Repeat("`", longest+1)
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return ticks + language + "\n" + text + ticks + "\n"
}

// inline is a text on one line, without anything that Markdown would take for its own.
func inline(text string) string {
	var b strings.Builder
	for _, r := range oneLine(text) {
		if r < unicode.MaxASCII && (unicode.IsPunct(r) || unicode.IsSymbol(r)) && !strings.ContainsRune(".,:;/-?@%", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// oneLine joins the words of a text by single spaces.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// clock is a time for people, empty where there is none.
func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}
