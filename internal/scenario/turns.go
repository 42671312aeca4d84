package scenario

import (
	"context"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/turn"
)

func (p *player) say(ctx context.Context, args []string) (string, error) {
	return p.draft(ctx, args[0], turn.Draft{Role: turn.Role(args[1]), Content: turn.Text{Text: unquote(args[2])}})
}

func (p *player) append(ctx context.Context, args []string) (string, error) {
	d := turn.Draft{Role: turn.Role(args[1])}
	for _, option := range args[3 : len(args)-1] {
		switch name, value, _ := strings.Cut(option, "="); name {
		case "key":
			d.IdempotencyKey = value
		case "message":
			d.MessageID = value
		default:
			return "", fmt.Errorf("%w: option %q", errScript, option)
		}
	}
	content, err := turn.DecodeContent(d.Role, turn.Form(args[2]), args[len(args)-1])
	if err != nil {
		return "", err
	}
	d.Content = content
	return p.draft(ctx, args[0], d)
}

func (p *player) summary(ctx context.Context, args []string) (string, error) {
	from, err := number(args[1])
	if err != nil {
		return "", err
	}
	to, err := number(args[2])
	if err != nil {
		return "", err
	}
	return p.draft(ctx, args[0], turn.Draft{
		Role: turn.System, Kind: turn.KindSummary, Covers: turn.Range{From: from, To: to},
		Content: turn.Text{Text: unquote(args[3])},
	})
}

func (p *player) draft(ctx context.Context, session string, d turn.Draft) (string, error) {
	s, err := p.engine.Find(ctx, session)
	if err != nil {
		return "", err
	}
	turns, err := s.Append(ctx, d)
	return show(turns), err
}

func (p *player) window(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	turns, err := s.Window(ctx)
	return show(turns), err
}

func (p *player) history(ctx context.Context, args []string) (string, error) {
	n, err := number(args[1])
	if err != nil {
		return "", err
	}
	o := turn.HistoryOptions{Turns: int(n)}
	for _, option := range args[2:] {
		if at, ok := strings.CutPrefix(option, "at="); ok {
			if o.UpTo, err = number(at); err != nil {
				return "", err
			}
		}
		o.KeepSystem = o.KeepSystem || option == "system"
	}
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	turns, err := s.History(ctx, o)
	return show(turns), err
}

func (p *player) query(ctx context.Context, args []string) (string, error) {
	var q turn.Query
	var flow string
	for _, option := range args[1:] {
		name, value, _ := strings.Cut(option, "=")
		value = strings.ReplaceAll(value, "+", " ")
		var err error
		switch name {
		case "role":
			q.Role = turn.Role(value)
		case "form":
			q.Form = turn.Form(value)
		case "kind":
			q.Kind = turn.Kind(value)
		case "match":
			q.Match = value
		case "regexp":
			q.Regexp = value
		case "text":
			q.Text = value
		case "flow":
			flow = value
		case "after":
			q.After, err = number(value)
		case "limit":
			var n int64
			n, err = number(value)
			q.Limit = int(n)
		default:
			return "", fmt.Errorf("%w: option %q", errScript, option)
		}
		if err != nil {
			return "", err
		}
	}
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	ask := s.Query
	if flow != "" {
		ask = func(ctx context.Context, q turn.Query) (turn.Page, error) { return s.QueryFlow(ctx, flow, q) }
	}
	page, err := ask(ctx, q)
	if err != nil {
		return "", err
	}
	answer := show(page.Turns)
	if page.Next != 0 {
		answer += fmt.Sprintf("more after %d\n", page.Next)
	}
	return answer, nil
}

func (p *player) fork(ctx context.Context, args []string) (string, error) {
	at, err := number(args[1])
	if err != nil {
		return "", err
	}
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	child, err := s.Fork(ctx, at, turn.SessionInfo{Key: turn.Key{Session: args[2]}})
	if err != nil {
		return "", err
	}
	return "forked " + child.ID() + "\n", nil
}

func (p *player) bookmark(ctx context.Context, args []string) (string, error) {
	at, err := number(args[2])
	if err != nil {
		return "", err
	}
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	b, err := s.Bookmark(ctx, args[1], at)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is turn %d\n", b.Name, b.Seq), nil
}

func (p *player) acquire(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	lease, err := s.Acquire(ctx)
	if err != nil {
		return "", err
	}
	p.leases[args[1]] = lease
	return args[1] + " holds " + args[0] + "\n", nil
}

func (p *player) held(ctx context.Context, args []string) (string, error) {
	lease, ok := p.leases[args[0]]
	if !ok {
		return "", fmt.Errorf("%w: nobody is called %q", errScript, args[0])
	}
	turns, err := lease.Append(ctx, turn.Draft{Role: turn.Role(args[1]), Content: turn.Text{Text: unquote(args[2])}})
	return show(turns), err
}

func (p *player) release(ctx context.Context, args []string) (string, error) {
	lease, ok := p.leases[args[0]]
	if !ok {
		return "", fmt.Errorf("%w: nobody is called %q", errScript, args[0])
	}
	return "", lease.Release(ctx)
}

func (p *player) end(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	_, err = s.End(ctx)
	return "", err
}

// flow changes the dialogue state. Flows are named by their ids: push book books as id "book".
func (p *player) flow(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	info, err := s.Info(ctx)
	if err != nil {
		return "", err
	}
	last, err := s.Query(ctx, turn.Query{From: info.Head})
	if err != nil {
		return "", err
	}
	var turnID string
	if len(last.Turns) > 0 {
		turnID = last.Turns[0].ID
	}
	rest := append(args[2:], "", "")
	_, err = s.Believe(ctx, func(state *dialogue.State) error {
		return apply(state, args[1], rest, turnID)
	})
	if err != nil {
		return "", err
	}
	return p.state(ctx, args[:1])
}

func apply(state *dialogue.State, op string, args []string, turnID string) (err error) {
	switch op {
	case "push":
		_, _, err = state.StackOn(args[0], args[0], dialogue.Options{PlanID: args[1]})
	case "fallback":
		_, err = state.Fallback(args[0], args[0])
	case "complete":
		_, err = state.Complete(dialogue.Value(args[0]))
	case "invalidate":
		_, err = state.Invalidate(args[0])
	case "pop":
		state.Pop()
	case "keep-going":
		_, err = state.KeepGoing(turnID)
	case "attach":
		err = state.Attach(turnID)
	case "set":
		err = state.SetSlot(args[0], dialogue.Value(args[1]), turnID)
	default:
		err = fmt.Errorf("%w: flow %s", errScript, op)
	}
	return err
}

// show prints turns a line each, results indented beneath the calls they belong to.
func show(turns []turn.Turn) string {
	var out strings.Builder
	for _, t := range turns {
		indent := ""
		if t.Unit != 0 && t.Unit != t.Seq {
			indent = "  "
		}
		fmt.Fprintf(&out, "%s%d %s %s", indent, t.Seq, t.Role, t.Form)
		if t.Kind != turn.KindTurn {
			fmt.Fprintf(&out, " %s of %d–%d", t.Kind, t.Covers.From, t.Covers.To)
		}
		fmt.Fprintf(&out, " %s\n", turn.AppendContent(nil, t.Content))
	}
	return out.String()
}

func unquote(s string) string { return strings.Trim(s, `"`) }
