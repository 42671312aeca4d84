package turnstone_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestPromptForNoModel refuses names that no store can keep, or that could not be read again: all prompts after such a one
// would fail.
func TestPromptForNoModel(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s := session(t, eng, "a")
	if _, err := s.Append(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "Hello."}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a\xff", "a\x00b", strings.Repeat("a", 4096)} {
		var bad *turn.FieldError
		_, err := s.Prompt(t.Context(), turnstone.PromptOptions{Model: name})
		if !errors.As(err, &bad) || bad.Name != "model" {
			t.Errorf("%.10q: %v", name, err)
		}
		if _, err := s.Prompt(t.Context(), turnstone.PromptOptions{Model: "llama3.2:3b"}); err != nil {
			t.Errorf("after %.10q: %v", name, err)
		}
	}
}

// TestPromptWithLateBytes refuses what is no text at the end of a prompt, for the same reason.
func TestPromptWithLateBytes(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s := session(t, eng, "a")
	var bad *turn.FieldError
	if _, err := s.Prompt(t.Context(), turnstone.PromptOptions{Late: []string{"good", "a\xff"}}); !errors.As(err, &bad) || bad.Name != "late[1]" {
		t.Errorf("got %v", err)
	}
	if _, err := s.Prompt(t.Context(), turnstone.PromptOptions{Late: []string{"a\x00b"}}); err != nil {
		t.Errorf("a NUL: %v", err)
	}
	if _, err := s.Prompt(t.Context(), turnstone.PromptOptions{}); err != nil {
		t.Errorf("after them: %v", err)
	}
}
