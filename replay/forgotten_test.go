package replay_test

import (
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestBundlesCarryTombstones: what was forgotten travels as a tombstone, and no other tombstone is believed.
func TestBundlesCarryTombstones(t *testing.T) {
	w := newWorld(t, t.Context())
	k := w.create("small")
	w.say(k,
		turn.Draft{Role: turn.User, Content: turn.Text{Text: "first"}},
		turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: "c", Name: "f", Arguments: "{}"}}}},
		turn.Draft{Role: turn.System, Content: turn.Result{Name: "f", CallID: "c", Status: turn.CallOK}},
		turn.Draft{Role: turn.User, Content: turn.Text{Text: "last"}},
	)
	w.locked(k, func(tx store.Tx, info turn.SessionInfo) error {
		_, err := tx.Forgetting().Rewrite(t.Context(), info.Tenant, "turns", store.Among{Segments: []int64{info.Segment}}, func(row []any) (store.Verdict, error) {
			if seq := row[2].(int64); seq == 2 || seq == 3 {
				row[7] = string(turn.AppendContent(nil, turn.Forgotten{}))
			}
			return store.Change, nil
		})
		return err
	})
	file := w.plain(k)
	if n := strings.Count(string(file), `"content":{"forgotten":true}`); n != 2 {
		t.Fatalf("%d tombstones in %s", n, file)
	}
	if _, err := verify(file); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		old, new, want string
	}{
		"a key":                {`"unit":2}`, `"unit":2,"idempotency_key":"k"}`, "a forgotten turn has neither"},
		"meta":                 {`"unit":2}`, `"unit":2,"meta":{"tokens":1}}`, "a forgotten turn has neither"},
		"a unit before all":    {`"unit":2}`, `"unit":-1}`, "unit: "},
		"a unit behind it":     {`"unit":2}`, `"unit":4}`, "4 is no unit of a forgotten turn"},
		"a form of its own":    {`"role":"agent","form":"text","content":{"forgotten"`, `"role":"agent","form":"image","content":{"forgotten"`, "role agent may not use form image"},
		"a tombstone and more": {`{"forgotten":true}`, `{"forgotten":true,"text":"x"}`, "forgotten"},
	} {
		t.Run(name, func(t *testing.T) { refusedBecause(t, file, edit(test.old, test.new), test.want) })
	}
	own := func(lines []string) []string {
		lines[3] = strings.Replace(lines[3], `"unit":2}`, `"unit":3}`, 1)
		return lines
	}
	t.Run("a unit that a result began", func(t *testing.T) { refusedBecause(t, file, own, "3 is no unit of a forgotten turn") })
}
