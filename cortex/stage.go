package cortex

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// Staged is what changes come to: what to write, what would be true then, and what was refused.
type Staged struct {
	// Rows are the new versions, one for each goal and action that changed, in the order in which the
	// changes named them, a goal that others are to be part of before those. AfterSeq is left to [Write].
	Rows []Row
	// Next is what [Load] reads once the rows are written.
	Next    *State
	Refused []Refusal
	// CompletedGoals and CompletedActions are the ids of those that were completed: carried out, not
	// given up.
	CompletedGoals   []string
	CompletedActions []string
	// Updates are what became of every goal and action that changed, in the order of the rows.
	Updates []Update
}

// Update is what became of one goal or action.
type Update struct {
	Version int64   `json:"version"`
	Title   string  `json:"title"`
	Status  string  `json:"status"`
	Changes []Audit `json:"changes"`
	// Text is the JSON of it, as exports tell it; only what is staged has one.
	Text string `json:"-"`
}

// Update returns what became of a goal or an action; ok is false where it did not change.
func (s *Staged) Update(kind Kind, id string) (u Update, ok bool) {
	for i := range s.Rows {
		if s.Rows[i].Kind == kind && s.Rows[i].ID == id {
			return s.Updates[i], true
		}
	}
	return Update{}, false
}

// Refusal is a change that was not applied. The others were.
type Refusal struct {
	Kind Kind   `json:"kind"`
	ID   string `json:"id,omitempty"`
	// Change is what was asked for.
	Change json.RawMessage `json:"change"`
	// Reason names the field, says what stands against it and what is legal.
	Reason string `json:"reason"`
	// Field is the one that the reason names, empty where it names none.
	Field string `json:"-"`
	// Place is where the change stands among [Changes]: goals[1].
	Place string `json:"-"`
}

// Stage applies the changes to s and returns what they come to; s stays as it is. Each change is
// applied whole or refused, and a refused one does not hinder the others. Several changes to one
// goal make one new version of it; one that changes nothing makes none. NewID gives the ids of what
// is created without one: it is asked once for each change that names none, in their order, whether or not an id is needed, so that
// who stages the same changes on another state can give each the same. A parent or a goal_id that is given anew names a goal of s, or one that the changes make.
func (s *State) Stage(ch Changes, now time.Time, newID func() string) Staged {
	now = now.UTC().Truncate(time.Microsecond)
	w := work{now: now, newID: newID, next: s.clone(len(ch.Goals) > 0, len(ch.Actions) > 0), lineUp: lineUp{goals: ch.Goals}}
	for i := range ch.Goals {
		if w.at = i; !w.ahead[i] {
			w.stageGoal(i)
		}
	}
	for i := range ch.Actions {
		w.stageAction(i, &ch.Actions[i])
	}
	return w.finish()
}

// Write adds the staged versions to a session's segment, after its turn afterSeq. An error that is an
// [ErrStale] says that somebody else changed one of them first: load, stage and write again.
func Write(ctx context.Context, rows Rows, tenant string, segment, afterSeq int64, staged Staged) error {
	for _, r := range staged.Rows {
		r.AfterSeq = afterSeq
		if err := Insert(ctx, rows, tenant, segment, r); err != nil {
			return err
		}
	}
	return nil
}

// work is one run of Stage.
type work struct {
	now     time.Time
	newID   func() string
	next    *State
	drafts  []draft // in the order in which changes named them first; mostly one or two
	refused []Refusal
	lineUp
}

// draft is what is known of a goal or an action that changes.
type draft struct {
	key
	version int64 // of what was there before, 0 for none
	audits  []Audit
}

func (w *work) stageGoal(at int) {
	c := &w.goals[at]
	w.makeParent(c)
	o, asked := c.origin(), c
	fresh := w.fresh(o.id)
	if o.id == "" && c.Title != nil {
		if o.id = w.titled(*c.Title); o.id != "" {
			// The title only says which goal is meant, perhaps in another case.
			untitled := *c
			untitled.Title = nil
			c = &untitled
		}
	}
	var g Goal
	i, known := w.next.goal(o.id)
	if known {
		g = *w.next.goals[i]
	} else {
		g = newGoal(cmp.Or(o.id, fresh), w.now)
	}
	parent := g.Parent
	err := o.check(g.Version)
	var steps diff
	if err == nil {
		steps, err = c.apply(&g, w.now)
	}
	if err == nil {
		err = w.placed(&g, parent)
	}
	if err == nil && !known && g.Status.live() && full(w.next.goals, MaxGoals) {
		err = fieldErrorf("", "complete or abandon some first", "%d goals are live already", MaxGoals)
	}
	switch {
	case err != nil:
		w.refuseGoal(fmt.Sprintf("goals[%d]", at), o.id, asked, err)
	case len(steps) > 0:
		g.UpdatedAt = w.now
		w.next.putGoal(&g)
		w.note(key{KindGoal, g.ID}, g.Version, &o, steps)
	}
}

func (w *work) stageAction(at int, c *ActionChange) {
	o := c.origin()
	var a PendingAction
	i, known := w.next.action(o.id)
	if known {
		a = *w.next.actions[i]
	} else {
		a.ID = cmp.Or(o.id, w.fresh(o.id))
	}
	goal := a.GoalID
	err := o.check(a.Version)
	var steps diff
	if err == nil {
		steps, err = c.apply(&a, o.by, w.now)
	}
	if err == nil && a.GoalID != goal {
		err = w.refer("goal_id", a.GoalID)
	}
	if err == nil && !known && a.Live() && full(w.next.actions, MaxActions) {
		err = fieldErrorf("", "finish or cancel some first", "%d actions are live already", MaxActions)
	}
	switch {
	case err != nil:
		w.refuseAction(fmt.Sprintf("actions[%d]", at), c, err)
	case len(steps) > 0:
		a.UpdatedAt = w.now
		w.next.putAction(&a)
		w.note(key{KindAction, a.ID}, a.Version, &o, steps)
	}
}

