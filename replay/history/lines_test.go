package history_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/replay/history"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestSpeakers(t *testing.T) {
	w, got := read(t, `{"id":"D1:1","session":"1","time":"1:56 pm on 8 May, 2023","speaker":"Mel","text":"Hey!"}
{"id":"D1:2","session":"1","time":"","speaker":"Caro","text":"Hi."}
{"id":"D2:1","session":2,"speaker":"Mel","text":"Back again.","mood":"good"}
{"id":"D2:2","session":2,"speaker":"Caro","text":""}`, "", history.Options{})
	want := []string{`user/text message=D1:1 {"text":"Hey!"}`, `agent/text message=D1:2 {"text":"Hi."}`, `user/text message=D2:1 {"text":"Back again."}`}
	if diff := cmp.Diff(want, w.transcript()); diff != "" {
		t.Error(diff)
	}
	if at := w.turns[0].CreatedAt.String(); at != "2023-05-08 13:56:00 +0000 UTC" {
		t.Errorf("said at %s", at)
	}
	losses := []string{
		"members that have no place in a turn: 1 at line 3", "messages without content: 1 at line 4",
		"names of speakers: 2 at line 1", "sessions that a conversation is divided into: 1 at ",
	}
	if diff := cmp.Diff(losses, kinds(got.Report)); diff != "" {
		t.Error(diff)
	}
	if got.Header.Session != "" {
		t.Errorf("session %q", got.Header.Session)
	}
	_, got = read(t, `{"session":"one","speaker":"Mel","text":"Hey!"}`, history.Lines, history.Options{})
	if got.Header.Session != "one" {
		t.Errorf("session %q", got.Header.Session)
	}
}

func line(seq, rest string) string {
	return `{"turn_id":"0100000000000000000000000` + seq + `","session_id":"s","seq":` + seq + `,` + rest + `,"created_at":"2026-02-28T12:00:00.000000Z"}` + "\n"
}

// What a query prints may be a part of a log: results without their call, summaries of turns that are
// not there, images by their hash.
func TestTurnsOfAQuery(t *testing.T) {
	hash := strings.Repeat("a", 64)
	text := line("2", `"role":"user","form":"text","content":{"text":"two"}`) +
		line("3", `"role":"system","form":"action","content":{"name":"f","call_id":"c","status":"ok","result":[1]}`) +
		line("5", `"role":"user","form":"image","content":{"media_type":"image/png","alt":"a cat","sha256":"`+hash+`","size":9}`) +
		line("6", `"role":"system","form":"text","kind":"summary","content":{"text":"two to five"},"covers":[1,4]`) +
		line("7", `"role":"user","form":"speech","content":{"transcript":"hm","audio":{"media_type":"audio/ogg","sha256":"`+hash+`","size":9}}`) +
		line("9", `"role":"system","form":"text","kind":"summary","content":{"text":"of what is not there"},"covers":[8,8]`)
	w, got := read(t, text, "", history.Options{})
	want := []string{
		`user/text {"text":"two"}`, `system/text {"text":"[result of a call that is not in this conversation, f, c] [1]"}`,
		`user/text {"text":"[image image/png of 9 bytes left out: only its hash is given, ` + hash + `] a cat"}`,
		`system/text {"text":"two to five"}`, `user/speech {"transcript":"hm"}`, `system/text {"text":"of what is not there"}`,
	}
	if diff := cmp.Diff(want, w.transcript()); diff != "" {
		t.Error(diff)
	}
	if w.turns[3].Covers != (turn.Range{From: 1, To: 2}) || w.turns[5].Kind != turn.KindTurn {
		t.Errorf("summaries of %v and %v", w.turns[3].Covers, w.turns[5].Covers)
	}
	losses := []string{
		"images and recordings without their bytes: 2 at line 3", "results of no open call: 1 at line 2", "summaries of turns that are not there: 1 at line 6",
	}
	if diff := cmp.Diff(losses, kinds(got.Report)); diff != "" {
		t.Error(diff)
	}
	if got.Header.Session != "s" {
		t.Errorf("session %q", got.Header.Session)
	}
}

// Bytes that are named by their hash are asked for.
func TestBlobsByHash(t *testing.T) {
	w := newWorld(t)
	w.say(turn.Draft{Role: turn.User, Content: turn.Image{MediaType: "image/png", Blob: turn.Blob{Data: []byte("picture")}}})
	text := string(w.turns[0].AppendJSON(nil))
	back, got := read(t, text, "", history.Options{Blobs: w.blob})
	if diff := cmp.Diff(w.turns, back.turns); diff != "" || len(got.Report.Losses) > 0 {
		t.Errorf("%s %v", diff, got.Report.Losses)
	}
	broken := errors.New("disk on fire")
	err := refusal(t, text, "", history.Options{Blobs: func(context.Context, string) (turn.Blob, error) { return turn.Blob{}, broken }})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	_, got = read(t, text, "", history.Options{Blobs: func(context.Context, string) (turn.Blob, error) { return turn.Blob{}, turn.ErrNotFound }})
	if len(got.Report.Losses) != 1 {
		t.Errorf("lost: %v", got.Report.Losses)
	}
}

