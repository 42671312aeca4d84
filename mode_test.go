package turnstone_test

import (
	"errors"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestModesAreThoseOfSummaries holds whoever describes a session to a mode that summaries know.
func TestModesAreThoseOfSummaries(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s := session(t, eng, "talk")
	wrong := turn.SessionInfo{Key: turn.Key{Session: "other"}, Mode: "nonsense"}
	_, created := eng.Create(t.Context(), wrong)
	_, forked := s.Fork(t.Context(), turnstone.Head, wrong)
	for name, err := range map[string]error{"create": created, "fork": forked, "describe": s.Describe(t.Context(), wrong)} {
		var field *turn.FieldError
		if !errors.As(err, &field) || field.Name != "mode" {
			t.Errorf("%s: %v, want an error of the mode", name, err)
		}
	}
	if _, err := eng.Find(t.Context(), "other"); !errors.Is(err, turn.ErrNotFound) {
		t.Errorf("a session of no mode was made: %v", err)
	}
	for _, mode := range compress.Modes() {
		if err := s.Describe(t.Context(), turn.SessionInfo{Mode: mode}); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
}
