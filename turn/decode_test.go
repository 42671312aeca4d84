package turn_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/turn"
)

func checkDraft(t *testing.T, check func(tester, turn.Draft)) {
	rapid.Check(t, func(t *rapid.T) { check(t, turngen.Draft(1).Draw(t, "draft")) })
}

func TestDecodeNamesTheFieldThatIsWrong(t *testing.T) {
	for _, c := range []struct {
		rule    string
		role    turn.Role
		form    turn.Form
		json    string
		field   string
		problem string
	}{
		{"nothing", turn.User, turn.FormText, ``, "content", "an object"},
		{"no object", turn.User, turn.FormText, `"hello"`, "content", "an object"},
		{"cut off", turn.User, turn.FormText, `{"text":"hello"`, "content", "offset"},
		{"more after it", turn.User, turn.FormText, `{"text":"hello"}{}`, "content", "nothing after"},
		{"not UTF-8", turn.User, turn.FormText, "{\"text\":\"\xff\"}", "content", "offset"},
		{"half a pair", turn.User, turn.FormText, `{"text":"\ud800"}`, "content.text", "half of a surrogate pair"},
		{"unknown field", turn.User, turn.FormText, `{"text":"x","colour":1}`, "content.colour", "is not a field"},
		{"wrong case", turn.User, turn.FormText, `{"Text":"x"}`, "content.Text", "is not a field"},
		{"field of another form", turn.User, turn.FormText, `{"transcript":"x"}`, "content.transcript", "is not a field"},
		{"field twice", turn.User, turn.FormText, `{"text":"x","text":"y"}`, "content", `member "text" appears twice`},
		{"field twice, escaped", turn.User, turn.FormText, `{"text":"x","te\u0078t":"y"}`, "content", `member "text" appears twice`},
		{"null", turn.User, turn.FormText, `{"text":null}`, "content.text", "expected a string, found null"},
		{"number for text", turn.User, turn.FormText, `{"text":1}`, "content.text", "expected a string, found a number"},
		{"thinking no text", turn.Agent, turn.FormText, `{"thinking":[]}`, "content.thinking", "expected a string, found an array"},
		{"calls no list", turn.Agent, turn.FormText, `{"tool_calls":{}}`, "content.tool_calls", "an array"},
		{"call no object", turn.Agent, turn.FormText, `{"tool_calls":[1]}`, "content.tool_calls[0]", "an object"},
		{"call with an unknown field", turn.Agent, turn.FormText, `{"tool_calls":[{"ID":"1"}]}`, "content.tool_calls[0].ID", "is not a field"},
		{"call id no text", turn.Agent, turn.FormText, `{"tool_calls":[{"id":1}]}`, "content.tool_calls[0].id", "expected a string"},
		{"call name no text", turn.Agent, turn.FormText, `{"tool_calls":[{"name":1}]}`, "content.tool_calls[0].name", "expected a string"},

		{"transcript no text", turn.User, turn.FormSpeech, `{"transcript":1}`, "content.transcript", "expected a string"},
		{"language no text", turn.User, turn.FormSpeech, `{"language":1}`, "content.language", "expected a string"},
		{"confidence no number", turn.User, turn.FormSpeech, `{"confidence":"1"}`, "content.confidence", "expected a number"},
		{"confidence too large", turn.User, turn.FormSpeech, `{"confidence":1e999}`, "content.confidence", "expected a number of 64 bits"},
		{"audio no object", turn.User, turn.FormSpeech, `{"audio":"x"}`, "content.audio", "an object"},
		{"audio with an unknown field", turn.User, turn.FormSpeech, `{"audio":{"alt":"x"}}`, "content.audio.alt", "is not a field"},
		{"audio data no base64", turn.User, turn.FormSpeech, `{"audio":{"data":"!"}}`, "content.audio.data", "base64"},
		{"audio type no text", turn.User, turn.FormSpeech, `{"audio":{"media_type":1}}`, "content.audio.media_type", "expected a string"},
		{"speech with an unknown field", turn.User, turn.FormSpeech, `{"text":"x"}`, "content.text", "is not a field"},

		{"image data no base64", turn.User, turn.FormImage, `{"data":"cG5"}`, "content.data", "base64"},
		{"image data no text", turn.User, turn.FormImage, `{"data":1}`, "content.data", "expected a string"},
		{"image hash no text", turn.User, turn.FormImage, `{"sha256":1}`, "content.sha256", "expected a string"},
		{"image size no whole number", turn.User, turn.FormImage, `{"size":1.5}`, "content.size", "whole number"},
		{"image type no text", turn.User, turn.FormImage, `{"media_type":1}`, "content.media_type", "expected a string"},
		{"alt no text", turn.User, turn.FormImage, `{"alt":1}`, "content.alt", "expected a string"},
		{"image with an unknown field", turn.User, turn.FormImage, `{"audio":{}}`, "content.audio", "is not a field"},

		{"name no text", turn.User, turn.FormAction, `{"name":1}`, "content.name", "expected a string"},
		{"target no text", turn.User, turn.FormAction, `{"target":1}`, "content.target", "expected a string"},
		{"action with an unknown field", turn.User, turn.FormAction, `{"text":"x"}`, "content.text", "is not a field"},
		{"call_id no text", turn.System, turn.FormAction, `{"call_id":1}`, "content.call_id", "expected a string"},
		{"status no text", turn.System, turn.FormAction, `{"status":1}`, "content.status", "expected a string"},
		{"synthetic neither true nor false", turn.System, turn.FormAction, `{"synthetic":"true"}`, "content.synthetic", "true or false"},
		{"result with a target", turn.System, turn.FormAction, `{"call_id":"1","target":"x"}`, "content", "a tool result has neither"},
		{"result with a payload", turn.System, turn.FormAction, `{"call_id":"1","payload":{}}`, "content", "a tool result has neither"},
		{"status without a call", turn.System, turn.FormAction, `{"name":"f","status":"ok"}`, "content.call_id", "is missing"},
		{"result without a call", turn.System, turn.FormAction, `{"name":"f","result":1}`, "content.call_id", "is missing"},
		{"synthetic without a call", turn.System, turn.FormAction, `{"name":"f","synthetic":true}`, "content.call_id", "is missing"},
	} {
		_, err := turn.DecodeContent(c.role, c.form, c.json)
		refused(t, c.rule, err, c.field, c.problem)
	}
}

