package simulate

import (
	"strings"

	"github.com/turnstone-dev/turnstone/compress/extract"
	"github.com/turnstone-dev/turnstone/prompt"
)

// The ways to fit a conversation that ours is held against.
const (
	FullHistory    = "full history"
	DropOldest     = "drop oldest"
	DropHalf       = "drop half"
	RollingSummary = "rolling summary"
)

// rollingShare is how much of the room a rolling summary may take, and fullShare when it is made.
const (
	rollingShare = 0.15
	fullShare    = 0.80
)

// Baselines names them in the order in which they are shown. The slice is the caller's.
func Baselines() []string { return []string{FullHistory, DropOldest, DropHalf, RollingSummary} }

// block is what is shown or dropped as one: a message with the results of its calls.
type block struct {
	pieces []piece
	tokens int
	before int   // tokens of all blocks before it
	last   int64 // the last turn of it
	lines  []extract.Line
}

// story is a whole conversation in blocks, with what the system opened it with.
type story struct {
	head   []piece
	blocks []block
	headed int // tokens of the head
}

func newStory(messages []prompt.Message, count *counted) *story {
	s := &story{}
	for i := range messages {
		m := &messages[i]
		p := count.piece(textOf(m))
		if m.Role == prompt.System && len(s.blocks) == 0 {
			s.head = append(s.head, p)
			s.headed += p.tokens
			continue
		}
		if m.Role != prompt.Tool || len(s.blocks) == 0 {
			s.blocks = append(s.blocks, block{before: s.until(len(s.blocks))})
		}
		b := &s.blocks[len(s.blocks)-1]
		b.pieces = append(b.pieces, p)
		b.tokens += p.tokens
		for _, seq := range m.Seqs {
			b.last = max(b.last, seq)
		}
		b.lines = append(b.lines, linesOf(m, b.last)...)
	}
	return s
}

// until is what the blocks before one take.
func (s *story) until(end int) int {
	if end == 0 {
		return 0
	}
	return s.blocks[end-1].before + s.blocks[end-1].tokens
}

// linesOf is a message as the extractive summariser reads it.
func linesOf(m *prompt.Message, seq int64) []extract.Line {
	var lines []extract.Line
	for _, p := range m.Parts {
		line := extract.Line{Seq: seq, Speaker: string(m.Role), Text: p.Text, User: m.Role == prompt.User, Name: m.Name}
		if m.Role == prompt.Tool {
			line.Kind, line.ID = extract.Result, m.CallID
		}
		lines = append(lines, line)
	}
	for _, c := range m.Calls {
		lines = append(lines, extract.Line{Seq: seq, Kind: extract.Call, ID: c.ID, Name: c.Name, Text: c.Arguments})
	}
	return lines
}

// baseline is one way through a story, from call to call.
type baseline struct {
	meter
	counted *counted
	story   *story
	room    int
	fit     func(*baseline)

	view
	said []extract.Line // what the summary was made of
}

// view is what a prompt shows of a story: the blocks from first to end, and a summary of those before.
type view struct {
	first, end int
	summary    piece
}

func newBaselines(s *story, room int, count *counted) []*baseline {
	fits := []func(*baseline){func(*baseline) {}, (*baseline).oldest, (*baseline).half, (*baseline).rolling}
	all := make([]*baseline, len(fits))
	for i, fit := range fits {
		all[i] = &baseline{meter: meter{count: count.count}, counted: count, story: s, room: room, fit: fit}
	}
	return all
}

// call makes the prompt after so many turns, and returns its size.
func (b *baseline) call(turns int64) int {
	shown := b.view
	for b.end < len(b.story.blocks) && b.story.blocks[b.end].last <= turns {
		b.end++
	}
	b.fit(b)
	begun := b.used.Calls > 0
	if b.first != shown.first || b.summary != shown.summary {
		if begun {
			b.before = b.pieces(shown)
		}
		return b.add(b.pieces(b.view))
	}
	// Only what is new has to be looked at, so that a long history does not cost its square.
	tokens := b.size(b.view)
	if begun {
		b.used.Reused += b.size(shown)
	}
	b.grow(tokens)
	return tokens
}

func (b *baseline) pieces(v view) []piece {
	pieces := append([]piece{}, b.story.head...)
	if v.summary.text != "" {
		pieces = append(pieces, v.summary)
	}
	for _, block := range b.story.blocks[v.first:v.end] {
		pieces = append(pieces, block.pieces...)
	}
	return pieces
}

// size is what a prompt takes.
func (b *baseline) size(v view) int {
	return b.story.headed + v.summary.tokens + b.story.until(v.end) - b.story.until(v.first)
}

// shrink drops the oldest blocks until the prompt takes at most so much; the last block stays.
func (b *baseline) shrink(most int) {
	for b.first < b.end-1 && b.size(b.view) > most {
		b.first++
	}
}

func (b *baseline) oldest() { b.shrink(b.room) }

func (b *baseline) half() {
	if b.size(b.view) > b.room {
		b.shrink(b.room / 2)
	}
}

// rolling summarises what it drops together with the summary before, as soon as the room is nearly full.
func (b *baseline) rolling() {
	if float64(b.size(b.view)) <= fullShare*float64(b.room) {
		return
	}
	from := b.first
	b.shrink(b.room / 2)
	if b.first == from {
		return
	}
	for _, block := range b.story.blocks[from:b.first] {
		b.said = append(b.said, block.lines...)
	}
	made := extract.Summarise(b.said, extract.Options{Budget: int(rollingShare * float64(b.room)), Count: b.count})
	b.said = nil
	for line := range strings.Lines(made.Text) {
		b.said = append(b.said, extract.Line{Seq: int64(len(b.said)) + 1, Text: strings.TrimRight(line, "\n")})
	}
	b.summary = b.counted.piece("[note]\n" + made.Text + "\n\n")
}
