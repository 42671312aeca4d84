package turn_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/turn"
)

const pngHash = "8f8cbb7dcf46e0bc7d53265749a6c17d116093a6ba95e442764060c76fd4a86c"

// written is content and its JSON. What is written once is read for ever: lines are added, never
// changed.
var written = []struct {
	role    turn.Role
	form    turn.Form
	content turn.Content
	json    string
	find    string // what is searched
}{
	{turn.User, turn.FormText, turn.Text{Text: "hello"}, `{"text":"hello"}`, "hello"},
	{turn.System, turn.FormText, turn.Text{Text: "<é>\u2028\"\\\n\t\x01/🎉"}, `{"text":"<é>` + "\u2028" + `\"\\\n\t\u0001/🎉"}`, "<é>\u2028\"\\\n\t\x01/🎉"},
	{turn.Agent, turn.FormText, turn.Text{Text: "a", Thinking: "b"}, `{"text":"a","thinking":"b"}`, "a"},
	{
		turn.Agent, turn.FormText,
		turn.Text{ToolCalls: []turn.ToolCall{{ID: "1", Name: "f", Arguments: `{"x": 1e400}`}, {ID: "2", Name: "g", Arguments: "[\n]"}}},
		`{"text":"","tool_calls":[{"id":"1","name":"f","arguments":{"x": 1e400}},{"id":"2","name":"g","arguments":[` + "\n" + `]}]}`,
		"f\n{\"x\": 1e400}\ng\n[\n]",
	},
	{
		turn.Agent, turn.FormText, turn.Text{Text: "t", Thinking: "h", ToolCalls: []turn.ToolCall{{ID: "1", Name: "f", Arguments: `null`}}},
		`{"text":"t","thinking":"h","tool_calls":[{"id":"1","name":"f","arguments":null}]}`, "t\nf\nnull",
	},
	{turn.User, turn.FormSpeech, turn.Speech{Transcript: "hi"}, `{"transcript":"hi"}`, "hi"},
	{
		turn.User, turn.FormSpeech,
		turn.Speech{
			Transcript: "hi", Language: "en", Confidence: new(0.25),
			Audio: &turn.Audio{MediaType: "audio/ogg", Blob: turn.Blob{SHA256: pngHash, Size: 3}},
		},
		`{"transcript":"hi","language":"en","confidence":0.25,"audio":{"media_type":"audio/ogg","sha256":"` + pngHash + `","size":3}}`, "hi",
	},
	{turn.User, turn.FormSpeech, turn.Speech{Transcript: "hi", Confidence: new(0.0)}, `{"transcript":"hi","confidence":0}`, "hi"},
	{turn.User, turn.FormSpeech, turn.Speech{Transcript: "hi", Confidence: new(1e-7)}, `{"transcript":"hi","confidence":1e-07}`, "hi"},
	{
		turn.User, turn.FormImage, turn.Image{MediaType: "image/png", Alt: "a cat", Blob: turn.Blob{SHA256: pngHash, Size: 3}},
		`{"media_type":"image/png","alt":"a cat","sha256":"` + pngHash + `","size":3}`, "a cat",
	},
	{turn.User, turn.FormImage, turn.Image{MediaType: "image/png", Blob: turn.Blob{Data: []byte("png")}}, `{"media_type":"image/png","data":"cG5n"}`, ""},
	{turn.User, turn.FormAction, turn.Action{Name: "click"}, `{"name":"click"}`, "click"},
	{
		turn.System, turn.FormAction, turn.Action{Name: "click", Target: "#ok", Payload: `{ }`},
		`{"name":"click","target":"#ok","payload":{ }}`, "click\n#ok\n{ }",
	},
	{
		turn.System, turn.FormAction, turn.Result{Name: "f", CallID: "1", Status: turn.CallOK, Result: `"a\/b"`},
		`{"name":"f","call_id":"1","status":"ok","result":"a\/b"}`, "f\n\"a\\/b\"",
	},
	{
		turn.System, turn.FormAction, turn.Result{Name: "f", CallID: "1", Status: turn.CallCancelled, Synthetic: true},
		`{"name":"f","call_id":"1","status":"cancelled","synthetic":true}`, "f",
	},
	{turn.System, turn.FormAction, turn.Result{Name: "f", CallID: "1", Status: turn.CallError}, `{"name":"f","call_id":"1","status":"error"}`, "f"},
}

func TestContentIsWrittenAndReadAsItAlwaysWas(t *testing.T) {
	for _, c := range written {
		same(t, "JSON", string(turn.AppendContent([]byte("before"), c.content)), "before"+c.json)
		got, err := turn.DecodeContent(c.role, c.form, c.json)
		if err != nil {
			t.Errorf("%s: %v", c.json, err)
			continue
		}
		same(t, c.json, got, c.content)
		same(t, "searchable", c.content.Searchable(), c.find)
	}
}

