package compress_test

import (
	"context"
	"fmt"
	"strings"

	"time"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/budget/bpe"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

var start = time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)

func count(text string) int { return bpe.O200k().Count(text) }

// quarter counts as one does who has no vocabulary: four bytes are a token.
func quarter(text string) int { return (len(text) + 3) / 4 }

// log writes turns one after the other.
type log struct{ turns []turn.Turn }

func (l *log) add(role turn.Role, c turn.Content) *turn.Turn {
	seq := int64(len(l.turns) + 1)
	l.turns = append(l.turns, turn.Turn{
		ID: fmt.Sprintf("t%d", seq), Seq: seq, Role: role, Kind: turn.KindTurn, Content: c, CreatedAt: start.Add(time.Duration(seq) * time.Minute),
	})
	return &l.turns[seq-1]
}

func (l *log) user(text string) *log {
	l.add(turn.User, turn.Text{Text: text})
	return l
}

func (l *log) agent(text string) *log {
	l.add(turn.Agent, turn.Text{Text: text})
	return l
}

// tool adds a call with its result. Arguments and result are JSON.
func (l *log) tool(name, arguments string, status turn.CallStatus, result string) *log {
	id := fmt.Sprintf("call_%d", len(l.turns))
	call := l.add(turn.Agent, turn.Text{ToolCalls: []turn.ToolCall{{ID: id, Name: name, Arguments: arguments}}})
	call.Unit = call.Seq
	unit := call.Seq
	if status != "" {
		l.add(turn.System, turn.Result{Name: name, CallID: id, Status: status, Result: result}).Unit = unit
	}
	return l
}

func (l *log) source() compress.Source {
	return compress.Source{Range: turn.Range{From: 1, To: int64(len(l.turns))}, Turns: l.turns}
}

// story is a conversation with everything in it that a summary must tell.
func story() *log {
	l := &log{}
	l.user("Please add token login to the service in src/auth/login.ts, the limit is 4711 sessions.")
	l.agent("I will look at the code first.\n[DECISION] Use JWT for authentication - LOCKED\nThe handler validateToken checks the header.")
	l.tool("read_file", `{"path":"src/auth/login.ts"}`, turn.CallOK, `{"text":"export function validateToken(header: string) {}"}`)
	l.tool("edit_file", `{"path":"src/auth/jwt.ts","text":"x"}`, turn.CallOK, `{"ok":true}`)
	l.agent("We decided to keep refresh tokens in Redis on port 6380. The function validateToken now rejects tokens that are too old. " + strings.Repeat("It walks over each header, takes the token apart and compares the parts with what the service knows about them. ", 12))
	l.user("What about tests?")
	l.agent("The tests are in src/auth/jwt.test.ts and cover expiry.\n[NEXT] Write the tests for expiry")
	return l
}

func request(l *log, budget int) compress.Request {
	return compress.Request{Source: l.source(), Budget: budget, Count: count}
}

// summariser answers with what it is given for each call in turn, the last one for ever.
type summariser struct {
	answers []string
	asked   []compress.Request
}

func (s *summariser) Summarise(_ context.Context, r compress.Request) (string, error) {
	s.asked = append(s.asked, r)
	return s.answers[min(len(s.asked), len(s.answers))-1], nil
}

// summariserFunc is a summariser that is a function.
type summariserFunc func(ctx context.Context, r compress.Request) (string, error)

func (f summariserFunc) Summarise(ctx context.Context, r compress.Request) (string, error) {
	return f(ctx, r)
}

// wantVerified fails unless a summary can stand for the request's source.
func wantVerified(t rapid.TB, r compress.Request, summary string) {
	t.Helper()
	if v := compress.Verify(r, summary); !v.OK() {
		t.Fatalf("the summary does not stand:\n%s\n%s", strings.Join(v.Problems, "\n"), summary)
	}
}
