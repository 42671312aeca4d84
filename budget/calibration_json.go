package budget

import (
	"math"

	"github.com/turnstone-dev/turnstone/internal/record"
)

// calibrationVersion is of the document that a store keeps.
const calibrationVersion = 1

const (
	// weighed are the terms that every document has: the model's own vocabulary is weighed only if doubted.
	weighed      = termOwn
	weighedPairs = weighed * (weighed + 1) / 2
)

// calibrationDoc is a calibration as it is written. Values and first guess are in the order of the terms:
// prose, code, data, dense, then per prompt, message, call, tool and image; spread is the upper triangle of
// their covariance, by rows. Own is there if the model's own vocabulary is weighed: its value, its covariance
// with each of those terms, its variance. Low is what was sent and what was reported, in turn.
type calibrationDoc struct {
	version, seen                      int
	values, guess, spread, errors, own []float64
	low                                []int
}

var calibrationFields = record.Fields[calibrationDoc]{
	record.Value("version", func(d *calibrationDoc) *int { return &d.version }, whole()),
	record.Value("seen", func(d *calibrationDoc) *int { return &d.seen }, whole()).Always(),
	record.List("values", func(d *calibrationDoc) *[]float64 { return &d.values }, record.Float()),
	record.List("guess", func(d *calibrationDoc) *[]float64 { return &d.guess }, record.Float()),
	record.List("spread", func(d *calibrationDoc) *[]float64 { return &d.spread }, record.Float()),
	record.List("errors", func(d *calibrationDoc) *[]float64 { return &d.errors }, record.Float()),
	record.List("own", func(d *calibrationDoc) *[]float64 { return &d.own }, record.Float()),
	record.List("low", func(d *calibrationDoc) *[]int { return &d.low }, whole()),
}

// AppendJSON appends the calibration as one JSON object of at most a few kilobytes. Equal calibrations give
// equal text.
func (c Calibration) AppendJSON(dst []byte) []byte {
	c = c.started()
	d := calibrationDoc{
		version: calibrationVersion, seen: c.seen,
		values: c.values[:weighed], guess: c.guess[:weighed], errors: c.errors[:c.kept],
	}
	eachPair(func(i, j int) { d.spread = append(d.spread, c.spread[at(i, j)]) })
	if c.doubted {
		d.own = append(d.own, c.values[termOwn])
		for i := range terms {
			d.own = append(d.own, c.spread[at(i, termOwn)])
		}
	}
	for _, r := range c.lows.all[:c.lows.n] {
		d.low = append(d.low, r.sent, r.reported)
	}
	return calibrationFields.Append(dst, &d)
}

// eachPair calls f for each element of a document's spread.
func eachPair(f func(i, j int)) {
	for i := range weighed {
		for j := i; j < weighed; j++ {
			f(i, j)
		}
	}
}

