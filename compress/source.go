package compress

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/compress/extract"
	"github.com/turnstone-dev/turnstone/turn"
)

// Source is what is to be summarised: whole units, in the order of the log.
type Source struct {
	Range turn.Range
	Turns []turn.Turn
	// Beside are the turns of the range that stay in the prompt word for word, beside the summary: what
	// the user said, pins. They are read, for the rest is about them, but nothing of them has to be in
	// the summary and they do not count as what it replaces. Ascending, apart from each other.
	Beside []turn.Range
}

// Hash is the SHA-256 of the turns in hexadecimal digits. It changes with everything that was said, done or
// forgotten in them, and with what stays beside.
func (s *Source) Hash() string {
	h := sha256.New()
	var b []byte
	for i := range s.Turns {
		t := &s.Turns[i]
		b = strconv.AppendInt(b[:0], t.Seq, 10)
		b = append(b, ' ')
		b = append(b, t.Role...)
		b = append(b, ' ')
		b = append(b, t.Kind...)
		b = append(b, ' ')
		if t.Content != nil {
			b = turn.AppendContent(b, t.Content)
		}
		b = append(b, '\n')
		h.Write(b)
	}
	for _, r := range s.Beside {
		b = strconv.AppendInt(b[:0], r.From, 10)
		b = append(b, '-')
		b = strconv.AppendInt(b, r.To, 10)
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// beside reports whether a turn stays in the prompt word for word.
func (s *Source) beside(seq int64) bool {
	_, found := slices.BinarySearchFunc(s.Beside, seq, func(r turn.Range, seq int64) int {
		switch {
		case r.To < seq:
			return -1
		case r.From > seq:
			return 1
		}
		return 0
	})
	return found
}

// Tokens is how many tokens leave the prompt with the turns: those that stay beside are not counted.
func (s *Source) Tokens(count func(string) int) int {
	total := 0
	for i := range s.Turns {
		if t := &s.Turns[i]; !s.beside(t.Seq) && counts(t) {
			total += count(transcript(t))
		}
	}
	return total
}

// counts reports whether a turn is part of what is summarised. The summaries in the log are not: they
// were made of the turns that are; and of what was forgotten nothing is left.
func counts(t *turn.Turn) bool {
	return t.Kind != turn.KindSummary && t.Content != nil && !t.Gone()
}

// Lines are the turns as the extractive summariser reads them, without those that stay beside.
func (s *Source) Lines() []extract.Line {
	var lines []extract.Line
	for i := range s.Turns {
		if t := &s.Turns[i]; counts(t) && !s.beside(t.Seq) {
			lines = appendLines(lines, t)
		}
	}
	return lines
}

func appendLines(lines []extract.Line, t *turn.Turn) []extract.Line {
	line := extract.Line{Seq: t.Seq, Speaker: string(t.Role), User: t.Role == turn.User}
	if !t.CreatedAt.IsZero() {
		line.Time = t.CreatedAt.UTC().Format("2006-01-02")
	}
	switch c := t.Content.(type) {
	case turn.Result:
		line.Kind, line.Name, line.Text = extract.Result, c.Name, returned(c)
		if c.Status != turn.CallOK {
			line.Name += " " + string(c.Status)
		}
	case turn.Text:
		line.Text = c.Text
	default:
		line.Text = t.Content.Searchable()
	}
	if strings.TrimSpace(line.Text) != "" {
		lines = append(lines, line)
	}
	for _, call := range t.Calls() {
		lines = append(lines, extract.Line{
			Seq: t.Seq, Speaker: line.Speaker, Time: line.Time, Kind: extract.Call, Name: call.Name, Text: call.Arguments,
		})
	}
	return lines
}

// said is what was said in a turn in plain words; empty for what tools did.
func said(t *turn.Turn) string {
	switch c := t.Content.(type) {
	case turn.Text:
		return c.Text
	case turn.Speech:
		return c.Transcript
	case turn.Image:
		return c.Alt
	}
	return ""
}

// returned is what a tool returned, text that came as a JSON string as the text that it is.
func returned(r turn.Result) string {
	if !strings.HasPrefix(r.Result, `"`) {
		return r.Result
	}
	var text string
	if err := json.Unmarshal([]byte(r.Result), &text); err != nil {
		return r.Result
	}
	return text
}

// transcript is a turn as a model that summarises reads it.
func transcript(t *turn.Turn) string {
	head := "[" + strconv.FormatInt(t.Seq, 10) + "] " + string(t.Role) + ": "
	switch c := t.Content.(type) {
	case turn.Result:
		return head + c.Name + " returned " + string(c.Status) + ": " + returned(c) + "\n"
	case turn.Text:
		text := head + c.Text
		for _, call := range c.ToolCalls {
			text += "\n" + head + "called " + call.Name + " " + call.Arguments
		}
		return text + "\n"
	}
	return head + t.Content.Searchable() + "\n"
}

// Units cuts turns into what must not be parted: tool calls with their results and everything between
// them, the parts of one message, and single turns. The parts share the memory of turns.
func Units(turns []turn.Turn) [][]turn.Turn {
	var units [][]turn.Turn
	last := lastOf(turns)
	for from := 0; from < len(turns); {
		end := from
		for i := from; i <= end; i++ {
			end = max(end, last[key(&turns[i])])
		}
		units = append(units, turns[from:end+1])
		from = end + 1
	}
	return units
}

// key names what a turn belongs to: its unit, its message or itself alone.
func key(t *turn.Turn) string {
	switch {
	case t.Unit != 0:
		return "u" + strconv.FormatInt(t.Unit, 10)
	case t.MessageID != "":
		return "m" + t.MessageID
	}
	return "t" + strconv.FormatInt(t.Seq, 10)
}

func lastOf(turns []turn.Turn) map[string]int {
	last := make(map[string]int, len(turns))
	for i := range turns {
		last[key(&turns[i])] = i
	}
	return last
}
