package agent_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/turn"
)

// The format of version 1. It stays readable for ever.
const containerV1 = `{"version":1,"summary":"before","dropped":2,"staged":true,"entries":[` +
	`{"kind":"prompt","at":"2026-01-02T03:04:05.000006Z","unanswered":true,"turns":[{"role":"user","form":"text","content":{"text":"hello"}}]},` +
	`{"kind":"prompt","at":"2026-01-02T03:04:05.000006Z","turns":[{"role":"user","form":"text","content":{"text":"hello"}}]},` +
	`{"kind":"tool_use","at":"2026-01-02T03:04:05.000006Z","meta":{"tokens":3,"interrupted":true},"turns":[{"role":"agent","form":"text","content":{"text":"look","tool_calls":[{"id":"a","name":"work","arguments":{}},{"id":"b","name":"work","arguments":[1]}]}}]},` +
	`{"kind":"tool_results","at":"2026-01-02T03:04:05.000006Z","turns":[{"role":"system","form":"action","content":{"name":"work","call_id":"a","status":"ok","result":"r"}},{"role":"system","form":"action","content":{"name":"work","call_id":"b","status":"cancelled","result":"r"}}]},` +
	`{"kind":"tool_use","at":"2026-01-02T03:04:05.000006Z","meta":{"tokens":3,"interrupted":true},"turns":[{"role":"agent","form":"text","content":{"text":"look","tool_calls":[{"id":"a","name":"work","arguments":{}},{"id":"b","name":"work","arguments":[1]}]}}]},` +
	`{"kind":"cancelled_tools","at":"2026-01-02T03:04:05.000006Z","turns":[{"role":"system","form":"action","content":{"name":"work","call_id":"a","status":"cancelled","result":"r"}},{"role":"system","form":"action","content":{"name":"work","call_id":"b","status":"cancelled","result":"r"}}]},` +
	`{"kind":"response","at":"2026-01-02T03:04:05.000006Z","turns":[{"role":"agent","form":"text","content":{"text":"done","thinking":"hm"}}]},` +
	`{"kind":"prompt","at":"2026-01-02T03:04:05.000006Z","turns":[{"role":"user","form":"text","content":{"text":"hello"}}]}]}`

func TestContainerJSON(t *testing.T) {
	c := filled(t, "pap?")
	if err := c.Trim(1, func(string, []agent.Entry) (string, error) { return "before", nil }); err != nil {
		t.Fatal(err)
	}
	fill(t, c, "purucap")
	text, err := json.Marshal(c)
	if err != nil || string(text) != containerV1 {
		t.Errorf("%v\n%s\n%s", err, text, containerV1)
	}
	var back agent.Container
	if err := json.Unmarshal([]byte(containerV1), &back); err != nil {
		t.Fatal(err)
	}
	if _, staged := back.Staged(); !staged || kinds(&back) != kinds(c) || back.Summary() != "before" || back.Dropped() != 2 {
		t.Error(staged, kinds(&back), back.Summary(), back.Dropped())
	}
	if empty, err := json.Marshal(&agent.Container{}); err != nil || string(empty) != `{"version":1,"entries":[]}` {
		t.Error(string(empty), err)
	}
}

func TestContainerJSONKeepsWhatWasThought(t *testing.T) {
	c := filled(t, "p")
	if err := c.PushAssistant(agent.ToolUse{Text: "look", Thinking: "hm", Calls: use.Calls}, turn.Meta{}); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var back agent.Container
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c.Entries(), back.Entries()); diff != "" {
		t.Error(diff)
	}
}

