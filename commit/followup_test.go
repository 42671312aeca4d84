package commit_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/trace"
)

// A database that cannot write the follow-up context, for whatever reason, costs the exchange nothing: it is committed
// without it, once, and its trace says so.
func TestAFollowUpContextThatCannotBeWrittenCostsNothing(t *testing.T) {
	url := pgstore.URL(t)
	admin, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(t.Context())
	var traced trace.TurnTrace
	st, err := postgres.Open(t.Context(), url, postgres.Config{LockTimeout: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, st, commit.Config{Traced: func(_ context.Context, t trace.TurnTrace) { traced = t }})
	long := strings.Repeat("long ", 20_000) // too long to travel with COMMIT
	for i, c := range []struct{ name, spoil, mend, says string }{
		{"locked", `BEGIN; LOCK TABLE light_contexts IN ACCESS EXCLUSIVE MODE`, `ROLLBACK`, "hello"},
		{"locked, and the message is long", `BEGIN; LOCK TABLE light_contexts IN ACCESS EXCLUSIVE MODE`, `ROLLBACK`, long},
		{"gone", `ALTER TABLE light_contexts RENAME TO elsewhere`, `ALTER TABLE elsewhere RENAME TO light_contexts`, "hello"},
	} {
		if _, err := admin.Exec(t.Context(), c.spoil); err != nil {
			t.Fatal(err)
		}
		res := w.commit(talk(c.says, "yes"))
		if _, err := admin.Exec(t.Context(), c.mend); err != nil {
			t.Fatal(err)
		}
		if res.Status != commit.Complete || len(w.turns()) != 3*(i+1) || len(res.Deferred) != 0 {
			t.Errorf("%s: %s, %d turns", c.name, res.Status, len(w.turns()))
		}
		told := 0
		for _, e := range traced.Entries {
			if e.Kind == trace.Failure && strings.Contains(e.Text, dialogue.ErrNotKept.Error()) {
				told++
			}
		}
		if told != 1 {
			t.Errorf("%s: told %d times: %+v", c.name, told, traced.Entries)
		}
	}
	w.commit(talk("and now", "yes"))
	light := st.Light()
	if kept, ok, err := light.Retrieve(t.Context(), dialogue.LightKey{Tenant: key.Tenant, Session: key.Session}); err != nil || !ok || *kept.LastUserMessage != "and now" {
		t.Errorf("kept %+v, %v, %v", kept, ok, err)
	}
}
