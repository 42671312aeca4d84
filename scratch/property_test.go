package scratch_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/scratch"
)

func drawChange(t *rapid.T) scratch.Change {
	id := rapid.StringMatching("[abc][0-9]{0,2}|").Draw(t, "id")
	c := note(id)
	if rapid.Bool().Draw(t, "insight") {
		c = insight(id, rapid.SampledFrom([]string{"f", "g"}).Draw(t, "flow"))
	}
	if rapid.Bool().Draw(t, "moves") {
		c.Status = ptr(rapid.SampledFrom([]scratch.Status{scratch.Active, scratch.PendingReview, scratch.Resolved, scratch.Archived}).Draw(t, "status"))
	}
	return c
}

func text(list []scratch.Observation) string {
	var text []byte
	for _, o := range list {
		text = append(o.AppendJSON(text), '\n')
	}
	return string(text)
}

func TestPromisesHoldOverRandomChanges(t *testing.T) {
	ctx := context.Background()
	ids := rapid.SliceOfN(rapid.StringMatching("[abc][0-9]"), 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		rows, page, now := &memory{}, &scratch.Page{}, start
		archived := map[string]time.Time{}
		n := 0
		step := func(t *rapid.T) {
			ch := scratch.Changes{Put: rapid.SliceOfN(rapid.Custom(drawChange), 0, 12).Draw(t, "put"), Archive: ids.Draw(t, "archive"), Clear: ids.Draw(t, "clear")}
			now = now.Add(time.Duration(rapid.IntRange(1, 600).Draw(t, "minutes")) * time.Minute)
			with, err := page.Including(ctx, rows, tenant, segment, ch, now)
			if err != nil {
				t.Fatal(err)
			}
			before := text(with.Observations())
			s := with.Stage(ch, now, func() string { n++; return fmt.Sprint("new", n) })
			if before != text(with.Observations()) {
				t.Fatal("staging changed the page")
			}
			for _, r := range s.Rows {
				if expires, ok := archived[r.ID]; ok && expires.After(now) {
					t.Fatalf("%s came back as %s", r.ID, r.Doc)
				}
				delete(archived, r.ID)
				if r.Status == scratch.Archived {
					archived[r.ID] = r.Expires
				}
			}
			if err := scratch.Write(ctx, rows, tenant, segment, s); err != nil {
				t.Fatal(err)
			}
			read, err := scratch.Load(ctx, rows, tenant, segment, now)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := text(read.Observations()), text(s.Next.Observations()); a != b {
				t.Fatalf("what is read is not what was staged:\n%s\n%s", a, b)
			}
			page = s.Next
			if live, insights, flow := len(page.Observations()), len(scratch.Insights(page, "")), len(scratch.Insights(page, "f")); live > scratch.MaxLive || insights > scratch.MaxInsights || flow > scratch.MaxFlowInsights {
				t.Fatalf("%d live, %d insights, %d of a flow", live, insights, flow)
			}
		}
		t.Repeat(map[string]func(*rapid.T){"step": step})
	})
}
