package agent

import (
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/turn"
)

// containerVersion is the version of a container's JSON. Every version ever written stays readable.
const containerVersion = 1

// stored is a container on paper.
type stored struct {
	version int64
	summary string
	dropped int64
	staged  bool
	entries []storedEntry
}

type storedEntry struct {
	kind       kind
	at         time.Time
	meta       turn.Meta
	unanswered bool
	turns      []turn.Draft
}

var (
	storedFields = record.Fields[stored]{
		record.Value("version", func(s *stored) *int64 { return &s.version }, record.Int()),
		record.Value("summary", func(s *stored) *string { return &s.summary }, record.Text[string]()),
		record.Value("dropped", func(s *stored) *int64 { return &s.dropped }, record.Int()),
		record.Value("staged", func(s *stored) *bool { return &s.staged }, record.Bool()),
		record.List("entries", func(s *stored) *[]storedEntry { return &s.entries }, record.Of(entryFields)).Always(),
	}
	entryFields = record.Fields[storedEntry]{
		record.Value("kind", func(e *storedEntry) *kind { return &e.kind }, record.Text[kind]()),
		record.Value("at", func(e *storedEntry) *time.Time { return &e.at }, record.Time()),
		record.Value("meta", func(e *storedEntry) *turn.Meta { return &e.meta }, record.Codec[turn.Meta]{
			Append: func(dst []byte, m turn.Meta) []byte { return m.AppendJSON(dst) },
			Decode: func(v strictjson.Raw) (turn.Meta, error) { return turn.DecodeMeta(string(v)) },
		}),
		record.Value("unanswered", func(e *storedEntry) *bool { return &e.unanswered }, record.Bool()),
		record.List("turns", func(e *storedEntry) *[]turn.Draft { return &e.turns }, record.Codec[turn.Draft]{
			Append: func(dst []byte, d turn.Draft) []byte { return d.AppendJSON(dst) },
			Decode: func(v strictjson.Raw) (turn.Draft, error) { return turn.DecodeDraft(string(v)) },
		}),
	}
)

// MarshalJSON writes the whole container: one object with the entries as turns, deterministic.
func (c *Container) MarshalJSON() ([]byte, error) {
	h := c.load()
	s := stored{version: containerVersion, summary: h.summary, dropped: int64(h.dropped), staged: h.staged}
	for i := range h.entries {
		e := &h.entries[i]
		s.entries = append(s.entries, storedEntry{kind: e.Message.kind(), at: e.At, meta: e.Meta, unanswered: e.Unanswered, turns: e.Message.drafts()})
	}
	return storedFields.Append(nil, &s), nil
}

// UnmarshalJSON replaces what the container holds. What breaks a rule of containers is refused with a *[FieldError]
// that names the entry, and nothing is replaced.
func (c *Container) UnmarshalJSON(data []byte) error {
	s, err := storedFields.Decode(string(data))
	if err != nil {
		return err
	}
	if s.version != containerVersion {
		return invalid.New("version", fmt.Sprintf("%d is not known", s.version), "read it with the version of the program that wrote it")
	}
	h := history{summary: s.summary, dropped: int(s.dropped), staged: s.staged, read: true}
	for i := range s.entries {
		e, err := s.entries[i].entry()
		if err == nil {
			err = checkNext(h.last(), e.Message)
		}
		if err == nil && e.Unanswered && !e.User() {
			err = invalid.New("unanswered", "is said of the agent", "leave it out")
		}
		if err != nil {
			return record.Within(record.Indexed("entries", i), err)
		}
		h.entries = append(h.entries, e)
	}
	if last := h.last(); h.staged && (last == nil || last.Unanswered || last.Message.kind() != kindPrompt) {
		return invalid.New("staged", "there is no input at the end", "leave it out")
	}
	return c.change(func(history) (history, error) { return h, nil })
}

// entry makes a message of the turns, as far as they can be one of its kind.
func (e *storedEntry) entry() (Entry, error) {
	to := Entry{At: e.at, Meta: e.meta, Unanswered: e.unanswered}
	switch e.kind {
	case kindPrompt:
		to.Message = Prompt{Parts: e.turns}
		return to, nil
	case kindResults, kindCancelled:
		results := make([]turn.Result, len(e.turns))
		for i, d := range e.turns {
			r, ok := d.Content.(turn.Result)
			if !ok {
				return to, invalid.New(record.Indexed("turns", i), "is not the result of a tool", "give a system action with a call_id")
			}
			results[i] = r
		}
		to.Message = ToolResults{Results: results}
		if e.kind == kindCancelled {
			to.Message = CancelledTools{Results: results}
		}
		return to, nil
	case kindResponse, kindToolUse:
		if len(e.turns) != 1 || e.turns[0].Role != turn.Agent {
			return to, invalid.New("turns", "are not one of the agent", "give one text of the agent")
		}
		text, _ := e.turns[0].Content.(turn.Text)
		if e.kind == kindToolUse {
			to.Message = ToolUse{Text: text.Text, Thinking: text.Thinking, Calls: text.ToolCalls}
			return to, nil
		}
		if len(text.ToolCalls) > 0 {
			return to, invalid.New("turns[0].content.tool_calls", "stand in a response", "use the kind tool_use")
		}
		to.Message = Response{Text: text.Text, Thinking: text.Thinking}
		return to, nil
	}
	return to, invalid.New("kind", fmt.Sprintf("%q is not a kind", e.kind), "use prompt, tool_results, cancelled_tools, response or tool_use")
}
