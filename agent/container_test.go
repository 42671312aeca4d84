package agent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/turn"
)

var (
	someTime = time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	use      = agent.ToolUse{Text: "look", Calls: []turn.ToolCall{{ID: "a", Name: "work", Arguments: `{}`}, {ID: "b", Name: "work", Arguments: `[1]`}}}
	reply    = agent.Response{Text: "done", Thinking: "hm"}
)

func result(id string, status turn.CallStatus) turn.Result {
	return turn.Result{Name: "work", CallID: id, Status: status, Result: `"r"`}
}

// fill pushes what the words say: p for a prompt, u for a tool use, r for results, c for cancelled ones, a for a
// response, ? for abandoned.
func fill(t testing.TB, c *agent.Container, words string) {
	t.Helper()
	for _, word := range words {
		var err error
		switch word {
		case 'p':
			err = c.PushInput(agent.Input("hello"))
		case 'u':
			err = c.PushAssistant(use, turn.Meta{Tokens: 3, Interrupted: true})
		case 'r':
			err = c.PushToolResults(result("a", turn.CallOK), result("b", turn.CallCancelled))
		case 'c':
			err = c.PushToolResults(result("a", turn.CallCancelled), result("b", turn.CallCancelled))
		case 'a':
			err = c.PushAssistant(reply, turn.Meta{})
		case '?':
			if !c.Abandon() {
				t.Fatalf("%s: nothing to abandon", words)
			}
		}
		if err != nil {
			t.Fatalf("%s: %v", words, err)
		}
	}
}

func filled(t testing.TB, words string) *agent.Container {
	t.Helper()
	c := agent.NewContainer(func() time.Time { return someTime })
	fill(t, c, words)
	return c
}

// pushes are all that can be pushed.
var pushes = map[string]func(*agent.Container) error{
	"p": func(c *agent.Container) error { return c.PushInput(agent.Input("hello")) },
	"u": func(c *agent.Container) error { return c.PushAssistant(use, turn.Meta{}) },
	"r": func(c *agent.Container) error {
		return c.PushToolResults(result("a", turn.CallOK), result("b", turn.CallError))
	},
	"c": func(c *agent.Container) error {
		return c.PushToolResults(result("a", turn.CallCancelled), result("b", turn.CallCancelled))
	},
	"a": func(c *agent.Container) error { return c.PushAssistant(reply, turn.Meta{}) },
}

func TestWhatMayFollowWhat(t *testing.T) {
	for before, legal := range map[string]string{
		"": "p", "p": "ua", "p?": "p", "pa": "p", "pu": "rc", "pur": "ua", "puc": "ua", "pur?": "p", "puc?": "p", "pura": "p",
	} {
		for what, push := range pushes {
			c := filled(t, before)
			was := c.Len()
			err := push(c)
			if strings.Contains(legal, what) {
				if err != nil || c.Len() != was+1 {
					t.Errorf("%s after %q: %v", what, before, err)
				}
				continue
			}
			if !isField(err, "entry") || c.Len() != was {
				t.Errorf("%s after %q: %v, %d entries", what, before, err, c.Len())
			}
		}
	}
	err := pushes["a"](filled(t, "pu"))
	if want := "entry: response may not stand after tool_use; push tool_results or cancelled_tools"; err.Error() != want {
		t.Error(err)
	}
	if err := pushes["a"](filled(t, "")); err.Error() != "entry: response may not stand first; push prompt" {
		t.Error(err)
	}
}

