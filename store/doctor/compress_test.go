package doctor_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// compressIn adds what compression leaves: session "a" has two checkpoints, the first of them aged twice,
// the second time at the turn that its fork "b" begins after. Fork "b" has a copy of that version, aged it
// once more, and has a checkpoint of its own. Both have a snapshot, and "a" has failed a pass.
func compressIn(ctx context.Context, st store.Store) error {
	made := func(number, version, after int64) compress.Row {
		return compress.Row{Number: number, Version: version, AfterSeq: after, Doc: `{}`, At: noon}
	}
	return st.Update(ctx, func(tx store.Tx) error {
		a, err := tx.Log().Session(ctx, turn.Key{Tenant: turn.DefaultTenant, Session: "a"})
		if err != nil {
			return err
		}
		b, err := tx.Log().Session(ctx, turn.Key{Tenant: turn.DefaultTenant, Session: "b"})
		if err != nil {
			return err
		}
		errs := []error{
			tx.Compress().PutBreaker(ctx, a.Tenant, a.Segment, `{}`, noon),
			tx.Snapshot().InsertSnapshot(ctx, a.Tenant, a.Segment, snapshot.Row{ID: "01J00000000000000000000001", AfterSeq: 6, Doc: `{}`, At: noon}),
			tx.Snapshot().InsertSnapshot(ctx, a.Tenant, b.Segment, snapshot.Row{ID: "01J00000000000000000000002", AfterSeq: 4, Auto: true, Doc: `{}`, At: noon}),
		}
		for in, rows := range map[int64][]compress.Row{
			a.Segment: {made(1, 1, 1), made(1, 2, 3), made(1, 3, 4), made(2, 1, 5)},
			b.Segment: {made(1, 3, 4), made(1, 4, 5), made(2, 1, 5)},
		} {
			for _, row := range rows {
				errs = append(errs, tx.Compress().InsertCheckpoint(ctx, a.Tenant, in, row))
			}
		}
		return errors.Join(errs...)
	})
}

func TestEveryBrokenRuleOfCompressionIsFound(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*patient)
		want  string
	}{
		{"checkpoint's segment", func(p *patient) { p.set("checkpoints", 0, "segment", int64(77)) }, "checkpoints: segment 77 belongs to no session"},
		{"first version lost", func(p *patient) { p.drop("checkpoints", 0) }, "checkpoints of default/a: the first version of checkpoint 1 is 2"},
		{"first version of another lost", func(p *patient) { p.set("checkpoints", 3, "version", int64(2)) }, "checkpoints of default/a: the first version of checkpoint 2 is 2"},
		{"version lost", func(p *patient) { p.drop("checkpoints", 1) },
			"checkpoints of default/a: version 3 of checkpoint 1 after turn 4 follows version 1 after turn 1"},
		{"version twice", func(p *patient) { p.repeat("checkpoints", 1) }, "version 2 of checkpoint 1 after turn 3 follows version 2 after turn 3"},
		{"version goes back", func(p *patient) { p.set("checkpoints", 1, "after_seq", int64(5)) },
			"version 3 of checkpoint 1 after turn 4 follows version 2 after turn 5"},
		{"fork begins anew", func(p *patient) { p.set("checkpoints", 4, "version", int64(2)) },
			"checkpoints of default/b: version 2 of checkpoint 1 follows version 3 that it inherits"},
		{"version of a fork lost", func(p *patient) { p.drop("checkpoints", 4); p.set("checkpoints", 4, "version", int64(5)) },
			"checkpoints of default/b: version 5 of checkpoint 1 follows version 3 that it inherits"},
		{"inherited versions lost", func(p *patient) { p.drop("checkpoints", 0); p.drop("checkpoints", 0); p.drop("checkpoints", 0) },
			"checkpoints of default/b: version 3 of checkpoint 1 follows version 0 that it inherits"},
		{"first version of a fork lost", func(p *patient) { p.set("checkpoints", 6, "version", int64(2)) },
			"checkpoints of default/b: version 2 of checkpoint 2 follows version 0 that it inherits"},
		{"checkpoint too late", func(p *patient) { p.set("checkpoints", 3, "after_seq", int64(7)) },
			"checkpoints of default/a: version 1 of checkpoint 2 comes after turn 7 of 0–6"},
		{"checkpoint before its fork", func(p *patient) { p.set("checkpoints", 4, "after_seq", int64(3)) },
			"checkpoints of default/b: version 3 of checkpoint 1 comes after turn 3 of 4–5"},
		{"checkpoint's document", func(p *patient) { p.set("checkpoints", 1, "doc", `{"a":}`) }, "the document of version 2 of checkpoint 1 is not JSON"},
		{"breaker's segment", func(p *patient) { p.set("breakers", 0, "tenant", "other") }, "breakers: segment 1 belongs to no session"},
		{"breaker's document", func(p *patient) { p.set("breakers", 0, "doc", `{`) }, "breakers of default/a: what is known of its failed passes is not JSON"},
		{"snapshot's segment", func(p *patient) { p.set("snapshots", 0, "segment", int64(77)) }, "snapshots: segment 77 belongs to no session"},
		{"snapshot's id", func(p *patient) { p.set("snapshots", 0, "snapshot_id", "x") }, `snapshots of default/a: snapshot "x": its id is not a ULID`},
		{"snapshot too late", func(p *patient) { p.set("snapshots", 0, "after_seq", int64(7)) },
			"snapshots of default/a: snapshot 01J00000000000000000000001 comes after turn 7 of 0–6"},
		{"snapshot before its fork", func(p *patient) { p.set("snapshots", 1, "after_seq", int64(3)) },
			"snapshots of default/b: snapshot 01J00000000000000000000002 comes after turn 3 of 4–5"},
		{"snapshot by nobody", func(p *patient) { p.set("snapshots", 0, "auto", int64(2)) },
			"snapshots of default/a: snapshot 01J00000000000000000000001 was taken by 2, which is neither the user (null) nor the engine (1)"},
		{"snapshot's document", func(p *patient) { p.set("snapshots", 0, "doc", ``) }, "the document of snapshot 01J00000000000000000000001 is not JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := healthy(t)
			c.spoil(p)
			findings, _ := examine(t, p)
			if !strings.Contains(strings.Join(findings, "\n"), c.want) {
				t.Errorf("no finding says %q:\n%s", c.want, strings.Join(findings, "\n"))
			}
		})
	}
}

// A fork may also age what it inherits without a copy of what its parent has at the fork point, and the
// parent may add to that point afterwards.
func TestForksAgeOnFromWhatTheyInherit(t *testing.T) {
	for name, change := range map[string]func(*patient){
		"without a copy":    func(p *patient) { p.drop("checkpoints", 4) },
		"added by a parent": func(p *patient) { p.repeat("checkpoints", 2); p.set("checkpoints", 3, "version", int64(4)) },
	} {
		p := healthy(t)
		change(p)
		if findings, _ := examine(t, p); len(findings) != 0 {
			t.Errorf("%s: findings:\n%s", name, strings.Join(findings, "\n"))
		}
	}
}
