package main

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/prompt"
)

// TestToolsMeanTheSameAlways reads what says things twice, or in two places: the members of an object have no order.
func TestToolsMeanTheSameAlways(t *testing.T) {
	const text = `[
		{"type": "function", "strict": true, "name": "outer", "function": {"name": "f", "parameters": {"a": 1}}},
		{"name": "g", "schema": {"c": 3}, "parameters": {"b": 2}}]`
	want := []prompt.Definition{{Name: "f", Schema: `{"a": 1}`}, {Name: "g", Schema: `{"b": 2}`}}
	for range 50 {
		var errs bytes.Buffer
		a := &app{system: system{stderr: &errs}}
		got, err := a.parseTools(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		if errs.String() != "tools: not used: name, schema, strict\n" {
			t.Fatalf("told %q", errs.String())
		}
	}
}
