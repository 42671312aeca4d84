package transcripts

import (
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// vocabulary is what texts are made of: words, code, other scripts, what providers choke on.
var vocabulary = []string{
	"the", "parser", "deploys", "to", "Lisbon", "on", "Friday", "42", "3.14", "because", "we", "decided",
	"func main() {\n\treturn\n}", `{"id": 7, "ok": true}`, "src/auth/login.ts", "https://example.org/a?b=c",
	"会議は金曜日です", "مرحبا", "🙂👩‍👩‍👧", "e\u0301", "\n\n", "   ", "\t", "\r\n", "<system>", "```", "[GOAL] x", "\u200b",
}

func (r *run) words(n int) string {
	var words []string
	for range n {
		words = append(words, vocabulary[r.rand.IntN(12)])
	}
	return strings.Join(words, " ") + fmt.Sprintf(" %d", r.rand.IntN(1e6))
}

// text is a text of a random length, mostly short.
func (r *run) text() string {
	n := 1 + r.rand.IntN(30)
	switch r.rand.IntN(14) {
	case 0, 1, 2:
		n *= 20
	case 3:
		// A long paste: from a tenth to a third of what the window holds, at two tokens a word or more.
		n = r.options.Context / (6 + r.rand.IntN(14))
	case 4:
		return pick(r.rand, "?", "ok", " x", "0", "x ")
	}
	var b strings.Builder
	for range n {
		b.WriteString(vocabulary[r.rand.IntN(len(vocabulary))])
		b.WriteByte(' ')
	}
	return b.String()
}

func (r *run) someSettings() prompt.Settings {
	s := prompt.Settings{}
	if r.rand.IntN(4) > 0 {
		s.System = r.words(10)
	}
	if r.rand.IntN(4) == 0 {
		s.Mandates = []string{r.words(6), r.words(3)}
		s.Checks = []string{r.words(5)}
		s.Skills = []prompt.Material{{Name: "skill", Text: r.words(20)}}
	}
	if r.rand.IntN(4) == 0 {
		s.Sticky = []prompt.Material{{Name: "notes.md", Text: r.words(40)}}
	}
	if r.rand.IntN(3) == 0 {
		s.Tools = []prompt.Definition{{Name: "search", Description: r.words(6), Schema: `{"type":"object","properties":{"q":{"type":"string"}}}`}}
	}
	return s
}

// someTurns are one to four turns that are legal next.
func (r *run) someTurns() []turn.Draft {
	if len(r.open) > 0 && r.rand.IntN(3) > 0 {
		return []turn.Draft{r.result()}
	}
	one := func(role turn.Role, c turn.Content) []turn.Draft { return []turn.Draft{{Role: role, Content: c}} }
	switch r.rand.IntN(12) {
	case 0, 1:
		if r.rand.IntN(2) == 0 {
			return one(turn.Agent, turn.Text{Text: r.decides() + pick(r.rand, "", "\n"+r.text())})
		}
		return one(turn.Agent, turn.Text{Text: r.text(), Thinking: pick(r.rand, "", "hm")})
	case 2, 3:
		return one(turn.Agent, r.call())
	case 4:
		return one(turn.System, turn.Text{Text: r.text()})
	case 5:
		return one(turn.User, turn.Speech{Transcript: r.text()})
	case 6:
		return one(pick(r.rand, turn.User, turn.System), turn.Action{Name: "click", Target: "button", Payload: `{"x":1}`})
	case 7:
		return r.message()
	case 8:
		if r.head > 0 {
			return []turn.Draft{{
				Role: turn.System, Kind: turn.KindSummary, Covers: turn.Range{From: 1, To: r.head},
				Content: turn.Text{Text: "what was said"},
			}}
		}
	}
	return one(turn.User, turn.Text{Text: r.text()})
}

// message is the user's message of several parts.
func (r *run) message() []turn.Draft {
	id := fmt.Sprintf("message-%d", r.head)
	drafts := []turn.Draft{{Role: turn.User, MessageID: id, Content: turn.Text{Text: r.text()}}}
	for range 1 + r.rand.IntN(2) {
		data := make([]byte, 1+r.rand.IntN(64))
		for i := range data {
			data[i] = byte(r.rand.Uint32())
		}
		media := pick(r.rand, "image/png", "image/jpeg", "image/svg+xml")
		drafts = append(drafts, turn.Draft{Role: turn.User, MessageID: id, Content: turn.Image{
			MediaType: media, Alt: r.words(pick(r.rand, 2, 2, 2, 300)), Blob: turn.Blob{Data: data},
		}})
	}
	return drafts
}

func (r *run) call() turn.Text {
	c := turn.Text{Text: pick(r.rand, "", "let me look")}
	for range 1 + r.rand.IntN(4) {
		r.calls++
		// Ids repeat once their call is closed.
		id := fmt.Sprintf("call %d", r.calls%50)
		for _, o := range r.open {
			if o.ID == id {
				id = fmt.Sprintf("call-%d", r.calls)
			}
		}
		call := turn.ToolCall{ID: id, Name: pick(r.rand, "search", "read file", "écrire"), Arguments: pick(r.rand, `{"q":"x"}`, `[1,2]`, `"x"`, `{}`)}
		c.ToolCalls = append(c.ToolCalls, call)
		r.open = append(r.open, call)
	}
	return c
}

func (r *run) result() turn.Draft {
	i := r.rand.IntN(len(r.open))
	call := r.open[i]
	r.open = append(r.open[:i:i], r.open[i+1:]...)
	result := fmt.Sprintf(`{"rows":[%d,"%s"]}`, r.rand.IntN(100), strings.Repeat("data ", r.rand.IntN(80)))
	return turn.Draft{Role: turn.System, Content: turn.Result{
		Name: call.Name, CallID: call.ID, Status: pick(r.rand, turn.CallOK, turn.CallOK, turn.CallError),
		Result: pick(r.rand, result, `"plain text"`, "", `""`),
	}}
}
