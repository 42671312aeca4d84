package main

import (
	"errors"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/invalid"
)

func TestErrorsNameTheFlag(t *testing.T) {
	alone := func(field string) error {
		return &turnstone.RefusedError{Field: "goals[0]." + field, Reasons: []string{"goal g: " + field + ": is empty; give one"}}
	}
	for _, test := range []struct {
		err  error
		want string
	}{
		{alone("add_decisions[0].rationale"), "goal g: rationale: is empty; give one"},
		{alone("add_milestones[12].description"), "goal g: milestone: is empty; give one"},
		{alone("title"), "goal g: title: is empty; give one"},
		{&turnstone.RefusedError{Field: "goals[0]", Reasons: []string{"goal: 256 goals are live already"}}, "goal: 256 goals are live already"},
		{invalid.New("min_importance", "2 is not from 0 to 1", ""), "min-importance: 2 is not from 0 to 1"},
		{invalid.New("limit", "is negative", ""), "limit: is negative"},
		{errors.New("of the store"), "of the store"},
	} {
		if got := byFlag(test.err).Error(); got != test.want {
			t.Errorf("%v: got %q, want %q", test.err, got, test.want)
		}
	}
}
