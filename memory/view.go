package memory

import (
	"sync"
	"time"
)

// View is what a selection sees of the session. Only [View.Now] is needed. It is not changed.
type View struct {
	Goals *Interests // the active goals
	User  *Interests // what is known of the user: the text of recent user data
	Input *Interests // what the user said in this exchange
	// Recent is what the session's last items were like.
	Recent *Recent
	// Live is how many items of the session are neither archived nor expired.
	Live int64

	// Checked is how many of the candidates, the last ones, [Candidate.CheckNew] has accepted as they are: they are not
	// checked again.
	Checked int

	Now      time.Time
	ExportID string
	TurnID   string
	// NextID gives the ids of what is kept, ULIDs in rising order. Nil: they stay empty.
	NextID func() string

	work *work
}

// work is what one selection keeps while it runs.
type work struct {
	of     *Candidate // whose words and like are kept
	glance glance
	text   int // how many of the words are the text's
	like   likeness
	seen   Recent              // what was kept before in this exchange
	exact  map[uint64]struct{} // its texts and data, where there may be more than seen holds
}

// seenSize is how many items of its own exchange a candidate is compared with: those just before it.
// Exact repetitions are known however long ago they were.
const seenSize = 64

// read looks at a candidate, once.
func (w *work) read(c *Candidate) {
	if w.of == c {
		return
	}
	w.of = c
	w.glance = glance{words: w.glance.words[:0]}
	w.glance.read(c.Text)
	w.text = len(w.glance.words)
	w.glance.sample(c.Data)
	if c.Text == "" {
		w.text = len(w.glance.words)
	}
	w.like = sketch(w.glance.words, c.Text, c.Data)
}

// keep remembers a candidate as kept, for those after it.
func (w *work) keep(c *Candidate) {
	w.read(c)
	w.seen.add(w.like)
	if w.exact != nil {
		w.exact[w.like.exact] = struct{}{}
	}
}

// nearest returns the highest similarity of the candidate to what is stored or was kept before it.
func (w *work) nearest(v *View) float64 {
	if _, again := w.exact[w.like.exact]; again {
		return 1
	}
	return max(v.Recent.nearest(&w.like), w.seen.nearest(&w.like))
}

// works are kept from one selection to the next, with their room.
var works = sync.Pool{New: func() any {
	return &work{glance: glance{words: make([]uint64, 0, 256)}, seen: Recent{bins: make([]bins, 0, 8), exact: make([]uint64, 0, 8)}}
}}

func newWork(candidates int) *work {
	w := works.Get().(*work)
	w.seen.size = seenSize
	if candidates > seenSize {
		w.exact = make(map[uint64]struct{})
	}
	return w
}

// release gives the room to others. Called once, when the selection is made.
func (w *work) release() {
	*w = work{glance: glance{words: w.glance.words[:0]}, seen: Recent{bins: w.seen.bins[:0], exact: w.seen.exact[:0]}}
	works.Put(w)
}
