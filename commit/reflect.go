package commit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// reflect is phase 2: the Evaluator judges, the Reflector learns, and what should change in goals,
// actions and notes is gathered. In place of one that fails or is cut off stand the rules: what can be
// seen without it must not be lost with it.
func (p *Pipeline) reflect(ctx context.Context, r *run) {
	s := &r.situation
	assessment, err := p.evaluate(ctx, s)
	if err != nil {
		r.wrong(PhaseReflect, "evaluator", err)
		assessment = Rules{}.assess(s)
	}
	if _, ours := p.config.Evaluator.(Rules); !ours {
		assessment.makeStorable()
		assessment.report(s.Errors)
	}
	r.assessment = assessment
	for _, issue := range assessment.Issues {
		r.trace.Note(trace.Observation, string(issue.Kind)+": "+issue.Text)
	}
	reflection, err := p.learn(ctx, s, assessment)
	if err != nil {
		r.wrong(PhaseReflect, "reflector", err)
		reflection = Rules{}.learn(s, assessment)
	}
	if _, ours := p.config.Reflector.(Rules); !ours {
		reflection.makeStorable()
	}
	r.reflection = reflection
	for _, lesson := range reflection.Lessons {
		r.trace.Note(trace.Summary, "lesson: "+lesson)
	}
	r.gatherChanges()
	r.idsIn, r.idsOn = p.newIDs(unnamedIn(r.intentions)), p.newIDs(unnamedOn(r.scratch))
	r.stagedIn = s.Intentions.Stage(r.intentions, s.Now, p.given(r.idsIn))
	r.stagedOn = s.Page.Stage(r.scratch, s.Now, p.given(r.idsOn), r.clear)
}

// said is what a judge says, as every store can keep it and as long as a message may be.
func said(text string, most int) string { return storableText(clip(text, most)) }

// makeStorable replaces what no store can keep. The slice may be the judge's own.
func (a *Assessment) makeStorable() {
	a.Issues = slices.Clone(a.Issues)
	for i := range a.Issues {
		issue := &a.Issues[i]
		issue.Kind, issue.Text = IssueKind(cmp.Or(said(string(issue.Kind), maxShort), "issue")), said(issue.Text, maxMessage)
	}
}

// makeStorable replaces what no store can keep in the words; changes and candidates are checked one by one.
func (r *Reflection) makeStorable() {
	for _, texts := range []*[]string{&r.Lessons, &r.Patterns} {
		*texts = slices.Clone(*texts)
		for i := range *texts {
			(*texts)[i] = said((*texts)[i], maxMessage)
		}
	}
}

// evaluate asks the Evaluator: the rules here and now, somebody else's code with a deadline.
func (p *Pipeline) evaluate(ctx context.Context, s *Situation) (Assessment, error) {
	if rules, ours := p.config.Evaluator.(Rules); ours {
		return rules.assess(s), nil
	}
	return cutOff(ctx, &p.background, p.config.Deadlines.Evaluate, func(ctx context.Context) (Assessment, error) {
		return p.config.Evaluator.Evaluate(ctx, s)
	})
}

// learn asks the Reflector, as evaluate does.
func (p *Pipeline) learn(ctx context.Context, s *Situation, a Assessment) (Reflection, error) {
	if rules, ours := p.config.Reflector.(Rules); ours {
		return rules.learn(s, a), nil
	}
	return cutOff(ctx, &p.background, p.config.Deadlines.Reflect, func(ctx context.Context) (Reflection, error) {
		return p.config.Reflector.Reflect(ctx, s, a)
	})
}

// gatherChanges puts together what the caller, the agent's markers and the Reflector want changed, in that
// order, and reminders whose time is over.
func (r *run) gatherChanges() {
	s := &r.situation
	ch := &r.intentions
	// Clipped, so that what comes behind the caller's goes into a copy.
	ch.Goals, ch.Actions = slices.Clip(r.exchange.Intentions.Goals), slices.Clip(r.exchange.Intentions.Actions)
	if markers := s.markers(); len(markers) > 0 {
		active, _ := s.Intentions.ActiveGoal()
		r.trace.Note(trace.Decision, fmt.Sprintf("goal markers in what the agent said: %d", len(markers)))
		ch.Goals = append(ch.Goals, cortex.MarkerChanges(markers, active)...)
	}
	ch.Goals = append(ch.Goals, r.reflection.Intentions.Goals...)
	ch.Actions = append(ch.Actions, r.reflection.Intentions.Actions...)
	for _, late := range s.Intentions.Overdue(s.Now) {
		// One that is answered in this very exchange is not escalated: both cannot be.
		if !slices.ContainsFunc(ch.Actions, func(c cortex.ActionChange) bool { return c.ID == late.ID && c.Status != nil }) {
			ch.Actions = append(ch.Actions, late)
		}
	}

	given, learned, sc := &r.exchange.Scratch, &r.reflection.Scratch, &r.scratch
	sc.Put = append(slices.Clip(given.Put), learned.Put...)
	sc.Archive = append(slices.Clip(given.Archive), learned.Archive...)
	sc.Clear, r.clear = given.Clear, learned.Clear // each is all or nothing
}

// markers are the goal markers in what the agent said, before its tools ran and after.
func (s *Situation) markers() []cortex.Marker {
	var markers []cortex.Marker
	for _, t := range s.Turns {
		text, ok := t.Content.(turn.Text)
		if !ok || t.Role != turn.Agent {
			continue
		}
		for _, m := range cortex.ParseMarkers(text.Text) {
			m.TurnID = t.ID
			markers = append(markers, m)
		}
	}
	return markers
}
