package invalid_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

func TestError(t *testing.T) {
	tests := []struct {
		name, problem, fix string
		want               string
	}{
		{"role", `"robot" is not a role`, "use user, agent or system", `role: "robot" is not a role; use user, agent or system`},
		{"text", "is empty", "", "text: is empty"},
		{"", "the content is not an object", "send one", "the content is not an object; send one"},
	}
	for _, tt := range tests {
		if got := invalid.New(tt.name, tt.problem, tt.fix).Error(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestNewIsFoundByItsPointer(t *testing.T) {
	err := fmt.Errorf("append turn 12: %w", invalid.New("role", "is missing", "name one"))
	var field *invalid.Field
	if !errors.As(err, &field) {
		t.Fatal("errors.As did not find *invalid.Field")
	}
	if want := (invalid.Field{Name: "role", Problem: "is missing", Fix: "name one"}); *field != want {
		t.Errorf("got %+v, want %+v", *field, want)
	}
}
