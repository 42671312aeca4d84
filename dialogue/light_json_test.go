package dialogue_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/dialogue"
)

const (
	stored = `{"session":"s","action":"store","last_intent":"task_creation","last_task_id":"123","pending_fields":[],` +
		`"last_user_message":"Create a new task for refactoring"}`
	kept = `{"last_intent":"task_creation","last_task_id":"123","pending_fields":[],"last_user_message":"Create a new task for refactoring"}`
)

func storing(members string) string { return `{"session":"s","action":"store",` + members + `}` }

// failed returns the answer for an error.
func failed(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return `{"success":false,"error":` + string(quoted) + `}`
}

func TestHandleLightDialogues(t *testing.T) {
	type exchange struct{ request, answer string }
	const (
		retrieve = `{"session":"s","action":"retrieve"}`
		clear    = `{"session":"s","action":"clear"}`
		null     = `{"success":true,"context":null}`
		cleared  = `{"success":true,"message":"Context cleared successfully"}`
	)
	tests := map[string][]exchange{
		"the seed's outputs": {
			{stored, `{"success":true,"stored_context":` + kept + `}`},
			{retrieve, `{"success":true,"context":` + kept + `}`},
			{retrieve, `{"success":true,"context":` + kept + `}`},
			{clear, cleared},
			{retrieve, null},
			{`{"session":"s","action":"update"}`, `{"success":false,"error":"Invalid action: 'update'. Must be 'store', 'retrieve', or 'clear'"}`},
		},
		"nothing stored": {{retrieve, null}, {clear, cleared}},
		"store replaces all": {
			{stored, `{"success":true,"stored_context":` + kept + `}`},
			{storing(`"last_intent":"b","last_task_id":null,"pending_fields":["x"],"last_user_message":null`),
				`{"success":true,"stored_context":{"last_intent":"b","last_task_id":null,"pending_fields":["x"],"last_user_message":null}}`},
			{retrieve, `{"success":true,"context":{"last_intent":"b","last_task_id":null,"pending_fields":["x"],"last_user_message":null}}`},
		},
		"everything null": {
			{storing(`"last_intent":null,"last_task_id":null,"pending_fields":null,"last_user_message":null`),
				`{"success":true,"stored_context":{"last_intent":null,"last_task_id":null,"pending_fields":[],"last_user_message":null}}`},
			{retrieve, `{"success":true,"context":{"last_intent":null,"last_task_id":null,"pending_fields":[],"last_user_message":null}}`},
		},
		"an empty intent is an intent": {
			{storing(`"last_intent":"","last_task_id":"","pending_fields":[""],"last_user_message":""`),
				`{"success":true,"stored_context":{"last_intent":"","last_task_id":"","pending_fields":[""],"last_user_message":""}}`},
			{retrieve, `{"success":true,"context":{"last_intent":"","last_task_id":"","pending_fields":[""],"last_user_message":""}}`},
		},
		"any order, any space, verbatim text": {
			{"\n{ \"last_user_message\" : \"a\\u003cb> & \\\"q\\\" \\\\ \\n \\u00e9日😀\" ,\"pending_fields\":[ \"x\" , \"y\" ],\"last_task_id\":\"t\",\"last_intent\":\"i\",\"action\":\"store\",\"session\":\"s\"} ",
				`{"success":true,"stored_context":{"last_intent":"i","last_task_id":"t","pending_fields":["x","y"],"last_user_message":"a<b> & \"q\" \\ \n é日😀"}}`},
		},
		"sessions apart": {
			{stored, `{"success":true,"stored_context":` + kept + `}`},
			{`{"session":"other","action":"retrieve"}`, null},
			{`{"session":"other","action":"clear"}`, cleared},
			{retrieve, `{"success":true,"context":` + kept + `}`},
		},
		"context fields do not matter to retrieve and clear": {
			{`{"session":"s","action":"retrieve","last_intent":7}`, null},
			{`{"session":"s","action":"clear","pending_fields":{}}`, cleared},
		},
	}
	for name, exchanges := range tests {
		t.Run(name, func(t *testing.T) {
			l := dialogue.NewLight(0, nil)
			for _, x := range exchanges {
				if got := dialogue.HandleLight(t.Context(), l, tenant, []byte(x.request)); string(got) != x.answer {
					t.Errorf("%s\ngot  %s\nwant %s", x.request, got, x.answer)
				}
			}
		})
	}
}

