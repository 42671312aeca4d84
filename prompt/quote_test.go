package prompt_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// quoteNote is the note of a prompt that quotes, empty where there is none.
func quoteNote(p *prompt.Prompt) string {
	for _, m := range p.Messages {
		if m.Role == prompt.Note && strings.Contains(m.Parts[0].Text, "\nDecided before, or to be kept word for word") {
			return m.Parts[0].Text
		}
	}
	return ""
}

var (
	namedTurn  = regexp.MustCompile(`(?m)^- turn (\d+), \d+ tokens: ".*"$`)
	namedTurns = regexp.MustCompile(`(?m)^There is more of it in (?:turn (\d+): look it up by its number|turns (\d+[,-][0-9, -]+): look them up by their numbers)\.$`)
)

// namedIn are the turns that the note of a prompt names, by its words alone.
func namedIn(note string) (named []turn.Range) {
	number := func(s string) int64 {
		n, _ := strconv.ParseInt(s, 10, 64)
		return n
	}
	for _, m := range namedTurn.FindAllStringSubmatch(note, -1) {
		named = append(named, turn.Range{From: number(m[1]), To: number(m[1])})
	}
	if m := namedTurns.FindStringSubmatch(note); m != nil {
		for item := range strings.SplitSeq(m[1]+m[2], ", ") {
			from, to, ok := strings.Cut(item, "-")
			if !ok {
				to = from
			}
			named = append(named, turn.Range{From: number(from), To: number(to)})
		}
	}
	return named
}

// quoted checks that everything that the turns before the recent ones say and that may not be rewritten is in the
// prompt word for word, or named, and returns how much is. What must be is found in the log, turn by turn.
func (w *world) quoted(p *prompt.Prompt) (held, named int) {
	w.Helper()
	note := quoteNote(p)
	names := namedIn(note)
	says := map[string][]int64{}
	err := w.view(func(tx store.Tx, info turn.SessionInfo) error {
		for _, s := range info.Spans(p.From - 1) {
			turns, err := tx.Log().Scan(w.Context(), w.key.Tenant, s, turn.RowFilter{}, 100_000)
			if err != nil {
				return err
			}
			for i := range turns {
				source := compress.Source{Turns: turns[i : i+1]}
				for _, q := range source.Quotes(info.Mode) {
					words := compress.Wording(&turns[i])[q.From:q.To]
					says[words] = append(says[words], turns[i].Seq)
				}
			}
		}
		return nil
	})
	if err != nil {
		w.Fatal(err)
	}
	for words, seqs := range says {
		switch {
		case slices.ContainsFunc(seqs, func(seq int64) bool { return strings.Contains(note+"\n", fmt.Sprintf("\n[%d] %s\n", seq, words)) }):
			held++
		case slices.ContainsFunc(seqs, func(seq int64) bool {
			return slices.ContainsFunc(names, func(r turn.Range) bool { return r.From <= seq && seq <= r.To })
		}):
			named++
		default:
			w.Fatalf("after %d passes nothing is left of what turns %v say: %q\n%s", p.Passes, seqs, words, note)
		}
	}
	return held, named
}

// mode goes on in a session of that mode.
func (w *world) mode(mode string) {
	w.key.Session = mode
	w.update(func(tx store.Tx) error {
		_, err := tx.Log().InsertSession(w.Context(), turn.SessionInfo{
			Key: w.key, Mode: mode, Status: turn.Active, CreatedAt: tx.Now(), LastActivity: tx.Now(),
		})
		return err
	})
}

// decision is one that is like no other.
func decision(n int) string {
	return fmt.Sprintf("We decided to use library lib%d-%d for the %s module.", n, n*7919%1000, []string{"billing", "search", "auth", "export", "report"}[n%5])
}

