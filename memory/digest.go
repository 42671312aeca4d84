package memory

import (
	"slices"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// Digest is the running account of a session: its rolling summary, its key topics and the log of its
// decisions. It is made turn by turn and needs no model. It never changes; [Manager.Fold] returns the
// next. Its JSON is at most 6 KiB however long the session is.
type Digest struct {
	ThroughSeq int64 // the last turn that is in it
	Rolling    RollingSummary
	Topics     []Topic // at most 12, the highest score first
	// Decisions are the latest, oldest first: at most 64, and as many as fit into 3 KiB.
	Decisions []Decision
}

// Decision is an entry of the decision log: what was decided, and the turn whose words it is.
type Decision struct {
	Seq    int64
	TurnID string
	Text   string
}

// Cite says which turn of an exchange a decision of its summary is from; see [Says].
type Cite func(decided string) (seq int64, turnID string)

// RollingSummary is the rolling summary of a session, oldest line first: the newest three turn
// summaries as they are, older ones down to their first clause, the oldest gone. It is at most 2 KiB.
type RollingSummary struct {
	Lines []Line
}

// Line is what is left of the summary of the exchange that ended with turn Seq.
type Line struct {
	Seq  int64
	Text string
}

const (
	verbatimLines   = 3
	maxClause       = 96
	maxRolling      = 2 << 10
	maxDecisionLog  = 64
	maxDecisionText = 3 << 10
)

// String returns the lines as text, oldest first.
func (r RollingSummary) String() string {
	lines := make([]string, len(r.Lines))
	for i, line := range r.Lines {
		lines[i] = line.Text
	}
	return strings.Join(lines, "\n")
}

// Try is what a digest tells of an exchange that got no reply.
type Try struct {
	Seq int64 // of the turn that it ended with
	// Topics are those of its summary.
	Topics []string
	// Since is how many exchanges the digest has behind it.
	Since int
}

// Without returns the digest without what it tells of the tries of an exchange, oldest first: what follows tells of it anew. Their lines
// go, and the topics of the last count as if they had not been said: those of others were taken back for it.
func (d Digest) Without(tries ...Try) Digest {
	lines := slices.Clone(d.Rolling.Lines)
	for i, try := range tries {
		lines = slices.DeleteFunc(lines, func(l Line) bool { return l.Seq == try.Seq })
		if i == len(tries)-1 {
			d.Topics = unsay(d.Topics, try.Topics, try.Since)
		}
	}
	d.Rolling.Lines = lines
	return d
}

// FoldText returns the digest with a stored summary in it, as [Summary.String] wrote it. A session that
// was forked gets its digest so: of the summaries along its path, oldest first. Given the seq and the
// citations that were given to [Manager.Fold], the digest is the same.
func (d Digest) FoldText(seq int64, text string, cite Cite) Digest {
	return d.fold(seq, ParseSummary(text), cite)
}

// fold is [Manager.Fold].
func (d Digest) fold(seq int64, s Summary, cite Cite) Digest {
	if seq <= d.ThroughSeq {
		return d
	}
	next := Digest{
		ThroughSeq: seq,
		Rolling:    d.Rolling.push(Line{Seq: seq, Text: s.Line}),
		Topics:     fade(d.Topics, s.Topics),
		Decisions:  slices.Clip(d.Decisions), // mostly nothing is decided: what is, goes into a copy
	}
	for _, text := range s.Decided {
		if !slices.ContainsFunc(next.Decisions, func(o Decision) bool { return o.Text == text }) {
			at, id := cite(text)
			next.Decisions = append(next.Decisions, Decision{Seq: at, TurnID: id, Text: text})
		}
	}
	next.Decisions = newest(next.Decisions, maxDecisionLog, maxDecisionText, (*Decision).size)
	return next
}

func (r RollingSummary) push(line Line) RollingSummary {
	lines := make([]Line, 0, len(r.Lines)+1)
	lines = append(append(lines, r.Lines...), line)
	if i := len(lines) - 1 - verbatimLines; i >= 0 {
		lines[i].Text = clause(lines[i].Text, maxClause)
	}
	return RollingSummary{Lines: newest(lines, len(lines), maxRolling, (*Line).size)}
}

// newest returns the last n of items at most, and as many as there is room for.
func newest[T any](items []T, n, room int, size func(*T) int) []T {
	from := len(items)
	for from > 0 && len(items)-from < n {
		if room -= size(&items[from-1]); room < 0 {
			break
		}
		from--
	}
	return items[from:]
}

// size is what a line takes in JSON at most: its text, and its member names with a number.
func (l *Line) size() int { return encodedSize(l.Text) + 36 }

func (d *Decision) size() int { return encodedSize(d.Text) + len(d.TurnID) + 36 }

// encodedSize bounds the length of text as a JSON string.
func encodedSize(text string) int {
	n := len(text)
	for i := strictjson.Plain(text, 0); i < len(text); i = strictjson.Plain(text, i+1) {
		if n++; text[i] < ' ' {
			n += 4
		}
	}
	return n
}

// Row returns the digest as a store keeps it.
func (d Digest) Row(at time.Time) DigestRow {
	return DigestRow{ThroughSeq: d.ThroughSeq, Doc: record.String(d.AppendJSON), At: at}
}
