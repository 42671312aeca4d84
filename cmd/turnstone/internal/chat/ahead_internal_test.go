package chat

import (
	"slices"
	"testing"
)

func TestWhatWasSentAhead(t *testing.T) {
	const first, rest = "Hello", "And now?"
	for name, tt := range map[string]struct {
		lines   []string
		meant   func(b *bench) // while the first of it runs
		said    []string
		left    string // in the input
		earlier string // what the arrow key brings back then
	}{
		"one after the other":       {lines: []string{first, "", rest}, said: []string{first, rest}, earlier: rest},
		"lines of one message":      {lines: []string{`One\`, "two"}, said: []string{"One\ntwo"}, earlier: "One\ntwo"},
		"one that is being written": {lines: []string{first, `One\`}, said: []string{first}, left: "One\n", earlier: first},
		"before what is sent since": {
			lines: []string{first, rest}, said: []string{first, rest, "last"}, earlier: "last",
			meant: func(b *bench) { b.write("last"); b.press("enter") },
		},
		"no more after Ctrl-C": {
			lines: []string{first, rest}, said: []string{first}, earlier: rest,
			meant: func(b *bench) { b.press("ctrl+c") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			backend := &scripted{replies: [][]Event{{Text{"One."}}, {Text{"Two."}}, {Text{"Three."}}}}
			b := newBench(t, Config{Backend: backend, Ahead: tt.lines})
			b.hold = true
			b.send(tickMsg{}) // the first frame is drawn
			if tt.meant != nil {
				tt.meant(b)
			}
			b.hold = false
			b.release()
			if !slices.Equal(backend.said, tt.said) || b.screen.busy {
				t.Errorf("said %q, want %q; busy %t", backend.said, tt.said, b.screen.busy)
			}
			if got := b.screen.input.value(); got != tt.left {
				t.Errorf("the input holds %q, want %q", got, tt.left)
			}
			b.screen.input.set("")
			b.press("up")
			if got := b.screen.input.value(); got != tt.earlier {
				t.Errorf("the arrow key brings back %q, want %q", got, tt.earlier)
			}
		})
	}
}

// Enter while it still waits for the screen does not go before it.
func TestWhatIsSentBeforeWhatWasSentAheadWaitsForIt(t *testing.T) {
	backend := &scripted{replies: [][]Event{{Text{"One."}}, {Text{"Two."}}}}
	b := newBench(t, Config{Backend: backend, Ahead: []string{"Hello"}})
	b.write("next")
	b.press("enter")
	b.send(tickMsg{})
	if want := []string{"Hello", "next"}; !slices.Equal(backend.said, want) {
		t.Errorf("said %q, want %q", backend.said, want)
	}
}
