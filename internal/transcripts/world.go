package transcripts

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/turnstone-dev/turnstone/turn"
)

// world is what happened in a session, by our own books.
type world struct {
	head  int64
	calls int
	open  []turn.ToolCall
	pins  []int64
	// unpinned are turns that were pinned once.
	unpinned []int64
	goal     int
	saved    []saved
	// changes are the passes and restores that are in force, the last one last.
	changes []change
	said    map[int64]turn.Draft // every turn by seq
	units   map[int64]int64      // the call of every turn that is part of a unit
	hidden  map[int64]bool       // the turns that restores took out of the conversation
}

// saved is a snapshot.
type saved struct {
	name    string
	turn    int64
	hidden  map[int64]bool
	changes []change // those that were in force
}

// change is what can be undone at once: a restore, passes, or both.
type change struct {
	restored  bool
	hidden    map[int64]bool // as it was before a restore
	under     []change       // what was in force at the time that a restore went back to, and is again
	low, high int64          // its passes are those after low up to high
	took      turn.Range     // the turns that its passes took out
}

// has reports whether a pass is one of the change.
func (c *change) has(pass int64) bool { return pass > c.low && pass <= c.high }

// standing are the changes whose passes are in force: behind a restore those of what it went back to, not what was in force
// before it.
func standing(changes []change) []change {
	for i, c := range slices.Backward(changes) {
		if c.restored {
			return slices.Concat(standing(c.under), changes[i:])
		}
	}
	return changes
}

// shown notes where the recent turns begin: of the last changes, those are no more whose turns are all shown again.
func (w *world) shown(from int64) {
	for n := len(w.changes) - 1; n >= 0; n-- {
		c := &w.changes[n]
		if c.restored || c.took.From < from || c.took.From == from && c.took.To < c.took.From {
			break
		}
		w.changes = w.changes[:n:n]
	}
}

// heard notes the next turn of the log.
func (w *world) heard(seq int64, d turn.Draft) {
	w.head, w.said[seq] = seq, d
	switch c := d.Content.(type) {
	case turn.Text:
		if len(c.ToolCalls) > 0 {
			w.units[seq] = seq
		}
	case turn.Result:
		for s := seq - 1; s > 0 && w.units[seq] == 0; s-- {
			call, ok := w.said[s].Content.(turn.Text)
			if ok && slices.ContainsFunc(call.ToolCalls, func(o turn.ToolCall) bool { return o.ID == c.CallID }) {
				w.units[seq] = s
			}
		}
	}
}

// on reports whether a turn is part of the conversation: it happened, and so did what it answers.
func (w *world) on(seq int64) bool { return !w.hidden[seq] && !w.hidden[w.units[seq]] }

// shows reports whether a turn is one that prompts show once it is whole.
func (w *world) shows(seq int64) bool { return w.said[seq].Kind != turn.KindSummary && w.on(seq) }

// never is where a unit ends that still waits for a result.
const never = math.MaxInt64

// ends is where what a turn belongs to is complete in the conversation: at the turn itself unless it is of a unit.
func (w *world) ends(seq int64) int64 {
	unit := w.units[seq]
	if unit == 0 {
		return seq
	}
	text, _ := w.said[unit].Content.(turn.Text)
	results := 0
	for s := unit + 1; s <= w.head; s++ {
		if w.units[s] == unit && w.on(s) {
			if results++; results == len(text.ToolCalls) {
				return s
			}
		}
	}
	return never
}

// pending reports whether a turn belongs to a unit that still waits for a result in the conversation.
func (w *world) pending(seq int64) bool { return w.ends(seq) == never }

// together reports whether two turns are of one unit or message.
func (w *world) together(a, b int64) bool {
	if id := w.said[a].MessageID; id != "" {
		return w.said[b].MessageID == id
	}
	return w.units[a] != 0 && w.units[a] == w.units[b]
}

// turnOf is the last turn up to seq that is no summary: prompts after the summaries behind it are prompts at it.
func (w *world) turnOf(seq int64) int64 {
	for seq > 0 && w.said[seq].Kind == turn.KindSummary {
		seq--
	}
	return seq
}

// save notes a snapshot.
func (w *world) save(name string) {
	w.saved = append(w.saved, saved{name, w.head, maps.Clone(w.hidden), slices.Clone(w.changes)})
}

// goBack notes a restore: what came after the snapshot is no part of the conversation any more.
func (w *world) goBack(to saved, passed int64) {
	w.changes = append(w.changes, change{restored: true, hidden: w.hidden, under: to.changes, low: passed, high: passed})
	w.hidden = maps.Clone(to.hidden)
	for seq := to.turn + 1; seq <= w.head; seq++ {
		w.hidden[seq] = true
	}
}

// comeBack notes that the last change was undone.
func (w *world) comeBack() change {
	last := w.changes[len(w.changes)-1]
	w.changes = w.changes[: len(w.changes)-1 : len(w.changes)-1]
	if last.restored {
		w.hidden = last.hidden
	}
	return last
}

// logIsWhole compares the log with everything that was said.
func (r *run) logIsWhole() error {
	seq := int64(0)
	for after := int64(0); ; {
		page, err := r.session.Query(r.ctx, turn.Query{After: after, Limit: 1000})
		if err != nil {
			return err
		}
		for _, t := range page.Turns {
			seq++
			want := r.said[seq]
			text, ok := want.Content.(turn.Text)
			got, _ := t.Content.(turn.Text)
			if t.Seq != seq || t.Role != want.Role || ok && text.Text != got.Text {
				return fmt.Errorf("turn %d of the log is %+v, was %+v", seq, t, want)
			}
		}
		if after = page.Next; after == 0 {
			break
		}
	}
	if seq != r.head {
		return fmt.Errorf("the log has %d turns, %d were written", seq, r.head)
	}
	return nil
}
