package turnstone_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestPreviewOfAUserCountsOnce: sessions of a user that are forks and copies of each other are reached several times, and
// the preview says what forgetting the user then does.
func TestPreviewOfAUserCountsOnce(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		ctx := t.Context()
		eng := open(t, st, turnstone.Config{})
		made := func(id string) *turnstone.Session {
			s, err := eng.Create(ctx, turn.SessionInfo{Key: turn.Key{Session: id}, User: "u"})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		committed := func(s *turnstone.Session, opened string, drafts ...turn.Draft) {
			if _, err := s.Commit(ctx, commit.Exchange{Opened: opened, Turns: drafts}); err != nil {
				t.Fatal(err)
			}
		}
		talk := made("talk")
		committed(talk, "", turn.Draft{Role: turn.User, Content: turn.Text{Text: "my walrus is blue"}}, turn.Draft{Role: turn.Agent, Content: turn.Text{Text: "noted"}})
		asked, err := talk.Append(ctx, turn.Draft{Role: turn.User, Content: turn.Text{Text: "what colour is it?"}})
		if err != nil {
			t.Fatal(err)
		}
		// Each of the forks sums up an exchange that began before it.
		for _, id := range []string{"fork", "other"} {
			fork, err := talk.Fork(ctx, turnstone.Head, turn.SessionInfo{Key: turn.Key{Session: id}, User: "u"})
			if err != nil {
				t.Fatal(err)
			}
			committed(fork, asked[0].ID, turn.Draft{Role: turn.Agent, Content: turn.Text{Text: "blue, says " + id}})
			compiled(t, fork, turnstone.PromptOptions{Model: "gpt-4o"})
		}
		var file bytes.Buffer
		if _, err := talk.WriteBundle(ctx, &file, replay.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		_, err = replay.Import(ctx, st, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file.Bytes())), nil }, replay.ImportOptions{As: "copy"})
		if err != nil {
			t.Fatal(err)
		}
		say(t, made("apart"), turn.User, "nobody shares this")

		preview, err := eng.Forget(ctx, turnstone.Target{User: "u", Preview: true})
		if err != nil {
			t.Fatal(err)
		}
		if left := contents(t, st); !strings.Contains(left, "walrus") || !strings.Contains(left, "blue, says fork") {
			t.Errorf("after the preview: %s", left)
		}
		done, err := eng.Forget(ctx, turnstone.Target{User: "u"})
		if err != nil {
			t.Fatal(err)
		}
		if !preview.Preview || preview.Turns != 13 {
			t.Errorf("preview %+v", preview)
		}
		// Traces are stored when there is time.
		late := cmpopts.IgnoreSliceElements(func(r turnstone.Removed) bool { return r.Where == "trace_parts" })
		if d := cmp.Diff(done, preview, late, cmpopts.IgnoreFields(turnstone.Receipt{}, "Preview", "At"), cmpopts.IgnoreFields(turnstone.Touched{}, "Texts")); d != "" {
			t.Errorf("the preview is not what was done: %s", d)
		}
		healthy(t, st)
	})
}
