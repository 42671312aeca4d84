package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// benchLight: the follow-up context of an embedded store, over ten thousand sessions.
func benchLight(ctx context.Context, b *bench) (err error) {
	eng, st, err := openSQLite(ctx, b.file("light.db"), sqlite.Config{})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, eng.Close()) }()
	keys := make([]dialogue.LightKey, 10_000)
	for i := range keys {
		keys[i] = dialogue.LightKey{Tenant: "default", Session: fmt.Sprint("session-", i)}
	}
	intent, task, message := "task_creation", "123", "Create a new task for refactoring"
	context := dialogue.LightContext{LastIntent: &intent, LastTaskID: &task, PendingFields: []string{"due"}, LastUserMessage: &message}
	light := st.Light()
	for _, m := range []struct {
		name string
		call func(i int) error
	}{
		{"follow-up context store", func(i int) error { return light.Store(ctx, keys[i%len(keys)], context) }},
		{"follow-up context store, new session", func(i int) error {
			if i%len(keys) == 0 {
				light = dialogue.NewLight(0, nil)
			}
			return light.Store(ctx, keys[i%len(keys)], context)
		}},
		{"follow-up context retrieve", func(i int) error {
			_, ok, err := light.Retrieve(ctx, keys[i%len(keys)])
			if err == nil && !ok {
				err = fmt.Errorf("context of %s is gone", keys[i%len(keys)].Session)
			}
			return err
		}},
	} {
		light = st.Light()
		for i := range keys {
			if err := light.Store(ctx, keys[i], context); err != nil {
				return err
			}
		}
		ns, err := b.best(func() (float64, error) {
			var failed error
			r := testing.Benchmark(func(tb *testing.B) {
				for i := range tb.N {
					if err := m.call(i); err != nil {
						failed = err
					}
				}
			})
			return float64(r.NsPerOp()), failed
		})
		if err != nil {
			return err
		}
		b.atMost(1000, Line{Name: m.name, Ours: ns, Unit: "ns", Against: "absolute, best of rounds"})
	}
	return nil
}
