package simulate

import (
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/prompt"
)

// CachedPrice is what a token costs that stood at the same place in the prompt before, as a share of one that
// did not.
const CachedPrice = 0.1

// Usage is what some calls of a model took.
type Usage struct {
	Calls   int
	Tokens  int // of all prompts
	Reused  int // of these: equal to the beginning of the prompt before
	Largest int // of one prompt
	Breaks  int // calls whose prompt does not begin with the one before
}

// Reuse is the share of the tokens that stood at the same place in the prompt before.
func (u Usage) Reuse() float64 {
	if u.Tokens == 0 {
		return 0
	}
	return float64(u.Reused) / float64(u.Tokens)
}

// Billed is what the calls cost, in tokens that were never seen before.
func (u Usage) Billed() float64 {
	return float64(u.Tokens-u.Reused) + CachedPrice*float64(u.Reused)
}

// Mean is the size of a prompt.
func (u Usage) Mean() float64 {
	if u.Calls == 0 {
		return 0
	}
	return float64(u.Tokens) / float64(u.Calls)
}

// piece is a message as text, and what it takes.
type piece struct {
	text   string
	tokens int
}

// meter holds each prompt of a conversation against the one before.
type meter struct {
	count  func(string) int
	used   Usage
	before []piece
}

// add takes the next prompt and returns its size. The pieces are kept until the next one.
func (m *meter) add(pieces []piece) (tokens int) {
	same := 0
	for same < len(pieces) && same < len(m.before) && pieces[same].text == m.before[same].text {
		m.used.Reused += pieces[same].tokens
		same++
	}
	if same < len(m.before) {
		m.used.Breaks++
		if same < len(pieces) {
			m.used.Reused += min(m.count(commonBegin(pieces[same].text, m.before[same].text)), pieces[same].tokens)
		}
	}
	for _, p := range pieces {
		tokens += p.tokens
	}
	m.grow(tokens)
	m.before = pieces
	return tokens
}

// grow counts a prompt of that size.
func (m *meter) grow(tokens int) {
	m.used.Calls++
	m.used.Tokens += tokens
	m.used.Largest = max(m.used.Largest, tokens)
}

// commonBegin is what two texts have in common at their beginning, in whole characters.
func commonBegin(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return a[:n]
}

// counted counts texts, each once.
type counted struct {
	count func(string) int
	known map[string]int
}

func (c *counted) tokens(text string) int {
	n, ok := c.known[text]
	if !ok {
		n = c.count(text)
		c.known[text] = n
	}
	return n
}

func (c *counted) piece(text string) piece { return piece{text, c.tokens(text)} }

func (c *counted) pieces(messages []prompt.Message) []piece {
	pieces := make([]piece, len(messages))
	for i := range messages {
		pieces[i] = c.piece(textOf(&messages[i]))
	}
	return pieces
}

// Meter measures the prompts of a conversation that somebody else replays. It is used by one goroutine at a time.
type Meter struct {
	counted *counted
	meter   meter
}

// NewMeter makes a meter that counts the tokens of texts with count.
func NewMeter(count func(string) int) *Meter {
	return &Meter{counted: &counted{count: count, known: make(map[string]int)}, meter: meter{count: count}}
}

// Add holds the next prompt against the one before.
func (m *Meter) Add(messages []prompt.Message) { m.meter.add(m.counted.pieces(messages)) }

// Usage is what the prompts took so far.
func (m *Meter) Usage() Usage { return m.meter.used }
