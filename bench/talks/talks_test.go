package talks_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/bench/talks"
	"github.com/turnstone-dev/turnstone/budget/bpe"
	"github.com/turnstone-dev/turnstone/replay/history"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestTalks(t *testing.T) {
	for name, made := range map[string]func(uint64, int, func(string) int) []byte{"chat": talks.Chat, "tools": talks.Tools} {
		t.Run(name, func(t *testing.T) {
			count := bpe.Cl100k().Count
			first := made(3, 6000, count)
			if !bytes.Equal(first, made(3, 6000, count)) {
				t.Error("the same seed gives another conversation")
			}
			if bytes.Equal(first, made(4, 6000, count)) {
				t.Error("another seed gives the same conversation")
			}
			tokens, roles := 0, map[turn.Role]int{}
			got, err := history.Import(t.Context(), bytes.NewReader(first), "", history.Options{}, func(e history.Entry) error {
				tokens += count(e.Content.Searchable())
				roles[e.Role]++
				return nil
			})
			if err != nil || len(got.Report.Losses) > 0 {
				t.Fatalf("it cannot be read whole: %v, %v", err, got.Report.Losses)
			}
			// Names of tools stand in calls and results, so that there may be a little more.
			if tokens < 6000 || tokens > 9000 {
				t.Errorf("%d tokens, want about 6000", tokens)
			}
			if roles[turn.User] < 5 || roles[turn.Agent] < 5 {
				t.Errorf("who speaks: %v", roles)
			}
			if name == "tools" && roles[turn.System] < roles[turn.User] {
				t.Errorf("few results of tools: %v", roles)
			}
		})
	}
}

// Every result stands under the call that it answers, and what a record says can be asked for again.
func TestToolsAnswerTheirCalls(t *testing.T) {
	open := map[string]string{}
	kinds := map[string]int{}
	for line := range bytes.Lines(talks.Tools(1, 20_000, func(s string) int { return len(s) / 4 })) {
		var m struct {
			Role, Content string
			CallID        string `json:"tool_call_id"`
			Calls         []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		for _, c := range m.Calls {
			open[c.ID] = c.Function.Arguments
			kinds[c.Function.Name]++
			if !json.Valid([]byte(c.Function.Arguments)) {
				t.Errorf("arguments of %s: %s", c.Function.Name, c.Function.Arguments)
			}
		}
		if m.Role != "tool" {
			continue
		}
		arguments, ok := open[m.CallID]
		if !ok {
			t.Errorf("a result of no call: %s", line)
		}
		delete(open, m.CallID)
		var about struct {
			Order string `json:"order_id"`
			Path  string
		}
		if err := json.Unmarshal([]byte(arguments), &about); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(m.Content, about.Order+about.Path) {
			t.Errorf("the result of %s is about something else: %s", arguments, m.Content)
		}
	}
	if len(open) > 0 || len(kinds) != 4 {
		t.Errorf("calls without a result %v, tools %v", open, kinds)
	}
}
