package budget_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/budget/bpe"
)

func TestMeterCountsAReply(t *testing.T) {
	w, err := budget.WindowOf(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	texts := rapid.SampledFrom([]string{english, golang, pretty, chinese, base64, emoji, "\n\n", "a"})
	rapid.Check(t, func(t *rapid.T) {
		c := counterWith(counted())
		if rapid.Bool().Draw(t, "exact") {
			c = budget.NewCounter(budget.Profile{Tokenizer: budget.O200k}, nil, false, budget.Calibration{})
		}
		text := strings.Join(rapid.SliceOfN(texts, 0, 30).Draw(t, "texts"), "")
		m := budget.NewMeter(w, c, budget.Count{Tokens: 1000})
		for rest := text; rest != ""; {
			n := min(rapid.IntRange(1, 40).Draw(t, "piece"), len(rest))
			if m.Add(rest[:n]) {
				t.Fatal("overflow")
			}
			rest = rest[n:]
		}
		want := c.Tokens(c.Text(text)).Tokens
		if off := max(m.Reply()-want, want-m.Reply()); off > 4+want/12 {
			t.Fatalf("%d, the whole reply has %d", m.Reply(), want)
		}
		if m.Total() != 1000+m.Reply() {
			t.Fatalf("total %d of %d", m.Total(), m.Reply())
		}
	})
}

func TestMeterIsExactForOrdinaryText(t *testing.T) {
	c := budget.NewCounter(budget.Profile{Tokenizer: budget.O200k}, nil, false, budget.Calibration{})
	m := budget.NewMeter(budget.Window{Usable: 1 << 20}, c, budget.Count{})
	text := strings.Repeat(english, 50)
	for i := range len(text) {
		m.Add(text[i : i+1])
	}
	if want := c.Text(text).Exact; m.Reply() != want {
		t.Errorf("%d, want %d", m.Reply(), want)
	}
}

func TestMeterRaisesOverflowOnce(t *testing.T) {
	w, err := budget.WindowOf(2048)
	if err != nil {
		t.Fatal(err)
	}
	c := budget.NewCounter(budget.Profile{Tokenizer: budget.O200k}, nil, false, budget.Calibration{})
	m := budget.NewMeter(w, c, budget.Count{Tokens: w.Usable - 100})
	raised := 0
	for i := range 200 {
		if m.Add(" word") {
			raised++
			if i != 100 || m.Total() != w.Usable+1 {
				t.Errorf("raised at word %d, %d tokens", i+1, m.Total())
			}
		}
	}
	if raised != 1 {
		t.Errorf("raised %d times", raised)
	}
}

// Whatever a stream holds, it is counted in time that does not grow with what came before.
func TestMeterCountsWhatIsNoText(t *testing.T) {
	c := budget.NewCounter(budget.Profile{Tokenizer: budget.O200k}, nil, false, budget.Calibration{})
	for _, piece := range []string{"\x80", "\xf0\x9f", "\xe4\xb8\xad", "\x00"} {
		m := budget.NewMeter(budget.Window{Usable: 1 << 20}, c, budget.Count{})
		for range 2000 {
			m.Add(piece)
		}
		want := c.Text(strings.Repeat(piece, 2000)).Exact
		if off := max(m.Reply()-want, want-m.Reply()); off > want/10+30 {
			t.Errorf("%q: %d, the whole reply has %d", piece, m.Reply(), want)
		}
	}
}

// A reply that is too short to reach the window need not be counted.
func TestNoTextHasMoreThanMostTokens(t *testing.T) {
	// The provider reports three times as much.
	high := budget.NewCalibration(budget.Profile{})
	for range 100 {
		for _, tally := range []budget.Tally{{Prose: 1000, Messages: 1}, {Code: 1000, Messages: 1}, {Data: 1000, Messages: 1}, {Dense: 1000, Messages: 1}} {
			high, _ = high.Report(tally, 3000)
		}
	}
	counters := []*budget.Counter{
		budget.NewCounter(budget.Profile{}, nil, false, budget.Calibration{}),
		budget.NewCounter(budget.Profile{}, nil, false, high),
		budget.NewCounter(budget.Profile{}, bpe.O200k(), true, high),
	}
	for _, text := range []string{"a", "é", "漢", "\xff", "🦆", "{}[]();", "a b c d", strings.Repeat("漢字", 50), strings.Repeat("\x00\x01", 50), strings.Repeat("~^|", 50)} {
		for i, c := range counters {
			if got := c.Tokens(c.Text(text)).Tokens; got > budget.MostTokens(len(text)) {
				t.Errorf("counter %d makes %d tokens of %q", i, got, text)
			}
		}
	}
}
