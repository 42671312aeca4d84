package history_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/replay/history"
	"github.com/turnstone-dev/turnstone/turn"
)

func writers() []history.Format {
	var all []history.Format
	for _, f := range history.Formats() {
		if f.Writes() {
			all = append(all, f)
		}
	}
	return all
}

func TestFormats(t *testing.T) {
	var reads []history.Format
	for _, f := range history.Formats() {
		if f.Reads() {
			reads = append(reads, f)
		}
	}
	if diff := cmp.Diff([]history.Format{history.Session, history.Lines, history.OpenAI, history.Anthropic, history.Tau}, reads); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]history.Format{history.Session, history.Lines, history.OpenAI, history.Anthropic, history.Markdown}, writers()); diff != "" {
		t.Error(diff)
	}
	if f := history.Format("yaml"); f.Reads() || f.Writes() {
		t.Error("yaml is known")
	}
	_, err := history.Export(t.Context(), io.Discard, history.Tau, header, each(nil), nil)
	if err == nil || err.Error() != `format: "tau" cannot be written; use session, lines, openai, anthropic, markdown` {
		t.Errorf("got %v", err)
	}
}

// Nothing said is a document all the same, which the readers take.
func TestEmptyConversation(t *testing.T) {
	want := map[history.Format]string{
		history.OpenAI: "[\n]\n", history.Anthropic: "{\n\"messages\":[\n]\n}\n", history.Lines: "", history.Markdown: "# Conversation\n",
		history.Session: "{\n\"sessionId\":\"\",\n\"startTime\":null,\n\"lastActivity\":null,\n\"model\":\"\",\n\"provider\":\"\",\n\"turnstone\":1,\n" +
			"\"messages\":[\n],\n\"toolCalls\":[\n],\n\"metadata\":{\"tokenCount\":0,\"compressionCount\":0}\n}\n",
	}
	for _, f := range writers() {
		text, report := newWorld(t).export(f, history.Header{})
		if text != want[f] || len(report.Losses) > 0 || report.Turns > 0 {
			t.Errorf("%s: %q, %v", f, text, report)
		}
		if f.Reads() && text != "" {
			if back, _ := read(t, text, f, history.Options{}); len(back.turns) > 0 {
				t.Errorf("%s: turns came from nowhere", f)
			}
		}
	}
}

func failing(turns []turn.Turn, err error) iter.Seq2[turn.Turn, error] {
	return func(yield func(turn.Turn, error) bool) {
		for _, t := range turns {
			if !yield(t, nil) {
				return
			}
		}
		yield(turn.Turn{}, err)
	}
}

// full is a writer without room.
type full struct{}

var errFull = errors.New("no room")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestExportErrors(t *testing.T) {
	w := conversation(t)
	broken := errors.New("disk on fire")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, f := range writers() {
		if _, err := history.Export(t.Context(), io.Discard, f, header, failing(w.turns, broken), w.blob); !errors.Is(err, broken) {
			t.Errorf("%s: turns that end: %v", f, err)
		}
		if _, err := history.Export(t.Context(), full{}, f, header, w.all(), w.blob); !errors.Is(err, errFull) {
			t.Errorf("%s: a full disk: %v", f, err)
		}
		if _, err := history.Export(ctx, io.Discard, f, header, w.all(), w.blob); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: cancelled: %v", f, err)
		}
		if f == history.Markdown {
			continue
		}
		_, err := history.Export(t.Context(), io.Discard, f, header, w.all(), func(context.Context, string) (turn.Blob, error) { return turn.Blob{}, broken })
		if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "export "+string(f)+": turn ") {
			t.Errorf("%s: blobs that cannot be read: %v", f, err)
		}
	}
}

// The session document needs the turns twice, and says so.
func TestSequenceOfOneUse(t *testing.T) {
	w := conversation(t)
	used := false
	once := func(yield func(turn.Turn, error) bool) {
		if !used {
			used = true
			w.all()(yield)
		}
	}
	_, err := history.Export(t.Context(), io.Discard, history.Session, header, once, w.blob)
	if err == nil || !strings.Contains(err.Error(), "ranged over twice") {
		t.Errorf("got %v", err)
	}
	ended := errors.New("gone")
	pass := 0
	err = nil
	second := func(yield func(turn.Turn, error) bool) {
		if pass++; pass == 1 {
			w.all()(yield)
			return
		}
		yield(turn.Turn{}, ended)
	}
	if _, err = history.Export(t.Context(), io.Discard, history.Session, header, second, w.blob); !errors.Is(err, ended) {
		t.Errorf("got %v", err)
	}
}

