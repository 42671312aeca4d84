package doctor_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// summaryOf is the document of a version of a checkpoint: the first covers turn 1, the second turns 2 and 3.
func summaryOf(number, version int64) string {
	c := compress.Checkpoint{
		ID: "c", Number: number, Version: version, Range: coveredBy(number), Summary: fmt.Sprint("number ", number, ", version ", version),
		CreatedAt: noon, CompressedAt: noon, OriginalTokens: 9, CurrentTokens: 3, CompressionCount: version,
		SourceHash: sumOf("x"), Receipt: compress.Receipt{By: compress.ByExtract, SourceHash: sumOf("x")},
	}
	return string(c.AppendJSON(nil))
}

func coveredBy(number int64) turn.Range { return turn.Range{From: number, To: 2*number - 1} }

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// compressIn adds what compression leaves: session "a" has two checkpoints, the first of them aged twice,
// the second time at the turn that its fork "b" begins after. Fork "b" has a copy of that version, aged it
// once more, and has a checkpoint of its own. Both have a snapshot, and "a" has failed a pass.
func compressIn(ctx context.Context, st store.Store) error {
	made := func(number, version, after int64) compress.Row {
		return compress.Row{Number: number, Version: version, AfterSeq: after, Doc: summaryOf(number, version), At: noon}
	}
	taken := func(id string, after, epoch int64, auto bool) snapshot.Row {
		s := snapshot.Snapshot{ID: id, Session: "a", Auto: auto, Turn: after, Epoch: epoch, MessageCount: after, At: noon}
		return s.Row()
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
			tx.Compress().PutBreaker(ctx, a.Tenant, a.Segment, `{"failures":1}`, noon),
			tx.Snapshot().InsertSnapshot(ctx, a.Tenant, a.Segment, taken("01J00000000000000000000001", 6, 3, false)),
			tx.Snapshot().InsertSnapshot(ctx, a.Tenant, b.Segment, taken("01J00000000000000000000002", 4, 2, true)),
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
	diagnose(t, []illness{
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
		{"checkpoint's document", func(p *patient) { p.set("checkpoints", 1, "doc", `{"a":}`) }, "the document of version 2 of checkpoint 1 is not JSON: prompts that showed it"},
		{"no checkpoint", func(p *patient) { p.set("checkpoints", 1, "doc", `{}`) },
			`checkpoints of default/a: version 2 of checkpoint 1: id: is empty; use 1 to 128 letters, digits and . _ : -: prompts that showed it cannot be made again; the next prompt that needs it makes it anew`},
		{"another checkpoint", func(p *patient) { p.set("checkpoints", 1, "doc", summaryOf(2, 2)) }, "version 2 of checkpoint 1 holds version 2 of checkpoint 2: prompts that showed it"},
		{"another version", func(p *patient) { p.set("checkpoints", 1, "doc", summaryOf(1, 1)) }, "version 2 of checkpoint 1 holds version 1 of checkpoint 1: prompts that showed it"},
		{"checkpoint of what comes later", func(p *patient) { p.set("checkpoints", 3, "after_seq", int64(2)) },
			"version 1 of checkpoint 2, made after turn 2, covers turns 2–3: prompts that showed it"},

		{"shown and lost", func(p *patient) { p.drop("checkpoints", 0) },
			"epochs of default/a: epoch 2 shows version 1 of checkpoint 1, which there is not: prompts that showed it cannot be made again; the next prompt that needs it makes it anew"},
		{"shown by a fork and lost", func(p *patient) { p.drop("checkpoints", 4) }, "epochs of default/b: epoch 3 shows version 3 of checkpoint 1, which there is not"},
		{"inherited, shown and lost", func(p *patient) { p.drop("checkpoints", 1) }, "epochs of default/b: epoch 4 shows version 2 of checkpoint 1, which there is not"},
		{"shown and changed", func(p *patient) {
			p.set("checkpoints", 0, "doc", strings.Replace(summaryOf(1, 1), "number 1", "number l", 1))
		},
			"epochs of default/a: epoch 2 shows version 1 of checkpoint 1, which was another one then: prompts that showed it"},
		{"shown for other turns", func(p *patient) { p.edit("epochs", 4, `{"from":2,"to":3,"number":2`, `{"from":2,"to":2,"number":2`) },
			"epochs of default/b: epoch 4 shows version 1 of checkpoint 2, which was another one then"},
		{"shown before it was made", func(p *patient) {
			p.set("checkpoints", 0, "after_seq", int64(3))
		}, "epochs of default/a: epoch 2, opened after turn 2, shows version 1 of checkpoint 1, which was made after turn 3"},
		{"checkpoint of recent turns", func(p *patient) { p.edit("epochs", 4, `"from":4,`, `"from":3,`) },
			"epochs of default/b: epoch 4 has checkpoint 2 for turns 2–3, where there is room from 2 to 2"},
		{"checkpoints out of order", func(p *patient) { p.edit("epochs", 4, `{"from":2,"to":3,"number":2`, `{"from":1,"to":3,"number":2`) },
			"epochs of default/b: epoch 4 has checkpoint 2 for turns 1–3, where there is room from 2 to 3"},
		{"checkpoint backwards", func(p *patient) { p.edit("epochs", 4, `{"from":2,"to":3,"number":2`, `{"from":3,"to":2,"number":2`) },
			"epochs of default/b: epoch 4 has checkpoint 2 for turns 3–2, where there is room from 2 to 3"},
		{"no hash", func(p *patient) { p.edit("epochs", 1, sumOf(summaryOf(1, 1)), "x") }, `epochs of default/a: epoch 2 has "x" for the SHA-256 of checkpoint 1`},
		{"short hash", func(p *patient) { p.edit("epochs", 1, sumOf(summaryOf(1, 1)), "00") }, `epochs of default/a: epoch 2 has "00" for the SHA-256 of checkpoint 1`},
		{"long hash", func(p *patient) { p.edit("epochs", 1, sumOf(summaryOf(1, 1)), sumOf(summaryOf(1, 1))+"00") }, `00" for the SHA-256 of checkpoint 1`},
		{"breaker's segment", func(p *patient) { p.set("breakers", 0, "tenant", "other") }, "breakers: segment 1 belongs to no session"},
		{"breaker's document", func(p *patient) { p.set("breakers", 0, "doc", `{`) }, "breakers of default/a: what is known of its failed passes is not JSON: it counts as none, and the next pass writes it anew"},
		{"breaker", func(p *patient) { p.set("breakers", 0, "doc", `{"failures":-1}`) },
			"breakers of default/a: what is known of its failed passes: failures: -1 is less than nothing: it counts as none, and the next pass writes it anew"},
		{"snapshot's segment", func(p *patient) { p.set("snapshots", 0, "segment", int64(77)) }, "snapshots: segment 77 belongs to no session"},
		{"snapshot's id", func(p *patient) { p.set("snapshots", 0, "snapshot_id", "x") }, `snapshots of default/a: snapshot "x": its id is not a ULID`},
		{"snapshot too late", func(p *patient) { p.set("snapshots", 0, "after_seq", int64(7)) },
			"snapshots of default/a: snapshot 01J00000000000000000000001 comes after turn 7 of 0–6"},
		{"snapshot before its fork", func(p *patient) { p.set("snapshots", 1, "after_seq", int64(3)) },
			"snapshots of default/b: snapshot 01J00000000000000000000002 comes after turn 3 of 4–5"},
		{"snapshot by nobody", func(p *patient) { p.set("snapshots", 0, "auto", int64(2)) },
			"snapshots of default/a: snapshot 01J00000000000000000000001 was taken by 2, which is neither the user (null) nor the engine (1)"},
		{"snapshot's document", func(p *patient) { p.set("snapshots", 0, "doc", ``) }, "the document of snapshot 01J00000000000000000000001 is not JSON: it cannot be gone back to; delete it"},
		{"no snapshot", func(p *patient) { p.set("snapshots", 0, "doc", `{}`) },
			"snapshots of default/a: snapshot 01J00000000000000000000001: session: is empty; use 1 to 128 letters, digits and . _ : -: it cannot be gone back to; delete it"},
		{"snapshot of more turns", func(p *patient) { p.set("snapshots", 0, "doc", `{"session":"a","message_count":7}`) },
			"snapshot 01J00000000000000000000001: message_count: 7 is more than the 6 turns there were"},
		{"automatic snapshot with a name", func(p *patient) { p.set("snapshots", 1, "doc", `{"session":"a","name":"mine"}`) },
			`snapshots of default/b: snapshot 01J00000000000000000000002: name: an automatic snapshot is called "mine"`},
		{"snapshot of no epoch", func(p *patient) { p.edit("snapshots", 0, `"epoch":3`, `"epoch":4`) },
			"snapshots of default/a: snapshot 01J00000000000000000000001 is of epoch 4, which there is not: it cannot be gone back to; delete it"},
	})
}

// A fork may also age what it inherits without a copy of what its parent has at the fork point, and the
// parent may add to that point afterwards.
func TestForksAgeOnFromWhatTheyInherit(t *testing.T) {
	for name, change := range map[string]func(*patient){
		"without a copy": func(p *patient) { p.drop("checkpoints", 4); p.drop("epochs", 3) },
		"added by a parent": func(p *patient) {
			p.repeat("checkpoints", 2)
			p.set("checkpoints", 3, "version", int64(4))
			p.set("checkpoints", 3, "doc", summaryOf(1, 4))
		},
	} {
		p := healthy(t)
		change(p)
		if findings, _ := examine(t, p); len(findings) != 0 {
			t.Errorf("%s: findings:\n%s", name, strings.Join(findings, "\n"))
		}
	}
}
