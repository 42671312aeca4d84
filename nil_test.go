package turnstone_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/llm/ollama"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// What is nil, as an interface or inside of one, is refused by name where it is given, and nothing panics later.
func TestNilIsRefusedWhereItIsGiven(t *testing.T) {
	ctx := t.Context()
	open := func(c turnstone.Config) error {
		e, err := turnstone.Open(ctx, mem.New(mem.Config{}), c)
		if err == nil {
			err = errors.Join(errors.New("it opened"), e.Close())
		}
		return err
	}
	eng, err := turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{Model: llmtest.NewScript("Hi.")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	chat, err := eng.Session(ctx, "s")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		field string
		try   func() error
	}{
		"a store": {"store", func() error { _, err := turnstone.Open(ctx, nil, turnstone.Config{}); return err }},
		"a store of a type": {"store", func() error {
			var db *sqlite.Store
			_, err := turnstone.Open(ctx, db, turnstone.Config{})
			return err
		}},
		"a model of a type": {"Model", func() error { return open(turnstone.Config{Model: (*ollama.Model)(nil)}) }},
		"a bus": {"Bus", func() error {
			return open(turnstone.Config{Bus: func(bus.Bodies, bus.Recorder) (bus.Bus, error) { return nil, nil }})
		}},
		"a tool":       {"Tools[0]", func() error { return open(turnstone.Config{Agent: agent.Config{Tools: []agent.Tool{{}}}}) }},
		"what answers": {"model", func() error { _, err := chat.Say(ctx, "Hello.", turnstone.WithModel("m", nil, 0)); return err }},
		"what answers, of a type": {"model", func() error {
			_, err := chat.Say(ctx, "Hello.", turnstone.WithModel("m", (*ollama.Model)(nil), 0))
			return err
		}},
		"a daemon": {"handler", func() error { _, err := eng.Subscribe(ctx, "d", nil, bus.Options{}); return err }},
		"a tool's function": {"run", func() error {
			_, err := agent.NewTool[struct{}, string]("t", "", nil)
			return err
		}},
		"a raw tool's function": {"run", func() error {
			var run func(context.Context, json.RawMessage) (json.RawMessage, error)
			_, err := agent.NewRawTool(llm.Tool{Name: "t"}, run)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var refused *invalid.Field
			if err := test.try(); !errors.As(err, &refused) || refused.Name != test.field {
				t.Errorf("%v", err)
			}
		})
	}
	eng.Listen(nil)()
	if _, err := chat.Say(ctx, "Hello.", turnstone.WithModel("m", ollama.New("", ollama.Options{}), 0)); !errors.Is(err, llm.ErrModelMissing) {
		t.Error(err)
	}
	if _, err := chat.Say(ctx, "Hello.", turnstone.WithSettings(prompt.Settings{})); err != nil {
		t.Error(err)
	}
}
