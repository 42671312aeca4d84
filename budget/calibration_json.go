package budget

import (
	"math"

	"github.com/turnstone-dev/turnstone/internal/record"
)

// calibrationVersion is of the document that a store keeps.
const calibrationVersion = 1

// calibrationDoc is a calibration as it is written. Values and first guess are in the order of the terms:
// prose, code, data, dense, then per prompt, message, call, tool and image.
type calibrationDoc struct {
	version, seen                 int
	values, guess, spread, errors []float64
}

var calibrationFields = record.Fields[calibrationDoc]{
	record.Value("version", func(d *calibrationDoc) *int { return &d.version }, whole()),
	record.Value("seen", func(d *calibrationDoc) *int { return &d.seen }, whole()).Always(),
	record.List("values", func(d *calibrationDoc) *[]float64 { return &d.values }, record.Float()),
	record.List("guess", func(d *calibrationDoc) *[]float64 { return &d.guess }, record.Float()),
	record.List("spread", func(d *calibrationDoc) *[]float64 { return &d.spread }, record.Float()),
	record.List("errors", func(d *calibrationDoc) *[]float64 { return &d.errors }, record.Float()),
}

// AppendJSON appends the calibration as one JSON object of at most a few kilobytes. Equal calibrations give
// equal text.
func (c Calibration) AppendJSON(dst []byte) []byte {
	c = c.started()
	return calibrationFields.Append(dst, &calibrationDoc{
		version: calibrationVersion, seen: c.seen,
		values: c.values[:], guess: c.guess[:], spread: c.spread[:], errors: c.errors[:c.kept],
	})
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
	case len(d.values) != terms:
		return Calibration{}, fieldErrorf("values", fix, "has %d numbers, not %d", len(d.values), terms)
	case len(d.guess) != terms:
		return Calibration{}, fieldErrorf("guess", fix, "has %d numbers, not %d", len(d.guess), terms)
	case len(d.spread) != pairs:
		return Calibration{}, fieldErrorf("spread", fix, "has %d numbers, not %d", len(d.spread), pairs)
	case len(d.errors) > keptErrors:
		return Calibration{}, fieldErrorf("errors", fix, "has %d numbers, at most %d", len(d.errors), keptErrors)
	}
	c := Calibration{seen: d.seen, kept: len(d.errors)}
	copy(c.values[:], d.values)
	copy(c.guess[:], d.guess)
	copy(c.spread[:], d.spread)
	copy(c.errors[:], d.errors)
	for i := range terms {
		if v := c.values[i]; v < bounds[i].least || v > bounds[i].most {
			return Calibration{}, fieldErrorf(record.Indexed("values", i), fix, "%g is out of bounds", v)
		}
		if v := c.guess[i]; v < bounds[i].least || v > bounds[i].most {
			return Calibration{}, fieldErrorf(record.Indexed("guess", i), fix, "%g is out of bounds", v)
		}
	}
	if i, ok := c.spreadLegal(); !ok {
		return Calibration{}, fieldErrorf(record.Indexed("spread", i), fix, "%g is out of bounds", c.spread[i])
	}
	for i, e := range d.errors {
		if e < 0 || e > maxError {
			return Calibration{}, fieldErrorf(record.Indexed("errors", i), fix, "%g is out of bounds", e)
		}
	}
	return c, nil
}

// spreadLegal says whether the numbers can be a covariance that learning left: no variance above the first
// guess's, no covariance above what its variances allow. Otherwise it returns the place of one that is not.
func (c *Calibration) spreadLegal() (place int, ok bool) {
	const rounding = 1e-6
	for i := range terms {
		if v := c.spread[at(i, i)]; v < 0 || v > variance(i, c.guess[i])*(1+rounding) {
			return at(i, i), false
		}
	}
	for i := range terms {
		for j := i + 1; j < terms; j++ {
			limit := math.Sqrt(c.spread[at(i, i)])*math.Sqrt(c.spread[at(j, j)])*(1+rounding) + rounding
			if math.Abs(c.spread[at(i, j)]) > limit {
				return at(i, j), false
			}
		}
	}
	return 0, true
}