func TestContainerJSONIsChecked(t *testing.T) {
	entry := func(kind, rest, content string) string {
		return `{"kind":"` + kind + `"` + rest + `,"turns":[` + content + `]}`
	}
	const (
		user   = `{"role":"user","content":{"text":"hi"}}`
		agents = `{"role":"agent","content":{"text":"hi"}}`
		calls  = `{"role":"agent","content":{"tool_calls":[{"id":"a","name":"n","arguments":{}}]}}`
		ok     = `{"role":"system","form":"action","content":{"name":"n","call_id":"a","status":"ok"}}`
	)
	prompt := entry("prompt", "", user)
	for _, test := range []struct{ entries, field string }{
		{entry("odd", "", user), "entries[0].kind"},
		{entry("prompt", "", agents), "entries[0].parts[0].role"},
		{entry("prompt", `,"odd":1`, user), "entries[0].odd"},
		{entry("response", "", agents), "entries[0].entry"},
		{prompt + "," + prompt, "entries[1].entry"},
		{prompt + "," + entry("response", "", ""), "entries[1].turns"},
		{prompt + "," + entry("response", "", user), "entries[1].turns"},
		{prompt + "," + entry("response", "", calls), "entries[1].turns[0].content.tool_calls"},
		{prompt + "," + entry("response", `,"unanswered":true`, agents), "entries[1].unanswered"},
		{prompt + "," + entry("tool_use", "", agents), "entries[1].calls"},
		{prompt + "," + entry("tool_use", "", calls) + "," + entry("tool_results", "", user), "entries[2].turns[0]"},
		{prompt + "," + entry("tool_use", "", calls) + "," + entry("cancelled_tools", "", ok), "entries[2].results[0].status"},
		{entry("prompt", `,"unanswered":true`, user) + `],"staged":true,"dropped":0}`, "staged"},
		{`],"staged":true}`, "staged"},
		{prompt + "," + entry("response", "", agents) + `],"staged":true}`, "staged"},
	} {
		c := filled(t, "pa")
		text := `{"version":1,"entries":[` + test.entries
		if test.field != "staged" {
			text += "]}"
		}
		err := json.Unmarshal([]byte(text), c)
		if !isField(err, test.field) || kinds(c) != "Prompt Response" {
			t.Errorf("%s: %v, %s", test.field, err, kinds(c))
		}
	}
}

func TestAContainerOfAnotherVersion(t *testing.T) {
	for _, text := range []string{`{"version":2,"entries":[]}`, `{"entries":[]}`} {
		if err := filled(t, "pa").UnmarshalJSON([]byte(text)); !isField(err, "version") {
			t.Error(err)
		}
	}
}

// What was written in the middle of a run that nobody can end any more is where the next one begins.
func TestAContainerThatWasWrittenInTheMiddle(t *testing.T) {
	for words, want := range map[string]string{
		"":     "Prompt Response",
		"p":    "Prompt? Prompt Response",
		"pu":   "Prompt ToolUse! CancelledTools? Prompt Response",
		"pur":  "Prompt ToolUse! ToolResults? Prompt Response",
		"pura": "Prompt ToolUse! ToolResults Response Prompt Response",
	} {
		text, err := json.Marshal(filled(t, words))
		if err != nil {
			t.Fatal(err)
		}
		w := agent.NewWorker("1", "one", llmtest.NewScript("back"))
		// The input is no longer staged once a run has it.
		if err := w.Container.UnmarshalJSON(bytes.Replace(text, []byte(`"staged":true,`), nil, 1)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Ask(t.Context(), newLoop(t, agent.Config{}), &ledger{}, "go on"); err != nil || kinds(w.Container) != want {
			t.Errorf("%s: %v, %s", words, err, kinds(w.Container))
		}
	}
}

// A container in which a run is under way is left alone.
func TestAContainerThatIsSomebodyElses(t *testing.T) {
	w := agent.NewWorker("1", "one", llmtest.NewScript("no"))
	w.Container = filled(t, "pu")
	if _, err := w.Ask(t.Context(), newLoop(t, agent.Config{}), &ledger{}, "go on"); !isField(err, "entry") || kinds(w.Container) != "Prompt ToolUse!" {
		t.Error(err, kinds(w.Container))
	}
}
