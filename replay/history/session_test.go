package history_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/replay/history"
)

// A document that somebody else wrote has its calls in a list of their own.
func TestSessionOfOthers(t *testing.T) {
	w, got := read(t, `{
  "sessionId": "uuid", "startTime": "2026-01-26T10:00:00Z", "lastActivity": "2026-01-26T11:30:00Z",
  "model": "llama3.2:3b", "provider": "ollama",
  "toolCalls": [
    {"id": "call_123", "name": "read_file", "args": {"path": "file.ts"}, "result": {"llmContent": "code", "returnDisplay": "Read"}, "timestamp": "2026-01-26T10:00:20Z"},
    {"id": "call_124", "name": "list", "args": {}, "result": {"files": 2}, "timestamp": "2026-01-26T10:00:21Z"},
    {"id": "call_125", "name": "stop", "args": {}, "result": null}
  ],
  "messages": [
    {"role": "user", "parts": [{"type": "text", "text": "read it"}], "timestamp": "2026-01-26T10:00:00Z"},
    {"role": "assistant", "parts": [{"type": "text", "text": "I will"}]},
    {"role": "assistant", "parts": [{"type": "text", "text": "it is code"}], "timestamp": "2026-01-26T10:00:30Z"}
  ],
  "metadata": {"tokenCount": 8500, "compressionCount": 2, "cost": 1}
}`, "", history.Options{})
	want := []string{
		`user/text {"text":"read it"}`, `agent/text {"text":"I will"}`,
		`agent/text unit=3 {"text":"","tool_calls":[{"id":"call_123","name":"read_file","arguments":{"path": "file.ts"}}]}`,
		`system/action unit=3 {"name":"read_file","call_id":"call_123","status":"ok","result":"code"}`,
		`agent/text unit=5 {"text":"","tool_calls":[{"id":"call_124","name":"list","arguments":{}}]}`,
		`system/action unit=5 {"name":"list","call_id":"call_124","status":"ok","result":{"files": 2}}`,
		`agent/text {"text":"it is code"}`,
		`agent/text unit=8 {"text":"","tool_calls":[{"id":"call_125","name":"stop","arguments":{}}]}`,
		`system/action unit=8 {"name":"stop","call_id":"call_125","status":"cancelled","synthetic":true}`,
	}
	if diff := cmp.Diff(want, w.transcript()); diff != "" {
		t.Error(diff)
	}
	losses := []string{
		"calls without a result: 1 at tool call 3 (line 7)", "members beside the messages: 1 at line 14", "members that have no place in a turn: 1 at tool call 1 (line 5)",
	}
	if diff := cmp.Diff(losses, kinds(got.Report)); diff != "" {
		t.Error(diff)
	}
	start := time.Date(2026, 1, 26, 10, 0, 0, 0, time.UTC)
	if want := (history.Header{
		Session: "uuid", Model: "llama3.2:3b", Provider: "ollama", Started: start, LastActivity: start.Add(90 * time.Minute), Compressions: 2, Tokens: 8500,
	}); got.Header != want {
		t.Errorf("header %+v", got.Header)
	}
}

// A message that somebody added to a document of ours is read as any message is.
func TestSessionWithAForeignMessage(t *testing.T) {
	w, _ := read(t, `{"sessionId":"x","turnstone":1,"messages":[
		{"role":"user","parts":[{"type":"text","text":"mine"}],"timestamp":null,"turnstone":{"seq":4,"form":"text"},"mood":"good"},
		{"role":"assistant","parts":[{"type":"text","text":"added"}]}],"toolCalls":[{"anything":1}]}`, "", history.Options{})
	if diff := cmp.Diff([]string{`user/text {"text":"mine"}`, `agent/text {"text":"added"}`}, w.transcript()); diff != "" {
		t.Error(diff)
	}
}

