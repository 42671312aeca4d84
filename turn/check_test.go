package turn_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/turn"
)

func long(n int) string { return strings.Repeat("x", n) }

func call(id, name, arguments string) turn.Text {
	return turn.Text{ToolCalls: []turn.ToolCall{{ID: id, Name: name, Arguments: arguments}}}
}

func TestSealNamesTheFieldThatIsWrong(t *testing.T) {
	png := turn.Blob{Data: []byte("png")}
	audio := func(a turn.Audio) turn.Speech { return turn.Speech{Transcript: "x", Audio: &a} }
	bounds := turn.Limits{Text: 1000, Blob: 10, Calls: 2}
	for _, c := range []struct {
		rule    string
		role    turn.Role
		content turn.Content
		field   string
		problem string
	}{
		{"no content", turn.User, nil, "content", "is missing"},
		{"unknown role", "robot", turn.Text{Text: "x"}, "role", "robot"},

		{"empty text", turn.User, turn.Text{}, "content.text", "is empty"},
		{"empty text of an agent that only thinks", turn.Agent, turn.Text{Thinking: "hm"}, "content.text", "is empty"},
		{"text not UTF-8", turn.User, turn.Text{Text: "a\xff"}, "content.text", "not valid UTF-8"},
		{"text cut in a character", turn.User, turn.Text{Text: "é"[:1]}, "content.text", "not valid UTF-8"},
		{"text with NUL", turn.User, turn.Text{Text: "a\x00b"}, "content.text", "NUL"},
		{"thinking not UTF-8", turn.Agent, turn.Text{Text: "a", Thinking: "\xff"}, "content.thinking", "not valid UTF-8"},
		{"thinking with NUL", turn.Agent, turn.Text{Text: "a", Thinking: "\x00"}, "content.thinking", "NUL"},
		{"thinking user", turn.User, turn.Text{Text: "a", Thinking: "b"}, "content", "role user may not think"},
		{"calling user", turn.User, call("1", "f", "{}"), "content", "role user may not think or call"},
		{"calling system", turn.System, call("1", "f", "{}"), "content", "role system may not think or call"},

		{"call without id", turn.Agent, call("", "f", "{}"), "content.tool_calls[0].id", "is missing"},
		{"call id too long", turn.Agent, call(long(257), "f", "{}"), "content.tool_calls[0].id", "257 bytes, at most 256"},
		{"call id not UTF-8", turn.Agent, call("\xff", "f", "{}"), "content.tool_calls[0].id", "not valid UTF-8"},
		{"call id with NUL", turn.Agent, call("\x00", "f", "{}"), "content.tool_calls[0].id", "NUL"},
		{"call without name", turn.Agent, call("1", "", "{}"), "content.tool_calls[0].name", "is missing"},
		{"call name too long", turn.Agent, call("1", long(257), "{}"), "content.tool_calls[0].name", "257 bytes"},
		{"call name not UTF-8", turn.Agent, call("1", "\xff", "{}"), "content.tool_calls[0].name", "not valid UTF-8"},
		{"no arguments", turn.Agent, call("1", "f", ""), "content.tool_calls[0].arguments", "is missing"},
		{"arguments no JSON", turn.Agent, call("1", "f", "{x}"), "content.tool_calls[0].arguments", "offset 1"},
		{"arguments with more after them", turn.Agent, call("1", "f", "{} {}"), "content.tool_calls[0].arguments", "offset 3"},
		{"arguments with NUL", turn.Agent, call("1", "f", "\"\x00\""), "content.tool_calls[0].arguments", "offset"},
		{"arguments not UTF-8", turn.Agent, call("1", "f", "\"\xff\""), "content.tool_calls[0].arguments", "offset"},
		{
			"a call id twice", turn.Agent, turn.Text{ToolCalls: []turn.ToolCall{{ID: "1", Name: "f", Arguments: "{}"}, {ID: "1", Name: "g", Arguments: "{}"}}},
			"content.tool_calls[1].id", `"1" stands twice`,
		},
		{"too many calls", turn.Agent, turn.Text{ToolCalls: make([]turn.ToolCall, 3)}, "content.tool_calls", "3 calls, at most 2"},
		{"text too long", turn.User, turn.Text{Text: long(1001)}, "content", "1001 bytes, at most 1000"},
		{"text and thinking together too long", turn.Agent, turn.Text{Text: long(500), Thinking: long(501)}, "content", "1001 bytes"},
		{
			"text and arguments together too long", turn.Agent,
			turn.Text{Text: long(996), ToolCalls: []turn.ToolCall{{ID: "1", Name: "f", Arguments: "[1]"}, {ID: "2", Name: "f", Arguments: "{}"}}},
			"content", "1001 bytes",
		},

		{"empty transcript", turn.User, turn.Speech{}, "content.transcript", "is empty"},
		{"transcript too long", turn.User, turn.Speech{Transcript: long(1001)}, "content.transcript", "1001 bytes, at most 1000"},
		{"transcript not UTF-8", turn.User, turn.Speech{Transcript: "\xff"}, "content.transcript", "not valid UTF-8"},
		{"transcript with NUL", turn.User, turn.Speech{Transcript: "\x00"}, "content.transcript", "NUL"},
		{"language too long", turn.User, turn.Speech{Transcript: "x", Language: long(257)}, "content.language", "257 bytes"},
		{"language not UTF-8", turn.User, turn.Speech{Transcript: "x", Language: "\xff"}, "content.language", "not valid UTF-8"},
		{"confidence below 0", turn.User, turn.Speech{Transcript: "x", Confidence: new(-0.1)}, "content.confidence", "-0.1 is out of range"},
		{"confidence above 1", turn.User, turn.Speech{Transcript: "x", Confidence: new(1.1)}, "content.confidence", "1.1"},
		{"confidence not a number", turn.User, turn.Speech{Transcript: "x", Confidence: new(math.NaN())}, "content.confidence", "NaN"},
		{"audio of no type", turn.User, audio(turn.Audio{Blob: png}), "content.audio.media_type", "is missing"},
		{"audio of nothing", turn.User, audio(turn.Audio{MediaType: "audio/ogg"}), "content.audio.data", "is missing"},
		{"audio of no bytes", turn.User, audio(turn.Audio{MediaType: "audio/ogg", Blob: turn.Blob{Data: []byte{}}}), "content.audio.data", "is empty"},
		{"audio too long", turn.User, audio(turn.Audio{MediaType: "audio/ogg", Blob: turn.Blob{Data: make([]byte, 11)}}), "content.audio.data", "11 bytes, at most 10"},
		{"audio of another hash", turn.User, audio(turn.Audio{MediaType: "audio/ogg", Blob: turn.Blob{Data: []byte("x"), SHA256: pngHash}}), "content.audio.sha256", "the data's hash is 2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"},

		{"image of no type", turn.User, turn.Image{Blob: png}, "content.media_type", "is missing"},
		{"image type too long", turn.User, turn.Image{MediaType: long(257), Blob: png}, "content.media_type", "257 bytes"},
		{"image of nothing", turn.User, turn.Image{MediaType: "image/png"}, "content.data", "is missing"},
		{"image of no bytes", turn.User, turn.Image{MediaType: "image/png", Blob: turn.Blob{Data: []byte{}}}, "content.data", "is empty"},
		{"image of a bad hash", turn.User, turn.Image{MediaType: "image/png", Blob: turn.Blob{SHA256: strings.ToUpper(pngHash)}}, "content.data", "is missing"},
		{"image of a short hash", turn.User, turn.Image{MediaType: "image/png", Blob: turn.Blob{SHA256: pngHash[:63]}}, "content.data", "is missing"},
		{"image too large", turn.User, turn.Image{MediaType: "image/png", Blob: turn.Blob{Data: make([]byte, 11)}}, "content.data", "11 bytes, at most 10"},
		{"image of another hash", turn.User, turn.Image{MediaType: "image/png", Blob: turn.Blob{Data: []byte("x"), SHA256: pngHash}}, "content.sha256", "the data's hash is"},
		{"alt too long", turn.User, turn.Image{MediaType: "image/png", Alt: long(1001), Blob: png}, "content.alt", "1001 bytes"},
		{"alt not UTF-8", turn.User, turn.Image{MediaType: "image/png", Alt: "\xff", Blob: png}, "content.alt", "not valid UTF-8"},

		{"action of no name", turn.User, turn.Action{Target: "x"}, "content.name", "is missing"},
		{"action name too long", turn.User, turn.Action{Name: long(257)}, "content.name", "257 bytes"},
		{"action too long", turn.User, turn.Action{Name: "x", Target: long(998), Payload: "[1]"}, "content", "1001 bytes"},
		{"target with NUL", turn.User, turn.Action{Name: "x", Target: "\x00"}, "content.target", "NUL"},
		{"payload no JSON", turn.User, turn.Action{Name: "x", Payload: "x"}, "content.payload", "offset 0"},

		{"result of a user", turn.User, turn.Result{Name: "f", CallID: "1", Status: turn.CallOK}, "content.call_id", "role user may not give tool results"},
		{"result of no name", turn.System, turn.Result{CallID: "1", Status: turn.CallOK}, "content.name", "is missing"},
		{"result of no call", turn.System, turn.Result{Name: "f", Status: turn.CallOK}, "content.call_id", "is missing"},
		{"result call too long", turn.System, turn.Result{Name: "f", CallID: long(257), Status: turn.CallOK}, "content.call_id", "257 bytes"},
		{"result of no status", turn.System, turn.Result{Name: "f", CallID: "1"}, "content.status", `"" is not a status`},
		{"result of another status", turn.System, turn.Result{Name: "f", CallID: "1", Status: "done"}, "content.status", `"done" is not a status`},
		{"result too long", turn.System, turn.Result{Name: "f", CallID: "1", Status: turn.CallOK, Result: `"` + long(999) + `"`}, "content.result", "1001 bytes, at most 1000"},
		{"result no JSON", turn.System, turn.Result{Name: "f", CallID: "1", Status: turn.CallOK, Result: "ok"}, "content.result", "offset 0"},
	} {
		d := turn.Draft{ID: turngen.ID(1), Role: c.role, Content: c.content}
		_, err := d.Seal(bounds)
		refused(t, c.rule, err, c.field, c.problem)
		sameAsSeal(t, c.rule, d.Check(bounds), err)
	}
}

