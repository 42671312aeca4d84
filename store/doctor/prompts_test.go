package doctor_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// compileIn adds what prompts leave: session "a" has three epochs, prompts and pins, the third of each
// written at the turn that its fork "b" begins after. Fork "b" has a copy of that epoch, counts the
// others without theirs, and has two of each of its own.
func compileIn(ctx context.Context, st store.Store) error {
	// The second epoch shows a checkpoint, the third the same one aged, and the fork's own two.
	ref := func(number, version int64) prompt.Ref {
		return prompt.Ref{Range: coveredBy(number), Number: number, Version: version, SHA256: sumOf(summaryOf(number, version))}
	}
	opened := func(number, after int64) prompt.EpochRow {
		e := prompt.Epoch{Number: number, AfterSeq: after, Renderer: 1, Reason: prompt.ReasonFull, From: 1}
		switch number {
		case 2:
			e.From, e.Checkpoints = 2, []prompt.Ref{ref(1, 1)}
		case 3:
			e.From, e.Checkpoints, e.Before = 4, []prompt.Ref{ref(1, 3)}, 2
			e.Kept = []prompt.Kept{{Range: turn.Range{From: 1, To: 1}, Why: prompt.Said}, {Range: turn.Range{From: 2, To: 3}, Why: prompt.Pinned}}
			e.Paged = []prompt.Handle{{Range: turn.Range{From: 1, To: 1}, Messages: 1, Tokens: 3}, {Range: turn.Range{From: 1, To: 2}}}
			e.Quotes, e.Unquoted = []prompt.Quote{{Turn: 2, To: 4}, {Turn: 2, From: 5, To: 9}, {Turn: 3, To: 7}}, []turn.Range{{From: 1, To: 1}}
		case 4:
			e.From, e.Checkpoints = 4, []prompt.Ref{ref(1, 2), ref(2, 1)}
		}
		row := e.Row()
		row.At = noon
		return row
	}
	compiled := func(number, end, epoch int64) prompt.CallRow {
		return prompt.CallRow{Number: number, End: end, Epoch: epoch, Doc: `{}`, SHA256: "x", At: noon}
	}
	pin := func(number, after, seq int64) prompt.PinRow {
		return prompt.PinRow{Number: number, AfterSeq: after, Seq: seq, Pinned: number != 3, At: noon}
	}
	sum := sha256.Sum256([]byte("Be kind."))
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
			tx.Prompt().PutMaterial(ctx, a.Tenant, hex.EncodeToString(sum[:]), "Be kind.", noon),
			tx.Budget().PutCalibration(ctx, a.Tenant, budget.CalibrationRow{Model: "m", Doc: `{}`, At: noon}),
		}
		for in, rows := range map[int64]struct {
			epochs []prompt.EpochRow
			calls  []prompt.CallRow
			pins   []prompt.PinRow
		}{
			a.Segment: {
				[]prompt.EpochRow{opened(1, 0), opened(2, 2), opened(3, 4)},
				[]prompt.CallRow{compiled(1, 1, 1), compiled(2, 3, 2), compiled(3, 4, 3)},
				[]prompt.PinRow{pin(1, 1, 1), pin(2, 3, 2), pin(3, 4, 1)},
			},
			b.Segment: {
				[]prompt.EpochRow{opened(3, 4), opened(4, 5)},
				[]prompt.CallRow{compiled(3, 4, 2), compiled(4, 5, 4)},
				[]prompt.PinRow{pin(3, 4, 4), pin(4, 5, 5)},
			},
		} {
			for _, e := range rows.epochs {
				errs = append(errs, tx.Prompt().InsertEpoch(ctx, a.Tenant, in, e))
			}
			for _, c := range rows.calls {
				errs = append(errs, tx.Prompt().InsertCall(ctx, a.Tenant, in, c))
			}
			for _, p := range rows.pins {
				errs = append(errs, tx.Prompt().InsertPin(ctx, a.Tenant, in, p))
			}
		}
		return errors.Join(errs...)
	})
}

