package budget

import (
	"strings"
	"unicode/utf8"
)

// settled is how long the end of a reply grows before its beginning is counted once and for all.
const settled = 256

// Meter tracks the tokens of a reply while it streams. It belongs to the one goroutine that reads the
// stream.
type Meter struct {
	counter *Counter
	usable  int
	prompt  int
	done    Tally
	tail    []byte
	reply   int
	over    bool
}

// NewMeter returns the meter of one reply to a prompt of the given size.
func NewMeter(w Window, c *Counter, prompt Count) *Meter {
	return &Meter{counter: c, usable: w.Usable, prompt: prompt.Tokens}
}

// Add counts a piece of the reply. It returns true once: when prompt and reply first pass the usable window,
// and the model begins to forget.
func (m *Meter) Add(delta string) (overflow bool) {
	m.tail = append(m.tail, delta...)
	for len(m.tail) >= settled {
		cut := cutAt(m.tail)
		m.done = m.done.Plus(m.counter.Text(string(m.tail[:cut])))
		m.tail = append(m.tail[:0], m.tail[cut:]...)
	}
	m.reply = m.counter.Tokens(m.done.Plus(m.counter.Text(string(m.tail)))).Tokens
	if m.over || m.Total() <= m.usable {
		return false
	}
	m.over = true
	return true
}

// cutAt finds where a long text can be parted with the least harm to its tokens: before the last space, or
// else between two runes.
func cutAt(tail []byte) int {
	if at := strings.LastIndexByte(string(tail), ' '); at > 0 {
		return at
	}
	for at := len(tail) - 1; at > len(tail)-utf8.UTFMax; at-- {
		if utf8.RuneStart(tail[at]) {
			return at
		}
	}
	return len(tail)
}

// Reply is how many tokens the reply has so far.
func (m *Meter) Reply() int { return m.reply }

// Total is how many tokens the prompt and the reply have so far.
func (m *Meter) Total() int { return m.prompt + m.reply }
