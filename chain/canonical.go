package chain

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// canonical writes JSON in the one way that all ways of writing the same value have in common: names sorted, no
// blanks, numbers as the double that nearly every client makes of them. What is not JSON stays as it is.
func canonical(arguments string) string {
	text := strings.TrimSpace(arguments)
	if text == "" {
		return "{}"
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return arguments
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return arguments
	}
	canonical, err := strictjson.Marshal(withNumbers(value))
	if err != nil {
		return arguments
	}
	return string(canonical)
}

// withNumbers replaces the numbers of a value that it may change.
func withNumbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		return number(v)
	case []any:
		for i := range v {
			v[i] = withNumbers(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = withNumbers(v[name])
		}
	}
	return value
}

// exact is below which a double holds every integer and rounds none to it.
const exact = 1 << 53

// number writes 1.0, 1e0 and 1 the same. An integer that no double holds stays as it was written: better to find no
// session than the wrong one.
func number(n json.Number) json.Number {
	f, err := n.Float64()
	switch {
	case err != nil:
		return n
	case f == math.Trunc(f) && math.Abs(f) < exact:
		return json.Number(strconv.FormatInt(int64(f), 10))
	case !strings.ContainsAny(n.String(), ".eE"):
		return n
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}