func TestEveryBrokenRuleOfAPromptIsFound(t *testing.T) {
	diagnose(t, []illness{
		{"epoch's segment", func(p *patient) { p.set("epochs", 0, "segment", int64(77)) }, "epochs: segment 77 belongs to no session"},
		{"first epoch lost", func(p *patient) { p.drop("epochs", 0) }, "epochs of default/a: the first epoch is 2"},
		{"epoch lost", func(p *patient) { p.drop("epochs", 1) }, "epochs of default/a: epoch 3 follows epoch 1"},
		{"epoch twice", func(p *patient) { p.repeat("epochs", 1) }, "epoch 2 follows epoch 2"},
		{"epoch of a fork lost", func(p *patient) { p.set("epochs", 3, "number", int64(5)); p.set("epochs", 4, "number", int64(6)) },
			"epochs of default/b: epoch 5 follows epoch 3 that it inherits"},
		{"fork begins anew", func(p *patient) { p.set("epochs", 3, "number", int64(1)) }, "epochs of default/b: epoch 1 follows epoch 3 that it inherits"},
		{"inherited epochs lost", func(p *patient) { p.drop("epochs", 0); p.drop("epochs", 0); p.drop("epochs", 0) },
			"epochs of default/b: epoch 3 follows epoch 0 that it inherits"},
		{"epoch goes back", func(p *patient) { p.set("epochs", 1, "after_seq", int64(5)) }, "epoch 3 after turn 4 follows one after turn 5"},
		{"epoch too late", func(p *patient) { p.set("epochs", 2, "after_seq", int64(7)) }, "epochs of default/a: epoch 3 comes after turn 7 of 0–6"},
		{"epoch before its fork", func(p *patient) { p.set("epochs", 3, "after_seq", int64(3)) }, "epochs of default/b: epoch 3 comes after turn 3 of 4–5"},
		{"epoch's document", func(p *patient) { p.set("epochs", 0, "doc", `{"a":}`) }, "the document of epoch 1 is not JSON"},
		{"no epoch", func(p *patient) { p.edit("epochs", 0, `"from":1`, `"from":"one"`) },
			"epochs of default/a: epoch 1: from: expected a number, found a string: no prompt of it can be made"},
		{"epoch's renderer", func(p *patient) { p.edit("epochs", 0, `"renderer":1`, `"renderer":9`) },
			"this version does not have: use a newer one: no prompt of it can be made; bring the session back from a bundle or a backup"},
		{"epoch that begins nowhere", func(p *patient) { p.edit("epochs", 1, `"from":2,`, ``) },
			"epochs of default/a: epoch 2, opened after turn 2, shows the turns from 0 on"},
		{"epoch that begins too late", func(p *patient) { p.edit("epochs", 1, `"from":2,`, `"from":4,`) },
			"epochs of default/a: epoch 2, opened after turn 2, shows the turns from 4 on"},
		{"epoch that goes back to itself", func(p *patient) { p.edit("epochs", 2, `"before":2`, `"before":3`) },
			"epochs of default/a: epoch 3 goes back to epoch 3, which is not before it"},
		{"epoch that goes back to nothing", func(p *patient) { p.edit("epochs", 2, `"before":2`, `"before":-1`) },
			"epochs of default/a: epoch 3 goes back to epoch -1, which is not before it"},
		{"kept before all", func(p *patient) { p.edit("epochs", 2, `"kept":[{"from":1,`, `"kept":[{`) }, "epochs of default/a: epoch 3, opened after turn 4, keeps turns 0–1"},
		{"kept too late", func(p *patient) { p.edit("epochs", 2, `{"from":2,"to":3,`, `{"from":2,"to":5,`) }, "epochs of default/a: epoch 3, opened after turn 4, keeps turns 2–5"},
		{"kept backwards", func(p *patient) { p.edit("epochs", 2, `{"from":2,"to":3,`, `{"from":3,"to":2,`) }, "epochs of default/a: epoch 3, opened after turn 4, keeps turns 3–2"},
		{"kept out of order", func(p *patient) { p.edit("epochs", 2, `"kept":[{"from":1,"to":1`, `"kept":[{"from":1,"to":4`) },
			"epochs of default/a: epoch 3 keeps turns 2–3 behind turn 4"},
		{"named too late", func(p *patient) { p.edit("epochs", 2, `{"from":1,"to":2}]`, `{"from":1,"to":5}]`) }, "epochs of default/a: epoch 3, opened after turn 4, names turns 1–5"},
		{"named out of order", func(p *patient) { p.edit("epochs", 2, `"paged":[{"from":1,"to":1`, `"paged":[{"from":1,"to":3`) },
			"epochs of default/a: epoch 3 names turns 1–2 behind turn 3"},
		{"quoted too late", func(p *patient) { p.edit("epochs", 2, `{"turn":3,`, `{"turn":5,`) }, "epochs of default/a: epoch 3, opened after turn 4, quotes turns 5–5"},
		{"quoted out of order", func(p *patient) { p.edit("epochs", 2, `{"turn":3,`, `{"turn":1,`) }, "epochs of default/a: epoch 3 quotes turns 1–1 behind turn 2"},
		{"more to quote of later turns", func(p *patient) {
			p.edit("epochs", 2, `"unquoted":[{"from":1,"to":1}]`, `"unquoted":[{"from":1,"to":5}]`)
		},
			"epochs of default/a: epoch 3, opened after turn 4, names turns 1–5"},
		{"prompt's segment", func(p *patient) { p.set("prompts", 0, "tenant", "other") }, "prompts: segment 1 belongs to no session"},
		{"prompt lost", func(p *patient) { p.drop("prompts", 1) }, "prompts of default/a: prompt 3 follows prompt 1"},
		{"prompt of a fork lost", func(p *patient) { p.set("prompts", 3, "number", int64(9)) }, "prompts of default/b: prompt 9 follows prompt 3 that it inherits"},
		{"prompt too far", func(p *patient) { p.set("prompts", 2, "end_seq", int64(7)) }, "prompt 3 ends with turn 7 of 6"},
		{"prompt before all", func(p *patient) { p.set("prompts", 0, "end_seq", int64(-1)) }, "prompt 1 ends with turn -1 of 6"},
		{"prompt of no epoch", func(p *patient) { p.set("prompts", 0, "epoch", int64(4)) }, "prompts of default/a: prompt 1 is of epoch 4, which there is not"},
		{"prompt of a lost epoch", func(p *patient) { p.drop("epochs", 1) }, "prompts of default/b: prompt 3 is of epoch 2, which there is not"},
		{"prompt of its parent's epoch", func(p *patient) { p.set("epochs", 1, "after_seq", int64(5)); p.set("epochs", 2, "after_seq", int64(5)) },
			"prompts of default/b: prompt 3 is of epoch 2, which there is not"},
		{"prompt's document", func(p *patient) { p.set("prompts", 0, "doc", ``) }, "the document of prompt 1 is not JSON"},
		{"pin's segment", func(p *patient) { p.set("pins", 0, "segment", int64(77)) }, "pins: segment 77 belongs to no session"},
		{"pin lost", func(p *patient) { p.drop("pins", 0) }, "pins of default/a: the first pin is 2"},
		{"pin of a fork lost", func(p *patient) { p.set("pins", 3, "number", int64(2)) }, "pins of default/b: pin 2 follows pin 3 that it inherits"},
		{"pin too late", func(p *patient) { p.set("pins", 2, "after_seq", int64(7)) }, "pin 3 comes after turn 7 of 0–6"},
		{"pin of no turn", func(p *patient) { p.set("pins", 0, "seq", int64(0)) }, "pin 1 is of turn 0, said after turn 1"},
		{"pin of a later turn", func(p *patient) { p.set("pins", 0, "seq", int64(2)) }, "pin 1 is of turn 2, said after turn 1"},
		{"pin halfway", func(p *patient) { p.set("pins", 0, "pinned", int64(2)) }, "pin 1 is neither set nor taken back but 2"},
		{"material", func(p *patient) { p.set("materials", 0, "text", "Be cruel.") }, "is not that of that hash"},
		{"calibration", func(p *patient) { p.set("calibrations", 0, "doc", `{`) }, "what is known about model m is not JSON"},
	})
}

// A fork may also begin without a copy of what its parent has at the fork point, and the parent may add
// to that point afterwards.
func TestForksCountOnFromWhatTheyInherit(t *testing.T) {
	for name, change := range map[string]func(*patient){
		"after the copy":    func(p *patient) { p.drop("epochs", 3); p.drop("prompts", 4) },
		"added by a parent": func(p *patient) { p.repeat("epochs", 2); p.set("epochs", 3, "number", int64(4)) },
	} {
		p := healthy(t)
		change(p)
		if findings, _ := examine(t, p); len(findings) != 0 {
			t.Errorf("%s: findings:\n%s", name, strings.Join(findings, "\n"))
		}
	}
}