func TestDecisionsAreQuotedOrNamedThroughManyPasses(t *testing.T) {
	const passes = 12
	for _, tt := range []struct {
		context, decisions int
		summarise          bool
	}{
		{4096, 40, true}, {4096, 400, true}, {8192, 40, true}, {8192, 400, true}, {16_384, 40, true}, {16_384, 400, true}, {4096, 40, false}, {8192, 400, false},
	} {
		t.Run(fmt.Sprint(tt.decisions, " at ", tt.context, " summaries ", tt.summarise), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tt.context)
			if tt.summarise {
				w = summarised(w)
			}
			made, merged := 0, false
			for n := 0; w.last == nil || w.last.Passes < passes || made < tt.decisions; n++ {
				text := ""
				for range max(tt.decisions/100, 1) {
					if made < tt.decisions {
						text += decision(made) + " "
						made++
					}
				}
				w.append(user(fmt.Sprint("go on with step ", n)), agent(text+fmt.Sprintf("Step %d took a while. ", n)+words(tt.context/40)))
				p := w.compile()
				if p.Opened == "" {
					continue
				}
				held, named := w.quoted(p)
				if p.Passes > 0 && held == 0 {
					t.Fatalf("nothing is quoted, %d are named:\n%s", named, quoteNote(p))
				}
				if got := lineOf(p, budget.Checkpoints); got > p.Window.Usable*30/100 {
					t.Fatalf("checkpoints and quotes take %d of %d", got, p.Window.Usable)
				}
				merged = merged || len(p.Checkpoints) > 0 && p.Checkpoints[0].To-p.Checkpoints[0].From > w.last.From/2 && p.Passes > 3
			}
			held, named := w.quoted(w.last)
			if held+named < tt.decisions-20 || tt.summarise && !merged {
				t.Errorf("%d are held, %d named, merged: %v", held, named, merged)
			}
			if tt.decisions == 40 && tt.context == 16_384 && named > 0 {
				t.Errorf("%d of %d are only named though there is room", named, held+named)
			}
		})
	}
}

// TestLongQuotesAreNamedFirst pages what is long to its first words before short decisions that are older.
func TestLongQuotesAreNamedFirst(t *testing.T) {
	w := newWorld(t, 4096)
	long := "We decided to build the importer in stages, " + strings.Repeat("then the next one, ", 90) + "and so on."
	w.append(user("begin"), agent(decision(1)), agent(long), agent(decision(2)), agent(decision(2)+"\n"+decision(1)))
	w.moveOn()
	w.moveOn()
	note := quoteNote(w.last)
	lines := strings.Split(note, "\n")[2:]
	want := []string{"[2] " + decision(1), `- turn 3, `, "[4] " + decision(2)}
	if len(lines) != len(want) {
		t.Fatalf("%q", lines)
	}
	for i := range want {
		if !strings.HasPrefix(lines[i], want[i]) {
			t.Errorf("%q, want %q", lines[i], want[i])
		}
	}
	if !strings.HasSuffix(lines[1], `"We decided to build the importer in stages, …"`) {
		t.Errorf("%q", lines[1])
	}
	if q := w.last.Quotes; len(q) != 3 || q[1].Turn != 3 || q[1].Tokens < 300 || q[0].Tokens != 0 {
		t.Errorf("%+v", q)
	}
}

// TestWhatTheModeProtectsIsQuoted finds the frames of a stack trace in what a tool returned, byte for byte.
func TestWhatTheModeProtectsIsQuoted(t *testing.T) {
	w := newWorld(t, 4096)
	w.mode("debugger")
	w.append(user("why?"), call("a"), result("a", "panic: index 7  out of range\ngoroutine 1 [running]:\nok"))
	w.moveOn()
	w.moveOn()
	held, named := w.quoted(w.last)
	if note := quoteNote(w.last); held != 2 || named != 0 || !strings.Contains(note, "\n[3] panic: index 7  out of range\n[3] goroutine 1 [running]:") {
		t.Errorf("%d, %d: %s", held, named, note)
	}
}

