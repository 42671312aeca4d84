package history_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/replay/history"
)

// What a message says is in a turn, or in the report, and in that once.
func TestCarriedOrToldOnce(t *testing.T) {
	const (
		call   = `{"role":"assistant","tool_calls":[`
		member = "members that have no place in a turn: 1 at message 1 (line 1)"
		// recorded is what a log has of the bytes 0, 1 and 2.
		recorded = `"sha256":"ae4b3280e56e2faf83f414a6e3dabe9d5fbe18976544c05fed121accb85b53fc","size":3`
		pending  = "calls without a result: 1 at message 1 (line 1)"
	)
	called := func(name, arguments string) []string {
		return []string{
			`agent/text unit=1 {"text":"","tool_calls":[{"id":"a","name":"` + name + `","arguments":` + arguments + `}]}`,
			`system/action unit=1 {"name":"` + name + `","call_id":"a","status":"cancelled","synthetic":true}`,
		}
	}
	for _, tt := range []struct {
		name, message string
		turns         []string
		losses        []string
	}{
		{
			"a custom call", call + `{"id":"a","type":"custom","function":null,"custom":{"name":"run","input":"print(\"1\")"}}]}`,
			called("run", `"print(\"1\")"`), []string{pending, "custom tool calls: 1 at message 1 (line 1)"},
		},
		{
			"a custom call whose input spells JSON", call + `{"id":"a","custom":{"name":"run","input":"{}"}}]}`,
			called("run", `"{}"`), []string{pending, "custom tool calls: 1 at message 1 (line 1)"},
		},
		{
			"what else a call has", call + `{"id":"a","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"x"}}}]}`,
			called("f", `{}`), []string{pending, member},
		},
		{
			"what else a function has", call + `{"id":"a","function":{"name":"f","arguments":"[1]","thought_signature":"x"},"index":null}]}`,
			called("f", `[1]`), []string{pending, member},
		},
		{
			"arguments twice", call + `{"id":"a","name":"f","arguments":{"x":1},"function":{"name":"f","arguments":"{}"}}]}`,
			called("f", `{"x":1}`), []string{pending, member},
		},
		{
			"two names", call + `{"id":"a","name":"f","function":{"name":"g"}}]}`,
			called("f", `{}`), []string{pending, member},
		},
		{
			"an id that is no word", call + `{"id":["a"],"name":"f"}]}`,
			[]string{
				`agent/text unit=1 {"text":"","tool_calls":[{"id":"call-1","name":"f","arguments":{}}]}`,
				`system/action unit=1 {"name":"f","call_id":"call-1","status":"cancelled","synthetic":true}`,
			}, []string{pending, "calls without an id: 1 at message 1 (line 1)", member},
		},
		{
			"content and other parts", `{"role":"user","content":"one","parts":[{"type":"text","text":"two"}]}`,
			[]string{`user/text {"text":"one"}`}, []string{"contents beside another: 1 at message 1 (line 1)"},
		},
		{
			"content and the same in parts", `{"role":"user","content":"one two","parts":[{"type":"text","text":"one "},{"type":"text","text":"two"}]}`,
			[]string{`user/text message=message-1 {"text":"one "}`, `user/text message=message-1 {"text":"two"}`}, nil,
		},
		{
			"parts and the same as content", `{"role":"user","parts":[{"type":"text","text":"one"}],"content":"one"}`,
			[]string{`user/text {"text":"one"}`}, nil,
		},
		{
			"empty content and parts", `{"role":"user","content":"","parts":[{"type":"text","text":"two"}]}`,
			[]string{`user/text {"text":"two"}`}, nil,
		},
		{
			"content and empty parts", `{"role":"user","content":"one","parts":[]}`,
			[]string{`user/text {"text":"one"}`}, nil,
		},
		{
			"thoughts under two names", `{"role":"assistant","content":"yes","reasoning":"a","thinking":"b"}`,
			[]string{`agent/text {"text":"yes","thinking":"a\n\nb"}`}, nil,
		},
		{
			"one thought under two names", `{"role":"assistant","content":"yes","reasoning":"a","thinking":"a"}`,
			[]string{`agent/text {"text":"yes","thinking":"a"}`}, nil,
		},
		{
			"thoughts that are no text", `{"role":"assistant","content":"yes","reasoning":{"summary":"a"}}`,
			[]string{`agent/text {"text":"yes"}`}, []string{member},
		},
		{
			"a text with annotations", `{"role":"user","content":[{"type":"text","text":{"value":"hi","annotations":[]}},{"type":"text","text":{"value":"ho","annotations":[1]}}]}`,
			[]string{`user/text message=message-1 {"text":"hi"}`, `user/text message=message-1 {"text":"ho"}`}, []string{member},
		},
		{
			"a text that is none", `{"role":"user","content":[{"type":"text","text":{"words":"hi","more":1}}]}`,
			[]string{`user/text {"text":"[text left out: it is no string]"}`}, []string{"texts that are no strings: 1 at message 1 (line 1)"},
		},
		{
			"a thought that is none", `{"role":"assistant","content":[{"type":"thinking","thinking":["a"]},{"type":"text","text":"yes"}]}`,
			[]string{`agent/text {"text":"yes","thinking":"[thinking left out: it is no string]"}`}, []string{"texts that are no strings: 1 at message 1 (line 1)"},
		},
		{
			"a text twice in a part", `{"role":"user","content":[{"type":"text","text":"hi","refusal":"no"}]}`,
			[]string{`user/text {"text":"hi"}`}, []string{member},
		},
		{
			"a text with a signature", `{"role":"assistant","content":[{"type":"text","text":"hi","signature":"x"}]}`,
			[]string{`agent/text {"text":"hi"}`}, []string{member},
		},
		{
			"a text with another part's members", `{"role":"user","content":[{"type":"text","text":"hi","source":{"data":"AQ"}}]}`,
			[]string{`user/text {"text":"hi"}`}, []string{member},
		},
		{
			"a recording", `{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AAEC","format":"wav"}}]}`,
			[]string{`user/speech {"transcript":"[recording without a transcript]","audio":{"media_type":"audio/wav",` + recorded + `}}`},
			[]string{"recordings without a transcript: 1 at message 1 (line 1)"},
		},
		{
			"a recording with its words", `{"role":"user","content":[{"type":"text","text":"listen"},{"type":"input_audio","input_audio":{"data":"AAEC","format":"mp3","transcript":"hello"}},{"type":"input_audio","input_audio":{"data":"AAEC","transcript":"ho"}}]}`,
			[]string{
				`user/text message=message-1 {"text":"listen"}`,
				`user/speech message=message-1 {"transcript":"hello","audio":{"media_type":"audio/mpeg",` + recorded + `}}`,
				`user/speech message=message-1 {"transcript":"ho"}`,
			}, []string{"recordings of an unknown format: 1 at message 1 (line 1)"},
		},
		{
			"a broken recording", `{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"!"}},{"type":"input_audio"}]}`,
			[]string{`user/text message=message-1 {"text":"[recording left out: it cannot be decoded]"}`, `user/text message=message-1 {"text":"[recording left out: it cannot be decoded]"}`},
			[]string{"recordings that cannot be decoded: 2 at message 1 (line 1)"},
		},
		{
			"a recording of the system", `{"role":"system","content":[{"type":"input_audio","input_audio":{"data":"AAEC","format":"wav","transcript":"hello","id":"x"}}]}`,
			[]string{`user/speech {"transcript":"hello","audio":{"media_type":"audio/wav",` + recorded + `}}`},
			[]string{member, "recordings of others than the user: 1 at message 1 (line 1)"},
		},
		{
			"an unknown part", `{"role":"user","content":[{"type":"file","file":{"file_data":"AAEC"},"name":{"x":1}}]}`,
			[]string{`user/text {"text":"[file left out]"}`}, []string{"parts of an unknown type: 1 at message 1 (line 1)"},
		},
		{
			"an image with more", `{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"AQ","media_type":"image/png","origin":"x"},"detail":"low"}]}`,
			[]string{`user/image {"media_type":"image/png","data":"AQ=="}`}, []string{member},
		},
		{
			"two images in one part", `{"role":"user","content":[{"type":"image","source":{"data":"AQ","media_type":"image/png"},"image_url":"https://example.com"}]}`,
			[]string{`user/image {"media_type":"image/png","data":"AQ=="}`}, []string{member},
		},
		{
			"two times", `{"role":"user","content":"hi","timestamp":1714979280,"created_at":"2024-05-06T07:08:00Z","time":5}`,
			[]string{`user/text {"text":"hi"}`}, []string{member},
		},
		{
			"what only a tool says", `{"role":"user","content":"hi","tool_call_id":"a"}`,
			[]string{`user/text {"text":"hi"}`}, []string{member},
		},
		{
			"a failure of the user", `{"role":"user","content":"hi","is_error":true,"refusal":"no"}`,
			[]string{`user/text {"text":"hi"}`}, []string{member, "refusals of others than the assistant: 1 at message 1 (line 1)"},
		},
		{
			"the id of a result", `{"role":"tool","id":"m","content":"x","is_error":"yes"}`,
			[]string{`system/text {"text":"[result of a call that is not in this conversation] x"}`},
			[]string{"members that have no place in a turn: 2 at message 1 (line 1)", "results of no open call: 1 at message 1 (line 1)"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, got := read(t, "["+tt.message+"]", history.OpenAI, history.Options{})
			if diff := cmp.Diff(tt.turns, w.transcript()); diff != "" {
				t.Errorf("turns (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.losses, kinds(got.Report)); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
		})
	}
}

// Beside the messages, and in documents and lines of our own, too.
func TestToldOnceElsewhere(t *testing.T) {
	for name, tt := range map[string]struct {
		input  string
		losses []string
	}{
		"a model that is an object": {`{"model":{"id":"m"},"messages":[{"role":"user","content":"hi"}]}`, []string{"members beside the messages: 1 at line 1"}},
		"a speaker's id": {`{"speaker":"Ann","text":"hi","id":[1],"session":{"x":1}}`,
			[]string{"members that have no place in a turn: 2 at line 1", "names of speakers: 1 at line 1"}},
		"a foreign message in a document of ours": {`{"sessionId":"x","turnstone":1,"messages":[{"role":"user","parts":[{"type":"text","text":"hi"}],"mood":"good"}]}`,
			[]string{"members that have no place in a turn: 1 at message 1 (line 1)"}},
		"a message of ours with more": {`{"sessionId":"x","turnstone":1,"messages":[{"role":"user","parts":[{"type":"text","text":"hi"}],"turnstone":{"seq":1,"form":"text"},"mood":"good"}]}`,
			[]string{"members that have no place in a turn: 1 at message 1 (line 1)"}},
		"a call of a session document": {`{"sessionId":"x","messages":[],"toolCalls":[{"id":"a","name":{"x":1},"result":1}]}`,
			[]string{"members that have no place in a turn: 1 at tool call 1 (line 1)", "tools without a name: 1 at tool call 1 (line 1)"}},
	} {
		if _, got := read(t, tt.input, "", history.Options{}); cmp.Diff(tt.losses, kinds(got.Report)) != "" {
			t.Errorf("%s: %q", name, kinds(got.Report))
		}
	}
}