func TestWhatIsRefused(t *testing.T) {
	other := func(id, name string, args string) agent.ToolUse {
		return agent.ToolUse{Calls: []turn.ToolCall{{ID: id, Name: name, Arguments: args}}}
	}
	for _, test := range []struct {
		after string
		field string
		push  func(*agent.Container) error
	}{
		{"", "parts", func(c *agent.Container) error { return c.PushInput() }},
		{"", "parts[0].content", func(c *agent.Container) error { return c.PushInput(turn.Draft{Role: turn.User}) }},
		{"", "parts[1].role", func(c *agent.Container) error {
			return c.PushInput(agent.Input("a"), turn.Draft{Role: turn.Agent, Content: turn.Text{Text: "b"}})
		}},
		{"", "parts[0].role", func(c *agent.Container) error {
			return c.PushInput(turn.Draft{Role: turn.System, Content: result("a", turn.CallOK)})
		}},
		{"p", "message", func(c *agent.Container) error { return c.PushAssistant(nil, turn.Meta{}) }},
		{"p", "text", func(c *agent.Container) error { return c.PushAssistant(agent.Response{Thinking: "hm"}, turn.Meta{}) }},
		{"p", "calls", func(c *agent.Container) error { return c.PushAssistant(agent.ToolUse{Text: "x"}, turn.Meta{}) }},
		{"p", "calls[0].id", func(c *agent.Container) error { return c.PushAssistant(other("", "n", "{}"), turn.Meta{}) }},
		{"p", "calls[0].name", func(c *agent.Container) error { return c.PushAssistant(other("a", "", "{}"), turn.Meta{}) }},
		{"p", "calls[0].arguments", func(c *agent.Container) error { return c.PushAssistant(other("a", "n", "{"), turn.Meta{}) }},
		{"p", "calls[1].id", func(c *agent.Container) error {
			return c.PushAssistant(agent.ToolUse{Calls: append(other("a", "n", "{}").Calls, other("a", "n", "{}").Calls...)}, turn.Meta{})
		}},
		{"pu", "results", func(c *agent.Container) error { return c.PushToolResults() }},
		{"pu", "results", func(c *agent.Container) error { return c.PushToolResults(result("a", turn.CallOK)) }},
		{"pu", "results[0].call_id", func(c *agent.Container) error {
			return c.PushToolResults(result("b", turn.CallOK), result("a", turn.CallOK))
		}},
		{"pu", "results[1].call_id", func(c *agent.Container) error {
			return c.PushToolResults(result("a", turn.CallOK), turn.Result{Name: "other", CallID: "b", Status: turn.CallOK})
		}},
		{"pu", "results[1].status", func(c *agent.Container) error { return c.PushToolResults(result("a", turn.CallOK), result("b", "odd")) }},
		{"pu", "results[0].result", func(c *agent.Container) error {
			return c.PushToolResults(turn.Result{Name: "work", CallID: "a", Status: turn.CallOK, Result: "{"}, result("b", turn.CallOK))
		}},
	} {
		c := filled(t, test.after)
		if err := test.push(c); !isField(err, test.field) || c.Len() != len(test.after) {
			t.Errorf("%s: %v, %s", test.field, err, kinds(c))
		}
	}
}

func TestStaging(t *testing.T) {
	c := filled(t, "pap")
	before := c.Entries()
	if p, staged := c.Staged(); !staged || len(p.Parts) != 1 {
		t.Error(p, staged)
	}
	for _, there := range []bool{true, false} {
		if c.Rollback() != there || kinds(c) != "Prompt Response" {
			t.Error(kinds(c))
		}
	}
	if _, staged := c.Staged(); staged {
		t.Error("still staged")
	}
	// What others read stays as it was.
	if err := c.PushInput(agent.Input("something else")); err != nil || before[2].Text() != "hello" {
		t.Error(err, before[2].Text())
	}
	for range 2 {
		if !c.Abandon() || c.Rollback() || kinds(c) != "Prompt Response Prompt?" {
			t.Error(kinds(c))
		}
	}
	if filled(t, "").Abandon() || filled(t, "pa").Abandon() || filled(t, "pu").Abandon() || filled(t, "pa").Rollback() {
		t.Error("abandoned what is nobody's input")
	}
	var zero agent.Container
	if !zero.Empty() || zero.PushInput(agent.Input("x")) != nil || zero.Len() != 1 || zero.Empty() {
		t.Error("the zero container")
	}
}