func TestContentMayBeWrittenInAnyOrderAndSpacing(t *testing.T) {
	for _, c := range []struct {
		role turn.Role
		form turn.Form
		json string
		want turn.Content
	}{
		{turn.Agent, turn.FormText, " {\n\"thinking\" : \"b\", \"te\\u0078t\":\"\\u0061\" }\n", turn.Text{Text: "a", Thinking: "b"}},
		{turn.Agent, turn.FormText, `{"tool_calls":[],"text":"a"}`, turn.Text{Text: "a"}},
		{turn.Agent, turn.FormText, `{"tool_calls":[{"arguments": [ 1 ] ,"name":"f","id":"1"}]}`, turn.Text{ToolCalls: []turn.ToolCall{{ID: "1", Name: "f", Arguments: "[ 1 ]"}}}},
		{turn.System, turn.FormAction, `{"status":"ok","call_id":"1","name":"f"}`, turn.Result{Name: "f", CallID: "1", Status: turn.CallOK}},
		{turn.User, turn.FormImage, `{"data":"cG5n","media_type":"image/png","alt":""}`, turn.Image{MediaType: "image/png", Blob: turn.Blob{Data: []byte("png")}}},
	} {
		got, err := turn.DecodeContent(c.role, c.form, c.json)
		if err != nil {
			t.Errorf("%s: %v", c.json, err)
			continue
		}
		same(t, c.json, got, c.want)
	}
}

func TestAnyContentReadsBackAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		role := rapid.SampledFrom([]turn.Role{turn.User, turn.Agent, turn.System}).Draw(t, "role")
		c := turngen.Content(role).Draw(t, "content")
		json := string(turn.AppendContent(nil, c))
		got, err := turn.DecodeContent(role, formOf(c), json)
		if err != nil {
			t.Fatalf("%s: %v", json, err)
		}
		same(t, json, got, c)
		same(t, "written again", string(turn.AppendContent(nil, got)), json)
	})
}

func formOf(c turn.Content) turn.Form {
	switch c.(type) {
	case turn.Speech:
		return turn.FormSpeech
	case turn.Image:
		return turn.FormImage
	case turn.Action, turn.Result:
		return turn.FormAction
	default:
		return turn.FormText
	}
}

func TestSealReplacesBytesByTheirHashAndLeavesTheDraftAlone(t *testing.T) {
	b := newBook(t)
	data := []byte("png")
	image := turn.Image{MediaType: "image/png", Blob: turn.Blob{Data: data}}
	speech := turn.Speech{Transcript: "hi", Audio: &turn.Audio{MediaType: "audio/ogg", Blob: turn.Blob{Data: data, SHA256: pngHash}}}
	turns := b.append(t, turn.Draft{Role: turn.User, Content: image}, turn.Draft{Role: turn.User, Content: speech})
	want := turn.Blob{SHA256: pngHash, Size: 3}
	for _, u := range turns {
		got, ok := turn.BlobOf(u.Content)
		if !ok {
			t.Fatalf("turn %d names no bytes", u.Seq)
		}
		same(t, "blob", got, want)
	}
	if image.Data == nil || speech.Audio.Data == nil {
		t.Error("the draft lost its bytes")
	}
	if _, ok := turn.BlobOf(turn.Speech{Transcript: "no audio"}); ok {
		t.Error("speech without audio names bytes")
	}
	if _, ok := turn.BlobOf(turn.Text{Text: "x"}); ok {
		t.Error("text names bytes")
	}
}

func TestWhiteSpaceAroundRawJSONIsNoPartOfIt(t *testing.T) {
	b := newBook(t)
	calls := []turn.ToolCall{{ID: "1", Name: "f", Arguments: "\t{ \"a\": [ ] }\r\n"}}
	turns := b.append(t, turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: calls}},
		turn.Draft{Role: turn.System, Content: turn.Result{Name: "f", CallID: "1", Status: turn.CallOK, Result: " 1\n"}},
		turn.Draft{Role: turn.User, Content: turn.Action{Name: "f", Payload: "\n{}"}})
	want := []turn.Content{
		turn.Text{ToolCalls: []turn.ToolCall{{ID: "1", Name: "f", Arguments: `{ "a": [ ] }`}}},
		turn.Result{Name: "f", CallID: "1", Status: turn.CallOK, Result: "1"},
		turn.Action{Name: "f", Payload: "{}"},
	}
	for i, u := range turns {
		same(t, "content", u.Content, want[i])
	}
	same(t, "the caller's own", calls[0].Arguments, "\t{ \"a\": [ ] }\r\n")
}
