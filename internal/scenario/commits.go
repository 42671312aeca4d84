package scenario

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/turn"
)

func (p *player) commit(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	ex, err := commit.DecodeExchange(args[1])
	if err != nil {
		return "", err
	}
	return p.committed(ctx, s, ex)
}

// answer commits a reply to what was said in a turn.
func (p *player) answer(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	seq, err := number(args[1])
	if err != nil {
		return "", err
	}
	page, err := s.Query(ctx, turn.Query{From: seq, To: seq})
	if err != nil {
		return "", err
	}
	if len(page.Turns) == 0 {
		return "", fmt.Errorf("%w: no turn %d", errScript, seq)
	}
	reply := turn.Draft{Role: turn.Agent, Content: turn.Text{Text: unquote(args[2])}}
	return p.committed(ctx, s, commit.Exchange{Opened: page.Turns[0].ID, Turns: []turn.Draft{reply}})
}

func (p *player) committed(ctx context.Context, s *turnstone.Session, ex commit.Exchange) (string, error) {
	res, err := s.Commit(ctx, ex)
	if err != nil {
		return "", err
	}
	p.last = res.ExportID
	var out strings.Builder
	fmt.Fprintf(&out, "%s", res.Status)
	if res.Repeated {
		out.WriteString(", as before")
	}
	for _, t := range res.Turns {
		fmt.Fprintf(&out, ", turn %d", t.Seq)
	}
	out.WriteString("\n")
	for _, e := range res.Episodes {
		fmt.Fprintf(&out, "  remembered %s %.3f %q\n", e.Type, e.Importance, e.Text)
	}
	for _, d := range res.Dropped {
		fmt.Fprintf(&out, "  dropped %s %.3f: %s\n", d.Type, d.Importance, d.Reason)
	}
	for _, r := range res.Refused {
		fmt.Fprintf(&out, "  refused %s: %s\n", r.What, r.Reason)
	}
	return out.String(), nil
}

// export tells of the last export that a commit made.
func (p *player) export(ctx context.Context, _ []string) (string, error) {
	e, err := p.engine.Export(ctx, p.last)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s, success %t\n  user: %q\n  agent: %q\n  summary: %q\n", e.Status, e.Turn.Success, e.Turn.UserInput, e.Turn.AssistantResponse, e.Conversation.TurnSummary)
	for _, i := range e.Evaluation.Issues {
		fmt.Fprintf(&out, "  issue %s: %s\n", i.Kind, i.Text)
	}
	for _, lesson := range e.Evaluation.Lessons {
		fmt.Fprintf(&out, "  lesson: %s\n", lesson)
	}
	for _, missing := range e.Missing {
		fmt.Fprintf(&out, "  missing: %s\n", strings.Fields(missing)[0])
	}
	return out.String(), nil
}

func (p *player) goals(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	state, err := s.Intentions(ctx, true)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, g := range state.Goals() {
		fmt.Fprintf(&out, "goal %s %q %s, %.0f %%, version %d\n", g.ID, g.Title, g.Status, g.Progress*100, g.Version)
		for _, m := range g.Milestones {
			fmt.Fprintf(&out, "  milestone %s: %s\n", m.Description, m.Status)
		}
		for _, d := range g.Decisions {
			locked := ""
			if d.Locked {
				locked = ", locked"
			}
			fmt.Fprintf(&out, "  decision %s%s\n", d.Description, locked)
		}
	}
	for _, a := range state.Actions() {
		fmt.Fprintf(&out, "action %s %q %s of the %s, %s, version %d\n", a.ID, a.Title, a.Type, a.Owner, a.Status, a.Version)
	}
	return out.String(), nil
}

// intend changes goals and actions as the user.
func (p *player) intend(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	changes, err := cortex.DecodeChanges(args[1])
	if err != nil {
		return "", err
	}
	if _, err := s.Intend(ctx, changes); err != nil {
		return "", err
	}
	return p.goals(ctx, args)
}

func (p *player) notes(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	page, err := s.Notes(ctx)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, o := range page.Observations() {
		fmt.Fprintf(&out, "%s: %q, until %s\n", o.Status, o.Content, o.ExpiresAt.Format(time.DateTime))
	}
	return out.String(), nil
}

// remembered searches the memory of a session, or with * that of the tenant.
func (p *player) remembered(ctx context.Context, args []string) (string, error) {
	q := memory.Search{}
	if len(args) > 1 {
		q.Text = strings.Trim(args[1], `"`)
	}
	search := p.engine.Remembered
	if args[0] != "*" {
		s, err := p.engine.Find(ctx, args[0])
		if err != nil {
			return "", err
		}
		search = s.Remembered
	}
	page, err := search(ctx, q)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, item := range page.Items {
		until := "for good"
		if !item.Expires.IsZero() {
			until = "until " + item.Expires.Format(time.DateOnly)
		}
		fmt.Fprintf(&out, "%s %q of %s, %s\n", item.Type, item.Text, item.Owner.Session, until)
	}
	return out.String(), nil
}

func (p *player) digest(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	d, err := s.Digest(ctx)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, line := range d.Rolling.Lines {
		fmt.Fprintf(&out, "%d %s\n", line.Seq, line.Text)
	}
	for _, decided := range d.Decisions {
		fmt.Fprintf(&out, "decided at %d: %s\n", decided.Seq, decided.Text)
	}
	return out.String(), nil
}

func (p *player) sweep(ctx context.Context, _ []string) (string, error) {
	swept, err := p.engine.Sweep(ctx)
	return fmt.Sprintf("%d items, %d observations, %d archived\n", swept.Items, swept.Observations, swept.Notes), err
}
