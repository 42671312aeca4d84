package chain_test

import (
	"encoding/json"

	"pgregory.net/rapid"
)

// arguments draws JSON values that nest up to depth times.
func arguments(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		rapid.String().AsAny(), rapid.Int32().AsAny(), rapid.Float64Range(-1e9, 1e9).AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil),
	}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	below := arguments(depth - 1)
	return rapid.OneOf(append(leaves,
		rapid.MapOfN(rapid.StringN(0, 4, -1), below, 0, 4).AsAny(),
		rapid.SliceOfN(below, 0, 4).AsAny())...)
}

// marshal writes the value, without an indent as JavaScript does, with one escaping what Go escapes.
func marshal(t *rapid.T, value any, indent string) string {
	text, err := json.MarshalIndent(value, "", indent)
	if indent == "" {
		text, err = json.Marshal(value)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
