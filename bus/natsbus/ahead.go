package natsbus

import "time"

// aheadFor is how long an export is remembered at least that does not come again. Another relay noted it then.
const aheadFor = time.Hour

// ahead is what the stream has though it was not noted: published behind an export that was not, or in a round that could not
// be noted. Published again when the server has forgotten its id, it would be delivered twice. The zero value is ready for use.
type ahead struct {
	stream time.Time       // when the stream was made that has it
	recent map[string]bool // what came since turned
	older  map[string]bool // what came in the time before that
	turned time.Time
	round  []string // what the last round published, to be noted now
}

// empty reports whether there is nothing that must not be published again.
func (a *ahead) empty() bool { return len(a.recent)+len(a.older) == 0 }

// has reports whether the stream has an export, which came again.
func (a *ahead) has(id string) bool {
	if a.older[id] {
		delete(a.older, id)
		a.recent[id] = true
	}
	return a.recent[id]
}

// add remembers an export that the stream has.
func (a *ahead) add(id string, now time.Time) {
	if a.recent == nil || now.Sub(a.turned) >= aheadFor {
		a.older, a.recent, a.turned = a.recent, make(map[string]bool), now
	}
	a.recent[id] = true
}

// begin begins a round.
func (a *ahead) begin() { a.round = a.round[:0] }

// publish counts an export that the stream has as published in this round.
func (a *ahead) publish(id string) { a.round = append(a.round, id) }

// noted forgets what the round published.
func (a *ahead) noted() {
	for _, id := range a.round {
		delete(a.recent, id)
		delete(a.older, id)
	}
	a.begin()
}

// in forgets all where the stream was made at another time: it is another one.
func (a *ahead) in(made time.Time) {
	if !a.stream.Equal(made) {
		*a = ahead{stream: made}
	}
}
