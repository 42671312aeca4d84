package mcp_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// inspect has the inspector's command line run for each list of arguments, and returns what it prints.
func (w *world) inspect(calls ...[]string) (answers []object) {
	w.t.Helper()
	var in, stderr bytes.Buffer
	for _, arguments := range calls {
		line, err := json.Marshal(slices.Concat([]string{w.url, "--transport", "http", "--method"}, arguments))
		if err != nil {
			w.t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	cmd := node(w.t.Context(), w.t, "inspect.mjs")
	cmd.Stdin, cmd.Stderr = &in, &stderr
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("%v\n%s%s", err, out, &stderr)
	}
	for _, printed := range bytes.Split(bytes.TrimSuffix(out, []byte("\n\x00\n")), []byte("\n\x00\n")) {
		var answer object
		if err := json.Unmarshal(printed, &answer); err != nil {
			w.t.Fatalf("%v: %v\n%s", calls[len(answers)], err, printed)
		}
		answers = append(answers, answer)
	}
	if len(answers) != len(calls) {
		w.t.Fatalf("%d answers to %d calls", len(answers), len(calls))
	}
	return answers
}

// TestInspector has the inspector's command line list what there is and call every tool.
func TestInspector(t *testing.T) {
	w := newWorld(t, nil)
	w.compressed("a")
	tools := [][]string{
		{"remember", "session=a", "text=Alice likes window seats."},
		{"recall", "session=a", "query=Which seat does Alice want?", "limit=3"},
		{"search_history", "session=a", "text=harbour", "limit=2"},
		{"set_goal", "session=a", "title=Ship it", "priority=high", `next_steps=["write tests"]`},
		{"goals", "session=a", "all=true"},
		{"prompt", "session=a", "context=8192", "preview=true"},
		{"snapshot", "session=a", "name=calm"},
		{"undo", "session=a", "context=128000"},
		{"list_sessions", "limit=5"},
	}
	calls := [][]string{
		{"tools/list"}, {"resources/list"}, {"resources/templates/list"}, {"resources/read", "--uri", "turnstone://sessions/a"},
	}
	var names []string
	for _, tool := range tools {
		names = append(names, tool[0])
		arguments := []string{"tools/call", "--tool-name", tool[0]}
		for _, a := range tool[1:] {
			arguments = append(arguments, "--tool-arg", a)
		}
		calls = append(calls, arguments)
	}
	answers := w.inspect(calls...)
	var listed []string
	for _, tool := range answers[0]["tools"].([]any) {
		listed = append(listed, at(t, tool, "name").(string))
	}
	slices.Sort(names)
	slices.Sort(listed)
	if !slices.Equal(names, listed) {
		t.Errorf("there are the tools %v, and %v are called", listed, names)
	}
	if list := answers[1]["resources"].([]any); len(list) != 2 {
		t.Errorf("resources: %v", list)
	}
	if list := answers[2]["resourceTemplates"].([]any); len(list) != 5 {
		t.Errorf("templates: %v", list)
	}
	if read := at(t, answers[3], "contents", 0, "text").(string); !strings.Contains(read, `"session_id":"a"`) {
		t.Errorf("resource: %v", read)
	}
	for i, answer := range answers[4:] {
		if answer["isError"] == true || answer["structuredContent"] == nil {
			t.Errorf("%v: %v", tools[i], answer)
		}
	}
}