// DecodeCalibration reads what [Calibration.AppendJSON] wrote. Anything else is refused with a *[FieldError]
// that names the place; learning anew is then the way on.
func DecodeCalibration(data string) (Calibration, error) {
	d, err := calibrationFields.Decode(data)
	if err != nil {
		return Calibration{}, err
	}
	const fix = "delete the calibration: it is learned anew"
	switch {
	case d.version != calibrationVersion:
		return Calibration{}, fieldErrorf("version", fix, "%d is not known", d.version)
	case d.seen < 0 || d.seen > maxTokens:
		return Calibration{}, fieldErrorf("seen", fix, "%d is no number of reports", d.seen)
	case len(d.values) != weighed:
		return Calibration{}, fieldErrorf("values", fix, "has %d numbers, not %d", len(d.values), weighed)
	case len(d.guess) != weighed:
		return Calibration{}, fieldErrorf("guess", fix, "has %d numbers, not %d", len(d.guess), weighed)
	case len(d.spread) != weighedPairs:
		return Calibration{}, fieldErrorf("spread", fix, "has %d numbers, not %d", len(d.spread), weighedPairs)
	case len(d.own) != 0 && len(d.own) != 1+terms:
		return Calibration{}, fieldErrorf("own", fix, "has %d numbers, not %d", len(d.own), 1+terms)
	case len(d.low)%2 != 0 || len(d.low) > 2*keptLows:
		return Calibration{}, fieldErrorf("low", fix, "has %d numbers, not pairs of them, at most %d", len(d.low), keptLows)
	case len(d.errors) > keptErrors:
		return Calibration{}, fieldErrorf("errors", fix, "has %d numbers, at most %d", len(d.errors), keptErrors)
	}
	c := d.calibration()
	for i := range terms {
		name, place := "values", i
		if i == termOwn {
			name, place = "own", 0
		}
		if v := c.values[i]; v < bounds[i].least || v > bounds[i].most {
			return Calibration{}, fieldErrorf(record.Indexed(name, place), fix, "%g is out of bounds", v)
		}
		if v := c.guess[i]; v < bounds[i].least || v > bounds[i].most {
			return Calibration{}, fieldErrorf(record.Indexed("guess", i), fix, "%g is out of bounds", v)
		}
	}
	if i, j, ok := c.spreadLegal(); !ok {
		return Calibration{}, fieldErrorf(spreadPlace(i, j), fix, "%g is out of bounds", c.spread[at(i, j)])
	}
	for i, r := range c.lows.all[:c.lows.n] {
		if r.sent > maxTokens || r.reported <= 0 || r.reported >= r.sent {
			return Calibration{}, fieldErrorf(record.Indexed("low", 2*i), fix, "%d sent and %d reported are no low report", r.sent, r.reported)
		}
	}
	for i, e := range d.errors {
		if e < 0 || e > maxError {
			return Calibration{}, fieldErrorf(record.Indexed("errors", i), fix, "%g is out of bounds", e)
		}
	}
	return c, nil
}

// calibration is what the document says, unchecked.
func (d *calibrationDoc) calibration() Calibration {
	c := Calibration{seen: d.seen, kept: len(d.errors), doubted: len(d.own) > 0}
	copy(c.values[:], d.values)
	copy(c.guess[:], d.guess)
	copy(c.errors[:], d.errors)
	c.values[termOwn], c.guess[termOwn] = 1, 1
	next := 0
	eachPair(func(i, j int) {
		c.spread[at(i, j)] = d.spread[next]
		next++
	})
	if c.doubted {
		c.values[termOwn] = d.own[0]
		for i := range terms {
			c.spread[at(i, termOwn)] = d.own[1+i]
		}
	}
	for i := 0; i < len(d.low); i += 2 {
		c.lows.all[c.lows.n] = low{d.low[i], d.low[i+1]}
		c.lows.n++
	}
	return c
}

// spreadPlace is where a document has an element of the covariance.
func spreadPlace(row, column int) string {
	if column == termOwn {
		return record.Indexed("own", 1+row)
	}
	place, next := 0, 0
	eachPair(func(i, j int) {
		if i == row && j == column {
			place = next
		}
		next++
	})
	return record.Indexed("spread", place)
}

// spreadLegal says whether the numbers can be a covariance that learning left: no variance above the first
// guess's, no covariance above what its variances allow. Otherwise it returns the place of one that is not.
func (c *Calibration) spreadLegal() (row, column int, ok bool) {
	const rounding = 1e-6
	for i := range terms {
		if v := c.spread[at(i, i)]; v < 0 || v > c.variance(i)*(1+rounding) {
			return i, i, false
		}
	}
	for i := range terms {
		for j := i + 1; j < terms; j++ {
			limit := math.Sqrt(c.spread[at(i, i)])*math.Sqrt(c.spread[at(j, j)])*(1+rounding) + rounding
			if math.Abs(c.spread[at(i, j)]) > limit {
				return i, j, false
			}
		}
	}
	return 0, 0, true
}
