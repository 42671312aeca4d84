package commit

import (
	"slices"

	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/turn"
)

// citation is which turn of an exchange a decision is from. Where a draft will stand is known when it is written.
type citation struct {
	seq   int64 // 0: it is a draft
	id    string
	draft int64
}

var citationFields = record.Fields[citation]{
	record.Value("seq", func(c *citation) *int64 { return &c.seq }, record.Int()),
	record.Value("id", func(c *citation) *string { return &c.id }, word),
	record.Value("draft", func(c *citation) *int64 { return &c.draft }, record.Int()),
}

// citations are those of the summary's decisions.
func (r *run) citations() []citation {
	said := r.situation.Turns
	var list []citation
	for _, decided := range r.summary.Decided {
		i := whose(said, decided)
		c := citation{seq: said[i].Seq, id: said[i].ID}
		if c.seq == 0 {
			c = citation{draft: int64(i - (len(said) - len(r.drafts)))}
		}
		list = append(list, c)
	}
	return list
}

// cite cites the turns of the exchange, of which those that are appended with it are given.
func (h *historyPart) cite(appended func(draft int) (seq int64, id string)) memory.Cite {
	return func(decided string) (int64, string) {
		c := citation{seq: h.opened, id: h.openedBy}
		if i := slices.Index(h.summary.Decided, decided); i < len(h.decided) {
			c = h.decided[i]
		}
		if c.seq != 0 {
			return c.seq, c.id
		}
		return appended(int(c.draft))
	}
}

// whose is which turn of the exchange says what was decided first: the one that opened it where nobody said it in
// those words, as when it was recorded in a goal.
func whose(said []Said, decided string) int {
	return max(0, slices.IndexFunc(said, func(t Said) bool {
		switch c := t.Content.(type) {
		case turn.Text:
			return (t.Role == turn.User || t.Role == turn.Agent) && memory.Says(c.Text, decided)
		case turn.Speech:
			return t.Role == turn.User && memory.Says(c.Transcript, decided)
		}
		return false
	}))
}

// saidIn are the turns of an exchange that are in the log.
func saidIn(turns []turn.Turn) []Said {
	var said []Said
	for _, t := range turns {
		if t.Kind == turn.KindTurn {
			said = append(said, Said{ID: t.ID, Seq: t.Seq, Role: t.Role, Content: t.Content})
		}
	}
	return said
}
