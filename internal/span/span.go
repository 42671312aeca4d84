// Package span names the pieces a session's log is made of: ranges of turns in a segment.
//
// A segment is the storage that one session appends to. A session that was never forked reads one
// span, its own segment; a fork reads its parent's spans up to the fork point and then its own.
package span

// Span is an inclusive range of seqs in one segment. The vocabulary packages alias it, so that
// what follows a session's path (turns, flows, later goals and checkpoints) follows the same one.
type Span struct {
	Segment  int64
	From, To int64
}

// Empty reports whether the span holds no seq.
func (s Span) Empty() bool { return s.To < s.From }
