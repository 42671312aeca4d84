package chat

import (
	"context"
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
)

func TestConversation(t *testing.T) {
	backend := &scripted{replies: [][]Event{{
		Doing{"waiting for llama3.2"}, Thinking{"What is asked?"}, Text{"We chose **port 5433**:\n\n"}, Text{"- it is free\n- nobody else has it\n"},
		Note{"read_file main.go: 34 lines"}, Text{"```go\nlisten(5433)\n```\n"},
	}}}
	b := newBench(t, Config{Backend: backend, Greeting: "Session demo, 12 turns."})
	b.golden("empty")
	b.write("Which port?")
	b.press("alt+enter")
	b.write("And why?")
	b.golden("written")
	b.press("enter")
	b.golden("answered")
	if diff := cmp.Diff([]string{"Which port?\nAnd why?"}, backend.said); diff != "" {
		t.Error(diff)
	}
	if backend.statuses != 2 {
		t.Errorf("asked %d times how it stands, want at the beginning and after the reply", backend.statuses)
	}
}

func TestErrors(t *testing.T) {
	backend := &scripted{replies: [][]Event{{}}, fail: errors.New("model \"llama3.2\": the model server cannot be reached; start it with `ollama serve`")}
	b := newBench(t, Config{Backend: backend})
	b.write("Hello")
	b.press("enter")
	b.golden("failed")
	b.write("/pin 99")
	b.press("enter")
	if last := b.kept[len(b.kept)-3:]; last[0] != "> /pin 99" || !strings.HasPrefix(last[1], "error: ") {
		t.Errorf("kept %q", last)
	}
	backend.broken = errors.New("the store is gone\nfor ever")
	b.run(b.screen.askStatus())
	if b.screen.notice != "the store is gone for ever" || b.screen.status.Session != "demo" {
		t.Errorf("notice %q, status %+v", b.screen.notice, b.screen.status)
	}
}

// However long a line of the reply is, and what is written, the screen leaves a line of the terminal.
func TestTheScreenFitsTheTerminal(t *testing.T) {
	b := newBench(t, Config{Backend: &scripted{}})
	b.screen.begin()
	b.send(eventMsg{work: b.screen.work, events: []Event{Text{strings.Repeat("more ", 400)}}})
	b.send(tea.PasteMsg{Content: strings.Repeat("line\n", 40)})
	b.screen.notice = "a notice"
	if lines := strings.Count(b.screen.View().Content, "\n") + 1; lines > 11 {
		t.Errorf("the screen has %d of 12 lines", lines)
	}
}

func TestLinesThatAreTooLong(t *testing.T) {
	b := newBench(t, Config{Backend: &scripted{replies: [][]Event{{}}}})
	b.send(tea.WindowSizeMsg{Width: 30, Height: 12})
	b.write("This is said in more words than the screen is wide")
	b.press("enter")
	if diff := cmp.Diff([]string{"> This is said in more words", "than the screen is wide"}, b.kept); diff != "" {
		t.Error(diff)
	}
}

func TestNotes(t *testing.T) {
	notes := make(chan string, 1)
	notes <- "turns 3-40 left the prompt"
	backend := &scripted{}
	b := newBench(t, Config{Backend: backend})
	b.screen.config.Notes = notes
	asked := backend.statuses
	_, cmd := b.screen.Update(b.screen.awaitNote()())
	b.print()
	b.screen.config.Notes = nil
	ctx, cancel := context.WithCancel(t.Context())
	b.screen.ctx = ctx
	cancel() // so that waiting for the next note ends
	b.run(cmd)
	if diff := cmp.Diff([]string{"turns 3-40 left the prompt"}, b.kept); diff != "" || backend.statuses != asked+1 {
		t.Errorf("asked %d times: %s", backend.statuses-asked, diff)
	}
}

func TestColours(t *testing.T) {
	b := newBench(t, Config{Backend: &scripted{replies: [][]Event{{Text{"**So**"}}}}, Style: terminal.Colours()})
	b.write("x")
	b.press("enter")
	if diff := cmp.Diff([]string{"\x1b[36m> x\x1b[0m", "\x1b[1mSo\x1b[0m", ""}, strings.Split(strings.ReplaceAll(strings.Join(b.kept, "\x00"), "\x1b[m", "\x1b[0m"), "\x00")); diff != "" {
		t.Error(diff)
	}
	if view := b.screen.View().Content; !strings.Contains(view, "\x1b[36m> ") || !strings.Contains(view, "\x1b[2m") {
		t.Errorf("no colours: %q", view)
	}
}