// lines are turns as they were written once. They are read for ever: lines are added, never changed.
var lines = []struct {
	json string
	turn turn.Turn
}{
	{
		`{"turn_id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","seq":1,"role":"user","form":"text","content":{"text":"hi"},"created_at":"2024-02-29T12:00:00.123456Z"}`,
		turn.Turn{ID: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Seq: 1, Role: turn.User, Form: turn.FormText, Kind: turn.KindTurn, Content: turn.Text{Text: "hi"}, CreatedAt: noon},
	},
	{
		`{"turn_id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","session_id":"s","seq":7,"role":"system","form":"text","kind":"summary","content":{"text":"so far"},` +
			`"created_at":"2024-02-29T12:00:00.123456Z","message_id":"m","idempotency_key":"k","covers":[2,5],"meta":{"tokens":9,"model":"m-1","latency_us":1234}}`,
		turn.Turn{
			ID: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Session: "s", Seq: 7, Role: turn.System, Form: turn.FormText, Kind: turn.KindSummary,
			Content: turn.Text{Text: "so far"}, CreatedAt: noon, MessageID: "m", IdempotencyKey: "k", Covers: turn.Range{From: 2, To: 5},
			Meta: turn.Meta{Tokens: 9, Model: "m-1", Latency: 1234000},
		},
	},
	{
		`{"turn_id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","seq":3,"role":"system","form":"action","content":{"name":"f","call_id":"1","status":"ok","result":{ "a":1e400 }},` +
			`"created_at":"2024-02-29T12:00:00.123456Z","unit":2,"meta":{"latency_us":1,"interrupted":true}}`,
		turn.Turn{
			ID: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Seq: 3, Role: turn.System, Form: turn.FormAction, Kind: turn.KindTurn, CreatedAt: noon, Unit: 2,
			Content: turn.Result{Name: "f", CallID: "1", Status: turn.CallOK, Result: `{ "a":1e400 }`}, Meta: turn.Meta{Latency: 1000, Interrupted: true},
		},
	},
	{
		`{"turn_id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","seq":4,"role":"user","form":"action","content_text":"{\"name\":\"f\",\"payload\":[\r\n]}","created_at":"2024-02-29T12:00:00.123456Z"}`,
		turn.Turn{
			ID: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Seq: 4, Role: turn.User, Form: turn.FormAction, Kind: turn.KindTurn, CreatedAt: noon,
			Content: turn.Action{Name: "f", Payload: "[\r\n]"},
		},
	},
}

func TestTurnsAreWrittenAndReadAsTheyAlwaysWere(t *testing.T) {
	for _, l := range lines {
		same(t, "JSON", string(l.turn.AppendJSON([]byte("before"))), "before"+l.json)
		got, err := turn.DecodeTurn(l.json)
		if err != nil {
			t.Errorf("%s: %v", l.json, err)
			continue
		}
		same(t, l.json, got, l.turn)
	}
}