func TestEntries(t *testing.T) {
	c := filled(t, "pura")
	entries := c.Entries()
	var got []string
	for i, e := range c.All() {
		got = append(got, fmt.Sprintf("%d %v %q", i, e.User(), e.Text()))
		if !e.At.Equal(someTime) {
			t.Error(e.At)
		}
	}
	want := `[0 true "hello" 1 false "look" 2 true "\"r\"\n\"r\"" 3 false "done"]`
	if fmt.Sprint(got) != want {
		t.Error(got)
	}
	if entries[1].Meta != (turn.Meta{Tokens: 3, Interrupted: true}) {
		t.Error(entries[1].Meta)
	}
	entries[0].Message = reply
	if kinds(c) != "Prompt ToolUse! ToolResults Response" {
		t.Error("the caller's slice is the container's")
	}
	parts := []turn.Draft{{Role: turn.User, Content: turn.Speech{Transcript: "spoken"}}, {Role: turn.User, Content: turn.Image{MediaType: "image/png"}}}
	c = filled(t, "")
	if err := c.PushInput(parts...); err != nil {
		t.Fatal(err)
	}
	parts[0] = agent.Input("changed")
	if e := c.Entries()[0]; e.Text() != "spoken" {
		t.Error(e.Text())
	}
	if p, _ := c.Staged(); true {
		p.Parts[0] = agent.Input("changed")
	}
	if e := c.Entries()[0]; e.Text() != "spoken" {
		t.Error(e.Text())
	}
}

func TestTrim(t *testing.T) {
	for _, test := range []struct {
		words string
		keep  int
		left  string
	}{
		{"papapa", 2, "Prompt Response"},
		{"papapa", 3, "Prompt Response Prompt Response"},
		{"papapa", 0, "Prompt Response"},
		{"papapa", 6, "Prompt Response Prompt Response Prompt Response"},
		{"papurap", 1, "Prompt"},
		{"papura", 2, "Prompt ToolUse! ToolResults Response"},
		{"p?pura", 5, "Prompt? Prompt ToolUse! ToolResults Response"},
		{"", 5, ""},
	} {
		c := filled(t, test.words)
		if err := c.Trim(test.keep, nil); err != nil || kinds(c) != test.left || c.Dropped() != len(strings.ReplaceAll(test.words, "?", ""))-c.Len() || c.Summary() != "" {
			t.Errorf("%s to %d: %v, %s, %d dropped", test.words, test.keep, err, kinds(c), c.Dropped())
		}
	}
}

func TestTrimSummarises(t *testing.T) {
	c := filled(t, "papapa")
	summarise := func(before string, dropped []agent.Entry) (string, error) {
		return fmt.Sprintf("%s+%d", before, len(dropped)), nil
	}
	for range 2 {
		if err := c.Trim(2, summarise); err != nil {
			t.Fatal(err)
		}
		fill(t, c, "pa")
	}
	if c.Summary() != "+4+2" || c.Dropped() != 6 || c.Len() != 4 {
		t.Error(c.Summary(), c.Dropped(), kinds(c))
	}
	tired := errors.New("tired")
	if err := c.Trim(2, func(string, []agent.Entry) (string, error) { return "", tired }); !errors.Is(err, tired) || c.Len() != 4 {
		t.Error(err, kinds(c))
	}
	// Somebody pushes and somebody else trims meanwhile.
	err := c.Trim(2, func(string, []agent.Entry) (string, error) {
		fill(t, c, "p")
		return "mine", c.Trim(1, summarise)
	})
	if err != nil || c.Summary() != "+4+2+4" || kinds(c) != "Prompt" {
		t.Error(err, c.Summary(), kinds(c))
	}
}