func TestBadLines(t *testing.T) {
	one, two := line("1", `"role":"user","form":"text","content":{"text":"a"}`), line("2", `"role":"user","form":"text","content":{"text":"a"}`)
	for name, tt := range map[string]struct{ input, want string }{
		"third speaker": {
			`{"speaker":"Ann","text":"a"}` + "\n" + `{"speaker":"Bob","text":"b"}` + "\n" + `{"speaker":"Cem","text":"c"}`,
			`line 3: speaker: "Cem" is the third, after "Ann" and "Bob"; give a conversation of two, or messages with roles`,
		},
		"no speaker":       {`{"speaker":"","text":"a"}`, "line 1: speaker: is empty; name who speaks"},
		"ill-typed text":   {`{"speaker":"Ann","text":1}`, "line 1: text: expected a string, found a number; correct the value"},
		"nothing known":    {`{"role":"user","content":"hi"}` + "\n" + `{"query":"?"}`, "line 2: holds neither turn_id, speaker nor role; give a turn, a saying or a message a line"},
		"no object":        {`{"role":"user","content":"hi"}` + "\n\n" + `["a"]`, "line 3: expected an object, found an array; correct the JSON; nothing was imported"},
		"newest first":     {two + one, "line 2: seq: 1 comes after 2; give the turns of one session, oldest first"},
		"two sessions":     {one + strings.Replace(two, `"s"`, `"other"`, 1), `line 2: session_id: is "other", the turns before are of "s"; import one session at a time`},
		"illegal form":     {strings.Replace(one, `"form":"text"`, `"form":"smell"`, 1), `line 1: form: "smell" is not a form; use text, speech, image or action`},
		"unknown member":   {strings.Replace(one, `"seq"`, `"mood"`, 1), "line 1: turn.mood: is not a field; legal here: turn_id, session_id, seq, role, form, kind, content, content_text, created_at, unit, message_id, idempotency_key, covers, meta"},
		"negative tokens":  {strings.Replace(one, `"seq"`, `"meta":{"tokens":-1},"seq"`, 1), "line 1: meta: is negative; give tokens and latency as positive numbers"},
		"role missing":     {`{"role":null,"content":"hi"}`, "line 1: role: is missing; say who wrote the message"},
		"content a number": {`{"role":"user","content":5}`, "line 1: content: expected a string or an array, found a number; correct the value"},
		"member twice":     {`{"role":"user","role":"user"}`, `line 1: offset 15: member "role" appears twice; correct the JSON; nothing was imported`},
	} {
		if err := refusal(t, tt.input, "", history.Options{}); err.Error() != tt.want {
			t.Errorf("%s:\n%v\n%s", name, err, tt.want)
		}
	}
}

// An id that no log of ours has is not worth a conversation.
func TestForeignTurnID(t *testing.T) {
	w, got := read(t, strings.Replace(line("1", `"role":"user","form":"text","content":{"text":"a"}`), "01000", "x", 1), "", history.Options{})
	if len(w.turns) != 1 || len(got.Report.Losses) != 1 || got.Report.Losses[0].Kind != "turn ids that are no ULIDs" {
		t.Errorf("%v, lost %v", w.turns, got.Report.Losses)
	}
}

// Ids and keys that stand twice, which a log refuses, are dropped; a message between turns counts.
func TestMixedLines(t *testing.T) {
	w, got := read(t, line("1", `"role":"user","form":"text","content":{"text":"a"},"idempotency_key":"k"`)+
		`{"role":"user","content":"b"}`+"\n"+
		strings.Replace(line("2", `"role":"user","form":"text","content":{"text":"c"},"idempotency_key":"k"`), "002", "001", 1)+
		line("3", `"role":"system","form":"text","kind":"summary","content":{"text":"d"},"covers":[2,2]`), "", history.Options{})
	if diff := cmp.Diff([]string{"idempotency keys that stand twice: 1 at line 3", "turn ids that stand twice: 1 at line 3"}, kinds(got.Report)); diff != "" {
		t.Error(diff)
	}
	if len(w.turns) != 4 || w.turns[3].Covers != (turn.Range{From: 3, To: 3}) {
		t.Errorf("turns %v", w.turns)
	}
}
