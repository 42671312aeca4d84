package commit

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// selectState is phase 3: it decides what is remembered and makes the StateExport. Nothing of it depends
// on a store.
func (p *Pipeline) selectState(r *run) error {
	s := &r.situation
	candidates := r.candidates()
	view := memory.View{
		Now: s.Now, Goals: r.base.pursues(), User: r.base.cares(), Input: memory.NewInterests(memory.Subject{Weight: 1, Title: clip(s.Input, maxLine)}),
		Recent: r.base.recent, Live: r.base.live, Checked: len(candidates),
		ExportID: r.exchange.ExportID, TurnID: r.openedBy, NextID: p.config.NewID,
	}
	selected, err := p.choose(r, candidates, &view)
	if err != nil {
		return err
	}
	r.selected = selected
	r.trace.Note(trace.Policy, strconv.Itoa(len(selected.Kept))+" of "+strconv.Itoa(len(candidates))+" candidates kept")
	for _, d := range selected.Dropped {
		r.trace.Note(trace.Policy, fmt.Sprintf("%s left out: %s", d.Type, d.Reason))
	}
	r.summary = p.config.Manager.Turn(s.summarised(r))
	r.summaryID = p.config.NewID()
	r.describe()
	return nil
}

// choose is the selection. In place of a scorer that fails stand the rules: if they can decide, it was its fault and not that of a
// candidate.
func (p *Pipeline) choose(r *run, candidates []memory.Candidate, v *memory.View) (memory.Selected, error) {
	how := p.config.Selection
	if _, ours := how.Scorer.(memory.Rules); ours {
		return memory.Select(candidates, v, how)
	}
	selected, failure := scored(candidates, v, how)
	if failure == nil {
		return selected, nil
	}
	how.Scorer = memory.Rules{}
	selected, err := memory.Select(candidates, v, how)
	if err == nil {
		r.wrong(PhaseSelect, "scorer", failure)
	}
	return selected, err
}

// scored selects with a scorer of somebody else's, whose panic is an error.
func scored(candidates []memory.Candidate, v *memory.View, how memory.Selection) (selected memory.Selected, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return memory.Select(candidates, v, how)
}

// candidates are those of the caller, who is told of what is wrong with them, and those that the exchange
// shows and the Reflector has, which must not fail it: they are checked here, and what cannot be kept of them is left out.
func (r *run) candidates() []memory.Candidate {
	given := r.exchange.Candidates
	candidates := given[:len(given):len(given)]
	room := memory.MaxCandidates // beside those that are given
	more := 0
	for i, own := range [][]memory.Candidate{r.reflection.Candidates, observed(&r.situation)} {
		for n, c := range own {
			c.Text = storableText(c.Text)
			err := c.CheckNew()
			switch {
			case err == nil && room > 0:
				candidates = append(candidates, c)
				room--
			case err == nil:
				more++
			case i == 0:
				r.wrong(PhaseSelect, "reflector", fmt.Errorf("candidate %d: %w", n+1, err))
			default:
				r.trace.Note(trace.Policy, "left out: "+err.Error())
			}
		}
	}
	if more > 0 {
		r.wrong(PhaseSelect, "candidates", fmt.Errorf("%d of the engine's own left out: an exchange has at most %d of them", more, memory.MaxCandidates))
	}
	return candidates
}

// observed are the candidates that the exchange itself shows: what tools gave and what went wrong.
func observed(s *Situation) []memory.Candidate {
	var found []memory.Candidate
	for _, t := range s.Tools {
		if t.Status == "" || t.Status == turn.CallCancelled {
			continue
		}
		c := memory.Candidate{
			Type: memory.ToolResult, Text: t.Name + ": " + t.outcome(), Data: t.Result, Source: memory.FromTool,
			Links: memory.Links{Turns: []string{t.TurnID}}, DataChecked: true,
		}
		if tag := "tool:" + t.Name; len(tag) <= memory.MaxTag {
			c.Tags = []string{tag}
		}
		if t.Status == turn.CallError {
			c.Type = memory.Error
		}
		found = append(found, c)
	}
	for _, e := range s.Errors {
		found = append(found, memory.Candidate{Type: memory.Error, Text: e, Source: memory.FromSystem})
	}
	return found
}

// describe fills in the export as far as it is known before it is written.
func (r *run) describe() {
	s, ex := &r.situation, &r.exchange
	e := &r.export
	e.ExportID, e.TurnID, e.AgentID = ex.ExportID, r.openedBy, ex.AgentID
	if e.AgentID == "" {
		e.AgentID = "agent"
	}
	e.Tenant, e.Session, e.User = r.key.Tenant, r.key.Session, s.Session.User
	e.Turn = TurnSummary{
		Duration: s.Now.Sub(ex.Started), UserInput: s.Input, AssistantResponse: s.Reply,
		Urgency: ex.Urgency, Success: r.assessment.Success,
	}
	if e.Turn.Urgency == "" {
		e.Turn.Urgency = Medium
	}
	e.Conversation = ConversationUpdate{UserInput: s.Input, AssistantResponse: s.Reply, TurnSummary: r.summary.Line}
	e.Episodes = r.selected.Kept
	e.Dropped, e.DroppedMore = r.selected.Dropped, int64(r.selected.Rest.Sum())
	e.Evaluation = Evaluation{
		Issues: r.assessment.Issues, FollowUpNeeded: r.assessment.FollowUpNeeded,
		Lessons: r.reflection.Lessons, Patterns: r.reflection.Patterns,
	}
	e.Metadata = Metadata{
		DaemonsActivated: daemonNames(s.Daemons), ToolsExecuted: toolNames(s.Tools),
		Errors: s.Errors, Warnings: append(s.Warnings[:len(s.Warnings):len(s.Warnings)], r.problems...),
		BudgetUsed: ex.BudgetUsed, BudgetTotal: ex.BudgetTotal,
	}
	e.TurnIDs = make([]string, len(s.Turns))
	for i := range s.Turns {
		e.TurnIDs[i] = s.Turns[i].ID
	}
}

// daemonNames are those that said something, each once.
func daemonNames(outputs []DaemonOutput) []string {
	names := make([]string, 0, len(outputs))
	for _, o := range outputs {
		if !slices.Contains(names, o.Daemon) {
			names = append(names, o.Daemon)
		}
	}
	return names
}

func toolNames(runs []ToolRun) []string {
	names := make([]string, 0, len(runs))
	for _, t := range runs {
		names = append(names, t.Name)
	}
	return names
}