// What is there when the summary is made is not what was there when it was asked for.
func TestTrimMeanwhile(t *testing.T) {
	for name, meanwhile := range map[string]func(*agent.Container) error{
		"rolled back": func(c *agent.Container) error {
			c.Rollback()
			return nil
		},
		"replaced": func(c *agent.Container) error { return c.UnmarshalJSON([]byte(`{"version":1,"entries":[]}`)) },
	} {
		c := filled(t, "papap")
		want := ""
		err := c.Trim(1, func(string, []agent.Entry) (string, error) {
			err := meanwhile(c)
			want = kinds(c)
			return "mine", err
		})
		if err != nil || kinds(c) != want || c.Summary() != "" || c.Dropped() != 0 {
			t.Errorf("%s: %v, %s, want %s, %d dropped", name, err, kinds(c), want, c.Dropped())
		}
	}
}

func TestBranch(t *testing.T) {
	c := filled(t, "purapap")
	for n, want := range []string{
		"", "Prompt?", "", "Prompt ToolUse! ToolResults?", "Prompt ToolUse! ToolResults Response", "Prompt ToolUse! ToolResults Response Prompt?",
		"Prompt ToolUse! ToolResults Response Prompt Response", "Prompt ToolUse! ToolResults Response Prompt Response Prompt?",
	} {
		branch, err := c.Branch(n)
		if n == 2 {
			if !isField(err, "n") {
				t.Error(err)
			}
			continue
		}
		if err != nil || kinds(branch) != want {
			t.Errorf("%d: %v, %s", n, err, kinds(branch))
			continue
		}
		fill(t, branch, "pa")
	}
	if kinds(c) != "Prompt ToolUse! ToolResults Response Prompt Response Prompt" {
		t.Error(kinds(c))
	}
	if _, staged := c.Staged(); !staged {
		t.Error("no longer staged")
	}
	for _, n := range []int{-1, 8} {
		if _, err := c.Branch(n); !isField(err, "n") {
			t.Error(n, err)
		}
	}
}

// TestRandomContainers holds containers of random pushes to their rules, and to being the same after they were
// written and read.
func TestRandomContainers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := agent.NewContainer(func() time.Time { return someTime })
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{"p", "u", "r", "c", "a", "abandon", "rollback", "trim", "branch"}), 0, 40).Draw(t, "steps")
		for _, step := range steps {
			switch step {
			case "abandon":
				c.Abandon()
			case "rollback":
				c.Rollback()
			case "trim":
				if err := c.Trim(4, nil); err != nil {
					t.Fatal(err)
				}
			case "branch":
				if branch, err := c.Branch(c.Len()); err == nil {
					c = branch
				}
			default:
				if err := pushes[step](c); err != nil && !isField(err, "entry") {
					t.Fatal(err)
				}
			}
			text, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			var back agent.Container
			if err := json.Unmarshal(text, &back); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			again, err := json.Marshal(&back)
			if err != nil || string(again) != string(text) {
				t.Fatalf("%s\n%s\n%v", text, again, err)
			}
			if diff := cmp.Diff(c.Entries(), back.Entries(), cmpopts.EquateEmpty()); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

func TestReadersNeverWait(t *testing.T) {
	c := agent.NewContainer(nil)
	var group sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				entries := c.Entries()
				for i := range entries {
					if entries[i].Text() == "" || i == 0 && !entries[i].User() {
						t.Error("half an entry")
						return
					}
				}
			}
		})
	}
	for range 50 {
		fill(t, c, "pap")
		c.Rollback()
		fill(t, c, "p?pa")
		if err := c.Trim(20, nil); err != nil {
			t.Error(err)
		}
	}
	// A summary is made without a lock.
	err := c.Trim(2, func(string, []agent.Entry) (string, error) {
		return "", c.PushInput(agent.Input("meanwhile"))
	})
	if err != nil {
		t.Error(err)
	}
	close(stop)
	group.Wait()
}
