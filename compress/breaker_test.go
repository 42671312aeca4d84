package compress_test

import (
	"testing"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestBreaker(t *testing.T) {
	good := &compress.Receipt{By: "m", Tries: 1}
	bad := &compress.Receipt{By: compress.ByExtract, Tries: 2, Refused: []string{"it is empty"}}
	without := &compress.Receipt{By: compress.ByExtract}
	var b compress.Breaker
	after := func(r *compress.Receipt, n int) {
		for range n {
			b = b.After(r)
		}
	}
	want := func(open bool) {
		t.Helper()
		if b.Open() != open {
			t.Fatalf("%+v", b)
		}
	}
	want(false)
	after(without, 5)
	after(bad, 2)
	want(false)
	after(good, 1)
	after(bad, 2)
	want(false)
	after(without, 1)
	after(bad, 1)
	want(true)
	after(without, 7)
	want(true)
	after(without, 1)
	want(false)
	after(bad, 1)
	want(true)
	after(without, 8)
	want(false)
	after(good, 1)
	if b != (compress.Breaker{}) {
		t.Errorf("%+v", b)
	}
}

func TestAPassWithoutProgressIsNotTriedAgain(t *testing.T) {
	var b compress.Breaker
	if b.Blocks(0, 0, 0) || b.Blocks(2, 3, 900) {
		t.Error("the zero value blocks")
	}
	b = b.Stuck(2, turn.Range{From: 3, To: 9}, 1000)
	for _, tt := range []struct {
		epoch, from, tokens int64
		want                bool
	}{{2, 3, 900, true}, {2, 3, 999, true}, {2, 3, 1000, false}, {3, 3, 900, false}, {2, 4, 900, false}} {
		if got := b.Blocks(tt.epoch, tt.from, tt.tokens); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	if b = b.After(&compress.Receipt{By: "m", Tries: 1}); !b.Blocks(2, 3, 900) {
		t.Error("another pass forgot it")
	}
}

func TestASummariserThatIsOvertakenFailed(t *testing.T) {
	b := compress.Breaker{Failures: 2, Skipped: 1}.Failed()
	if b != (compress.Breaker{Failures: 3}) || !b.Open() {
		t.Errorf("%+v", b)
	}
}

// TestAPassOverNoTurnsIsRemembered keeps what is known of failures when only checkpoints were to shrink and did not.
func TestAPassOverNoTurnsIsRemembered(t *testing.T) {
	for _, from := range []int64{1, 40} {
		b := compress.Breaker{Failures: 2}.Stuck(7, turn.Range{From: from, To: from - 1}, 900)
		back, err := compress.DecodeBreaker(string(b.AppendJSON(nil)))
		if err != nil || back != b || !back.Blocks(7, from, 899) {
			t.Errorf("%+v, %v", back, err)
		}
	}
}

func TestBreakerGolden(t *testing.T) {
	full := compress.Breaker{Failures: 3, Skipped: 2, Epoch: 7, Range: turn.Range{From: 3, To: 9}, Until: 4100}
	var text string
	for _, b := range []compress.Breaker{full, {}} {
		line := string(b.AppendJSON(nil))
		text += line + "\n"
		if back, err := compress.DecodeBreaker(line); err != nil || back != b {
			t.Errorf("%+v, %v", back, err)
		}
	}
	golden(t, "breakers.jsonl", text)
	// As it was written before a latch had a limit: it holds nothing up.
	old, err := compress.DecodeBreaker(`{"failures":3,"skipped":2,"epoch":7,"range":{"from":3,"to":9}}`)
	if err != nil || old.Failures != 3 || old.Blocks(7, 3, 1) {
		t.Errorf("%+v, %v", old, err)
	}
	for _, bad := range []string{"", "[]", `{"failures":-1}`, `{"skipped":-1}`, `{"epoch":-1}`, `{"until":-1}`, `{"range":{"from":-1,"to":2}}`, `{"range":{"from":3,"to":1}}`, `{"range":{"from":0,"to":-1}}`, `{"open":true}`} {
		if b, err := compress.DecodeBreaker(bad); err == nil || b != (compress.Breaker{}) {
			t.Errorf("%s: %+v", bad, b)
		}
	}
}
