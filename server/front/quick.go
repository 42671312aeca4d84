package front

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// manner is how a server writes a line that has a word of the answer and nothing else, which nearly all lines are: it takes
// a tenth of the time to read it so. Quotes inside of texts are escaped: what a word stands between cannot be in one.
type manner struct {
	starts, before []byte
	after          [][]byte
	thinking       bool
}

func newManner(starts, before string, thinking bool, after ...string) manner {
	m := manner{starts: []byte(starts), before: []byte(before), thinking: thinking}
	for _, end := range after {
		m.after = append(m.after, []byte(end))
	}
	return m
}

const (
	unended   = `"},"finish_reason":null}]`
	unlogged  = `"},"logprobs":null,"finish_reason":null}]`
	uncounted = `,"usage":null`
)

var (
	ollamaManners = []manner{
		newManner(`{`, `"message":{"role":"assistant","content":"`, false, `"},"done":false}`),
		newManner(`{`, `"message":{"role":"assistant","content":"","thinking":"`, true, `"},"done":false}`),
	}
	openaiManners = []manner{
		newManner(`data: {`, `"choices":[{"index":0,"delta":{"content":"`, false, unended+"}", unlogged+"}", unended+uncounted+"}", unlogged+uncounted+"}"),
		newManner(`data: {`, `"choices":[{"index":0,"delta":{"reasoning_content":"`, true, unended+"}", unlogged+"}", unended+uncounted+"}", unlogged+uncounted+"}"),
	}
	// others are fields that are not to stand before the word.
	others = [][]byte{[]byte(`"error":`), []byte(`"usage":`)}
)

// last is the last line that was written in a manner that is known, but for its word.
type last struct {
	manner     *manner
	lead, tail []byte // with the quotes of the word, and the end of the line
}

// word returns the word of a line that has nothing else than the last one had around it, if there is nothing in it that
// has to be decoded.
func (l *last) word(line []byte) ([]byte, bool) {
	if l.manner == nil || len(line) < len(l.lead)+len(l.tail) || !bytes.HasPrefix(line, l.lead) || !bytes.HasSuffix(line, l.tail) {
		return nil, false
	}
	word := line[len(l.lead) : len(line)-len(l.tail)]
	return word, verbatim(word)
}

// keep notes a line whose word stands between two offsets.
func (l *last) keep(m *manner, line []byte, begin, end int) {
	l.manner, l.lead, l.tail = m, append(l.lead[:0], line[:begin]...), append(l.tail[:0], line[end:]...)
}

// quick hears a line that is written in a manner that is known, and reports whether it is.
func (h *heard) quick(kind Kind, line []byte) bool {
	if word, ok := h.last.word(line); ok {
		h.add(h.last.manner, word)
		return true
	}
	manners := ollamaManners
	if kind == OpenAI {
		manners = openaiManners
	}
	for i := range manners {
		m := &manners[i]
		begin, end, ok := m.find(line, len(h.last.lead)-len(m.before))
		if !ok {
			continue
		}
		word, ok := unquoted(line[begin-1 : end+1])
		if ok {
			h.last.keep(m, line, begin, end)
			h.add(m, word)
		}
		return ok
	}
	return false
}

// add notes a word.
func (h *heard) add(m *manner, word []byte) {
	if m.thinking {
		h.thinking = append(h.thinking, word...)
	} else {
		h.text = append(h.text, word...)
	}
}

// find returns where the word of a line stands that is written so. At is where what comes before it stood in the last
// line, and stands most likely again.
func (m *manner) find(line []byte, at int) (begin, end int, ok bool) {
	line = bytes.TrimRight(line, "\r\n")
	if !bytes.HasPrefix(line, m.starts) {
		return 0, 0, false
	}
	if at < 0 || at > len(line) || !bytes.HasPrefix(line[at:], m.before) {
		if at = bytes.Index(line, m.before); at < 0 {
			return 0, 0, false
		}
	}
	for _, other := range others {
		if bytes.Contains(line[:at], other) {
			return 0, 0, false
		}
	}
	begin = at + len(m.before)
	end, err := text(line, begin-1)
	if err != nil || !m.ends(line[end-1:]) {
		return 0, 0, false
	}
	return begin, end - 1, true
}

func (m *manner) ends(rest []byte) bool {
	for _, after := range m.after {
		if bytes.Equal(rest, after) {
			return true
		}
	}
	return false
}

// unquoted decodes a string of JSON, most of which are as they stand.
func unquoted(quoted []byte) ([]byte, bool) {
	if word := quoted[1 : len(quoted)-1]; verbatim(word) {
		return word, true
	}
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return nil, false
	}
	return []byte(plain(s)), true
}

// verbatim reports whether a word stands in JSON as it is, and is ASCII.
func verbatim(word []byte) bool {
	for _, c := range word {
		if c == '\\' || c == '"' || c < ' ' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