func TestHandleLightKeepsNumbersAsWritten(t *testing.T) {
	for _, id := range []string{"123", "0", "-5", "1.50", "1e3", "12345678901234567890123"} {
		request := storing(`"last_intent":null,"last_task_id":` + id + `,"pending_fields":[],"last_user_message":null`)
		want := `{"success":true,"stored_context":{"last_intent":null,"last_task_id":"` + id + `","pending_fields":[],"last_user_message":null}}`
		if got := dialogue.HandleLight(t.Context(), dialogue.NewLight(0, nil), tenant, []byte(request)); string(got) != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// badRequests are refused with that error and change nothing.
var badRequests = []struct{ request, want string }{
	{``, "Invalid JSON: offset 0: expected an object, found the end"},
	{`{"session":"s","action":`, "Invalid JSON: offset 24: expected a value, found the end"},
	{`[]`, "Invalid JSON: expected an object, found an array"},
	{`{"session":"s","action":"clear"} {}`, "Invalid JSON: offset 33: expected nothing after the value, found '{'"},
	{`{"session":"s","action":"clear","action":"clear"}`, `Invalid JSON: offset 32: member "action" appears twice`},
	{"{\"session\":\"\xff\",\"action\":\"clear\"}", "Invalid JSON: offset 12: byte 0xff is not UTF-8"},
	{`{}`, "Missing required fields: session, action"},
	{`{"session":"s"}`, "Missing required fields: action"},
	{`{"action":"retrieve"}`, "Missing required fields: session"},
	{`{"action":"clear","session":""}`, "session: is empty; use 1 to 128 letters, digits and . _ : -"},
	{`{"action":"clear","session":"a b"}`, "session: \"a b\" holds ' '; use 1 to 128 letters, digits and . _ : -"},
	{`{"action":"clear","session":null}`, "session must be a string"},
	{`{"action":"clear","session":5}`, "session must be a string"},
	{`{"session":"s","action":5}`, "action must be a string: 'store', 'retrieve', or 'clear'"},
	{`{"session":"s","action":null}`, "action must be a string: 'store', 'retrieve', or 'clear'"},
	{`{"session":"s","action":""}`, "Invalid action: ''. Must be 'store', 'retrieve', or 'clear'"},
	{`{"session":"s","action":"Store"}`, "Invalid action: 'Store'. Must be 'store', 'retrieve', or 'clear'"},
	{`{"action":"update"}`, "Invalid action: 'update'. Must be 'store', 'retrieve', or 'clear'"},
	{`{"session":"s","action":"clear","Session":"s","x":1}`,
		"Unknown fields: Session, x. Must be among session, action, last_intent, last_task_id, pending_fields, last_user_message"},
	{storing(`"last_intent":"x","last_user_message":"m"`), "Missing required fields: last_task_id, pending_fields"},
	{`{"session":"s","action":"store"}`, "Missing required fields: last_intent, last_task_id, pending_fields, last_user_message"},
	{`{"action":"store","last_task_id":1}`, "Missing required fields: session, last_intent, pending_fields, last_user_message"},
	{storing(`"last_intent":1,"last_task_id":1,"pending_fields":[],"last_user_message":"m"`), "last_intent must be a string or null"},
	{storing(`"last_intent":"i","last_task_id":true,"pending_fields":[],"last_user_message":"m"`), "last_task_id must be a string, a number or null"},
	{storing(`"last_intent":"i","last_task_id":1,"pending_fields":"due","last_user_message":"m"`), "pending_fields must be a list of strings"},
	{storing(`"last_intent":"i","last_task_id":1,"pending_fields":["due",null],"last_user_message":"m"`), "pending_fields must be a list of strings"},
	{storing(`"last_intent":"i","last_task_id":1,"pending_fields":[],"last_user_message":["m"]`), "last_user_message must be a string or null"},
	{storing(`"last_intent":"i","last_task_id":1,"pending_fields":[],"last_user_message":"\ud83d"`),
		`last_user_message is not Unicode text: offset 1: \ud83d is half of a surrogate pair`},
}

func TestHandleLightRefuses(t *testing.T) {
	for _, tt := range badRequests {
		t.Run(tt.request, func(t *testing.T) {
			l := dialogue.NewLight(0, nil)
			want := taskCreated()
			must(t, l.Store(t.Context(), key("s"), want))
			if got := dialogue.HandleLight(t.Context(), l, tenant, []byte(tt.request)); string(got) != failed(tt.want) {
				t.Errorf("got  %s\nwant %s", got, failed(tt.want))
			}
			wantLight(t, l, key("s"), &want)
		})
	}
}

func TestHandleLightNeedsATenant(t *testing.T) {
	got := dialogue.HandleLight(t.Context(), dialogue.NewLight(0, nil), "", []byte(`{"session":"s","action":"clear"}`))
	if want := failed("tenant: is empty; use 1 to 128 letters, digits and . _ : -"); string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// brokenStore is a LightStore whose storage fails.
type brokenStore struct{ err error }

func (s brokenStore) Store(context.Context, dialogue.LightKey, dialogue.LightContext) error {
	return s.err
}
func (s brokenStore) Clear(context.Context, dialogue.LightKey) error { return s.err }
func (s brokenStore) Retrieve(context.Context, dialogue.LightKey) (dialogue.LightContext, bool, error) {
	return dialogue.LightContext{}, false, s.err
}

func TestHandleLightAnswersStorageFailures(t *testing.T) {
	for _, request := range []string{stored, `{"session":"s","action":"retrieve"}`, `{"session":"s","action":"clear"}`} {
		got := dialogue.HandleLight(t.Context(), brokenStore{errors.New("row \xff <locked>")}, tenant, []byte(request))
		if want := "{\"success\":false,\"error\":\"Storage failure: row \ufffd <locked>\"}"; string(got) != want {
			t.Errorf("%s\ngot  %s\nwant %s", request, got, want)
		}
	}
}

func TestHandleLightAnswersJSONForWhateverIsStored(t *testing.T) {
	l := dialogue.NewLight(0, nil)
	must(t, l.Store(t.Context(), key("s"), dialogue.LightContext{LastIntent: new("\xff"), PendingFields: []string{"\xfe"}}))
	got := dialogue.HandleLight(t.Context(), l, tenant, []byte(`{"session":"s","action":"retrieve"}`))
	want := "{\"success\":true,\"context\":{\"last_intent\":\"\ufffd\",\"last_task_id\":null,\"pending_fields\":[\"\ufffd\"],\"last_user_message\":null}}"
	if string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestHandleLightRoundTrip: what encoding/json writes into a request comes back as it was.
func TestHandleLightRoundTrip(t *testing.T) {
	type fields struct {
		LastIntent      *string  `json:"last_intent"`
		LastTaskID      *string  `json:"last_task_id"`
		PendingFields   []string `json:"pending_fields"`
		LastUserMessage *string  `json:"last_user_message"`
	}
	l := dialogue.NewLight(0, nil)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Ptr(rapid.String(), true)
		given := fields{text.Draw(t, "intent"), text.Draw(t, "task"), rapid.SliceOf(rapid.String()).Draw(t, "fields"), text.Draw(t, "message")}
		request, err := json.Marshal(struct {
			Session string `json:"session"`
			Action  string `json:"action"`
			fields
		}{"s", "store", given})
		if err != nil {
			t.Fatal(err)
		}
		answer := dialogue.HandleLight(t.Context(), l, tenant, request)
		var out struct {
			Success bool
			Stored  fields `json:"stored_context"`
		}
		if err := json.Unmarshal(answer, &out); err != nil || !out.Success {
			t.Fatalf("answer %s: %v", answer, err)
		}
		if diff := cmp.Diff(given, out.Stored, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		again := dialogue.HandleLight(t.Context(), l, tenant, []byte(`{"session":"s","action":"retrieve"}`))
		if string(again) != strings.Replace(string(answer), "stored_context", "context", 1) {
			t.Fatalf("stored %s, retrieved %s", answer, again)
		}
	})
}

// FuzzHandleLight: every request has one JSON object for an answer, and the follow-up context only
// changes when the answer says so.
func FuzzHandleLight(f *testing.F) {
	f.Add([]byte(stored))
	f.Add([]byte(`{"session":"s","action":"retrieve"}`))
	f.Add([]byte(`{"session":"s","action":"clear"}`))
	for _, tt := range badRequests {
		f.Add([]byte(tt.request))
	}
	f.Fuzz(func(t *testing.T, request []byte) {
		l := dialogue.NewLight(0, nil)
		before := taskCreated()
		must(t, l.Store(t.Context(), key("s"), before))
		answer := dialogue.HandleLight(t.Context(), l, tenant, request)
		if !utf8.Valid(answer) || bytes.ContainsAny(answer, "\n\r") {
			t.Fatalf("answer %q", answer)
		}
		var out struct {
			Success bool            `json:"success"`
			Stored  json.RawMessage `json:"stored_context"`
			Context json.RawMessage `json:"context"`
			Message string          `json:"message"`
			Error   string          `json:"error"`
		}
		d := json.NewDecoder(bytes.NewReader(answer))
		d.DisallowUnknownFields()
		if err := d.Decode(&out); err != nil {
			t.Fatalf("answer %s: %v", answer, err)
		}
		if out.Success != (out.Error == "") {
			t.Fatalf("answer %s", answer)
		}
		if !out.Success || out.Context != nil {
			wantLight(t, l, key("s"), &before)
		}
	})
}

func BenchmarkHandleLight(b *testing.B) {
	l := dialogue.NewLight(0, nil)
	for name, request := range map[string]string{"store": stored, "retrieve": `{"session":"s","action":"retrieve"}`} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if answer := dialogue.HandleLight(b.Context(), l, tenant, []byte(request)); answer[11] != 't' {
					b.Fatal(string(answer))
				}
			}
		})
	}
}