func TestDecodeTurnNamesTheFieldThatIsWrong(t *testing.T) {
	for _, c := range []struct{ rule, json, field, problem string }{
		{"nothing", ``, "turn", "an object"},
		{"unknown field", `{"colour":1}`, "turn.colour", "is not a field"},
		{"wrong case", `{"Seq":1}`, "turn.Seq", "is not a field"},
		{"field twice", `{"seq":1,"seq":1}`, "turn", "appears twice"},
		{"id no text", `{"turn_id":1}`, "turn.turn_id", "expected a string"},
		{"session no text", `{"session_id":1}`, "turn.session_id", "expected a string"},
		{"seq no number", `{"seq":"1"}`, "turn.seq", "expected a number"},
		{"seq no whole number", `{"seq":1e1}`, "turn.seq", "whole number"},
		{"role no text", `{"role":1}`, "turn.role", "expected a string"},
		{"form no text", `{"form":1}`, "turn.form", "expected a string"},
		{"kind no text", `{"kind":1}`, "turn.kind", "expected a string"},
		{"time no text", `{"created_at":1}`, "turn.created_at", "expected a string"},
		{"time of another zone", `{"created_at":"2024-02-29T12:00:00.123456+01:00"}`, "turn.created_at", "parsing time"},
		{"time of another precision", `{"created_at":"2024-02-29T12:00:00Z"}`, "turn.created_at", "parsing time"},
		{"unit no number", `{"unit":null}`, "turn.unit", "expected a number"},
		{"message no text", `{"message_id":1}`, "turn.message_id", "expected a string"},
		{"key no text", `{"idempotency_key":1}`, "turn.idempotency_key", "expected a string"},
		{"covers no list", `{"covers":1}`, "turn.covers", "an array"},
		{"covers one", `{"covers":[1]}`, "covers", "1 numbers"},
		{"covers text", `{"covers":["1","2"]}`, "turn.covers", "expected a number"},
		{"meta no object", `{"meta":1}`, "meta", "an object"},
		{"meta with an unknown field", `{"meta":{"cost":1}}`, "meta.cost", "is not a field"},
		{"tokens no number", `{"meta":{"tokens":"1"}}`, "meta.tokens", "expected a number"},
		{"model no text", `{"meta":{"model":1}}`, "meta.model", "expected a string"},
		{"latency no number", `{"meta":{"latency_us":"1"}}`, "meta.latency_us", "expected a number"},
		{"latency past all bounds", `{"meta":{"latency_us":9223372036854775807}}`, "meta.latency_us", "out of range"},
		{"unknown role", `{"role":"robot","form":"text","content":{"text":"x"}}`, "role", "robot"},
		{"no content", `{"role":"user","form":"text"}`, "content", "an object"},
		{"content of another form", `{"role":"user","form":"text","content":{"transcript":"x"}}`, "content.transcript", "is not a field"},
		{"content given twice", `{"role":"user","form":"text","content":{"text":"x"},"content_text":"{\"text\":\"y\"}"}`, "turn.content_text", "stands beside the other"},
		{"content text no text", `{"content_text":{}}`, "turn.content_text", "expected a string"},
	} {
		_, err := turn.DecodeTurn(c.json)
		refused(t, c.rule, err, c.field, c.problem)
	}
}

// However text is written down, the same is read, and nothing but it.
func TestTextIsReadHoweverItIsWritten(t *testing.T) {
	for _, c := range []struct {
		json string
		want turn.Text
	}{
		{`{"text":"x"}`, turn.Text{Text: "x"}},
		{`{"text":""}`, turn.Text{}},
		{`{"text":"a\n\"}\u00e9"}`, turn.Text{Text: "a\n\"}é"}},
		{` {"text":"x"} `, turn.Text{Text: "x"}},
		{`{ "text" : "x" }`, turn.Text{Text: "x"}},
		{`{"text": "x"}`, turn.Text{Text: "x"}},
		{`{"text":"x" }`, turn.Text{Text: "x"}},
		{`{"te\u0078t":"x"}`, turn.Text{Text: "x"}},
		{`{"text":"x","thinking":"{\"text\":\"y\"}"}`, turn.Text{Text: "x", Thinking: `{"text":"y"}`}},
		{`{"thinking":"y","text":"x"}`, turn.Text{Text: "x", Thinking: "y"}},
	} {
		got, err := turn.DecodeContent(turn.Agent, turn.FormText, c.json)
		if diff := cmp.Diff(turn.Content(c.want), got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", c.json, err, diff)
		}
	}
	for _, json := range []string{
		`{"text":"x"}}`, `{"text":"x"`, `{"text":"x"}"}`, `{"text":"x""}`, `{"text":"x\"}`, `{"text":"x"y"}`, "{\"text\":\"a\nb\"}",
		`{"text":}`, `{"text":{}}`, `{"text":"x","text":"x"}`, `{"text":"\ud800"}`, "{\"text\":\"\xff\"}",
	} {
		if got, err := turn.DecodeContent(turn.Agent, turn.FormText, json); err == nil {
			t.Errorf("%s is read as %+v", json, got)
		}
	}
}

func TestDecodeDraftNamesTheFieldThatIsWrong(t *testing.T) {
	for _, c := range []struct{ rule, json, field, problem string }{
		{"unknown field", `{"role":"user","txt":"x"}`, "txt", "is not a field"},
		{"text and content", `{"role":"user","text":"x","content":{"text":"x"}}`, "content", "stands beside the other"},
		{"content and text", `{"role":"user","content":{"text":"x"},"text":"x"}`, "text", "stands beside the other"},
		{"neither", `{"role":"user"}`, "content", "is missing"},
		{"text no text", `{"role":"user","text":null}`, "content.text", "expected a string, found null"},
	} {
		_, err := turn.DecodeDraft(c.json)
		refused(t, c.rule, err, c.field, c.problem)
	}
}
