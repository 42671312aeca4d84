package history_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/turnstone-dev/turnstone/replay/history"
	"github.com/turnstone-dev/turnstone/turn"
)

// nothing takes entries and forgets them.
func nothing(history.Entry) error { return nil }

func importing(t *testing.T, r io.Reader, f history.Format, o history.Options) error {
	t.Helper()
	_, err := history.Import(t.Context(), r, f, o, nothing)
	return err
}

// many is a text that goes on for n times, without being held.
func many(text string, n int) io.Reader {
	readers := make([]io.Reader, 0, n)
	for range n {
		readers = append(readers, strings.NewReader(text))
	}
	return io.MultiReader(readers...)
}

func TestBrokenLine40000(t *testing.T) {
	good := `{"role":"user","content":"hi"}` + "\n"
	for _, tt := range []struct{ broken, want string }{
		{`{"role":"user","content":"cut`, "line 40000: offset 29: expected the end of the string, found the end; correct the JSON; nothing was imported"},
		{`{"role":"user","content":NaN}`, "line 40000: offset 25: expected a value, found 'N'; correct the JSON; nothing was imported"},
		{"{\"role\":\"user\",\"content\":\"\x00\"}", `line 40000: offset 26: expected control characters to be escaped, found '\x00'; correct the JSON; nothing was imported`},
	} {
		err := importing(t, io.MultiReader(many(good, 39_999), strings.NewReader(tt.broken+"\n"), many(good, 2)), "", history.Options{})
		var bad *turn.FieldError
		if err == nil || err.Error() != tt.want || !errors.As(err, &bad) {
			t.Errorf("got %v\nwant %s", err, tt.want)
		}
	}
	element := `{"role":"user","content":"hi"}`
	err := importing(t, io.MultiReader(strings.NewReader("["), many(element+",\n", 39_999), strings.NewReader(`{"role":"user" "content":"hi"}]`)), "", history.Options{})
	if want := "message 40000 (line 40000): offset 15: expected ',' or '}', found '\"'; correct the JSON; nothing was imported"; err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func TestBadInput(t *testing.T) {
	deep := strings.Repeat("[", 2000)
	for name, tt := range map[string]struct {
		input  string
		format history.Format
		want   string
	}{
		"empty":          {"", "", "input: is empty; give a conversation"},
		"blank":          {"\ufeff \r\n", history.Lines, "input: is empty; give a conversation"},
		"not JSON":       {"Ann: hi", "", "input: is neither a JSON document nor JSON Lines; give one in a format that can be read"},
		"UTF-16":         {"\xff\xfe{\x00", "", "input: is UTF-16; convert it to UTF-8"},
		"unknown shape":  {`{"a":1}`, "", "format: cannot be told from the content; name it"},
		"unknown list":   {`[{"a":1}]`, "", "format: cannot be told from the content; name it"},
		"markdown":       {"# x", history.Markdown, `format: "markdown" cannot be read; use session, lines, openai, anthropic, tau`},
		"no messages":    {`{"a":1}`, history.OpenAI, "messages: is missing; give the list of messages"},
		"messages twice": {`{"messages":[],"messages":[]}`, history.OpenAI, "line 1: messages stands twice; correct the JSON; nothing was imported"},
		"deep":           {`{"messages":[{"role":"user","content":` + "\n" + deep, "", "line 2: nested more than 1000 deep; correct the JSON; nothing was imported"},
		"deep member":    {`{"messages":[],"x":` + deep, "", "line 1: nested more than 1000 deep; correct the JSON; nothing was imported"},
		"deep line":      {`{"role":"user","content":` + deep + strings.Repeat("]", 2000) + "}", "", "line 1: offset 1088: nested more than 1064 deep; correct the JSON; nothing was imported"},
		"cut off":        {"[{\"role\":\n\"us", history.OpenAI, "line 2: the input ends inside the value of line 1; correct the JSON; nothing was imported"},
		"no comma":       {`[{"role":"user","content":"a"} {}]`, history.OpenAI, `line 1: expected ",]", found '{'; correct the JSON; nothing was imported`},
		"name no string": {`{1:2}`, history.OpenAI, "line 1: expected a string, found a number; correct the JSON; nothing was imported"},
	} {
		if err := refusal(t, tt.input, tt.format, history.Options{}); err.Error() != tt.want {
			t.Errorf("%s:\n%v\n%s", name, err, tt.want)
		}
	}
	if err := refusal(t, "[]", "", history.Options{Limits: turn.Limits{Text: -1}}); !strings.Contains(err.Error(), "negative limit") {
		t.Errorf("got %v", err)
	}
}

// Arguments may nest as deep as they like: they are kept as they are, or as text.
func TestDeepArguments(t *testing.T) {
	deep := strings.Repeat("[", 2000) + strings.Repeat("]", 2000)
	w, got := read(t, `[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"`+deep+`"}}]},{"role":"tool","tool_call_id":"a","content":"`+deep+`"}]`, "", history.Options{})
	if calls := w.turns[0].Calls(); calls[0].Arguments != `"`+deep+`"` || w.turns[1].Content.(turn.Result).Result != `"`+deep+`"` || len(got.Report.Losses) != 1 {
		t.Errorf("kept as %.20s, lost %v", calls[0].Arguments, got.Report.Losses)
	}
}

// images of 30 MB, as each format writes them.
func largeImages() map[history.Format]string {
	data := base64.StdEncoding.EncodeToString(make([]byte, 30_000_000))
	return map[history.Format]string{
		history.OpenAI:    `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + data + `"}}]}]`,
		history.Anthropic: `{"system":"x","messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data + `"}}]}]}`,
		history.Lines:     line("1", `"role":"user","form":"image","content":{"media_type":"image/png","alt":"a map","data":"`+data+`"}`),
		history.Session:   `{"sessionId":"x","turnstone":1,"messages":[{"role":"user","turnstone":{"form":"speech","content":{"transcript":"hm","audio":{"media_type":"image/png","data":"` + data + `"}}}}]}`,
	}
}

func TestImageOf30MB(t *testing.T) {
	for f, text := range largeImages() {
		t.Run(string(f), func(t *testing.T) {
			err := refusal(t, text, "", history.Options{})
			if !strings.HasSuffix(err.Error(), "1: image/png of 30000000 bytes, at most 20971520; raise the limit, or import with what is too large left out") &&
				!strings.Contains(err.Error(), "1 (line 1): image/png of 30000000 bytes, at most 20971520; raise") {
				t.Errorf("got %v", err)
			}
			w, got := read(t, text, "", history.Options{SkipTooLarge: true})
			if len(got.Report.Losses) != 1 || got.Report.Losses[0].Kind != "content larger than the limits" {
				t.Errorf("lost %v", got.Report.Losses)
			}
			last := w.transcript()[len(w.turns)-1]
			want := map[history.Format]string{
				history.Lines:   `user/text {"text":"[image/png of 30000000 bytes left out: the limit is 20971520] a map"}`,
				history.Session: `user/speech {"transcript":"hm"}`,
			}[f]
			if want == "" {
				want = `user/text {"text":"[image/png of 30000000 bytes left out: the limit is 20971520]"}`
			}
			if last != want {
				t.Errorf("got %s", last)
			}
		})
	}
}

// The bound of a line follows the limits.
func TestHigherLimit(t *testing.T) {
	if err := importing(t, strings.NewReader(largeImages()[history.OpenAI]), "", history.Options{Limits: turn.Limits{Blob: 40 << 20}}); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestTooMuchText(t *testing.T) {
	limits := turn.Limits{Text: 100}
	long := strings.Repeat("x", 200)
	for _, tt := range []struct{ input, want string }{
		{`{"role":"user","content":"` + long + `"}`, `user/text {"text":"[text of 200 bytes left out: the limit is 100]"}`},
		{`{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"[\"` + long + `\"]"}}]}` + "\n" + `{"role":"tool","content":"x","tool_call_id":"a"}`,
			`agent/text unit=1 {"text":"[text of 204 bytes left out: the limit is 100]","tool_calls":[{"id":"a","name":"f","arguments":{}}]}`},
		{line("1", `"role":"user","form":"speech","content":{"transcript":"`+long+`"}`), `user/speech {"transcript":"[text of 200 bytes left out: the limit is 100]"}`},
		{line("1", `"role":"user","form":"image","content":{"media_type":"image/png","alt":"`+long+`","data":"AAEC"}`),
			`user/image {"media_type":"image/png","alt":"[text of 200 bytes left out: the limit is 100]","data":"AAEC"}`},
		{line("1", `"role":"user","form":"action","content":{"name":"click","target":"`+long+`"}`), `user/action {"name":"click","target":"[text of 200 bytes left out: the limit is 100]"}`},
	} {
		if err := refusal(t, tt.input, "", history.Options{Limits: limits}); !strings.Contains(err.Error(), "line 1: text of 20") {
			t.Errorf("got %v", err)
		}
		w, _ := read(t, tt.input, "", history.Options{Limits: limits, SkipTooLarge: true})
		if got := w.transcript()[0]; got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
	w, _ := read(t, `{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f"}}]}`+"\n"+`{"role":"tool","content":"`+long+`","tool_call_id":"a"}`, "", history.Options{Limits: limits, SkipTooLarge: true})
	if got := w.transcript()[1]; got != `system/action unit=1 {"name":"f","call_id":"a","status":"ok","result":"[text of 202 bytes left out: the limit is 100]"}` {
		t.Errorf("got %s", got)
	}
}

// zeroes is n bytes that are never held.
func zeroes(n int64) io.Reader { return io.LimitReader(letters{}, n) }

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// A line or value without an end is refused before it fills the memory.
func TestLineWithoutEnd(t *testing.T) {
	for _, tt := range []struct{ start, want string }{
		{`{"role":"user","content":"`, "line 1: is longer than 104857600 bytes; shorten it, or raise the limits where that is meant"},
		{"[\n" + `{"role":"user","content":"`, "line 2: is longer than 104857600 bytes; shorten it, or raise the limits where that is meant"},
	} {
		err := importing(t, io.MultiReader(strings.NewReader(tt.start), zeroes(1<<40)), "", history.Options{})
		if err == nil || err.Error() != tt.want {
			t.Errorf("got %v\nwant %s", err, tt.want)
		}
	}
}

// A long conversation is not held: what is alive after 50,000 turns of 4 KB is less than a tenth.
func TestBoundedMemory(t *testing.T) {
	const turns, size = 50_000, 4 << 10
	element := `{"role":"user","content":"` + strings.Repeat("x", size) + `"},` + "\n"
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	count := 0
	in := io.MultiReader(strings.NewReader("["), many(element, turns), strings.NewReader(`{"role":"user","content":"last"}]`))
	_, err := history.Import(t.Context(), in, "", history.Options{}, func(history.Entry) error {
		if count++; count == turns {
			runtime.GC()
			runtime.ReadMemStats(&now)
		}
		return nil
	})
	if err != nil || count != turns+1 {
		t.Fatalf("%d turns, %v", count, err)
	}
	if alive := int64(now.HeapAlloc) - int64(before.HeapAlloc); alive > turns*size/10 {
		t.Errorf("%d bytes alive", alive)
	}
}

func TestErrorsOfOthers(t *testing.T) {
	broken := errors.New("wire cut")
	for _, text := range []string{"", "{", `[{"role":"user","content":"a"},`, `{"role":"user","content":"a"}` + "\n" + `{"role`, "[]"} {
		if err := importing(t, io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), "", history.Options{}); !errors.Is(err, broken) {
			t.Errorf("%q: got %v", text, err)
		}
	}
	_, err := history.Import(t.Context(), strings.NewReader(`[{"role":"user","content":"a"}]`), "", history.Options{}, func(history.Entry) error { return broken })
	if err != broken {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	count := 0
	_, err = history.Import(ctx, many(`{"role":"user","content":"a"}`+"\n", 10), "", history.Options{}, func(history.Entry) error {
		if count++; count == 3 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || count != 3 {
		t.Errorf("%d turns, %v", count, err)
	}
}

// Every entry says where it comes from.
func TestPlaces(t *testing.T) {
	var places []string
	_, err := history.Import(t.Context(), strings.NewReader("[\n{\"role\":\"user\",\"content\":\"a\"},\n\n{\"role\":\"user\",\"content\":\"b\"}]"), "", history.Options{}, func(e history.Entry) error {
		places = append(places, e.Place)
		return nil
	})
	if got := fmt.Sprint(places); err != nil || got != "[message 1 (line 2) message 2 (line 4)]" {
		t.Errorf("%s, %v", got, err)
	}
}

// Calls that never end do not slow the reader down for ever.
func TestTooManyOpenCalls(t *testing.T) {
	var b strings.Builder
	for i := range 12_000 {
		fmt.Fprintf(&b, `{"turn_id":"t%d","seq":%d,"role":"agent","form":"text","content":{"text":"","tool_calls":[{"id":"c%d","name":"f","arguments":{}}]},"created_at":"2026-02-28T12:00:00.000000Z"}`+"\n", i, i+1, i)
	}
	err := importing(t, strings.NewReader(b.String()), "", history.Options{})
	if err == nil || err.Error() != "line 10001: more than 10000 calls have no result; give the results, or leave out the calls" {
		t.Errorf("got %v", err)
	}
}

// TestManySmallMessages holds what a document of somebody else is held as against the limit, not its text alone.
func TestManySmallMessages(t *testing.T) {
	small := strings.Repeat("{},", 2_000_000)
	err := refusal(t, `{"sessionId":"x","messages":[`+small+`{}]}`, "", history.Options{})
	if !strings.Contains(err.Error(), "the document is longer than 104857600 bytes") {
		t.Errorf("got %v", err)
	}
}