func TestBadSession(t *testing.T) {
	ours := func(message string) string {
		return `{"sessionId":"x","turnstone":1,"messages":[` + message + `]}`
	}
	for name, tt := range map[string]struct{ input, want string }{
		"newer":       {`{"sessionId":"x","turnstone":2,"messages":[]}`, "turnstone: 2 is no version that can be read; give version 1"},
		"no text":     {ours(`{"role":"user","parts":[],"turnstone":{"seq":1}}`), "message 1 (line 1): parts: 0 parts where the content is one text; give one part with the text"},
		"unknown":     {ours(`{"role":"user","parts":[],"turnstone":{"mood":1}}`), "message 1 (line 1): turnstone.mood: is no member of version 1; correct the value"},
		"covers":      {ours(`{"role":"system","parts":[],"turnstone":{"covers":[1]}}`), "message 1 (line 1): turnstone.covers: 1 numbers, not two; correct the value"},
		"bad pair":    {ours(`{"role":"assistant","parts":[],"turnstone":{"form":"image","content":{}}}`), "message 1 (line 1): form: role agent may not use form image; legal for agent: text"},
		"bad role":    {ours(`{"role":5,"turnstone":{}}`), "message 1 (line 1): expected a string, found a number; correct the JSON; nothing was imported"},
		"bad result":  {`{"sessionId":"x","toolCalls":[{"id":"a","name":"f","result":{"a":1,"a":2}}]}`, `tool call 1 (line 1): result: offset 7: member "a" appears twice; correct the value`},
		"not a list":  {`{"sessionId":"x","messages":{}}`, `line 1: expected "[", found '{'; correct the JSON; nothing was imported`},
		"cut off":     {`{"sessionId":"x","messages":[` + "\n", "line 2: the input ends here; correct the JSON; nothing was imported"},
		"twice":       {`{"sessionId":"x","messages":[],` + "\n" + `"messages":[]}`, "line 2: messages stands twice; correct the JSON; nothing was imported"},
		"calls twice": {`{"sessionId":"x","toolCalls":[],` + "\n" + `"toolCalls":[]}`, "line 2: toolCalls stands twice; correct the JSON; nothing was imported"},
		"not numbers": {`{"sessionId":"x","metadata":7}`, "line 1: expected an object, found a number; correct the JSON; nothing was imported"},
	} {
		if err := refusal(t, tt.input, history.Session, history.Options{}); err.Error() != tt.want {
			t.Errorf("%s:\n%v\n%s", name, err, tt.want)
		}
	}
}

// A tool that sorts the members of a document does no harm.
func TestSessionSorted(t *testing.T) {
	w, got := read(t, `{"lastActivity":null,"messages":[{"parts":[{"text":"mine","type":"text"}],"role":"user","turnstone":{"message_id":"m","seq":4}}],
		"sessionId":"x","toolCalls":[{"anything":1}],"turnstone":1}`, "", history.Options{})
	if diff := cmp.Diff([]string{`user/text message=m {"text":"mine"}`}, w.transcript()); diff != "" || len(got.Report.Losses) > 0 {
		t.Errorf("%s %v", diff, got.Report.Losses)
	}
}

// A tool that sorts them may put all that is ours behind the first words, however many these are.
func TestSessionSortedBehindLongWords(t *testing.T) {
	long := strings.Repeat("word ", 20_000)
	w, got := read(t, `{"lastActivity":null,"messages":[
		{"parts":[{"text":"`+long+`","type":"text"}],"role":"user","turnstone":{"message_id":"m","seq":1}},
		{"parts":[],"role":"assistant","turnstone":{"content":{"text":"","tool_calls":[{"id":"a","name":"f","arguments":{}}]},"seq":2}},
		{"parts":[{"text":"1","type":"text"}],"role":"tool","turnstone":{"content":{"name":"f","call_id":"a","status":"ok","result":1},"form":"action","seq":3}}],
		"sessionId":"x","toolCalls":[{"id":"a","name":"f","args":{},"result":{"llmContent":"1"}}],"turnstone":1}`, "", history.Options{})
	want := []string{
		`user/text message=m {"text":"` + long + `"}`,
		`agent/text unit=2 {"text":"","tool_calls":[{"id":"a","name":"f","arguments":{}}]}`,
		`system/action unit=2 {"name":"f","call_id":"a","status":"ok","result":1}`,
	}
	if diff := cmp.Diff(want, w.transcript()); diff != "" || len(got.Report.Losses) > 0 {
		t.Errorf("%s %v", diff, got.Report.Losses)
	}
}