// fresh is the id of what a change without one creates.
func (w *work) fresh(id string) string {
	if id != "" || w.newID == nil {
		return ""
	}
	return w.newID()
}

// titled returns the id of the live goal of that title, the newest where there are several.
func (w *work) titled(title string) string {
	id := ""
	var at time.Time
	for _, g := range w.next.goals {
		if g.Status.live() && sameWords(g.Title, title) && (id == "" || !g.CreatedAt.Before(at)) {
			id, at = g.ID, g.CreatedAt
		}
	}
	return id
}

// note writes down what a change did.
func (w *work) note(k key, version int64, o *origin, steps diff) {
	i := slices.IndexFunc(w.drafts, func(d draft) bool { return d.key == k })
	if i < 0 {
		i = len(w.drafts)
		next := draft{key: k, version: version}
		if i == 0 {
			// Of most exchanges it is the only one.
			one := new(struct {
				drafts [1]draft
				audits [1]Audit
			})
			w.drafts, next.audits = one.drafts[:0], one.audits[:0]
		}
		w.drafts = append(w.drafts, next)
	}
	d := &w.drafts[i]
	d.audits = append(d.audits, Audit{By: o.by, TurnID: o.turnID, Why: o.why, What: steps})
}

func (w *work) refuseGoal(place, id string, c *GoalChange, err error) {
	refused := *c
	if refused.finite() != nil {
		refused.Progress = nil
	}
	w.refuse(Refusal{Kind: KindGoal, ID: id, Change: goalChangeFields.Append(nil, &refused), Place: place}, err)
}

func (w *work) refuseAction(place string, c *ActionChange, err error) {
	w.refuse(Refusal{Kind: KindAction, ID: c.ID, Change: actionChangeFields.Append(nil, c), Place: place}, err)
}

func (w *work) refuse(r Refusal, err error) {
	var field *FieldError
	if errors.As(err, &field) {
		r.Field = field.Name
	}
	// What is refused may hold anything, while JSON is UTF-8.
	r.ID, r.Reason = strings.ToValidUTF8(r.ID, "�"), strings.ToValidUTF8(err.Error(), "�")
	r.Change = json.RawMessage(strings.ToValidUTF8(string(r.Change), "�"))
	w.refused = append(w.refused, r)
}

func (w *work) finish() Staged {
	staged := Staged{Refused: w.refused, Next: w.next}
	switch n := len(w.drafts); n {
	case 0:
	case 1:
		// Of most exchanges it is one goal.
		one := new(struct {
			rows    [1]Row
			updates [1]Update
		})
		staged.Rows, staged.Updates = one.rows[:], one.updates[:]
	default:
		staged.Rows, staged.Updates = make([]Row, n), make([]Update, n)
	}
	finished := w.next.included
	for i := range w.drafts {
		d, row, update := &w.drafts[i], &staged.Rows[i], &staged.Updates[i]
		row.Kind, row.ID, row.Version, row.At = d.kind, d.id, d.version+1, w.now
		update.Version, update.Changes = row.Version, d.audits
		if d.kind == KindGoal {
			i, _ := w.next.goal(d.id)
			g := w.next.goals[i]
			g.Version, row.Live = row.Version, g.Status.live()
			update.Title, update.Status = g.Title, string(g.Status)
			row.write(update, g.append)
			if g.Status == GoalCompleted {
				staged.CompletedGoals = append(staged.CompletedGoals, d.id)
			}
		} else {
			i, _ := w.next.action(d.id)
			a := w.next.actions[i]
			a.Version, row.Live = row.Version, a.Live()
			update.Title, update.Status = a.Title, string(a.Status)
			row.write(update, func(dst []byte) []byte { return actionFields.Append(dst, a) })
			if a.Completed() {
				staged.CompletedActions = append(staged.CompletedActions, d.id)
			}
		}
		if !row.Live {
			finished = append(finished, d.key)
		}
	}
	if w.next.live {
		w.next.forget(finished)
		w.next.included = nil
	}
	return staged
}

// write gives the row its document, which doc appends, and both the row and the update what changed: in one text, in which the changes
// stand once.
func (r *Row) write(u *Update, doc func(dst []byte) []byte) {
	var whole, changes int // where the update begins, and in it the changes
	text := record.String(func(dst []byte) []byte {
		dst = doc(dst)
		whole = len(dst)
		dst = strconv.AppendInt(append(dst, `{"version":`...), u.Version, 10)
		dst = strictjson.AppendString(append(dst, `,"title":`...), u.Title)
		dst = strictjson.AppendString(append(dst, `,"status":`...), u.Status)
		dst = append(dst, `,"changes":`...)
		changes = len(dst)
		return append(appendAudits(dst, u.Changes), '}')
	})
	r.Doc, u.Text, r.Change = text[:whole], text[whole:], text[changes:len(text)-1]
}

// full reports whether as many as may be are live. The list is only gone through where it could be.
func full[T interface{ Live() bool }](list []T, limit int) bool {
	if len(list) < limit {
		return false
	}
	live := 0
	for _, t := range list {
		if t.Live() {
			live++
		}
	}
	return live >= limit
}
