package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func testSessions(t *testing.T, w *world) {
	full := func(k turn.Key) turn.SessionInfo {
		return turn.SessionInfo{
			Key: k, User: "ana", Title: "Über 東京 'n \"co\"", Model: "m-1", Mode: "chat", Status: turn.Active,
			CreatedAt: noon, LastActivity: noon.Add(time.Microsecond),
		}
	}

	w.run("a session reads back as it was inserted", func(t *testing.T) {
		want := full(w.key("whole"))
		w.update(func(tx store.Tx) (err error) {
			want.Segment, err = tx.Log().InsertSession(w.ctx(), want)
			return err
		})
		if want.Segment <= 0 {
			t.Errorf("segment %d, want a positive number", want.Segment)
		}
		same(t, "session", w.session(want.Key), want)
	})

	w.run("a taken key is ErrExists and changes nothing", func(t *testing.T) {
		first := w.create(w.key("taken"))
		err := w.Update(w.ctx(), func(tx store.Tx) error {
			_, err := tx.Log().InsertSession(w.ctx(), full(first.Key))
			return err
		})
		is(t, "second insert", err, turn.ErrExists)
		same(t, "session", w.session(first.Key), first)
	})

	w.run("a session that is being imported is in a list of its own until it has its name", func(t *testing.T) {
		staged := full(turn.ImportKey(w.key("x").Tenant, "01"))
		taken := w.create(w.key("named"))
		w.update(func(tx store.Tx) (err error) {
			staged.Segment, err = tx.Log().InsertSession(w.ctx(), staged)
			return err
		})
		listed := func(importing bool) (found bool) {
			w.view(func(tx store.Tx) error {
				list, err := tx.Log().Sessions(w.ctx(), turn.SessionFilter{Tenant: staged.Tenant, Importing: importing, Limit: 100})
				found = slices.ContainsFunc(list, func(s turn.SessionInfo) bool { return s.Segment == staged.Segment })
				return err
			})
			return found
		}
		if listed(false) || !listed(true) {
			t.Error("it is in the wrong list")
		}
		rename := func(key turn.Key, id string) error {
			return w.Update(w.ctx(), func(tx store.Tx) error { return tx.Log().Rename(w.ctx(), key, id) })
		}
		is(t, "rename to a taken id", rename(staged.Key, taken.Session), turn.ErrExists)
		is(t, "rename of none", rename(w.key("nobody"), "somebody"), turn.ErrNotFound)
		named := staged
		named.Session = w.key("appeared").Session
		if err := rename(staged.Key, named.Session); err != nil {
			t.Fatal(err)
		}
		same(t, "session", w.session(named.Key), named)
		if !listed(false) || listed(true) {
			t.Error("with its name it is in the wrong list")
		}
		is(t, "rename once more", rename(staged.Key, "again"), turn.ErrNotFound)
	})

	w.run("an unknown session is ErrNotFound", func(t *testing.T) {
		err := w.View(w.ctx(), func(tx store.Tx) error {
			_, err := tx.Log().Session(w.ctx(), w.key("nobody"))
			return err
		})
		is(t, "read", err, turn.ErrNotFound)
		err = w.Update(w.ctx(), func(tx store.Tx) error {
			_, err := tx.Log().LockSession(w.ctx(), w.key("nobody"))
			return err
		})
		is(t, "lock", err, turn.ErrNotFound)
		err = w.Update(w.ctx(), func(tx store.Tx) error {
			_, err := tx.Log().LockLease(w.ctx(), w.key("nobody"))
			return err
		})
		is(t, "lock the lease", err, turn.ErrNotFound)
		_, err = w.try(w.key("nobody"), says(1)...)
		is(t, "append", err, turn.ErrNotFound)
	})

	w.run("UpdateSession writes what describes a session and nothing else", func(t *testing.T) {
		before := w.create(w.key("described"))
		change := full(before.Key)
		change.Status, change.Head, change.LastActivity = turn.Ended, 7, noon
		change.Parent, change.ForkSeq, change.CreatedAt, change.Files = "other", 3, noon, `["/kept/a.bundle"]`
		w.update(func(tx store.Tx) error { return tx.Log().UpdateSession(w.ctx(), change) })
		want := before
		want.User, want.Title, want.Model, want.Mode = change.User, change.Title, change.Model, change.Mode
		want.Status, want.Head, want.LastActivity, want.Files = turn.Ended, 7, noon, change.Files
		same(t, "session", w.session(before.Key), want)
	})

	w.run("Advance moves the head and reopens the session", func(t *testing.T) {
		want := w.create(w.key("advanced"))
		want.Status = turn.Ended
		w.update(func(tx store.Tx) error { return tx.Log().UpdateSession(w.ctx(), want) })
		w.update(func(tx store.Tx) error { return tx.Log().Advance(w.ctx(), want.Key, 3, noon) })
		want.Status, want.Head, want.LastActivity = turn.Active, 3, noon
		same(t, "session", w.session(want.Key), want)
	})

	w.run("an appended turn is the session's last activity", func(t *testing.T) {
		k := w.create(w.key("busy")).Key
		last := w.append(k, says(2)...)[1]
		info := w.session(k)
		if info.Head != 2 || !info.LastActivity.Equal(last.CreatedAt) {
			t.Errorf("head %d, last activity %v; want 2 and %v", info.Head, info.LastActivity, last.CreatedAt)
		}
	})

	w.run("tenants never see each other", func(t *testing.T) { testTenants(t, w) })
	w.run("list", func(t *testing.T) { testSessionList(t, w.as(t, w.tenant+"-list")) })
}

