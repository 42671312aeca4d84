package budget

const (
	// keptLows are the low reports that are remembered.
	keptLows = 16
	// enoughLows in a row can be a new way to count where no cut explains them, manyLows where a cut is
	// only less likely.
	enoughLows, manyLows = 4, 8
	// steady is how far the shares of an exact count may be apart, relative to them, and sameShare what
	// rounding makes of one share.
	steady, sameShare = 0.03, 0.0005
	// farSteadier is how many times less than another number one must vary to be the one that is kept.
	farSteadier = 4
)

// lows are the last reports in a row that were too low for what was sent, oldest first. A provider that cuts
// prompts reports what its context holds, and one that counts otherwise a share of what was sent.
type lows struct {
	all [keptLows]low
	n   int
}

type low struct{ sent, reported int }

// add takes one more low report. One of exactly a usual context size is a cut prompt, after which nothing that
// came before explains anything.
func (l *lows) add(sent Count, reported int) {
	if contextSized(reported) {
		*l = lows{}
		return
	}
	if l.n == keptLows {
		copy(l.all[:], l.all[1:])
		l.n--
	}
	l.all[l.n] = low{sent.Tokens, reported}
	l.n++
}

// relent takes a report that was not too low. The row of low ones ends with it if the prompt was as large as one
// of theirs and the report is not as low: what smaller ones are counted as, the template explains as well.
func (l *lows) relent(sent Count, reported int) {
	for _, r := range l.all[:l.n] {
		expected := float64(float64(sent.Tokens) * (float64(r.reported) / float64(r.sent)))
		slack := few + float64(float64(sent.Tokens)*max(steady, sent.Margin))
		if sent.Tokens >= r.sent && float64(reported) > expected+slack {
			*l = lows{}
			return
		}
	}
}

// credible says whether the low reports are how the provider counts: all of one share within twice the margin,
// while neither the counts nor what is missing stays the same. Few are enough where one of the prompts was smaller
// than what the provider took of another: its length is then no reason to cut it.
func (l *lows) credible(margin float64) bool {
	var share, sent, reported, missing span
	for i := l.n - 1; i >= 0; i-- {
		r := l.all[i]
		share.add(float64(r.reported) / float64(r.sent))
		sent.add(float64(r.sent))
		reported.add(float64(r.reported))
		missing.add(float64(r.sent - r.reported))
		if share.width() > max(steady, 2*margin) || share.least < bounds[termOwn].least {
			return false
		}
		if !share.farSteadier(missing) {
			continue
		}
		switch seen := l.n - i; {
		case seen >= enoughLows && sent.least <= reported.most:
			return true
		case seen >= manyLows && share.farSteadier(reported):
			return true
		}
	}
	return false
}

// span is where some numbers above zero lie.
type span struct{ least, most float64 }

func (s *span) add(v float64) {
	if s.most == 0 {
		s.least = v
	}
	s.least, s.most = min(s.least, v), max(s.most, v)
}

// width is how far the numbers are apart, relative to the least.
func (s span) width() float64 { return (s.most - s.least) / s.least }

func (s span) farSteadier(other span) bool {
	return farSteadier*max(s.width(), sameShare) <= other.width()
}
