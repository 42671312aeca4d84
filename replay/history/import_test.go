package history_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/replay/history"
	"github.com/turnstone-dev/turnstone/turn"
)

// messageTests are lists of messages, as the providers and others write them.
var messageTests = []struct {
	name   string
	input  string
	turns  []string
	losses []string
}{
	{
		name:  "array",
		input: `[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]`,
		turns: []string{`user/text {"text":"hi"}`, `agent/text {"text":"hello"}`},
	},
	{
		name:  "object",
		input: `{"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":1}`,
		turns: []string{`user/text {"text":"hi"}`}, losses: []string{"members beside the messages: 1 at line 1"},
	},
	{
		name:  "lines with a byte order mark, CRLF and blank lines",
		input: "\ufeff" + `{"role":"user","content":"hi"}` + "\r\n\r\n" + `{"role":"assistant","content":"a\r\nb"}`,
		turns: []string{`user/text {"text":"hi"}`, `agent/text {"text":"a\r\nb"}`},
	},
	{
		name:  "two system messages, one from the developer, and one in the middle",
		input: `[{"role":"system","content":"A"},{"role":"developer","content":"B"},{"role":"user","content":"hi"},{"role":"system","content":"C"}]`,
		turns: []string{`system/text {"text":"A"}`, `system/text {"text":"B"}`, `user/text {"text":"hi"}`, `system/text {"text":"C"}`},
	},
	{
		name: "parallel calls",
		input: `[{"role":"assistant","content":null,"tool_calls":[
			{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\": 1}"}},
			{"id":"b","type":"function","function":{"name":"g","arguments":""}}]},
			{"role":"tool","tool_call_id":"b","content":"plain"},
			{"role":"tool","tool_call_id":"a","name":"f","content":"{\"y\": 2}"}]`,
		turns: []string{
			`agent/text unit=1 {"text":"","tool_calls":[{"id":"a","name":"f","arguments":{"x": 1}},{"id":"b","name":"g","arguments":{}}]}`,
			`system/action unit=1 {"name":"g","call_id":"b","status":"ok","result":"plain"}`,
			`system/action unit=1 {"name":"f","call_id":"a","status":"ok","result":{"y": 2}}`,
		},
	},
	{
		name: "a result behind a word of the user",
		input: `[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},
			{"role":"user","content":"well?"},{"role":"tool","tool_call_id":"a","content":""}]`,
		turns: []string{
			`agent/text unit=1 {"text":"","tool_calls":[{"id":"a","name":"f","arguments":{}}]}`, `user/text {"text":"well?"}`,
			`system/action unit=1 {"name":"f","call_id":"a","status":"ok","result":""}`,
		},
	},
	{
		name: "calls without results, in the middle and at the end",
		input: `[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},
			{"role":"assistant","content":"so","tool_calls":[{"id":"a","function":{"name":"g","arguments":"{}"}}]}]`,
		turns: []string{
			`agent/text unit=1 {"text":"","tool_calls":[{"id":"a","name":"f","arguments":{}}]}`,
			`system/action unit=1 {"name":"f","call_id":"a","status":"cancelled","synthetic":true}`,
			`agent/text unit=3 {"text":"so","tool_calls":[{"id":"a","name":"g","arguments":{}}]}`,
			`system/action unit=3 {"name":"g","call_id":"a","status":"cancelled","synthetic":true}`,
		},
		losses: []string{"calls without a result: 2 at message 2 (line 2)"},
	},
	{
		name:   "results of no call",
		input:  `[{"role":"tool","tool_call_id":"z","name":"f","content":"found"},{"role":"tool","content":null}]`,
		turns:  []string{`system/text {"text":"[result of a call that is not in this conversation, f, z] found"}`, `system/text {"text":"[result of a call that is not in this conversation] "}`},
		losses: []string{"results of no open call: 2 at message 1 (line 1)"},
	},
	{
		name: "the same id twice in one message",
		input: `[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"a","function":{"name":"g","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"a","content":"2"}]`,
		turns: []string{
			`agent/text unit=1 {"text":"","tool_calls":[{"id":"a","name":"f","arguments":{}},{"id":"a~1","name":"g","arguments":{}}]}`,
			`system/action unit=1 {"name":"f","call_id":"a","status":"ok","result":"1"}`,
			`system/action unit=1 {"name":"g","call_id":"a~1","status":"ok","result":"2"}`,
		},
		losses: []string{"ids of calls that were still open: 1 at message 1 (line 1)"},
	},
	{
		name: "one of two calls without a result",
		input: `[{"role":"assistant","tool_calls":[{"id":"a","name":"f"},{"id":"b","name":"g"}]},
			{"role":"tool","tool_call_id":"a","content":"1"}]`,
		turns: []string{
			`agent/text unit=1 {"text":"","tool_calls":[{"id":"a","name":"f","arguments":{}},{"id":"b","name":"g","arguments":{}}]}`,
			`system/action unit=1 {"name":"f","call_id":"a","status":"ok","result":"1"}`,
			`system/action unit=1 {"name":"g","call_id":"b","status":"cancelled","synthetic":true}`,
		},
		losses: []string{"calls without a result: 1 at message 2 (line 2)"},
	},
	{
		name: "two results of one call",
		input: `[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"a","content":"2"}]`,
		turns: []string{
			`agent/text unit=1 {"text":"","tool_calls":[{"id":"a","name":"f","arguments":{}}]}`,
			`system/action unit=1 {"name":"f","call_id":"a","status":"ok","result":"1"}`,
			`system/text {"text":"[result of a call that is not in this conversation, a] 2"}`,
		},
		losses: []string{"results of no open call: 1 at message 3 (line 2)"},
	},
	{
		name: "functions of old, without ids",
		input: `[{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{\"x\": NaN}"}},
			{"role":"function","name":"f","content":"1"}]`,
		turns: []string{
			`agent/text unit=1 {"text":"","tool_calls":[{"id":"call-1","name":"f","arguments":"{\"x\": NaN}"}]}`,
			`system/action unit=1 {"name":"f","call_id":"call-1","status":"ok","result":"1"}`,
		},
		losses: []string{
			"arguments that are not JSON: 1 at message 1 (line 1)", "calls without an id: 1 at message 1 (line 1)",
			"results without the id of their call: 1 at message 2 (line 2)",
		},
	},
	{
		name: "a tool without a name and a result under another",
		input: `[{"role":"assistant","tool_calls":[{"id":"a","function":{"arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"a","name":"other","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}]`,
		turns: []string{
			`agent/text unit=1 {"text":"","tool_calls":[{"id":"a","name":"unnamed","arguments":{}}]}`,
			`system/action unit=1 {"name":"unnamed","call_id":"a","status":"ok","result":"x\ny"}`,
		},
		losses: []string{
			"results of several texts: 1 at message 2 (line 2)", "results under another name than their call: 1 at message 2 (line 2)",
			"tools without a name: 1 at message 1 (line 1)",
		},
	},
	{
		name: "parts",
		input: `[{"role":"user","name":"Ann","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAEC"}},
			{"type":"image_url","image_url":"https://example.com/a.png"},{"type":"image_url","image_url":{"url":"data:image/png;base64,!"}},{"type":"hologram","x":1},{"type":"text","text":""}]}]`,
		turns: []string{
			`user/text message=message-1 {"text":"see"}`, `user/image message=message-1 {"media_type":"image/png","data":"AAEC"}`,
			`user/text message=message-1 {"text":"[image at https://example.com/a.png]"}`,
			`user/text message=message-1 {"text":"[image left out: it cannot be decoded]"}`,
			`user/text message=message-1 {"text":"[hologram left out]"}`,
		},
		losses: []string{
			"images that are elsewhere: 1 at message 1 (line 1)", "images that cannot be decoded: 1 at message 1 (line 1)",
			"names of speakers: 1 at message 1 (line 1)", "parts of an unknown type: 1 at message 1 (line 1)",
		},
	},
	{
		name:   "empty, refused, unknown and thought",
		input:  `[{"role":"user","content":""},{"role":"assistant","content":null,"refusal":"no"},{"role":"critic","content":"hm"},{"role":"assistant","content":"yes","reasoning_content":"why"}]`,
		turns:  []string{`agent/text {"text":"no"}`, `system/text {"text":"[critic] hm"}`, `agent/text {"text":"yes","thinking":"why"}`},
		losses: []string{"messages without content: 1 at message 1 (line 1)", "refusals: 1 at message 2 (line 1)", "roles that nobody knows: 1 at message 3 (line 1)"},
	},
	{
		name:   "what no store keeps",
		input:  "[{\"role\":\"user\",\"content\":\"a\\u0000b\"},{\"role\":\"user\",\"content\":\"\\ud83d\"},{\"role\":\"user\",\"content\":\"\xff\"}]",
		turns:  []string{"user/text {\"text\":\"a\ufffdb\"}", "user/text {\"text\":\"\ufffd\"}", "user/text {\"text\":\"\ufffd\"}"},
		losses: []string{"NUL characters: 1 at message 1 (line 1)", "bytes that are not UTF-8: 1 at message 3 (line 1)", "halves of surrogate pairs: 1 at message 2 (line 1)"},
	},
	{
		name: "blocks",
		input: `{"system":[{"type":"text","text":"A","cache_control":{"type":"ephemeral"}},{"type":"text","text":"B"}],"messages":[
			{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"AAEC"}}]},
			{"id":"msg_1","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"xyz"},{"type":"text","text":"one"},{"type":"tool_use","id":"a","name":"f","input":{"x": 1}},
				{"type":"text","text":"two"},{"type":"tool_use","id":"b","name":"g","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"seen"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQ=="}}]},
				{"type":"tool_result","tool_use_id":"b","is_error":true,"content":"broken"},{"type":"text","text":"go on"}]}]}`,
		turns: []string{
			`system/text message=system {"text":"A"}`, `system/text message=system {"text":"B"}`,
			`user/image {"media_type":"image/jpeg","data":"AAEC"}`,
			`agent/text unit=4 message=msg_1 {"text":"one","thinking":"hm","tool_calls":[{"id":"a","name":"f","arguments":{"x": 1}}]}`,
			`agent/text unit=5 message=msg_1 {"text":"two","tool_calls":[{"id":"b","name":"g","arguments":{}}]}`,
			`system/action unit=4 {"name":"f","call_id":"a","status":"ok","result":"seen"}`,
			`user/image message=message-3 {"media_type":"image/png","data":"AQ=="}`,
			`system/action unit=5 {"name":"g","call_id":"b","status":"error","result":"broken"}`,
			`user/text message=message-3 {"text":"go on"}`,
		},
		losses: []string{"images of others than the user: 1 at message 3 (line 5)", "signatures of thoughts: 1 at message 2 (line 3)"},
	},
	{
		name: "parts that others write",
		input: `[{"role":"user","content":[{"type":"input_text","text":"a"},"b",{"text":"c"},{"type":"refusal","refusal":"d"}],"tool_calls":[{"id":"x"}],"thinking":"e","refusal":""},
			{"role":"assistant","content":[{"type":"text","text":""},{"type":"refusal","refusal":"f"},{"type":"output_text","text":"g"}],"tool_calls":null,"function_call":null},
			{"role":"assistant","tool_calls":[{"id":1,"name":"f","arguments":{"x": 1}},{"id":"b","name":"g","arguments":null},{"id":"c","name":"h"}]},
			{"role":"tool","tool_call_id":1,"content":{"y": 2}},{"role":"tool","tool_call_id":"b","content":[{"type":"hologram"}],"is_error":true},{"role":"tool","tool_call_id":"c","content":["x", {"z": 3}]}]`,
		turns: []string{
			`user/text message=message-1 {"text":"a"}`, `user/text message=message-1 {"text":"b"}`, `user/text message=message-1 {"text":"c"}`, `user/text message=message-1 {"text":"d"}`,
			`agent/text message=message-2 {"text":"f"}`, `agent/text message=message-2 {"text":"g"}`,
			`agent/text unit=7 {"text":"","tool_calls":[{"id":"1","name":"f","arguments":{"x": 1}},{"id":"b","name":"g","arguments":{}},{"id":"c","name":"h","arguments":{}}]}`,
			`system/action unit=7 {"name":"f","call_id":"1","status":"ok","result":{"y": 2}}`,
			`system/action unit=7 {"name":"g","call_id":"b","status":"error","result":"[hologram left out]"}`,
			`system/action unit=7 {"name":"h","call_id":"c","status":"ok","result":["x", {"z": 3}]}`,
		},
		losses: []string{
			"calls of others than the assistant: 1 at message 1 (line 1)", "parts of an unknown type: 1 at message 5 (line 4)",
			"refusals: 2 at message 1 (line 1)", "thoughts of others than the assistant: 1 at message 1 (line 1)",
		},
	},
	{
		name: "base64 in other alphabets, and none",
		input: `[{"role":"user","content":[{"type":"image","source":{"media_type":"image/png","data":"-_8"}},{"type":"image","source":{"data":"="}},{"type":"image","source":5},
			{"type":"image_url","image_url":{"url":"data:image/svg+xml,abc"}},{"type":"image_url","image_url":{"url":"data:image/png;x=1;base64,AAEC"}},{"type":"image"}]}]`,
		turns: []string{
			`user/image message=message-1 {"media_type":"image/png","data":"+/8="}`, `user/text message=message-1 {"text":"[image left out: it cannot be decoded]"}`,
			`user/text message=message-1 {"text":"[image left out: it cannot be decoded]"}`, `user/text message=message-1 {"text":"[image left out: it cannot be decoded]"}`,
			`user/image message=message-1 {"media_type":"image/png","data":"AAEC"}`, `user/text message=message-1 {"text":"[image left out: it cannot be decoded]"}`,
		},
		losses: []string{"images that cannot be decoded: 4 at message 1 (line 1)"},
	},
	{
		name: "thought alone, hidden thought and a system prompt behind the messages",
		input: `{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"a"},{"type":"thinking","thinking":"b"}]},
			{"role":"assistant","content":[{"type":"redacted_thinking","data":"x"}]},{"role":"system","content":[{"type":"image","source":{"data":"AQ"}}]}],"system":"S"}`,
		turns: []string{
			`agent/text {"text":"[no reply]","thinking":"a\n\nb"}`, `agent/text {"text":"[redacted_thinking left out]"}`,
			`user/text {"text":"[image left out: its media type is unknown]"}`, `system/text {"text":"S"}`,
		},
		losses: []string{
			"images of an unknown media type: 1 at message 3 (line 2)", "images of others than the user: 1 at message 3 (line 2)",
			"parts of an unknown type: 1 at message 2 (line 2)", "system prompts behind the messages: 1 at line 2", "thoughts without a reply: 1 at message 1 (line 1)",
		},
	},
}

