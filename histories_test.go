package turnstone_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/replay/history"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

func source(text string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

func TestHistoriesComeInAndGoOut(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	read := int64(0)
	input := `{"sessionId":"talk","startTime":"2026-01-26T10:00:00Z","model":"llama3.2:3b","messages":[` +
		`{"role":"user","parts":[{"type":"text","text":"hello"}],"timestamp":"2026-01-26T10:00:00Z"},` +
		`{"role":"assistant","parts":[{"type":"text","text":"hi"}],"timestamp":"2026-01-26T10:00:15Z"}]}`
	s, got, err := eng.ImportHistory(t.Context(), source(input), turnstone.ImportOptions{
		Session: turn.SessionInfo{Title: "mine"}, Progress: func(n int64) { read = n },
	})
	if err != nil {
		t.Fatal(err)
	}
	info, err := s.Info(t.Context())
	if err != nil || s.ID() != "talk" || info.Title != "mine" || info.Model != "llama3.2:3b" || info.Head != 2 || got.Format != history.Session || read != 0 {
		t.Errorf("%+v, %+v, %v", info, got, err)
	}
	turns, err := s.History(t.Context(), turn.HistoryOptions{Turns: 10})
	if err != nil || texts(turns) != "hello|hi" || !turns[1].CreatedAt.Equal(time.Date(2026, 1, 26, 10, 0, 15, 0, time.UTC)) {
		t.Errorf("%s at %v, %v", texts(turns), turns[1].CreatedAt, err)
	}
	var out strings.Builder
	if _, err := s.ExportHistory(t.Context(), &out, history.Session); err != nil || !strings.Contains(out.String(), `"sessionId":"talk"`) || !strings.Contains(out.String(), `"provider":"ollama"`) {
		t.Errorf("%s, %v", out.String(), err)
	}
	if _, _, err := eng.ImportHistory(t.Context(), source(input), turnstone.ImportOptions{}); !errors.Is(err, turn.ErrExists) {
		t.Errorf("the same once more: %v", err)
	}
	copied, _, err := eng.ImportHistory(t.Context(), source(out.String()), turnstone.ImportOptions{Session: turn.SessionInfo{Key: turn.Key{Session: "copy"}}})
	if err != nil {
		t.Fatal(err)
	}
	again, err := copied.History(t.Context(), turn.HistoryOptions{Turns: 10})
	if err != nil || texts(again) != "hello|hi" || again[0].ID != turns[0].ID {
		t.Errorf("%s, %v", texts(again), err)
	}
}

func TestTheRulesOfAnImportedConversationStay(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	var b strings.Builder
	b.WriteString(`{"messages":[{"role":"system","content":"Never say no."},{"role":"developer","content":"Be kind."}`)
	for range 100 {
		b.WriteString(`,{"role":"user","content":"` + strings.Repeat("and so on ", 30) + `"},{"role":"assistant","content":"yes"}`)
	}
	b.WriteString(`,{"role":"system","content":"The shop closes."}]}`)
	s, _, err := eng.ImportHistory(t.Context(), source(b.String()), turnstone.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pins, err := s.Pins(t.Context())
	if err != nil || !slices.Equal(pins, []int64{1, 2}) {
		t.Errorf("pinned %v, %v", pins, err)
	}
	p := compiled(t, s, turnstone.PromptOptions{Context: 4096, Model: "gpt-4o"})
	if text := lines(p); p.Passes != 1 || !strings.Contains(text, "Never say no.") || !strings.Contains(text, "Be kind.") {
		t.Errorf("after %d passes:\n%s", p.Passes, text)
	}
	if _, _, err := eng.ImportHistory(t.Context(), source("[]"), turnstone.ImportOptions{}); err == nil || !strings.Contains(err.Error(), "no turns") {
		t.Errorf("nothing to import: %v", err)
	}
}

func TestABrokenHistoryLeavesNothing(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	var b strings.Builder
	for range 39_999 {
		b.WriteString(`{"speaker":"A","text":"x"}` + "\n")
	}
	b.WriteString(`{"speaker":"A","text":` + "\n")
	o := turnstone.ImportOptions{Session: turn.SessionInfo{Key: turn.Key{Session: "broken"}}}
	if _, _, err := eng.ImportHistory(t.Context(), source(b.String()), o); err == nil || !strings.Contains(err.Error(), "line 40000") {
		t.Errorf("broken in line 40,000: %v", err)
	}
	if _, err := eng.Find(t.Context(), "broken"); !errors.Is(err, turn.ErrNotFound) {
		t.Errorf("what is left: %v", err)
	}
	// An input that is another one the second time.
	readings := 0
	changing := func() (io.ReadCloser, error) {
		readings++
		return source(strings.Repeat(`{"speaker":"A","text":"x"}`+"\n", readings))()
	}
	if _, _, err := eng.ImportHistory(t.Context(), changing, o); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("an input that changes: %v", err)
	}
	if _, err := eng.Find(t.Context(), "broken"); !errors.Is(err, turn.ErrNotFound) {
		t.Errorf("what is left: %v", err)
	}
}

func TestEndWritesTheSessionDocument(t *testing.T) {
	dir := t.TempDir()
	s := session(t, open(t, mem.New(mem.Config{}), turnstone.Config{SessionsDir: dir}), "s")
	say(t, s, turn.User, "hello")
	if _, err := s.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile(filepath.Join(dir, "default", "s.json"))
	if err != nil || !strings.Contains(string(document), `"text":"hello"`) {
		t.Errorf("%s, %v", document, err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "default")); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
