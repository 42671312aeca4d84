package history_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/replay/history"
)

// files are the goldens that can be read.
var files = []string{"session.json", "turns.jsonl", "openai.json", "anthropic.json"}

func file(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// How an input comes, byte by byte or in gulps, makes no difference.
func TestPieces(t *testing.T) {
	for _, name := range files {
		text := file(t, name)
		whole, want := read(t, text, "", history.Options{})
		for how, r := range map[string]io.Reader{
			"bytes":           iotest.OneByteReader(strings.NewReader(text)),
			"halves":          iotest.HalfReader(strings.NewReader(text)),
			"error with data": iotest.DataErrReader(strings.NewReader(text)),
		} {
			w := newReader(t)
			got, err := history.Import(t.Context(), r, "", history.Options{}, w.take)
			if err != nil {
				t.Fatalf("%s in %s: %v", name, how, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s in %s:\n%s", name, how, diff)
			}
			if diff := cmp.Diff(whole.turns, w.turns); diff != "" {
				t.Errorf("%s in %s:\n%s", name, how, diff)
			}
		}
	}
}

// Where values and strings end is found wherever the window ends.
func TestValuesAcrossTheWindow(t *testing.T) {
	const window = 64 << 10
	for _, tail := range []string{`\"quoted\\`, `\\\"`, "[{]}", "é", `\u00e9`} {
		for pad := window - 80; pad < window+10; pad += 3 {
			text := `[{"role":"user","content":"` + strings.Repeat("x", pad-27) + tail + `"},` + "\n" + `{"role":"user","content":"next"}]`
			w, _ := read(t, text, history.OpenAI, history.Options{})
			if len(w.turns) != 2 || w.transcript()[1] != `user/text {"text":"next"}` {
				t.Fatalf("%q at %d: %d turns", tail, pad, len(w.turns))
			}
		}
	}
}

// A document that was cut off anywhere is refused, and nothing is made of the rest.
func TestCutOff(t *testing.T) {
	for _, name := range files {
		if name == "turns.jsonl" {
			continue
		}
		text := strings.TrimRight(file(t, name), "\n")
		for end := range len(text) {
			if _, err := history.Import(t.Context(), strings.NewReader(text[:end]), "", history.Options{}, nothing); err == nil {
				t.Fatalf("%s was accepted with %d of %d bytes", name, end, len(text))
			}
		}
	}
	text := file(t, "turns.jsonl")
	for end := range len(text) {
		_, err := history.Import(t.Context(), strings.NewReader(text[:end]), "", history.Options{}, nothing)
		if whole := end > 0 && (text[end-1] == '\n' || text[end] == '\n'); whole != (err == nil) {
			t.Fatalf("with %d bytes: %v", end, err)
		}
	}
}

// A document of somebody else's that is too long to be held is refused.
func TestSessionTooLongToHold(t *testing.T) {
	message := `{"role":"user","parts":[{"type":"text","text":"` + strings.Repeat("x", 1<<20) + `"}]},`
	in := io.MultiReader(strings.NewReader(`{"sessionId":"x","messages":[`), many(message, 1000), strings.NewReader(`{"role":"user"}]}`))
	err := importing(t, in, "", history.Options{})
	want := "message 100 (line 1): the document is longer than 104857600 bytes; import the messages in another format, which need not be held whole"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