// TestAnOlderEpochGetsItsQuotes opens an epoch after one of the renderer that quoted nothing: the prompts of that stay
// as they were, and the next one quotes what had left before.
func TestAnOlderEpochGetsItsQuotes(t *testing.T) {
	for name, then := range map[string]func(*world){
		"pass": func(w *world) { w.moveOn(); w.moveOn() },
		"goal": func(w *world) { w.request.Goal = fullGoal(); w.compile() },
		"back": func(w *world) {
			e := w.epoch()
			w.request.Back = &prompt.Back{Epoch: e, Reason: prompt.ReasonUndo}
			w.compile()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 4096)
			w.append(user("begin"), agent(decision(1)), agent(decision(2)))
			w.moveOn()
			w.moveOn()
			w.reopen(func(e *prompt.Epoch) { e.Renderer, e.Quotes, e.Unquoted = 1, nil, nil })
			w.append(user("on"))
			p := w.compile()
			if p.Opened != "" || quoteNote(p) != "" {
				t.Fatalf("opened %q: %s", p.Opened, quoteNote(p))
			}
			then(w)
			if held, named := w.quoted(w.last); held != 2 || named != 0 || w.epoch().Renderer != prompt.Renderer {
				t.Errorf("%d, %d", held, named)
			}
			for _, m := range w.made {
				if again, err := w.rebuild(m.call); err != nil || textOf(again) != m.text {
					t.Errorf("prompt %d: %v", m.call.Number, err)
				}
			}
		})
	}
}

// TestAnotherModeQuotesMoreOfTheSameTurns changes the mode of a session whose turns left without a summary and are
// read again with what comes after them: what the new mode protects is added to what is quoted of a turn, one quote made of
// those that overlap.
func TestAnotherModeQuotesMoreOfTheSameTurns(t *testing.T) {
	w := newWorld(t, 4096)
	w.append(
		user("begin"), agent("We decided on 7. It fails with 9."), agent("Hm.\nerror: no gauge. We decided on 8. Fine.\nWell."),
		call("a"), result("a", "ok\npanic: index 7 out of range"),
	)
	w.moveOn()
	w.moveOn()
	if note := quoteNote(w.last); !strings.HasSuffix(note, "\n[2] We decided on 7.\n[3] We decided on 8.") {
		t.Fatalf("before: %s", note)
	}
	summarised(w).described("debugger")
	w.moveOn()
	held, named := w.quoted(w.last)
	want := "\n[2] We decided on 7.\n[2] It fails with 9.\n[3] error: no gauge. We decided on 8. Fine.\n[5] panic: index 7 out of range"
	if note := quoteNote(w.last); held != 4 || named != 0 || !strings.HasSuffix(note, want) {
		t.Errorf("%d, %d: %s", held, named, note)
	}
	w.moveOn()
}

// described gives the session another mode.
func (w *world) described(mode string) {
	w.update(func(tx store.Tx) error {
		info, err := tx.Log().Session(w.Context(), w.key)
		if err != nil {
			return err
		}
		info.Mode = mode
		return tx.Log().UpdateSession(w.Context(), info)
	})
}

func TestOneTurnOrSeveralHaveMore(t *testing.T) {
	for want, unquoted := range map[string][]turn.Range{
		"turn 2: look it up by its number.":            {{From: 2, To: 2}},
		"turns 2-3: look them up by their numbers.":    {{From: 2, To: 3}},
		"turns 1, 3: look them up by their numbers.":   {{From: 1, To: 1}, {From: 3, To: 3}},
		"turns 1-2, 4: look them up by their numbers.": {{From: 1, To: 2}, {From: 4, To: 4}},
	} {
		w := newWorld(t, 4096)
		w.append(user("begin"), agent(decision(1)), agent(decision(2)), agent(decision(3)))
		w.moveOn()
		w.moveOn()
		w.reopen(func(e *prompt.Epoch) { e.Quotes, e.Unquoted = nil, unquoted })
		if note := quoteNote(w.compile()); !strings.HasSuffix(note, "\nThere is more of it in "+want) {
			t.Errorf("want %s: %s", want, note)
		}
	}
}
