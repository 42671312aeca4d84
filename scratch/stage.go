package scratch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// Staged is what changes come to: what to write, what would be true then, and what was refused.
type Staged struct {
	// Rows are the observations that changed, in the order in which the changes named them.
	Rows []Row
	// Next is what [Load] reads once the rows are written.
	Next    *Page
	Refused []Refusal
	// Archived, Cleared and Updated are the ids of the observations that were archived (those that
	// had to give way to a newer insight of their flow included), cleared, and added or changed
	// otherwise.
	Archived []string
	Cleared  []string
	Updated  []string
}

// Refusal is a change that was not applied. The others were.
type Refusal struct {
	ID string `json:"id,omitempty"`
	// Change is what was asked for.
	Change json.RawMessage `json:"change"`
	// Reason names the field, says what stands against it and what to do.
	Reason string `json:"reason"`
	// Field is the one that the reason names, empty where it names none.
	Field string `json:"-"`
	// Place is where the change stands among [Changes], put[1], empty for one of the page as a whole.
	Place string `json:"-"`
}

// Stage applies the changes to p and returns what they come to; p stays as it is. A refused change
// does not hinder the others. NewID gives the ids of what is added without one: it is asked
// once for each change that names none, in their order.
// More are further lists to clear, of somebody else: each is all or nothing for itself.
func (p *Page) Stage(ch Changes, now time.Time, newID func() string, more ...[]string) Staged {
	now = now.UTC().Truncate(time.Microsecond)
	w := work{now: now, newID: newID, page: &Page{list: slices.Clone(p.At(now).list)}}
	for i := range ch.Put {
		w.stagePut(i, &ch.Put[i])
	}
	for _, id := range ch.Archive {
		w.stageArchive(id)
	}
	w.stageClear(ch.Clear)
	for _, ids := range more {
		w.stageClear(ids)
	}
	return w.finish()
}

// Write puts the staged observations into the segment of a session. The last write wins.
func Write(ctx context.Context, rows Rows, tenant string, segment int64, staged Staged) error {
	for _, r := range staged.Rows {
		if err := rows.PutObservation(ctx, tenant, segment, r); err != nil {
			return fmt.Errorf("observation %s: %w", r.ID, err)
		}
	}
	return nil
}

// work is one run of Stage.
type work struct {
	now     time.Time
	newID   func() string
	page    *Page
	touched []string // ids, in the order in which changes named them
	staged  Staged
}

func (w *work) stagePut(at int, c *Change) {
	var o Observation
	i, known := w.page.find(c.ID)
	if known {
		o = *w.page.list[i]
	} else if c.ID != "" || w.newID == nil {
		o.ID = c.ID
	} else {
		o.ID = w.newID()
	}
	err := c.apply(&o, w.now)
	if err == nil {
		err = w.room(&o, known)
	}
	if err != nil {
		w.refusePut(fmt.Sprintf("put[%d]", at), c, err)
		return
	}
	w.put(&o)
	if o.Status.live() {
		w.staged.Updated = put(w.staged.Updated, o.ID)
	} else {
		w.staged.Updated = without(w.staged.Updated, o.ID)
		w.staged.Archived = put(w.staged.Archived, o.ID)
	}
}

// room makes room for what a change brings onto the page, or says why there is none. Known says that the page has the
// observation already.
func (w *work) room(o *Observation, known bool) error {
	insight := o.insight()
	var oldest string
	if insight {
		flow := slices.DeleteFunc(Insights(w.page, o.Flow()), func(other Observation) bool { return other.ID == o.ID })
		if len(flow) >= MaxFlowInsights {
			oldest = flow[0].ID
		}
	}
	if !known && o.Status.live() && oldest == "" {
		if n := w.page.count(func(o *Observation) bool { return o.Status.live() }); n >= MaxLive {
			return invalid.New("", fmt.Sprintf("the page is full: %d observations are live", n), "archive some, or clear those that are resolved")
		}
		if n := w.page.count((*Observation).insight); insight && n >= MaxInsights {
			return invalid.New("", fmt.Sprintf("the scratchpad is full: %d insights are live", n), "archive those of flows that are done")
		}
	}
	if oldest != "" {
		w.archive(oldest)
		w.staged.Archived = put(w.staged.Archived, oldest)
	}
	return nil
}

