package turnstone_test

import (
	"context"
	"errors"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/store/mem"
)

// byteMind says what is no text, or fails in such words.
type byteMind struct{ fails bool }

func (m byteMind) Evaluate(context.Context, *commit.Situation) (commit.Assessment, error) {
	if m.fails {
		return commit.Assessment{}, errors.New("bytes \xff\x00")
	}
	return commit.Assessment{Issues: []commit.Issue{{Kind: "odd\xff", Text: "bytes \xff\x00"}}}, nil
}

func (m byteMind) Reflect(context.Context, *commit.Situation, commit.Assessment) (commit.Reflection, error) {
	return commit.Reflection{Lessons: []string{"bytes \xff"}, Patterns: []string{"bytes \xff"}}, nil
}

// TestMindsThatSayBytes has an export that can be read all the same.
func TestMindsThatSayBytes(t *testing.T) {
	for _, mind := range []byteMind{{fails: true}, {}} {
		eng := open(t, mem.New(mem.Config{}), turnstone.Config{Evaluator: mind, Reflector: mind})
		done := commitText(t, session(t, eng, "a"), "hello")
		if _, err := eng.Export(t.Context(), done.ExportID); err != nil {
			t.Errorf("export: %v", err)
		}
		if err := eng.Publish(t.Context()); err != nil {
			t.Errorf("publish: %v", err)
		}
		if _, err := eng.Trace(t.Context(), done.TurnID); err != nil {
			t.Errorf("trace: %v", err)
		}
	}
}
