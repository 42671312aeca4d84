package compress

import (
	"fmt"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/turn"
)

const (
	// openAfter is how many failures in a row open a breaker, and tryEvery how many passes go by until
	// the summariser is tried again.
	openAfter = 3
	tryEvery  = 8
)

// Breaker remembers that a summariser keeps failing and that a range cannot become smaller, so that
// neither is tried again and again. It is a value: each method returns the next one, which the engine
// stores. The zero value is ready for use.
type Breaker struct {
	// Failures is how many passes in a row the summariser failed, Skipped how many went by without it
	// since.
	Failures, Skipped int64
	// Epoch and Range are where a pass made no progress last, and Until how many tokens the recent turns must
	// take before another may.
	Epoch int64
	Range turn.Range
	Until int64
}

// Open reports whether the summariser is not to be asked: it failed three times in a row, and not so
// many passes went by since that it is worth another try. The extractive summary is taken meanwhile.
func (b Breaker) Open() bool { return b.Failures >= openAfter && b.Skipped < tryEvery }

// After returns the breaker after a pass with that receipt.
func (b Breaker) After(r *Receipt) Breaker {
	switch {
	case r.Tries == 0 && b.Open():
		b.Skipped++
	case r.Tries == 0:
	case r.Fallback():
		return b.Failed()
	default:
		b.Failures, b.Skipped = 0, 0
	}
	return b
}

// Failed returns the breaker after a pass for which the summariser did not answer in time.
func (b Breaker) Failed() Breaker {
	b.Failures++
	b.Skipped = 0
	return b
}

// Stuck returns the breaker after a pass over the range that made no progress in an epoch, and will make none
// before the recent turns take so many tokens.
func (b Breaker) Stuck(epoch int64, r turn.Range, until int64) Breaker {
	b.Epoch, b.Range, b.Until = epoch, r, until
	return b
}

// Blocks reports whether a pass is known to make no progress in that epoch while its recent turns begin at seq
// from and take so many tokens. Where the pass would end does not matter: that moves with every turn.
func (b Breaker) Blocks(epoch, from, tokens int64) bool {
	return b.Epoch == epoch && b.Range.From == from && tokens < b.Until
}

var breakerFields = record.Fields[Breaker]{
	record.Value("failures", func(b *Breaker) *int64 { return &b.Failures }, record.Int()),
	record.Value("skipped", func(b *Breaker) *int64 { return &b.Skipped }, record.Int()),
	record.Value("epoch", func(b *Breaker) *int64 { return &b.Epoch }, record.Int()),
	record.Value("range", func(b *Breaker) *turn.Range { return &b.Range }, record.Of(rangeFields)),
	record.Value("until", func(b *Breaker) *int64 { return &b.Until }, record.Int()),
}

// AppendJSON appends the breaker as one line of JSON.
func (b Breaker) AppendJSON(dst []byte) []byte { return breakerFields.Append(dst, &b) }

// DecodeBreaker reads what AppendJSON wrote, now or in any earlier version. What is damaged is refused
// with a *[FieldError].
func DecodeBreaker(data string) (Breaker, error) {
	b, err := breakerFields.Decode(data)
	if err != nil {
		return Breaker{}, err
	}
	for _, f := range []struct {
		name  string
		value int64
	}{{"failures", b.Failures}, {"skipped", b.Skipped}, {"epoch", b.Epoch}, {"range.from", b.Range.From}, {"range.to", b.Range.To}, {"until", b.Until}} {
		if f.value < 0 {
			return Breaker{}, invalid.New(f.name, fmt.Sprintf("%d is less than nothing", f.value), "")
		}
	}
	// A pass in which only checkpoints were to shrink was over no turns: its range ends before it begins.
	if b.Range.To < b.Range.From-1 {
		return Breaker{}, invalid.New("range", fmt.Sprintf("%d to %d is no range of turns", b.Range.From, b.Range.To), "")
	}
	return b, nil
}