func TestSealNamesWhatIsWrongAroundTheContent(t *testing.T) {
	for _, c := range []struct {
		rule    string
		change  func(*turn.Draft)
		field   string
		problem string
	}{
		{"no id", func(d *turn.Draft) { d.ID = "" }, "turn_id", `"" is not a ULID`},
		{"a short id", func(d *turn.Draft) { d.ID = d.ID[1:] }, "turn_id", "is not a ULID"},
		{"an id in lower case", func(d *turn.Draft) { d.ID = strings.ToLower("01ARZ3NDEKTSV4RRFFQ69G5FAV") }, "turn_id", "is not a ULID"},
		{"unknown kind", func(d *turn.Draft) { d.Kind = "sort" }, "kind", `"sort" is not a kind`},
		{"an ordinary turn that covers", func(d *turn.Draft) { d.Covers = turn.Range{From: 1, To: 2} }, "covers", "only a summary"},
		{"a summary that covers nothing", func(d *turn.Draft) { d.Kind = turn.KindSummary }, "covers", "0–0 is no range"},
		{"a summary from 0", func(d *turn.Draft) { d.Kind, d.Covers = turn.KindSummary, turn.Range{To: 2} }, "covers", "0–2"},
		{"a summary backwards", func(d *turn.Draft) { d.Kind, d.Covers = turn.KindSummary, turn.Range{From: 3, To: 2} }, "covers", "3–2"},
		{"a summary of a user", func(d *turn.Draft) {
			d.Role, d.Kind, d.Covers = turn.User, turn.KindSummary, turn.Range{From: 1, To: 2}
		}, "kind", "a summary is a system text"},
		{
			"a summary that is an action",
			func(d *turn.Draft) {
				d.Content, d.Kind, d.Covers = turn.Action{Name: "x"}, turn.KindSummary, turn.Range{From: 1, To: 2}
			},
			"kind", "a summary is a system text",
		},
		{"message id too long", func(d *turn.Draft) { d.MessageID = long(257) }, "message_id", "257 bytes, at most 256"},
		{"message id not UTF-8", func(d *turn.Draft) { d.MessageID = "\xff" }, "message_id", "not valid UTF-8"},
		{"key too long", func(d *turn.Draft) { d.IdempotencyKey = long(257) }, "idempotency_key", "257 bytes"},
		{"key with NUL", func(d *turn.Draft) { d.IdempotencyKey = "\x00" }, "idempotency_key", "NUL"},
		{"model too long", func(d *turn.Draft) { d.Meta.Model = long(257) }, "meta.model", "257 bytes"},
		{"negative tokens", func(d *turn.Draft) { d.Meta.Tokens = -1 }, "meta", "is negative"},
		{"negative latency", func(d *turn.Draft) { d.Meta.Latency = -time.Second }, "meta", "is negative"},
	} {
		d := turn.Draft{ID: turngen.ID(1), Role: turn.System, Content: turn.Text{Text: "x"}}
		if _, err := d.Seal(limits(t)); err != nil {
			t.Fatal(err)
		}
		c.change(&d)
		_, err := d.Seal(limits(t))
		refused(t, c.rule, err, c.field, c.problem)
		sameAsSeal(t, c.rule, d.Check(limits(t)), err)
	}
}

