package turnstone_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/budget/bpe"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

func events(t *testing.T, st store.Store) (kinds []event.Kind) {
	t.Helper()
	err := st.View(t.Context(), func(tx store.Tx) error {
		all, err := tx.Outbox().Events(t.Context(), turn.DefaultTenant, "", 0, 100)
		for _, e := range all {
			kinds = append(kinds, e.Kind)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}

func TestReportsCalibrateAModelNobodyHasHeardOf(t *testing.T) {
	s := session(t, open(t, mem.New(mem.Config{}), turnstone.Config{}), "s")
	o := turnstone.PromptOptions{Model: "nobody-has-heard-of-it", Context: 100_000}
	// The model's tokens are a fifth shorter than ours, and its template takes eleven a message.
	counted := func(p int, messages int) int { return p*5/4 + 11*messages }
	for i := range 30 {
		say(t, s, turn.User, fmt.Sprintf("number %d: %s", i, strings.Repeat("what about this and that then? ", 3+i%5)))
		p := compiled(t, s, o)
		if i == 0 && p.Count.Certainty != budget.Estimated {
			t.Errorf("at first it is %+v", p.Count)
		}
		raw := 0
		for _, m := range p.Messages {
			raw += bpe.O200k().Count(m.Parts[0].Text)
		}
		if truncated, err := s.Reported(t.Context(), p, llm.Usage{Prompt: counted(raw, len(p.Messages))}); err != nil || truncated {
			t.Fatalf("report %d: truncated %v, %v", i, truncated, err)
		}
	}
	say(t, s, turn.User, "one more")
	p := compiled(t, s, o)
	raw := 0
	for _, m := range p.Messages {
		raw += bpe.O200k().Count(m.Parts[0].Text)
	}
	want := counted(raw, len(p.Messages))
	if off := float64(p.Count.Tokens-want) / float64(want); p.Count.Certainty != budget.Calibrated || off < -0.03 || off > 0.03 {
		t.Errorf("counted %+v, the model says %d", p.Count, want)
	}
}

func TestAProviderThatDropsTheFrontIsFoundOut(t *testing.T) {
	st := mem.New(mem.Config{})
	s := session(t, open(t, st, turnstone.Config{}), "s")
	say(t, s, turn.User, strings.Repeat("a long story ", 1000))
	p := compiled(t, s, turnstone.PromptOptions{Model: "gpt-4o"})
	if truncated, err := s.Reported(t.Context(), p, llm.Usage{Prompt: p.Count.Tokens / 3}); err != nil || !truncated {
		t.Errorf("truncated %v, %v", truncated, err)
	}
	if got := events(t, st); len(got) != 1 || got[0] != event.PromptTruncated {
		t.Errorf("events %v", got)
	}
	if again := compiled(t, s, turnstone.PromptOptions{Model: "gpt-4o"}); again.Count != p.Count {
		t.Errorf("a lie was learned: %+v, before %+v", again.Count, p.Count)
	}
	if truncated, err := s.Reported(t.Context(), p, llm.Usage{}); err != nil || truncated || len(events(t, st)) != 1 {
		t.Errorf("no report at all: %v, %v", truncated, err)
	}
}

// A server that counts less than it did after an update is believed after some alarms.
func TestALowerCountIsBelievedInTheEnd(t *testing.T) {
	st := mem.New(mem.Config{})
	s := session(t, open(t, st, turnstone.Config{}), "s")
	o := turnstone.PromptOptions{Model: "gpt-4o"}
	var truncated bool
	for i := range 60 {
		say(t, s, turn.User, strings.Repeat("what about this and that then? ", 20+i%5))
		p := compiled(t, s, o)
		raw := 7
		for _, m := range p.Messages {
			raw += bpe.O200k().Count(m.Parts[0].Text) + 5
		}
		if i >= 30 {
			raw = raw * 9 / 10
		}
		var err error
		if truncated, err = s.Reported(t.Context(), p, llm.Usage{Prompt: raw}); err != nil || truncated && i < 30 {
			t.Fatalf("report %d: truncated %v, %v", i, truncated, err)
		}
	}
	if alarms := len(events(t, st)); truncated || alarms < 3 || alarms > 10 {
		t.Errorf("%d alarms, one at the end: %v", alarms, truncated)
	}
}

func TestAStreamPastTheWindowIsAnEmergency(t *testing.T) {
	st := mem.New(mem.Config{})
	s := session(t, open(t, st, turnstone.Config{}), "s")
	say(t, s, turn.User, "tell me everything")
	p := compiled(t, s, turnstone.PromptOptions{Model: "gpt-4o", Context: 2048})
	stream, err := s.Streaming(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	overflows := 0
	for range 60 {
		over, err := stream.Add(t.Context(), strings.Repeat("and then it went on ", 20))
		if err != nil {
			t.Fatal(err)
		}
		if over {
			overflows++
		}
	}
	if got := events(t, st); overflows != 1 || len(got) != 1 || got[0] != event.StreamOverflow || stream.Total() <= p.Window.Usable {
		t.Errorf("%d overflows, events %v, %d tokens", overflows, got, stream.Total())
	}
}

func TestVocabulariesAreAskedForOnce(t *testing.T) {
	var later atomic.Int64 // the engine's background reads the clock too
	var asked []string
	broken := errors.New("unreachable")
	var answer error = broken
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{
		Clock: func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(later.Load())) },
		Vocabulary: func(_ context.Context, model string) (*bpe.Encoding, error) {
			asked = append(asked, model)
			if answer != nil {
				return nil, answer
			}
			return bpe.Cl100k(), nil
		},
	})
	s := session(t, eng, "s")
	say(t, s, turn.User, "hello there")
	local, hosted := turnstone.PromptOptions{Model: "llama3.2:3b"}, turnstone.PromptOptions{Model: "gpt-4o"}
	compiled(t, s, hosted)
	if compiled(t, s, local); len(asked) != 1 || asked[0] != "llama3.2:3b" {
		t.Fatalf("asked for %v", asked)
	}
	if compiled(t, s, local); len(asked) != 1 {
		t.Error("a server that does not answer is asked again at once")
	}
	answer = nil
	later.Store(int64(2 * time.Minute))
	if compiled(t, s, local); len(asked) != 2 {
		t.Error("it is not asked again after a while")
	}
	if p := compiled(t, s, local); len(asked) != 2 || p.Tally.Exact == 0 || p.Tally.Prose != 0 {
		t.Errorf("asked %d times, tally %+v", len(asked), p.Tally)
	}
}

func TestADamagedCalibrationIsLearnedAnew(t *testing.T) {
	st := mem.New(mem.Config{})
	s := session(t, open(t, st, turnstone.Config{}), "s")
	say(t, s, turn.User, "hello")
	err := st.Update(t.Context(), func(tx store.Tx) error {
		return tx.Budget().PutCalibration(t.Context(), turn.DefaultTenant, budget.CalibrationRow{Model: "gpt-4o", Doc: `{"version":99}`, At: tx.Now()})
	})
	if err != nil {
		t.Fatal(err)
	}
	p := compiled(t, s, turnstone.PromptOptions{Model: "gpt-4o"})
	if _, err := s.Reported(t.Context(), p, llm.Usage{Prompt: p.Count.Tokens + 1}); err != nil {
		t.Fatal(err)
	}
	err = st.View(t.Context(), func(tx store.Tx) error {
		row, _, err := tx.Budget().Calibration(t.Context(), turn.DefaultTenant, "gpt-4o")
		if err != nil {
			return err
		}
		learned, err := budget.DecodeCalibration(row.Doc)
		if learned.Seen() != 1 {
			t.Errorf("learned from %d reports", learned.Seen())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestNoPromptIsAnErrorNotAPanic(t *testing.T) {
	s := session(t, open(t, mem.New(mem.Config{}), turnstone.Config{}), "s")
	if _, err := s.Reported(t.Context(), nil, llm.Usage{Prompt: 1}); err == nil || !strings.Contains(err.Error(), "prompt") {
		t.Error(err)
	}
	if _, err := s.Streaming(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "prompt") {
		t.Error(err)
	}
}

// letters is a vocabulary of single bytes, which no model has that talks.
func letters(t *testing.T) *bpe.Encoding {
	t.Helper()
	v := bpe.Vocabulary{Model: "gpt2", Pre: "llama-bpe", Merges: []string{"h e"}}
	next := rune(256)
	for b := range rune(256) {
		if b < '!' || b > '~' && b < 0xA1 || b == 0xAD {
			b, next = next, next+1
		}
		v.Tokens, v.Types = append(v.Tokens, string(b)), append(v.Types, 1)
	}
	v.Tokens, v.Types = append(v.Tokens, "he"), append(v.Types, 1)
	enc, err := bpe.New(v)
	if err != nil {
		t.Fatal(err)
	}
	return enc
}

// TestAVocabularyThatTheServerContradicts: a count by a vocabulary of the model's own is exact, until the model's server counts
// four times less, or more, and as any other vocabulary would.
func TestAVocabularyThatTheServerContradicts(t *testing.T) {
	const model = "llama3.2:3b"
	text := strings.Repeat("What about this and that then? I would say that it depends on the weather. ", 12)
	truth := func(p *prompt.Prompt) int {
		n := 20
		for _, m := range p.Messages {
			n += bpe.O200k().Count(m.Parts[0].Text) + 5
		}
		return n
	}
	st := mem.New(mem.Config{})
	eng := open(t, st, turnstone.Config{Vocabulary: func(context.Context, string) (*bpe.Encoding, error) { return letters(t), nil }})
	s := session(t, eng, "s")
	say(t, s, turn.User, text)
	o := turnstone.PromptOptions{Model: model}
	p := compiled(t, s, o)
	if count, err := eng.Count(t.Context(), model, text); err != nil || count.Certainty != budget.Exact || p.Count.Tokens < 3*truth(p) {
		t.Fatalf("%+v, %v: a prompt of %d tokens, in truth %d", count, err, p.Count.Tokens, truth(p))
	}
	for i := range 3 {
		if truncated, err := s.Reported(t.Context(), p, llm.Usage{Prompt: truth(p)}); err != nil || truncated {
			t.Errorf("report %d: truncated %v, %v", i, truncated, err)
		}
		if got := events(t, st); len(got) != 1 || got[0] != event.VocabularyMismatch {
			t.Errorf("report %d: events %v", i, got)
		}
		count, err := eng.Count(t.Context(), model, text)
		if err != nil || count.Certainty == budget.Exact {
			t.Errorf("report %d: %+v, %v", i, count, err)
		}
		say(t, s, turn.User, text)
		p = compiled(t, s, o)
		if off := float64(p.Count.Tokens-truth(p)) / float64(truth(p)); off < -0.1 || off > 0.1 {
			t.Errorf("report %d: counted %d, the server %d", i, p.Count.Tokens, truth(p))
		}
	}
}

// TestAVocabularyIsNotDoubtedForACutPrompt: what a server drops, what it takes from its cache and what its template adds says
// nothing about the vocabulary.
func TestAVocabularyIsNotDoubtedForACutPrompt(t *testing.T) {
	const model = "llama3.2:3b"
	for _, reported := range []func(sent int) int{
		func(sent int) int { return sent / 4 },
		func(sent int) int { return sent / 20 },
		func(int) int { return 9 },
		func(int) int { return 1024 },
		func(sent int) int { return sent + 4000 },
	} {
		st := mem.New(mem.Config{})
		eng := open(t, st, turnstone.Config{Vocabulary: func(context.Context, string) (*bpe.Encoding, error) { return bpe.Cl100k(), nil }})
		s := session(t, eng, "s")
		for range 10 {
			say(t, s, turn.User, strings.Repeat("What about this and that then? ", 30))
			p := compiled(t, s, turnstone.PromptOptions{Model: model})
			if _, err := s.Reported(t.Context(), p, llm.Usage{Prompt: reported(p.Count.Tokens)}); err != nil {
				t.Fatal(err)
			}
		}
		for _, kind := range events(t, st) {
			if kind != event.PromptTruncated {
				t.Errorf("reported %d for 2000: event %s", reported(2000), kind)
			}
		}
		if p := compiled(t, s, turnstone.PromptOptions{Model: model}); p.Tally.Exact == 0 {
			t.Errorf("reported %d for 2000: the vocabulary is gone", reported(2000))
		}
	}
}
