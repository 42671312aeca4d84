package replay_test

import (
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
)

// commit does one of the things that a turn commit does.
func (s *story) commit() {
	ops := map[string]func(){
		"aim": s.aim, "act": s.act, "notice": s.notice, "remember": s.remember, "archive": s.archive,
		"summarise": s.summarise, "trace": s.trace,
	}
	names := []string{"act", "aim", "aim", "archive", "notice", "remember", "remember", "summarise", "trace"}
	ops[rapid.SampledFrom(names).Draw(s.rapid, "commit")]()
}

// text is a word or two, whatever they are; never blank.
func (s *story) text() string { return "x" + turngen.Text().Draw(s.rapid, "text") }

// live returns the goals and actions of the session that are not finished.
func (s *story) live() (state *cortex.State) {
	info := s.w.info(s.key)
	s.w.view(func(tx store.Tx) (err error) {
		state, err = cortex.Load(s.w.ctx, tx.Cortex(), s.key.Tenant, info.Lineage(info.Head), true)
		return err
	})
	return state
}

// aim begins a goal, or changes one.
func (s *story) aim() {
	c := cortex.GoalChange{By: cortex.ActorUser, Why: s.text(), Description: ptr(s.text())}
	goals := s.live().Goals()
	if len(goals) == 0 || rapid.Bool().Draw(s.rapid, "new") {
		c.ID, c.Title = s.name("goal-"), ptr(s.name("goal "))
	} else {
		g := rapid.SampledFrom(goals).Draw(s.rapid, "goal")
		c.ID = g.ID
		if rapid.Bool().Draw(s.rapid, "move") {
			c.Status = ptr(rapid.SampledFrom(g.Status.Next()).Draw(s.rapid, "status"))
		}
	}
	s.w.intend(s.key, cortex.Changes{Goals: []cortex.GoalChange{c}})
}

func (s *story) act() {
	c := cortex.ActionChange{By: cortex.ActorUser}
	actions := s.live().Actions()
	if len(actions) == 0 || rapid.Bool().Draw(s.rapid, "new") {
		c.Title, c.Type = ptr(s.name("do ")), ptr(rapid.SampledFrom([]cortex.ActionType{cortex.AgentTask, cortex.Reminder, cortex.Blocker}).Draw(s.rapid, "type"))
	} else {
		a := rapid.SampledFrom(actions).Draw(s.rapid, "action")
		c.ID = a.ID
		c.Status = ptr(rapid.SampledFrom(a.Type.Next(a.Status)).Draw(s.rapid, "status"))
	}
	s.w.intend(s.key, cortex.Changes{Actions: []cortex.ActionChange{c}})
}

func (s *story) notice() {
	change := scratch.Change{ID: s.name("note-"), Type: ptr("fact"), Content: ptr(s.text())}
	s.w.notice(s.key, scratch.Changes{Put: []scratch.Change{change}})
	if rapid.Bool().Draw(s.rapid, "archived") {
		s.w.notice(s.key, scratch.Changes{Archive: []string{change.ID}})
	}
}

func (s *story) remember() {
	e := memory.Episode{
		Type: rapid.SampledFrom([]memory.Type{memory.UserData, memory.Event, "odd"}).Draw(s.rapid, "type"),
		Text: s.text(), Data: turngen.JSON().Draw(s.rapid, "data"), Importance: float64(rapid.IntRange(0, 1e6).Draw(s.rapid, "importance")) / 1e6,
		Links: memory.Links{Items: s.items[max(0, len(s.items)-memory.MaxLinks):]},
	}
	if rapid.Bool().Draw(s.rapid, "expires") {
		e.Expires = s.w.clock.now().AddDate(0, 0, 1)
	}
	s.items = append(s.items, s.w.remember(s.key, e)...)
}

func (s *story) archive() {
	if len(s.items) > 0 {
		s.w.archive(s.key, rapid.SampledFrom(s.items).Draw(s.rapid, "item"))
	}
}

func (s *story) summarise() {
	s.w.summarise(s.key, turngen.ID(1), memory.Summary{Line: s.text(), Topics: []string{"topic"}, Decided: []string{s.text()}})
}

func (s *story) trace() {
	if own := s.turns[s.own:]; len(own) > 0 {
		s.w.traceOf(s.key, rapid.SampledFrom(own).Draw(s.rapid, "traced").ID, s.text())
	}
}
