package chat

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestReplyAsItComes(t *testing.T) {
	backend := &scripted{}
	b := newBench(t, Config{Backend: backend})
	s := b.screen
	s.begin()
	happen := func(events ...Event) { b.send(eventMsg{work: s.work, events: events}) }
	happen(Doing{"waiting for llama3.2"})
	for range 11 {
		b.send(tickMsg{s.work})
	}
	b.golden("waiting")
	happen(Thinking{"Let me see what was said about the port, long ago, and by whom"})
	b.golden("thinking")
	happen(Text{"# The port\n\nIt is **5433** since the first evening, because the radar has 8080.\n\n```sh\ncurl localhost:"})
	b.golden("coming")
	happen(Text{"5433\n```\n" + strings.Repeat("more\n", 20) + "the end"})
	b.golden("long")
	happen(Text{".\n\n\n"})
	// A message of work that is over changes nothing.
	b.send(eventMsg{work: s.work - 1, events: []Event{Text{"stale"}}}, tickMsg{s.work - 1}, commandMsg{work: s.work - 1, text: "stale"})
	if strings.Contains(b.picture(), "stale") || s.ticks != 11 {
		t.Error("earlier work is shown")
	}
	b.send(eventMsg{work: s.work, over: true})
	if s.busy || !slices.Equal(b.kept[len(b.kept)-3:], []string{"more", "the end.", ""}) || s.reply.Len() != 0 {
		t.Errorf("after the end: busy %t, kept %q", s.busy, b.kept)
	}
	b.send(tickMsg{s.work})
	if s.ticks != 11 {
		t.Error("it ticks on")
	}
}

func TestCancelIsNotTheEnd(t *testing.T) {
	backend := &scripted{replies: [][]Event{{Text{"Half a"}}}, fail: errors.Join(errors.New("say to demo"), context.Canceled)}
	b := newBench(t, Config{Backend: backend})
	b.hold = true
	b.write("Go on")
	b.press("enter")
	if !b.screen.busy {
		t.Fatal("nothing runs")
	}
	b.write("next")
	b.press("enter")
	if shown := b.picture(); b.screen.input.value() != "" || !strings.Contains(shown, "Ctrl-C brings it back") {
		t.Errorf("input %q:\n%s", b.screen.input.value(), shown)
	}
	b.press("ctrl+c")
	if b.quit || b.screen.doing != "cancelling" {
		t.Errorf("quit %t, doing %q", b.quit, b.screen.doing)
	}
	b.release()
	b.golden("cancelled")
	// Now it empties the input, then says how to leave, then leaves.
	b.press("ctrl+c")
	if b.screen.input.value() != "" || b.quit {
		t.Error("the input is not emptied first")
	}
	b.press("ctrl+c")
	b.golden("leaving")
	b.press("a", "backspace", "ctrl+c")
	if b.quit {
		t.Error("another key in between does not start it over")
	}
	b.press("ctrl+c")
	if !b.quit {
		t.Error("the second one in a row does not leave")
	}
	if b.press("up"); b.screen.input.value() != "next" {
		t.Errorf("what was emptied cannot be had again: %q", b.screen.input.value())
	}
}

// Somebody who leaves in the middle of a fast reply must not leave the reply hanging.
func TestPumpEndsWithTheScreen(t *testing.T) {
	hungUp := false
	endless := func(yield func(Event, error) bool) {
		for yield(Text{"on "}, nil) {
		}
		hungUp = true
	}
	screen, leave := context.WithCancel(t.Context())
	events := make(chan eventMsg, 2)
	done := make(chan struct{})
	go func() {
		defer close(done)
		pump(t.Context(), screen, endless, 1, events)
	}()
	<-events // it is under way, and nobody reads on
	leave()
	<-done
	if !hungUp {
		t.Error("the stream goes on")
	}
}

// A stream that ends without a word when it is cancelled is cancelled all the same.
func TestPumpSaysThatItWasCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	events := make(chan eventMsg, 1)
	pump(ctx, t.Context(), func(func(Event, error) bool) {}, 1, events)
	if msg := <-events; !errors.Is(msg.err, context.Canceled) || msg.work != 1 {
		t.Errorf("got %+v", msg)
	}
}
