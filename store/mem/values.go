package mem

import (
	"fmt"

	"github.com/turnstone-dev/turnstone/store"
)

// values are the values of a row, read from left to right. A null reads as the empty value.
type values struct {
	left  []any
	table *store.Table
}

// check holds every value against its column, so that reading them cannot go wrong.
func (v *values) check() error {
	for i, c := range v.table.Columns {
		ok := false
		switch v.left[i].(type) {
		case nil:
			ok = c.Null
		case int64:
			ok = c.Type == store.Int
		case string:
			ok = c.Type == store.Text
		case []byte:
			ok = c.Type == store.Bytes
		}
		if !ok {
			return fmt.Errorf("column %s: %T is no value for it", c.Name, v.left[i])
		}
	}
	return nil
}

func next[V any](v *values) V {
	value, _ := v.left[0].(V)
	v.left = v.left[1:]
	return value
}

func (v *values) text() string  { return next[string](v) }
func (v *values) int() int64    { return next[int64](v) }
func (v *values) bytes() []byte { return next[[]byte](v) }
