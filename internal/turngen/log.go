package turngen

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/turn"
)

// Log makes the drafts of a log of up to n turns that can be appended in this order: ordinary turns,
// summaries, tool calls of several at once, their results in any order with anything between, and
// calls that never get one. Drafts have no ID.
func Log(n int) *rapid.Generator[[]turn.Draft] {
	return rapid.Custom(func(t *rapid.T) []turn.Draft {
		l := &logger{}
		for range rapid.IntRange(0, n).Draw(t, "turns") {
			l.step(t)
		}
		return l.drafts
	})
}

type logger struct {
	drafts []turn.Draft
	open   []turn.ToolCall
	calls  int
}

func (l *logger) step(t *rapid.T) {
	kinds := []string{"user", "agent", "system", "call", "action", "summary"}
	if len(l.open) > 0 {
		kinds = append(kinds, "result", "result", "result")
	}
	said := func(role turn.Role, c turn.Content) turn.Draft { return turn.Draft{Role: role, Content: c} }
	text := func() turn.Text { return turn.Text{Text: Text().Draw(t, "text")} }
	var d turn.Draft
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "user":
		d = said(turn.User, rapid.OneOf(plain(), plain(), speech(), image()).Draw(t, "content"))
	case "agent":
		d = said(turn.Agent, rapid.OneOf(plain(), thought()).Draw(t, "content"))
	case "system":
		d = said(turn.System, text())
	case "call":
		c := turn.Text{Text: rapid.SampledFrom([]string{"", "let me look"}).Draw(t, "text")}
		for range rapid.IntRange(1, 3).Draw(t, "calls") {
			l.calls++
			call := turn.ToolCall{ID: fmt.Sprintf("call_%d", l.calls), Name: "search", Arguments: JSON().Draw(t, "arguments")}
			c.ToolCalls = append(c.ToolCalls, call)
			l.open = append(l.open, call)
		}
		d = said(turn.Agent, c)
	case "action":
		d = said(rapid.SampledFrom([]turn.Role{turn.User, turn.System}).Draw(t, "role"), action().Draw(t, "action"))
	case "summary":
		d = said(turn.System, text())
		if n := int64(len(l.drafts)); n > 0 {
			d.Kind, d.Covers = turn.KindSummary, turn.Range{From: 1, To: rapid.Int64Range(1, n).Draw(t, "covers")}
		}
	case "result":
		i := rapid.IntRange(0, len(l.open)-1).Draw(t, "open")
		d = said(turn.System, turn.Result{Name: l.open[i].Name, CallID: l.open[i].ID, Status: turn.CallOK, Result: JSON().Draw(t, "result")})
		l.open = append(l.open[:i:i], l.open[i+1:]...)
	}
	l.drafts = append(l.drafts, d)
}
