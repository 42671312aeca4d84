package agent

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/llm"
)

const (
	// maxName is what the log takes of a name or an id.
	maxName = 256
	// maxBroken is how many bytes broken arguments may have as the string that is kept of them.
	maxBroken = 64 << 10
	// unnamed is the name of a tool that a model called without a name.
	unnamed = "unnamed"
)

// received is an answer as far as it has come. What is in it can be stored.
type received struct {
	started        time.Time
	text, thinking []byte
	calls          []llm.Call
	usage          llm.Usage
	stop           llm.Stop
	size           int
	begun          bool // something has come, if only of a call that is not complete
	empty          int  // how many pieces had nothing
	// tooMany says that there were more calls than those that are kept.
	tooMany bool
}

// answerLimit is how much an answer may have, and which field of the configuration says so.
func (c *Config) answerLimit(tokens int) (limit struct {
	name        string
	most, bytes int
}) {
	limit.name, limit.most, limit.bytes = "MaxAnswer", c.MaxAnswer, c.MaxAnswer
	if tokens > 0 && tokens < c.MaxAnswer/bytesPerToken {
		limit.name, limit.most, limit.bytes = "MaxTokens", tokens, tokens*bytesPerToken
	}
	return limit
}

// add takes a piece. An answer ends with its reason, or with a call too many.
func (a *received) add(c llm.Chunk, maxCalls int) {
	a.begun = true
	size := sizeOf(&c)
	a.size += size
	if size == 0 {
		a.empty++
	}
	a.text, a.thinking = append(a.text, c.Text...), append(a.thinking, c.Thinking...)
	a.calls = append(a.calls, c.Calls...)
	if c.Usage != (llm.Usage{}) {
		a.usage = c.Usage
	}
	a.stop = c.Stop
	if len(a.calls) > maxCalls {
		a.calls, a.tooMany, a.stop = a.calls[:maxCalls], true, llm.StopCalls
	}
}

// worth reports whether there is something that a turn can hold. Thinking is not: a turn of the log has a text or calls,
// and what the agent said to itself stands beside them. Cut off before either came, it is dropped.
func (a *received) worth() bool {
	return len(a.calls) > 0 || strings.TrimSpace(string(a.text)) != ""
}

// answer returns the answer in a form that can be stored, and the arguments of its calls as the model wrote them. Ids
// that are known, and what is not an id, are replaced. Arguments that are no JSON are cut so that the strings they
// become do not make more than that many bytes of an answer that had less.
func (a *received) answer(known map[string]bool, most int) (llm.Answer, []string) {
	answer := llm.Answer{Text: string(a.text), Thinking: string(a.thinking), Calls: slices.Clone(a.calls), Usage: a.usage, Stop: a.stop}
	raw := make([]string, len(answer.Calls))
	room := max(0, most-a.size)
	for i := range answer.Calls {
		c := &answer.Calls[i]
		raw[i] = c.Arguments
		c.ID = unique(c.ID, known)
		if c.Name == "" || len(c.Name) > maxName {
			c.Name = unnamed
		}
		c.Arguments = storable(c.Arguments, min(maxBroken, len(c.Arguments)+room))
		room = max(0, room-max(0, len(c.Arguments)-len(raw[i])))
	}
	return answer, raw
}

// unique returns the id, or one made of it, that is not known yet, and makes it known.
func unique(id string, known map[string]bool) string {
	// Room for the number.
	if id == "" || len(id) > maxName-16 {
		id = "call"
	}
	free := id
	for n := 2; known[free]; n++ {
		free = fmt.Sprintf("%s-%d", id, n)
	}
	known[free] = true
	return free
}

// storable returns arguments as one JSON value: as they are, {} for none, and a string of what is not JSON, cut to
// that many bytes.
func storable(arguments string, most int) string {
	trimmed := strings.TrimSpace(arguments)
	switch {
	case trimmed == "":
		return "{}"
	case strictjson.Check(trimmed) == nil:
		return trimmed
	}
	return quote(arguments, most)
}

// quote returns a text as a JSON string. One that would have more than that many bytes is cut, and says so.
func quote(text string, most int) string {
	const quotes, mark = len(`""`), " […]"
	var escaped []byte
	fits := 0 // of the text, with the mark behind it
	for i, size := 0, quotes; i < len(text); {
		_, width := utf8.DecodeRuneInString(text[i:])
		escaped = strictjson.AppendString(escaped[:0], text[i:i+width])
		i += width
		if size += len(escaped) - quotes; size > most {
			text = text[:fits] + mark
			break
		}
		if size+len(mark) <= most {
			fits = i
		}
	}
	return string(strictjson.AppendString(nil, text))
}

// known are the ids of calls that the container and the prompt show.
func (r *run) known() map[string]bool {
	ids := map[string]bool{}
	if len(r.partial.calls) == 0 {
		return ids
	}
	for _, e := range r.worker.Container.All() {
		if use, ok := e.Message.(ToolUse); ok {
			for _, c := range use.Calls {
				ids[c.ID] = true
			}
		}
	}
	for i := range r.asked.Messages {
		for _, c := range r.asked.Messages[i].Calls {
			ids[c.ID] = true
		}
	}
	return ids
}

// clean makes of a piece what every store can keep.
func clean(c *llm.Chunk) {
	c.Text, c.Thinking = plain(c.Text), plain(c.Thinking)
	if len(c.Calls) == 0 {
		return
	}
	c.Calls = slices.Clone(c.Calls)
	for i := range c.Calls {
		call := &c.Calls[i]
		call.ID, call.Name, call.Arguments = plain(call.ID), plain(call.Name), plain(call.Arguments)
	}
}

// plain replaces what is no UTF-8, and NUL.
func plain(s string) string {
	if strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}

func sizeOf(c *llm.Chunk) int {
	n := len(c.Text) + len(c.Thinking)
	for i := range c.Calls {
		n += len(c.Calls[i].Arguments)
	}
	return n
}
