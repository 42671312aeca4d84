package budget

import (
	"math"
	"slices"
)

// The terms that a prompt's tokens are made of, in the order in which a calibration keeps them.
const (
	termProse = iota
	termCode
	termData
	termDense
	termPrompt
	termMessage
	termCall
	termTool
	termImage
	termOwn // tokens of the model's own vocabulary
	terms
)

const (
	pairs = terms * (terms + 1) / 2

	// warmUp is how many reports make a calibration: before that its errors say more about the first
	// guess than about what was learned.
	warmUp = 8
	// keptErrors are the recent errors that the margin is measured from.
	keptErrors = 64

	// noise is what remains of the relative error of a count when its factors are right.
	noise = 0.02
	// outlier bounds what one report can change, in standard deviations.
	outlier = 4
	// memory is what is left of a lesson after one more report, so that a server whose template
	// changed is learned anew, and what is no longer seen returns to the first guess.
	memory = 0.9998
	// doubt is how many standard deviations of what was not learned yet a margin holds.
	doubt = 2
	// maxError bounds an error that is remembered. maxMargin is above it: of two messages without a text
	// nearly nothing is known before the template is learned, and a lower one would make the upper bounds
	// of a prompt's parts less than that of the prompt.
	maxError  = 1
	maxMargin = 8
)

// bounds keep what is learned from leaving what a tokenizer or a template can do.
var bounds = [terms]struct{ least, most float64 }{
	{0.25, 4}, {0.25, 4}, {0.25, 4}, {0.2, 6},
	{0, 8192}, {0, 256}, {0, 1024}, {0, 4096}, {0, 65536},
	{0.25, 4},
}

// MostTokens is more than any text of that many bytes is counted as, whatever was reported of the model: a vocabulary makes
// no more than one token of a byte.
func MostTokens(bytes int) int { return bytes * int(bounds[termDense].most) }

// Calibration is what provider-reported counts taught about a model: a factor for each kind of content, what
// the template adds, and how far off the counts still are. It is a value: learning returns a new one. The
// same reports in the same order give the same calibration, byte for byte, on every machine.
//
// It is a recursive least-squares fit of the relative error, held near a first guess (factors of 1, the
// profile's template) until reports say otherwise. The zero Calibration has learned nothing and guesses a
// usual template; [NewCalibration] takes a profile's.
type Calibration struct {
	seen   int
	guess  [terms]float64 // the first guess; all zero in the zero Calibration
	values [terms]float64
	spread [pairs]float64 // covariance of values, the upper triangle by rows
	// errors are the relative errors of the last counts, each made before its report was learned from,
	// oldest first.
	errors [keptErrors]float64
	kept   int
	// doubted is set once the provider was found to count the model's own vocabulary otherwise: from then
	// on those tokens are weighed like the others.
	doubted bool
	lows    lows
}

// NewCalibration returns the calibration of a model of which nothing was reported yet.
func NewCalibration(p Profile) Calibration {
	t := p.Template
	return startAt([terms]float64{
		1, 1, 1, 1,
		float64(t.Prompt), float64(t.Message), float64(t.Call), float64(t.Tool), float64(t.Image),
		1,
	})
}

func startAt(guess [terms]float64) Calibration {
	for i := range terms {
		guess[i] = min(max(guess[i], bounds[i].least), bounds[i].most)
	}
	c := Calibration{guess: guess, values: guess}
	c.widen()
	return c
}

// widen forgets how sure the values are.
func (c *Calibration) widen() {
	c.spread = [pairs]float64{}
	for i := range terms {
		c.spread[at(i, i)] = c.variance(i)
	}
}

// variance is how unsure the first guess of a term is.
func (c *Calibration) variance(term int) float64 {
	guess := c.guess[term]
	var deviation float64
	switch term {
	case termOwn:
		if !c.doubted {
			return 0
		}
		deviation = 0.10
	case termProse:
		deviation = 0.10
	case termCode:
		deviation = 0.13
	case termData:
		deviation = 0.15
	case termDense:
		deviation = 0.25
	case termPrompt:
		deviation = max(8, guess/2)
	case termMessage:
		deviation = max(2, guess/2)
	case termCall:
		deviation = max(6, guess/2)
	case termTool:
		deviation = max(8, guess/2)
	case termImage:
		deviation = max(200, guess/2)
	}
	return float64(deviation * deviation)
}

// at is the place of an element of the covariance.
func at(i, j int) int {
	if i > j {
		i, j = j, i
	}
	return i*terms - i*(i-1)/2 + j - i
}

// started gives the zero Calibration its guess.
func (c Calibration) started() Calibration {
	if c.guess == [terms]float64{} {
		return NewCalibration(Profile{Template: usualTemplate})
	}
	return c
}

// Seen is how many reports were learned from.
func (c Calibration) Seen() int { return c.seen }

// Margin is how far off recent counts were, relative to them: of the last 64 counts, each made before its
// report was learned from, the one that nineteen in twenty stay below (the ⌈0.95·(n+1)⌉-th smallest of n,
// the largest while there are fewer than 19). 0 before anything was learned.
func (c Calibration) Margin() float64 {
	if c.kept == 0 {
		return 0
	}
	sorted := slices.Clone(c.errors[:c.kept])
	slices.Sort(sorted)
	return sorted[min((95*(c.kept+1)+99)/100, c.kept)-1]
}