// Without their bytes images are named, never dropped without a word.
func TestExportWithoutBlobs(t *testing.T) {
	w := newWorld(t)
	w.say(turn.Draft{Role: turn.User, Content: turn.Image{MediaType: "image/png", Alt: "a cat", Blob: turn.Blob{Data: []byte("cat")}}})
	gone := func(context.Context, string) (turn.Blob, error) { return turn.Blob{}, turn.ErrNotFound }
	for f, want := range map[history.Format]string{
		history.OpenAI: "[image image/png of 3 bytes] a cat", history.Anthropic: "[image image/png of 3 bytes] a cat",
		history.Lines: `"size":3}`, history.Session: `"size":3}`,
	} {
		for _, blobs := range []history.Blobs{nil, gone} {
			var b bytes.Buffer
			report, err := history.Export(t.Context(), &b, f, history.Header{}, w.all(), blobs)
			if err != nil || !strings.Contains(b.String(), want) {
				t.Errorf("%s: %v %s", f, err, b.String())
			}
			if len(report.Losses) == 0 || report.Losses[0].Kind != "images and recordings whose bytes are not at hand" {
				t.Errorf("%s: lost %v", f, report.Losses)
			}
		}
	}
}

// A part of a log may hold a result and not its call.
func TestExportOfOrphans(t *testing.T) {
	orphan := turn.Turn{Seq: 3, Role: turn.System, Form: turn.FormAction, Kind: turn.KindTurn,
		Content: turn.Result{Name: "f", CallID: "c", Status: turn.CallOK, Result: `"found"`}}
	for f, want := range map[history.Format]string{
		history.OpenAI:    `{"role":"system","content":"[result of a call that is not in this conversation, f, c] found"}`,
		history.Anthropic: `"system":[{"type":"text","text":"[result of a call that is not in this conversation, f, c] found"}]`,
		history.Markdown:  "<summary>Result of no open call: f</summary>\n\n```json\n\"found\"\n```",
		history.Session:   `"toolCalls":[` + "\n]",
	} {
		var b bytes.Buffer
		if _, err := history.Export(t.Context(), &b, f, history.Header{}, each([]turn.Turn{orphan}), nil); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%s: %v\n%s", f, err, b.String())
		}
	}
}

func TestMarkdownEscapes(t *testing.T) {
	w := newWorld(t)
	w.say(
		turn.Draft{Role: turn.User, Content: turn.Image{MediaType: "image/png", Blob: turn.Blob{Data: []byte("cat")}}},
		turn.Draft{Role: turn.Agent, Content: turn.Text{Text: "ends\n", ToolCalls: []turn.ToolCall{{ID: "a", Name: "</summary>\n<b>", Arguments: "{}"}}}},
		turn.Draft{Role: turn.User, Content: turn.Speech{Transcript: "hm", Audio: &turn.Audio{MediaType: "audio/ogg", Blob: turn.Blob{Data: []byte("hm")}}}},
	)
	text, report := w.export(history.Markdown, history.Header{Title: "<i>\n# [a](b) _c_"})
	for _, want := range []string{
		"# \\<i\\> \\# \\[a\\]\\(b\\) \\_c\\_\n", "*Image (image/png): no description*", "```text\nends\n```\n", "<summary>Tool call: &lt;/summary&gt; &lt;b&gt; (cancelled)</summary>", "*spoken*",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if diff := cmp.Diff([]string{"calls without a result: 1 at turn 2", "images: 1 at turn 1", "recordings: 1 at turn 3"}, kinds(report)); diff != "" {
		t.Error(diff)
	}
}

// Results that came behind other turns are written right behind their calls, and that is said.
func TestLateResultsAreReported(t *testing.T) {
	for _, f := range []history.Format{history.OpenAI, history.Anthropic, history.Markdown} {
		_, report := conversation(t).export(f, history.Header{})
		if !strings.Contains(strings.Join(kinds(report), "\n"), "results that came behind other turns: 2 at turn 7") {
			t.Errorf("%s: %v", f, kinds(report))
		}
	}
}

// A message that goes on after a result is two: no result may stand behind what was said after it.
func TestMessageAroundAResult(t *testing.T) {
	w := newWorld(t)
	w.say(
		turn.Draft{Role: turn.Agent, MessageID: "m", Content: turn.Text{Text: "look", ToolCalls: []turn.ToolCall{{ID: "a", Name: "f", Arguments: "{}"}}}},
		turn.Draft{Role: turn.System, Content: turn.Result{Name: "f", CallID: "a", Status: turn.CallOK, Result: "1"}},
		turn.Draft{Role: turn.Agent, MessageID: "m", Content: turn.Text{Text: "one"}},
		turn.Draft{Role: turn.Agent, MessageID: "m", Content: turn.Text{Text: "two"}},
	)
	text, _ := w.export(history.OpenAI, history.Header{})
	want := `[
{"role":"assistant","content":"look","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"a","content":"1"},
{"role":"assistant","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}
]
`
	if diff := cmp.Diff(want, text); diff != "" {
		t.Error(diff)
	}
}

func TestTextsOfTheSystemAmidTheMessages(t *testing.T) {
	w := newWorld(t)
	w.say(
		turn.Draft{Role: turn.User, Content: turn.Text{Text: "Hello"}},
		turn.Draft{Role: turn.System, Content: turn.Text{Text: "Be brief."}},
	)
	text, report := w.export(history.Anthropic, history.Header{})
	if !strings.Contains(text, `"[system] Be brief."`) || report.Losses[0].Kind != "texts of the system amid the messages" {
		t.Errorf("%v, %s", report, text)
	}
}