func testTenants(t *testing.T, w *world) {
	ours, theirs := w.elsewhere("one", "same"), w.elsewhere("two", "same")
	w.create(ours)
	w.append(ours, turn.Draft{ID: w.newID(), Role: turn.User, Content: turn.Text{Text: "secret"}, IdempotencyKey: "k"})
	id := w.log(ours)[0].ID
	segment := w.session(ours).Segment

	w.view(func(tx store.Tx) error {
		rows := tx.Log()
		if _, err := rows.Session(w.ctx(), theirs); err == nil {
			t.Error("tenant two sees the session of tenant one")
		}
		tenants, err := rows.Tenants(w.ctx())
		if i, found := slices.BinarySearch(tenants, ours.Tenant); err != nil || !found || !slices.IsSorted(tenants) || slices.Contains(tenants, theirs.Tenant) ||
			slices.Contains(tenants[i+1:], ours.Tenant) {
			t.Errorf("tenants: %q, %v", tenants, err)
		}
		if list, err := rows.Sessions(w.ctx(), turn.SessionFilter{Tenant: theirs.Tenant, Limit: 10}); err != nil || len(list) > 0 {
			t.Errorf("sessions of tenant two: %v, %v", list, err)
		}
		if found, err := rows.TurnsByID(w.ctx(), theirs.Tenant, id); err != nil || len(found) > 0 {
			t.Errorf("turn by id in tenant two: %v, %v", found, err)
		}
		if _, found, err := rows.TurnByKey(w.ctx(), theirs.Tenant, segment, "k"); err != nil || found {
			t.Errorf("turn by key in tenant two: %v, %v", found, err)
		}
		// Even a segment number that leaked opens nothing.
		span := turn.Span{Segment: segment, From: 1, To: 1}
		if found, err := rows.Scan(w.ctx(), theirs.Tenant, span, turn.RowFilter{}, 10); err != nil || len(found) > 0 {
			t.Errorf("scan in tenant two: %v, %v", found, err)
		}
		if found, err := rows.TextHits(w.ctx(), theirs.Tenant, span, []string{"secret"}, turn.RowFilter{}, 10); err != nil || len(found) > 0 {
			t.Errorf("text hits in tenant two: %v, %v", found, err)
		}
		return nil
	})

	w.create(theirs)
	w.append(theirs, turn.Draft{ID: id, Role: turn.User, Content: turn.Text{Text: "mine"}, IdempotencyKey: "k"})
	same(t, "text of tenant one", w.log(ours)[0].Content, turn.Content(turn.Text{Text: "secret"}))
	same(t, "text of tenant two", w.log(theirs)[0].Content, turn.Content(turn.Text{Text: "mine"}))
}

func testSessionList(t *testing.T, w *world) {
	var all []turn.SessionInfo // newest first
	for i := range 7 {
		info := blank(w.key(fmt.Sprintf("s%d", 9-i)), noon.Add(time.Duration(i)*time.Minute))
		if i%2 == 1 {
			info.User, info.Status = "ana", turn.Ended
		}
		w.update(func(tx store.Tx) (err error) {
			info.Segment, err = tx.Log().InsertSession(w.ctx(), info)
			return err
		})
		all = append([]turn.SessionInfo{info}, all...)
	}
	w.create(w.elsewhere("else", "s1"))
	for _, c := range []struct {
		rule   string
		filter turn.SessionFilter
		want   []turn.SessionInfo
	}{
		{"newest first", turn.SessionFilter{Limit: 100}, all},
		{"no more than the limit", turn.SessionFilter{Limit: 3}, all[:3]},
		{"after a cursor", turn.SessionFilter{Limit: 3, Before: all[2].Segment}, all[3:6]},
		{"after the last", turn.SessionFilter{Limit: 3, Before: all[6].Segment}, nil},
		{"of a user", turn.SessionFilter{Limit: 100, User: "ana"}, []turn.SessionInfo{all[1], all[3], all[5]}},
		{"of a status", turn.SessionFilter{Limit: 100, Status: turn.Active}, []turn.SessionInfo{all[0], all[2], all[4], all[6]}},
		{"of a user that nobody is", turn.SessionFilter{Limit: 100, User: "bob"}, nil},
		{"idle since a time, that time included", turn.SessionFilter{Limit: 100, IdleSince: all[4].LastActivity}, all[4:]},
		{"idle just before a time", turn.SessionFilter{Limit: 100, IdleSince: all[4].LastActivity.Add(-time.Microsecond)}, all[5:]},
		{"limit counts what passed the filter", turn.SessionFilter{Limit: 2, User: "ana"}, []turn.SessionInfo{all[1], all[3]}},
	} {
		c.filter.Tenant = w.tenant
		w.view(func(tx store.Tx) error {
			got, err := tx.Log().Sessions(w.ctx(), c.filter)
			if len(got)+len(c.want) > 0 {
				same(t, c.rule, got, c.want)
			}
			return err
		})
	}
}
