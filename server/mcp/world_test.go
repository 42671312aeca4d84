package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server/mcp"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// world is an engine, a server on it and a client of the SDK that talks to it.
type world struct {
	t      *testing.T
	engine *turnstone.Engine
	client *sdk.ClientSession
	url    string
}

func openEngine(t *testing.T, config turnstone.Config) *turnstone.Engine {
	t.Helper()
	eng, err := turnstone.Open(t.Context(), mem.New(mem.Config{}), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	return eng
}

// newWorld serves over HTTP, so that every call is a request of its own.
func newWorld(t *testing.T, change func(*mcp.Config)) *world {
	t.Helper()
	return newWorldOn(t, openEngine(t, turnstone.Config{}), change)
}

func newWorldOn(t *testing.T, eng *turnstone.Engine, change func(*mcp.Config)) *world {
	t.Helper()
	config := mcp.Config{Engine: func(*http.Request) (*turnstone.Engine, error) { return eng, nil }}
	if change != nil {
		change(&config)
	}
	url := listen(t, mcp.New(config)).URL
	return &world{t, eng, connect(t, url), url}
}

func listen(t *testing.T, s *mcp.Server) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return server
}

func connect(t *testing.T, url string) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	return session
}

// say appends a turn to a session.
func (w *world) say(session string, role turn.Role, text string) turn.Turn {
	w.t.Helper()
	s, err := w.engine.Session(w.t.Context(), session)
	if err != nil {
		w.t.Fatal(err)
	}
	turns, err := s.Append(w.t.Context(), turn.Draft{Role: role, Content: turn.Text{Text: text}})
	if err != nil {
		w.t.Fatal(err)
	}
	return turns[0]
}

// compressed makes a session with a checkpoint in its prompt.
func (w *world) compressed(session string) {
	w.t.Helper()
	for i := range 40 {
		w.say(session, turn.User, fmt.Sprintf("Question %d about the harbour of town %d", i, i))
		w.say(session, turn.Agent, fmt.Sprintf("Answer %d: %s", i, strings.Repeat("the harbour has cranes, ships and gulls. ", 20)))
	}
	s, err := w.engine.Find(w.t.Context(), session)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := s.Prompt(w.t.Context(), turnstone.PromptOptions{Context: 8192}); err != nil {
		w.t.Fatal(err)
	}
}

type object = map[string]any

// call calls a tool that must succeed, and returns what it answers.
func (w *world) call(name string, arguments object) object {
	w.t.Helper()
	result, err := w.client.CallTool(w.t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		w.t.Fatalf("%s: %v", name, err)
	}
	if result.IsError {
		w.t.Fatalf("%s: %s", name, textOf(result))
	}
	answer, ok := result.StructuredContent.(object)
	if !ok {
		w.t.Fatalf("%s answers %T", name, result.StructuredContent)
	}
	var text object
	if err := json.Unmarshal([]byte(textOf(result)), &text); err != nil {
		w.t.Fatalf("%s: the text is not the answer's JSON: %v", name, err)
	}
	return answer
}

// refused calls a tool that must fail, and returns what it says.
func refused(ctx context.Context, t *testing.T, client *sdk.ClientSession, name string, arguments object) string {
	t.Helper()
	result, err := client.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: a protocol error: %v", name, err)
	}
	if !result.IsError {
		t.Fatalf("%s is not refused: %s", name, textOf(result))
	}
	return textOf(result)
}

func textOf(result *sdk.CallToolResult) string {
	var text strings.Builder
	for _, c := range result.Content {
		if c, ok := c.(*sdk.TextContent); ok {
			text.WriteString(c.Text)
		}
	}
	return text.String()
}

// at follows keys and indexes into an answer.
func at(t *testing.T, value any, path ...any) any {
	t.Helper()
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, ok := value.(object)
			if !ok {
				t.Fatalf("%v: no object at %q: %v", path, step, value)
			}
			value = m[step]
		case int:
			list, ok := value.([]any)
			if !ok || step >= len(list) {
				t.Fatalf("%v: nothing at %d: %v", path, step, value)
			}
			value = list[step]
		}
	}
	return value
}