func (w *work) stageArchive(id string) {
	i, known := w.page.find(id)
	switch {
	case !known:
		w.refuse(Refusal{ID: id, Change: archiveChange(id)}, invalid.New("archive", fmt.Sprintf("there is no observation %.80q on the page", id), "use an id that is"))
	case w.page.list[i].Status.live():
		w.archive(id)
		w.staged.Archived = put(w.staged.Archived, id)
	}
}

// stageClear is all or nothing: a caller that clears a list believes all of it to be settled.
func (w *work) stageClear(ids []string) {
	var open []string
	for _, id := range ids {
		if i, known := w.page.find(id); !known {
			open = append(open, fmt.Sprintf("%.80q (not on the page)", id))
		} else if status := w.page.list[i].Status; status != Resolved && !slices.Contains(w.staged.Cleared, id) {
			open = append(open, fmt.Sprintf("%.80q (%s)", id, status))
		}
	}
	if len(open) > 0 {
		w.refuse(Refusal{Change: clearChange(ids)}, invalid.New("clear", "not resolved: "+strings.Join(open, ", ")+"; none was cleared", "resolve them first, or leave them out"))
		return
	}
	for _, id := range ids {
		w.archive(id)
		w.staged.Cleared = put(w.staged.Cleared, id)
	}
}

func clearChange(ids []string) []byte {
	c := Changes{Clear: ids}
	return c.AppendJSON(nil)
}

func archiveChange(id string) []byte {
	c := Changes{Archive: []string{id}}
	return c.AppendJSON(nil)
}

func (w *work) archive(id string) {
	i, _ := w.page.find(id)
	o := *w.page.list[i]
	o.Status, o.UpdatedAt, o.ExpiresAt = Archived, w.now, w.now.Add(ArchivedRetention)
	w.put(&o)
	w.staged.Updated = without(w.staged.Updated, id)
}

func (w *work) put(o *Observation) {
	w.page.put(o)
	w.touched = put(w.touched, o.ID)
}

func (w *work) refusePut(place string, c *Change, err error) {
	refused := *c
	if refused.finite() != nil {
		refused.Confidence = nil
	}
	w.refuse(Refusal{ID: c.ID, Change: changeFields.Append(nil, &refused), Place: place}, err)
}

func (w *work) refuse(r Refusal, err error) {
	var field *invalid.Field
	if errors.As(err, &field) {
		r.Field = field.Name
	}
	// What is refused may hold anything, while JSON is UTF-8.
	r.ID, r.Reason = strings.ToValidUTF8(r.ID, "�"), strings.ToValidUTF8(err.Error(), "�")
	r.Change = json.RawMessage(strings.ToValidUTF8(string(r.Change), "�"))
	w.staged.Refused = append(w.staged.Refused, r)
}

func (w *work) finish() Staged {
	w.staged.Rows = slices.Grow(w.staged.Rows, len(w.touched))
	for _, id := range w.touched {
		i, _ := w.page.find(id)
		w.staged.Rows = append(w.staged.Rows, w.page.list[i].row())
	}
	w.page.list = slices.DeleteFunc(w.page.list, func(o *Observation) bool { return !o.Status.live() })
	w.staged.Next = w.page
	return w.staged
}

// put adds an id to a list that has each once.
func put(ids []string, id string) []string {
	if slices.Contains(ids, id) {
		return ids
	}
	if ids == nil {
		ids = make([]string, 0, 4) // few lists are longer
	}
	return append(ids, id)
}

func without(ids []string, id string) []string {
	return slices.DeleteFunc(ids, func(other string) bool { return other == id })
}