// Report takes what the provider counted for a prompt: what stood in it and how many tokens it was said to be.
// A report that is too low for what was sent ([Truncated]) is not learned from, and truncated is true, until
// several in a row are low by one steady share that no cut explains: then that is how the provider counts, and
// it is learned anew. What cannot be true at all changes nothing: a report of none or of absurdly many tokens,
// or of an empty prompt.
func (c Calibration) Report(t Tally, reported int) (next Calibration, truncated bool) {
	c = c.started()
	whole := c.count(t, c.Margin())
	if !t.legal() || !possible(whole, reported) {
		return c, false
	}
	// A picture may cost next to nothing, whatever the last one did: its words alone tell a cut prompt, unless
	// the report is of a size that prompts are cut to.
	sent := whole
	if t.Images > 0 && !contextSized(reported) {
		words := t
		words.Images = 0
		sent = c.count(words, c.Margin())
	}
	if !Truncated(sent, reported) {
		c.lows.relent(sent, reported)
		c.learn(t, reported)
		return c, false
	}
	if c.lows.add(sent, reported); !c.lows.credible(sent.Margin) {
		return c, true
	}
	c.lows = lows{}
	c.doubted = c.doubted || t.Exact > 0
	c.widen()
	kept, errors := c.kept, c.errors
	c.learn(t, reported)
	// How far off the old count was says nothing about the new ones.
	c.kept, c.errors = kept, errors
	return c, false
}

func (c *Calibration) learn(t Tally, reported int) {
	sent := c.count(t, c.Margin())
	c.fade()
	x := t.terms()
	expected := c.sum(t)
	scale := max(expected, 1)
	for i := range x {
		x[i] /= scale
	}
	gain, uncertain := c.gain(x)
	limit := outlier * math.Sqrt(uncertain)
	missed := min(max((float64(reported)-expected)/scale, -limit), limit)
	for i := range terms {
		c.values[i] = min(max(c.values[i]+float64(gain[i]*missed), bounds[i].least), bounds[i].most)
		for j := i; j < terms; j++ {
			c.spread[at(i, j)] -= float64(float64(gain[i]*gain[j]) * uncertain)
		}
		// Rounding must not make a variance negative.
		c.spread[at(i, i)] = max(c.spread[at(i, i)], 0)
	}
	if c.seen++; c.seen > warmUp {
		c.remember(math.Abs(float64(reported)-float64(sent.Tokens)) / float64(max(sent.Tokens, 1)))
	}
}

func (c *Calibration) remember(err float64) {
	if c.kept == keptErrors {
		copy(c.errors[:], c.errors[1:])
		c.kept--
	}
	// Six digits are plenty and keep what is stored short.
	c.errors[c.kept] = math.Round(min(err, maxError)*1e6) / 1e6
	c.kept++
}

// fade lets every value return a little to the first guess.
func (c *Calibration) fade() {
	for i := range terms {
		c.values[i] = c.guess[i] + float64(memory*(c.values[i]-c.guess[i]))
		for j := i; j < terms; j++ {
			c.spread[at(i, j)] *= memory * memory
		}
		c.spread[at(i, i)] += float64((1 - memory*memory) * c.variance(i))
	}
}

// gain is how much each value moves by one unit of error at x, and the variance of that error. Products are
// converted before they are added: no machine may then fuse the two and round otherwise.
func (c *Calibration) gain(x [terms]float64) (gain [terms]float64, uncertain float64) {
	for i := range terms {
		for j := range terms {
			gain[i] += float64(c.spread[at(i, j)] * x[j])
		}
		uncertain += float64(x[i] * gain[i])
	}
	uncertain = max(uncertain, 0) + noise*noise
	for i := range gain {
		gain[i] /= uncertain
	}
	return gain, uncertain
}

// sum is what a tally costs.
func (c *Calibration) sum(t Tally) float64 {
	total := 0.0
	for i, n := range t.terms() {
		total += float64(n * c.values[i])
	}
	return min(max(total, 0), maxTokens)
}

// count is sum with its certainty; recent is the measured margin.
func (c *Calibration) count(t Tally, recent float64) Count {
	x := t.terms()
	total := c.sum(t)
	count := Count{Tokens: int(math.Round(total)), Certainty: Exact}
	if !c.doubted {
		x[termOwn] = 0
	}
	if x == [terms]float64{} {
		return count
	}
	count.Certainty = Estimated
	if c.seen >= warmUp {
		count.Certainty = Calibrated
	}
	// What a picture costs is a generous guess already: what is not known of it adds no margin.
	x[termImage] = 0
	var unsure float64
	for i, row := 0, 0; i < terms; row, i = row+terms-i, i+1 {
		if x[i] == 0 {
			continue
		}
		unsure += float64(float64(x[i]*x[i]) * c.spread[row])
		for j := i + 1; j < terms; j++ {
			unsure += float64(float64(2*x[i]*x[j]) * c.spread[row+j-i])
		}
	}
	count.Margin = min(max(recent, doubt*math.Sqrt(max(unsure, 0))/max(total, 1)), maxMargin)
	return count
}

// terms are the numbers that the values of a calibration weigh.
func (t Tally) terms() [terms]float64 {
	x := [terms]float64{
		float64(t.Prose), float64(t.Code), float64(t.Data), float64(t.Dense),
		0, float64(t.Messages), float64(t.Calls), float64(t.Tools), float64(t.Images),
		float64(t.Exact),
	}
	if t.Messages > 0 {
		x[termPrompt] = 1
	}
	return x
}

// legal says whether a tally can be of a prompt.
func (t Tally) legal() bool {
	sum := 0
	for _, n := range [...]int{t.Exact, t.Prose, t.Code, t.Data, t.Dense, t.Messages, t.Calls, t.Tools, t.Images} {
		if n < 0 || n > maxTokens {
			return false
		}
		sum += n
	}
	return sum > 0
}
