package history_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/turnstone-dev/turnstone/replay/history"
	"github.com/turnstone-dev/turnstone/turn"
)

const sessionOfOthers = `{"sessionId":"x","messages":[{"role":"user","parts":[{"text":"a"}],"timestamp":"2026-01-26T10:00:00Z"},
	{"role":"user","parts":[{"text":"b"}],"timestamp":"2026-01-26T12:00:00Z"}],
	"toolCalls":[{"id":"a","name":"f","args":{},"timestamp":"2026-01-26T11:00:00Z"}]}`

// conversations are inputs of every kind.
func conversations(t *testing.T) []string {
	all := []string{sessionOfOthers, trajectories, `{"speaker":"Ann","text":"a"}`}
	for _, name := range files {
		all = append(all, file(t, name))
	}
	for _, tt := range messageTests {
		all = append(all, tt.input)
	}
	return all
}

// Whichever turn cannot be taken, the error of who takes it is what comes back, and no turn after it.
func TestTakerFails(t *testing.T) {
	broken := errors.New("no room in the log")
	for _, text := range conversations(t) {
		last := 1
		for n := 1; n <= last; n++ {
			count := 0
			_, err := history.Import(t.Context(), strings.NewReader(text), "", history.Options{Trajectory: 1}, func(history.Entry) error {
				if count++; count == n {
					return broken
				}
				return nil
			})
			switch {
			case err == nil && count < n:
			case err != broken || count != n:
				t.Fatalf("turn %d of %.60q: %v after %d", n, text, err, count)
			default:
				last = n + 1
			}
		}
	}
}

// Wherever the input fails, before or after what is looked at to tell its format, its error is kept.
func TestInputFails(t *testing.T) {
	broken := errors.New("wire cut")
	message := `{"role":"user","content":"` + strings.Repeat("x", 1000) + `"}`
	long := strings.Repeat(message+",\n", 100)
	for name, text := range map[string]string{
		"lines": strings.Repeat(message+"\n", 100), "line": strings.Repeat(message+"\n", 100) + `{"role":`, "list": "[" + long, "value": "[" + long + `{"role":"us`, "comma": "[" + long + message,
		"end": "[" + long + message + "]", "session": `{"sessionId":"x","messages":[` + long, "trajectory": `[{"traj":[` + long, "second": `[{"traj":[` + long + message + `]},`,
	} {
		_, err := history.Import(t.Context(), io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), "", history.Options{}, nothing)
		if !errors.Is(err, broken) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A disk that is full is noticed, however late.
func TestOutputFails(t *testing.T) {
	w := newWorld(t)
	for range 30 {
		w.say(turn.Draft{Role: turn.User, Content: turn.Text{Text: strings.Repeat("x", 8<<10)}})
	}
	for _, f := range writers() {
		for _, room := range []int{0, 100 << 10} {
			out := &small{room: room}
			if _, err := history.Export(t.Context(), out, f, header, w.all(), w.blob); !errors.Is(err, errFull) {
				t.Errorf("%s in %d bytes: %v", f, room, err)
			}
		}
	}
}

// small is a writer with little room.
type small struct{ room int }

func (s *small) Write(p []byte) (int, error) {
	if len(p) > s.room {
		return 0, errFull
	}
	s.room -= len(p)
	return len(p), nil
}

func TestIllTyped(t *testing.T) {
	for input, want := range map[string]string{
		`[{"role":5}]`:                                    "message 1 (line 1): role: expected a string, found a number; correct the value",
		`[{"role":"user","content":[5]}]`:                 "message 1 (line 1): content: expected an object, found a number; correct the value",
		`[{"role":"user","name":[]}]`:                     "message 1 (line 1): name: expected a string, found an array; correct the value",
		`[{"role":"assistant","tool_calls":{}}]`:          "message 1 (line 1): tool_calls: expected an array, found an object; correct the value",
		`[{"role":"assistant","tool_calls":[5]}]`:         "message 1 (line 1): tool_calls: expected an object, found a number; correct the value",
		`[{"role":"critic","content":{}}]`:                "message 1 (line 1): content: expected a string or an array, found an object; correct the value",
		`[5]`:                                             "message 1 (line 1): expected an object, found a number; correct the JSON; nothing was imported",
		`{"system":{},"messages":[]}`:                     "line 1: content: expected a string or an array, found an object; correct the value",
		`{"system":[}],"messages":[]}`:                    "line 1: offset 1: expected a value, found '}'; correct the JSON; nothing was imported",
		`{"messages":[],"system":"\q"}`:                   `line 1: offset 2: expected one of "\/bfnrtu after \, found 'q'; correct the JSON; nothing was imported`,
		`{"sessionId":"x","messages":[{"role":5}]}`:       "message 1 (line 1): role: expected a string, found a number; correct the value",
		`{"sessionId":"x","messages":[5],"toolCalls":[]}`: "message 1 (line 1): expected an object, found a number; correct the JSON; nothing was imported",
	} {
		if _, err := history.Import(t.Context(), strings.NewReader(input), formatOf(input), history.Options{}, nothing); err == nil || err.Error() != want {
			t.Errorf("%s:\n%v\n%s", input, err, want)
		}
	}
}

// formatOf names the format of inputs that do not show it.
func formatOf(input string) history.Format {
	if strings.Contains(input, "sessionId") {
		return history.Session
	}
	return history.OpenAI
}

// Values of the header that are no text, and ids that are none, are left out.
func TestOddHeader(t *testing.T) {
	_, got := read(t, `{"model":"\q","user":{},"messages":[{"id":{},"role":"user","content":"a"}]}`, "", history.Options{})
	if got.Header.Model != "" || got.Header.User != "" {
		t.Errorf("header %+v", got.Header)
	}
	_, got = read(t, "{\"model\":\"a\xff\\u0000\",\"user\":7,\"messages\":[]}", "", history.Options{})
	if got.Header.Model != "a\ufffd\ufffd" || got.Header.User != "7" {
		t.Errorf("header %+v", got.Header)
	}
}

// A result in a document of others may be a text, a list or anything.
func TestResultsOfOthers(t *testing.T) {
	call := func(result string) string {
		return `{"sessionId":"x","toolCalls":[{"id":"a","name":"f","args":"{\"x\": 1}","result":` + result + `,"timestamp":"soon","status":"done"}]}`
	}
	for result, want := range map[string]string{
		`"text"`: `"text"`, `[1, 2]`: `[1, 2]`, `5`: `5`, `{"llmContent":[{"type":"text","text":"a"}]}`: `"a"`, `{"llmContent":null}`: ``, `{"a": 1}`: `{"a": 1}`,
	} {
		w, got := read(t, call(result), "", history.Options{})
		if r, ok := w.turns[1].Content.(turn.Result); !ok || r.Result != want || w.turns[0].Calls()[0].Arguments != `{"x": 1}` {
			t.Errorf("%s is %v", result, w.transcript())
		}
		if len(got.Report.Losses) != 2 {
			t.Errorf("%s: lost %v", result, got.Report.Losses)
		}
	}
}
