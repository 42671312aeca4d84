package budget

import "github.com/turnstone-dev/turnstone/budget/bpe"

// Counter counts as one model does. It is safe for concurrent use and never changes; to use what was learned
// since, make a new one. The tallies of the old one stay valid.
type Counter struct {
	profile Profile
	enc     *bpe.Encoding
	exact   bool
	cal     Calibration
	margin  float64
}

// NewCounter returns the counter of a model. enc is the model's own vocabulary if exact is set, and one that
// a calibration makes up for otherwise. Where enc is nil, the profile's tokenizer is taken if it is built in,
// and that is exact; for all others it is o200k, which is not. The zero Calibration starts at the profile's
// template.
func NewCounter(p Profile, enc *bpe.Encoding, exact bool, cal Calibration) *Counter {
	if enc == nil {
		enc, exact = builtIn(p.Tokenizer)
	}
	if cal == (Calibration{}) {
		cal = NewCalibration(p)
	}
	cal = cal.started()
	return &Counter{profile: p, enc: enc, exact: exact, cal: cal, margin: cal.Margin()}
}

func builtIn(tokenizer string) (enc *bpe.Encoding, exact bool) {
	switch tokenizer {
	case O200k:
		return bpe.O200k(), true
	case Cl100k:
		return bpe.Cl100k(), true
	}
	return bpe.O200k(), false
}

// Text counts a text. Its tokens are all Exact where the counter has the model's own vocabulary, and
// otherwise told apart by kind of content, line by line; their sum is always what the vocabulary says of the
// whole text.
func (c *Counter) Text(text string) Tally {
	n := c.enc.Recount(text)
	if c.exact {
		return Tally{Exact: n}
	}
	return weigh(text).split(n)
}

// Data counts a text that the provider writes in a form of its own, such as the definition of a tool: the
// tokens are Data, which a calibration weighs, even where the counter has the model's own vocabulary.
func (c *Counter) Data(text string) Tally { return Tally{Data: c.enc.Recount(text)} }

// Tokens says what a tally costs this model: its text, what the template adds, its pictures. A tally with
// messages is charged what the template adds once per prompt; the counts of the parts of one prompt are
// therefore not a sum, which is what [NewAccount] is for.
func (c *Counter) Tokens(t Tally) Count { return c.cal.count(t, c.margin) }

// Profile returns the profile of the model.
func (c *Counter) Profile() Profile { return c.profile }

// Calibration returns what the counter knows from reports. The next report goes to it when nothing else is stored.
func (c *Counter) Calibration() Calibration { return c.cal }