// The readers of messages are one: the format that is named does not matter.
func TestMessages(t *testing.T) {
	for _, tt := range messageTests {
		for _, f := range []history.Format{history.OpenAI, history.Anthropic} {
			t.Run(string(f)+"/"+tt.name, func(t *testing.T) {
				w, got := read(t, tt.input, f, history.Options{})
				if diff := cmp.Diff(tt.turns, w.transcript()); diff != "" {
					t.Errorf("turns (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.losses, kinds(got.Report)); diff != "" {
					t.Errorf("losses (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestDetection(t *testing.T) {
	for input, want := range map[string]history.Format{
		`{"sessionId":"x","messages":[]}`:                                      history.Session,
		` [ {"task_id":1,"traj":[]} ]`:                                         history.Tau,
		`{"traj":[],"task_id":1}`:                                              history.Tau,
		`{"role":"user","content":"hi"}`:                                       history.Lines,
		`{"speaker":"Ann","text":"messages"}`:                                  history.Lines,
		`[{"role":"user","content":"the \"traj\": is \"type\":\"tool_use\""}]`: history.OpenAI,
		`[]`:              history.OpenAI,
		`{"messages":[]}`: history.OpenAI,
		`[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]`: history.Anthropic,
		`{"system":"x","messages":[]}`:                                           history.Anthropic,
	} {
		if _, got := read(t, input, "", history.Options{}); got.Format != want {
			t.Errorf("%s is taken for %s, want %s", input, got.Format, want)
		}
	}
}

func TestTimes(t *testing.T) {
	const want = "2024-05-06T07:08:00Z"
	for _, given := range []string{
		`"2024-05-06T07:08:00Z"`, `"2024-05-06T09:08:00.0000001+02:00"`, `"2024-05-06 07:08"`, `"2024-05-06T07:08:00"`,
		`"7:08 am on 6 May, 2024"`, `1714979280`, `1714979280000`, `1714979280.0`,
	} {
		w, got := read(t, `[{"role":"user","content":"hi","timestamp":`+given+`}]`, "", history.Options{})
		if at := w.turns[0].CreatedAt.Format("2006-01-02T15:04:05.999Z07:00"); at != want || len(got.Report.Losses) > 0 {
			t.Errorf("%s is %s, %v", given, at, got.Report.Losses)
		}
		if !got.Header.Started.Equal(w.turns[0].CreatedAt) || !got.Header.LastActivity.Equal(w.turns[0].CreatedAt) {
			t.Errorf("the conversation goes from %v to %v", got.Header.Started, got.Header.LastActivity)
		}
	}
	for _, given := range []string{`"yesterday"`, `-5`, `1e300`, `1e400`, `true`, `"0000-01-01T00:00:00Z"`} {
		_, got := read(t, `[{"role":"user","content":"hi","time":`+given+`}]`, "", history.Options{})
		if diff := cmp.Diff([]string{"times that cannot be read: 1 at message 1 (line 1)"}, kinds(got.Report)); diff != "" {
			t.Errorf("%s: %s", given, diff)
		}
	}
}

func TestLongNames(t *testing.T) {
	long := strings.Repeat("é", 200)
	w, got := read(t, `[{"role":"assistant","tool_calls":[{"id":"`+long+`1","function":{"name":"f","arguments":"{}"}},{"id":"`+long+`2","function":{"name":"f","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"`+long+`2","content":"second"},{"role":"tool","tool_call_id":"`+long+`1","content":"first"}]`, "", history.Options{})
	calls := w.turns[0].Calls()
	lines := w.transcript()
	if !strings.Contains(lines[1], calls[1].ID) || !strings.Contains(lines[1], "second") || !strings.Contains(lines[2], calls[0].ID) || calls[0].ID == calls[1].ID {
		t.Errorf("results went astray: %q", lines)
	}
	if diff := cmp.Diff([]string{"names and ids of more than 256 bytes: 2 at message 1 (line 1)"}, kinds(got.Report)); diff != "" {
		t.Error(diff)
	}
}

// More calls than a turn may hold are several turns of one message.
func TestManyCalls(t *testing.T) {
	w, got := read(t, `[{"role":"assistant","content":"go","tool_calls":[{"id":"a","name":"f"},{"id":"b","name":"f"},{"id":"c","name":"f"}]},
		{"role":"tool","tool_call_id":"c","content":"3"},{"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"b","content":"2"}]`,
		"", history.Options{Limits: turn.Limits{Calls: 2}})
	want := []string{
		`agent/text unit=1 message=message-1 {"text":"go","tool_calls":[{"id":"a","name":"f","arguments":{}},{"id":"b","name":"f","arguments":{}}]}`,
		`agent/text unit=2 message=message-1 {"text":"","tool_calls":[{"id":"c","name":"f","arguments":{}}]}`,
		`system/action unit=2 {"name":"f","call_id":"c","status":"ok","result":"3"}`,
		`system/action unit=1 {"name":"f","call_id":"a","status":"ok","result":"1"}`,
		`system/action unit=1 {"name":"f","call_id":"b","status":"ok","result":"2"}`,
	}
	if diff := cmp.Diff(want, w.transcript()); diff != "" || len(got.Report.Losses) > 0 {
		t.Errorf("%s %v", diff, got.Report.Losses)
	}
}
