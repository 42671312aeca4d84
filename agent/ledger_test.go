package agent_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/turn"
)

const someID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

// ledger is a session in memory. It refuses what a log refuses, and holds the loop to the order of its calls.
type ledger struct {
	mu      sync.Mutex // guards all below
	begun   bool
	turns   []turn.Draft
	open    []turn.ToolCall
	used    map[string]bool
	draft   string // what was received and not answered
	offers  []agent.Offer
	endings []agent.Ending
	wrong   []string

	// at is called at the begin of each method, without the lock; its error is the method's.
	at func(ctx context.Context, method string) error
	// maxTokens is put into requests.
	maxTokens int
}

func (l *ledger) enter(ctx context.Context, method string) (func(), error) {
	if l.at != nil {
		if err := l.at(ctx, method); err != nil {
			return nil, err
		}
	}
	l.mu.Lock()
	if l.begun == (method == "Begin") {
		l.wrong = append(l.wrong, method+" out of order")
	}
	return l.mu.Unlock, nil
}

func (l *ledger) Begin(ctx context.Context, input ...turn.Draft) error {
	leave, err := l.enter(ctx, "Begin")
	if err != nil {
		return err
	}
	defer leave()
	l.begun = true
	for _, call := range l.open {
		if err := l.append(turn.Draft{Role: turn.System, Content: turn.Result{Name: call.Name, CallID: call.ID, Status: turn.CallCancelled, Synthetic: true}}); err != nil {
			return err
		}
	}
	l.open = nil
	return l.append(input...)
}

func (l *ledger) append(drafts ...turn.Draft) error {
	for _, d := range drafts {
		d.ID = someID
		limits, err := turn.Limits{}.WithDefaults()
		if err != nil {
			return err
		}
		if _, err := d.Seal(limits); err != nil {
			l.wrong = append(l.wrong, err.Error())
			return err
		}
		l.turns = append(l.turns, d)
	}
	return nil
}

func (l *ledger) Compile(ctx context.Context, o agent.Offer) (llm.Request, error) {
	leave, err := l.enter(ctx, "Compile")
	if err != nil {
		return llm.Request{}, err
	}
	defer leave()
	l.draft = ""
	l.offers = append(l.offers, o)
	if len(l.open) > 0 {
		l.wrong = append(l.wrong, "a prompt with open calls")
	}
	r := llm.Request{Tools: o.Tools, MaxTokens: l.maxTokens}
	for _, d := range l.turns {
		switch c := d.Content.(type) {
		case turn.Result:
			r.Messages = append(r.Messages, llm.Message{Role: llm.ToolResult, CallID: c.CallID, Name: c.Name, Text: c.Result})
		case turn.Text:
			m := llm.Message{Role: llm.User, Text: c.Text}
			if d.Role == turn.Agent {
				m.Role = llm.Assistant
			}
			for _, call := range c.ToolCalls {
				m.Calls = append(m.Calls, llm.Call(call))
			}
			r.Messages = append(r.Messages, m)
		}
	}
	return r, nil
}

func (l *ledger) Receive(ctx context.Context, piece llm.Chunk) error {
	leave, err := l.enter(ctx, "Receive")
	if err != nil {
		return err
	}
	defer leave()
	if len(piece.Calls) > 0 || piece.Text+piece.Thinking == "" {
		l.wrong = append(l.wrong, fmt.Sprintf("piece %+v", piece))
	}
	l.draft += piece.Text
	return nil
}

func (l *ledger) Answer(ctx context.Context, a llm.Answer) error {
	leave, err := l.enter(ctx, "Answer")
	if err != nil {
		return err
	}
	defer leave()
	if ctx.Err() != nil || !strings.HasPrefix(a.Text, l.draft) || len(l.open) > 0 {
		l.wrong = append(l.wrong, fmt.Sprintf("answer %q, received %q, %v", a.Text, l.draft, ctx.Err()))
	}
	l.draft = ""
	c := turn.Text{Text: a.Text, Thinking: a.Thinking}
	for _, call := range a.Calls {
		if l.used == nil {
			l.used = map[string]bool{}
		}
		if l.used[call.ID] {
			l.wrong = append(l.wrong, "id "+call.ID+" was used before")
		}
		l.used[call.ID] = true
		c.ToolCalls = append(c.ToolCalls, turn.ToolCall(call))
	}
	l.open = c.ToolCalls
	d := turn.Draft{Role: turn.Agent, Content: c}
	d.Meta.Interrupted = a.Stop == ""
	return l.append(d)
}

func (l *ledger) Results(ctx context.Context, results []agent.ToolResult) error {
	leave, err := l.enter(ctx, "Results")
	if err != nil {
		return err
	}
	defer leave()
	if ctx.Err() != nil || len(results) != len(l.open) {
		l.wrong = append(l.wrong, fmt.Sprintf("%d results of %d calls, %v", len(results), len(l.open), ctx.Err()))
	}
	for i, r := range results {
		if r.Result.CallID != l.open[i].ID || r.Result.Name != l.open[i].Name {
			l.wrong = append(l.wrong, fmt.Sprintf("result %d is of %q", i, r.Result.CallID))
		}
		if err := l.append(turn.Draft{Role: turn.System, Content: r.Result}); err != nil {
			return err
		}
	}
	l.open = nil
	return nil
}

func (l *ledger) End(ctx context.Context, e agent.Ending) error {
	leave, err := l.enter(ctx, "End")
	if err != nil {
		return err
	}
	defer leave()
	if ctx.Err() != nil {
		l.wrong = append(l.wrong, "end with a context that has ended")
	}
	if (e.State == commit.Complete) != (e.Err == nil) {
		l.wrong = append(l.wrong, fmt.Sprintf("end %s with %v", e.State, e.Err))
	}
	l.begun, l.draft = false, ""
	l.endings = append(l.endings, e)
	return nil
}

// last is the ending of the last exchange.
func (l *ledger) last() agent.Ending {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.endings) == 0 {
		return agent.Ending{}
	}
	return l.endings[len(l.endings)-1]
}

// check fails the test unless the history is legal and no exchange is open.
func (l *ledger) check(t testing.TB) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.wrong {
		t.Errorf("ledger: %s", w)
	}
	if l.begun || len(l.open) > 0 || l.draft != "" {
		t.Errorf("ledger: begun %v, open %v, draft %q", l.begun, l.open, l.draft)
	}
}

// transcript is the log, a line for each turn.
func (l *ledger) transcript() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b strings.Builder
	for _, d := range l.turns {
		switch c := d.Content.(type) {
		case turn.Result:
			fmt.Fprintf(&b, "result %s %s %s %s\n", c.CallID, c.Name, c.Status, c.Result)
		case turn.Text:
			fmt.Fprintf(&b, "%s %q", d.Role, c.Text)
			for _, call := range c.ToolCalls {
				fmt.Fprintf(&b, " %s:%s(%s)", call.ID, call.Name, call.Arguments)
			}
			if d.Meta.Interrupted {
				b.WriteString(" interrupted")
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}