// sameAsSeal holds what is checked without sealing against what sealing says. Only Seal knows the hash of bytes.
func sameAsSeal(t *testing.T, rule string, checked, sealed error) {
	t.Helper()
	if strings.Contains(sealed.Error(), "the data's hash is") {
		return
	}
	if checked == nil || checked.Error() != sealed.Error() {
		t.Errorf("%s: checked it is %v, sealed %v", rule, checked, sealed)
	}
}

// At the bound is legal; TestSealNamesTheFieldThatIsWrong shows that one past it is not.
func TestWhatIsExactlyAtItsBoundIsLegal(t *testing.T) {
	bounds := turn.Limits{Text: 1000, Blob: 10, Calls: 2}
	for _, d := range []turn.Draft{
		{Role: turn.User, Content: turn.Text{Text: long(1000)}},
		{Role: turn.Agent, Content: turn.Text{Text: long(500), Thinking: long(500)}},
		{Role: turn.Agent, Content: turn.Text{Text: long(996), ToolCalls: []turn.ToolCall{
			{ID: long(256), Name: long(256), Arguments: "{}"}, {ID: "2", Name: "f", Arguments: "{}"},
		}}},
		{Role: turn.User, Content: turn.Speech{Transcript: long(1000), Language: long(256), Confidence: new(1.0)}},
		{Role: turn.User, Content: turn.Speech{Transcript: "x", Confidence: new(0.0), Audio: &turn.Audio{MediaType: "audio/webm;codecs=" + long(238), Blob: turn.Blob{Data: make([]byte, 10)}}}},
		{Role: turn.User, Content: turn.Image{MediaType: "image/svg+xml", Alt: long(1000), Blob: turn.Blob{Data: make([]byte, 10)}}},
		{Role: turn.User, Content: turn.Action{Name: long(256), Target: long(997), Payload: "[1]"}},
		{Role: turn.System, Content: turn.Result{Name: long(256), CallID: long(256), Status: turn.CallError, Result: `"` + long(998) + `"`}},
		{Role: turn.System, Content: turn.Text{Text: "x"}, MessageID: long(256), IdempotencyKey: long(256), Meta: turn.Meta{Model: long(256)}},
		{Role: turn.System, Kind: turn.KindSummary, Content: turn.Text{Text: "x"}, Covers: turn.Range{From: 1, To: 1}},
	} {
		d.ID = turngen.ID(1)
		if _, err := d.Seal(bounds); err != nil {
			t.Errorf("%+v: %v", d, err)
		}
	}
}

func TestDefaultLimitsAreThoseOfTheSpecification(t *testing.T) {
	same(t, "limits", limits(t), turn.Limits{Text: 4 << 20, Blob: 20 << 20, Calls: 256})
	l, err := turn.Limits{Text: 1, Blob: 2, Calls: 3}.WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	same(t, "own limits", l, turn.Limits{Text: 1, Blob: 2, Calls: 3})
	for _, l := range []turn.Limits{{Text: -1}, {Blob: -1}, {Calls: -1}} {
		_, err := l.WithDefaults()
		refused(t, "negative", err, "limits", "negative")
	}
}

func TestAnyDraftThatIsMadeUpToBeLegalIs(t *testing.T) {
	checkDraft(t, func(t tester, d turn.Draft) {
		if _, err := d.Seal(limits(t)); err != nil {
			t.Errorf("%+v: %v", d, err)
		}
	})
}
