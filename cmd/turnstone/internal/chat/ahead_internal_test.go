package chat

import (
	"context"
	"errors"
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
			lines: []string{first, rest}, said: []string{first}, left: rest, earlier: rest,
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

// What waits was typed with what was to come before it in mind: where that did not come, whoever typed it decides again.
func TestWhatWaitsComesBackWhenItsTurnDoesNotCome(t *testing.T) {
	down := errors.New("the model server cannot be reached")
	cancelled := func(b *bench) { b.press("ctrl+c") }
	nothing := func(*bench) {}
	for name, tt := range map[string]struct {
		first string
		draft string
		fail  error
		meant func(b *bench) // while the first runs
		left  string
	}{
		"cancelled":                    {"one", "", context.Canceled, cancelled, "two\nthree"},
		"cancelled, writing":           {"one", "fo", context.Canceled, cancelled, "two\nthree\nfo"},
		"cancelled before it was kept": {"one", "fo", refused{context.Canceled}, cancelled, "one\ntwo\nthree\nfo"},
		"failed":                       {"one", "", down, nothing, "two\nthree"},
		"failed, writing":              {"one", "fo", down, nothing, "two\nthree\nfo"},
		"refused":                      {"one", "", refused{down}, nothing, "one\ntwo\nthree"},
		"a command failed":             {"/model big", "fo", down, nothing, "two\nthree\nfo"},
	} {
		t.Run(name, func(t *testing.T) {
			backend := &scripted{replies: [][]Event{{Text{"Half a"}}, {}, {}}, fail: tt.fail}
			b := newBench(t, Config{Backend: backend, Ahead: []string{tt.first, "two", "three"}})
			b.hold = true
			b.send(tickMsg{})
			b.write(tt.draft)
			tt.meant(b)
			b.release()
			if sent := append(backend.said, backend.commands...); !slices.Equal(sent, []string{tt.first}) || b.screen.busy {
				t.Errorf("sent %q, want %q and no more; busy %t", sent, tt.first, b.screen.busy)
			}
			b.write("!") // where the cursor was
			if got := b.screen.input.value(); got != tt.left+"!" {
				t.Errorf("the input holds %q, want %q", got, tt.left+"!")
			}
		})
	}
}

// Ctrl-C before the first of it went does not empty the input besides.
func TestCtrlCBeforeWhatWasSentAheadWentBringsItBack(t *testing.T) {
	backend := &scripted{}
	b := newBench(t, Config{Backend: backend, Ahead: []string{"one", "two"}})
	b.write("thr")
	b.press("ctrl+c")
	b.send(tickMsg{})
	if got, want := b.screen.input.value(), "one\ntwo\nthr"; got != want || len(backend.said) != 0 {
		t.Errorf("the input holds %q, want %q; said %q", got, want, backend.said)
	}
}

// What was being written as an answer is not taken for a part of what waits.
func TestCtrlCAtAQuestionBringsBackWhatWaitsBeforeWhatIsWritten(t *testing.T) {
	b := newBench(t, Config{Backend: &scripted{replies: [][]Event{{}}, fail: context.Canceled}, Ahead: []string{"one", "two"}})
	b.hold = true
	b.send(tickMsg{})
	b.send(questionMsg{Text: "list_files", Answer: func(bool) {}})
	b.write("wait")
	b.press("ctrl+c")
	b.release()
	if got, want := b.screen.input.value(), "two\nwait"; got != want {
		t.Errorf("the input holds %q, want %q", got, want)
	}
}
