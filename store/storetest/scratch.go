package storetest

import (
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
)

// noticed is an observation that expires a day after noon.
func noticed(id string, status scratch.Status) scratch.Row {
	return scratch.Row{
		ID: id, Type: "note", Status: status, Doc: `{"content":"` + id + ` 東京"}`,
		At: noon, Expires: noon.Add(24 * time.Hour),
	}
}

func (w *world) notice(tenant string, segment int64, rows ...scratch.Row) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		for _, r := range rows {
			if err := tx.Scratch().PutObservation(w.ctx(), tenant, segment, r); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *world) observations(tenant string, segment int64, now time.Time, live bool) (rows []scratch.Row) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		rows, err = tx.Scratch().Observations(w.ctx(), tenant, segment, now, live)
		return err
	})
	return rows
}

func testObservations(t *testing.T, w *world) {
	k := w.create(w.key("page")).Key
	segment := w.session(k).Segment
	c, a, b := noticed("c", scratch.PendingReview), noticed("a", scratch.Active), noticed("b", scratch.Resolved)
	old := noticed("aa", scratch.Archived)
	w.notice(k.Tenant, segment, c, a, b, old)

	w.run("they come by id, live means not archived", func(t *testing.T) {
		same(t, "all", w.observations(k.Tenant, segment, noon, false), []scratch.Row{a, old, b, c})
		same(t, "live", w.observations(k.Tenant, segment, noon, true), []scratch.Row{a, b, c})
	})

	w.run("one is found by its id, expired or not", func(t *testing.T) {
		w.view(func(tx store.Tx) error {
			got, ok, err := tx.Scratch().Observation(w.ctx(), k.Tenant, segment, "aa")
			if err != nil || !ok {
				t.Errorf("%v, %v", ok, err)
			}
			same(t, "observation", got, old)
			for _, q := range []struct {
				tenant  string
				segment int64
				id      string
			}{{k.Tenant, segment, "z"}, {"other", segment, "a"}, {k.Tenant, segment + 1_000_000, "a"}} {
				if _, ok, err := tx.Scratch().Observation(w.ctx(), q.tenant, q.segment, q.id); ok || err != nil {
					t.Errorf("%+v: %v, %v", q, ok, err)
				}
			}
			return nil
		})
	})

	w.run("the last write wins in every column", func(t *testing.T) {
		c = scratch.Row{ID: "c", Type: "flow_insight", Status: scratch.Archived, Doc: `{}`, At: noon.Add(time.Second), Expires: noon.Add(time.Hour)}
		w.notice(k.Tenant, segment, c)
		same(t, "all", w.observations(k.Tenant, segment, noon, false), []scratch.Row{a, old, b, c})
		same(t, "live", w.observations(k.Tenant, segment, noon, true), []scratch.Row{a, b})
	})

	w.run("what has expired is not listed, before it is swept", func(t *testing.T) {
		same(t, "just before", len(w.observations(k.Tenant, segment, c.Expires.Add(-time.Microsecond), false)), 4)
		same(t, "at its time", w.observations(k.Tenant, segment, c.Expires, false), []scratch.Row{a, old, b})
		same(t, "live", w.observations(k.Tenant, segment, a.Expires, true), []scratch.Row(nil))
	})

	w.run("what expired while it was live is kept for a week more", func(t *testing.T) {
		end := a.Expires.Add(scratch.ArchivedRetention)
		same(t, "from then on", w.observations(k.Tenant, segment, a.Expires, false), []scratch.Row{a, b})
		same(t, "up to", w.observations(k.Tenant, segment, end.Add(-time.Microsecond), false), []scratch.Row{a, b})
		same(t, "after that", w.observations(k.Tenant, segment, end, false), []scratch.Row(nil))
	})

	w.run("tenants and sessions are apart", func(t *testing.T) {
		other := w.create(w.key("other-page")).Segment
		mine := noticed("a", scratch.Resolved)
		w.notice(k.Tenant, other, mine)
		same(t, "other session", w.observations(k.Tenant, other, noon, false), []scratch.Row{mine})
		same(t, "first session", w.observations(k.Tenant, segment, noon, true), []scratch.Row{a, b})
		same(t, "other tenant", w.observations("nobody", segment, noon, false), []scratch.Row(nil))
	})
}
