package replay_test

import (
	"slices"
	"strings"
	"testing"
)

// The long session's lines: 1 manifest, 2–13 turns, 14 revision, 15–18 materials and settings, 19–21 checkpoints,
// 22–25 epochs, 26 breaker, 27–29 snapshots.
func TestWhatCompressionLeavesIsHeldToItsRules(t *testing.T) {
	file := golden(t, "v4-long.bundle")
	lines := strings.Split(string(file), "\n")
	again := func(n int) func([]string) []string { return insert(lines[n-1], n+1) }
	at := func(n int, old, new string) func([]string) []string {
		return func(l []string) []string {
			if !strings.Contains(l[n-1], old) {
				t.Fatalf("line %d has no %s:\n%s", n, old, l[n-1])
			}
			l[n-1] = strings.Replace(l[n-1], old, new, 1)
			return l
		}
	}
	gone := func(n int) func([]string) []string {
		return func(l []string) []string { return slices.Delete(l, n-1, n) }
	}
	// without leaves the document out.
	without := func(n int) func([]string) []string {
		return func(l []string) []string {
			l[n-1] = l[n-1][:strings.Index(l[n-1], `,"doc":`)] + "}}"
			return l
		}
	}
	sum := func(n int) string {
		_, doc, _ := strings.Cut(lines[n-1], `"doc":`)
		return sumOf(strings.TrimSuffix(doc, "}}"))
	}
	for _, tt := range []struct {
		name   string
		change func([]string) []string
		want   string
	}{
		{"older version", at(1, `"turnstone_bundle":4`, `"turnstone_bundle":3`), `line 19: "checkpoint" is no kind of record; legal here: blob, turn, revision, flow_turn, completed_flow, bookmark, intention, observation, memory_item, digest, trace_part, material, settings, epoch, pin, prompt, end`},
		{"unknown kind", at(26, `{"breaker"`, `{"fuse"`), `line 26: "fuse" is no kind of record; legal here: blob, turn, revision, flow_turn, completed_flow, bookmark, intention, observation, memory_item, digest, trace_part, material, settings, checkpoint, epoch, pin, prompt, breaker, snapshot, end`},
		{"older version with refs", func(l []string) []string {
			l = at(1, `"turnstone_bundle":4`, `"turnstone_bundle":3`)(l)
			return slices.Concat(l[:18], l[21:25])
		}, `line 20: epoch 2: doc.checkpoints: no version 1 of checkpoint 1 stands before it`},
		{"checkpoint before settings", swap(18, 19), `line 19: stands after records that must follow it`},
		{"checkpoint after an epoch", swap(21, 22), `line 22: stands after records that must follow it`},
		{"breaker after a snapshot", swap(26, 27), `line 27: stands after records that must follow it`},
		{"epoch after a breaker", swap(25, 26), `line 26: stands after records that must follow it`},

		{"checkpoint: first version gone", gone(19), `line 19: version 2 of checkpoint 1: version: it is the first that stands here, and the first is 1`},
		{"checkpoint: twice", again(20), `line 21: version 2 of checkpoint 1: version: stands where version 3 must`},
		{"checkpoint: order", swap(20, 21), `line 21: version 2 of checkpoint 1: number: stands after checkpoint 2`},
		{"checkpoint: no number", at(19, `"number":1,`, ``), `line 19: version 1 of checkpoint 0: number: stands after checkpoint 0`},
		{"checkpoint: back", at(19, `"after_seq":6`, `"after_seq":11`), `line 20: version 2 of checkpoint 1: after_seq: 10 is not from 11 to 12`},
		{"checkpoint: past head", at(21, `"after_seq":10`, `"after_seq":13`), `line 21: version 1 of checkpoint 2: after_seq: 13 is not from 0 to 12`},
		{"checkpoint: no place", at(19, `"after_seq":6,`, ``), `line 19: version 1 of checkpoint 1: after_seq: -1 is not from 0 to 12`},
		{"checkpoint: no time", at(19, `"at":"2026-11-14T09:30:08.000250Z",`, ``), `line 19: version 1 of checkpoint 1: at: is missing`},
		{"checkpoint: no document", without(19), `line 19: checkpoint: doc: is missing`},
		{"checkpoint: lost and there", at(19, `"doc":`, `"lost":true,"doc":`), `line 19: checkpoint: lost: and yet there is a doc`},
		{"checkpoint: member", at(19, `"number":1,`, `"number":1,"by":"me",`), `line 19: checkpoint: "by" is not a member; legal here: number, version, after_seq, at, doc, doc_text, lost`},
		{"checkpoint: bad document", at(19, `"level":0`, `"level":7`), `line 19: version 1 of checkpoint 1: doc: level: 7 is no level`},
		{"checkpoint: another's document", at(19, `"compression_number":1`, `"compression_number":3`), `line 19: version 1 of checkpoint 1: doc: is version 1 of checkpoint 3`},
		{"checkpoint: another version's document", at(20, `"version":2,"level"`, `"version":4,"level"`), `line 20: version 2 of checkpoint 1: doc: is version 4 of checkpoint 1`},
		{"checkpoint: covers what was not said yet", at(19, `"to":4}`, `"to":7}`), `line 19: version 1 of checkpoint 1: doc: range: 1–7 goes past turn 6`},
		{"checkpoint: too long", at(19, `"summary":"A`, `"summary":"`+strings.Repeat("A", 8<<20)), `line 19: version 1 of checkpoint 1: doc: doc: is 8389`},

		{"epoch: another summary", at(19, `A login`, `B login`), `line 23: epoch 2: doc.checkpoints: version 1 of checkpoint 1 is not the one it refers to: its sum is `},
		{"epoch: other bytes", at(19, `"doc":{`, `"doc":{ `), `line 23: epoch 2: doc.checkpoints: version 1 of checkpoint 1 is not the one it refers to: its sum is `},
		{"epoch: checkpoint gone", gone(21), `line 23: epoch 3: doc.checkpoints: no version 1 of checkpoint 2 stands before it`},
		{"epoch: other range", at(23, `[{"from":1,"to":4,"number"`, `[{"from":1,"to":3,"number"`), `line 23: epoch 2: doc.checkpoints: version 1 of checkpoint 1 covers turns 1–4, not 1–3`},
		{"epoch: later checkpoint", at(23, `"number":1,"version":1,"sha256":"`+sum(19), `"number":1,"version":2,"sha256":"`+sum(20)),
			`line 23: epoch 2: doc.checkpoints: version 2 of checkpoint 1 was made after turn 10, later than the epoch`},
		{"epoch: checkpoint of recent turns", at(24, `"from":9,"kept"`, `"from":8,"kept"`), `line 24: epoch 3: doc.checkpoints: turns 5–8 of version 1 of checkpoint 2 are not from 5 to 7`},
		{"epoch: checkpoint twice", at(24, `,{"from":5,"to":8,"number":2,"version":1,"sha256":"`+sum(21), `,{"from":1,"to":4,"number":1,"version":1,"sha256":"`+sum(19)),
			`line 24: epoch 3: doc.checkpoints: turns 1–4 of version 1 of checkpoint 1 are not from 5 to 8`},
		{"epoch: names what is not there", at(23, `"paged":[{"from":3,"to":3`, `"paged":[{"from":3,"to":7`), `line 23: epoch 2: doc.paged: 3–7 are no turns of 6`},
		{"epoch: names turn 0", at(23, `"paged":[{"from":3,`, `"paged":[{`), `line 23: epoch 2: doc.paged: 0–3 are no turns of 6`},
		{"epoch: names backwards", at(23, `"paged":[{"from":3,"to":3`, `"paged":[{"from":3,"to":2`), `line 23: epoch 2: doc.paged: 3–2 are no turns of 6`},
		{"epoch: names out of order", at(24, `{"from":5,"to":5}]`, `{"from":3,"to":3}]`), `line 24: epoch 3: doc.paged: 3–3 stand after turn 3`},
		{"epoch: names less than nothing", at(23, `"messages":1`, `"messages":-1`), `line 23: epoch 2: doc.paged: -1 messages of 700 tokens at 3–3`},
		{"epoch: quotes what is shown", at(23, `"paged":[`, `"quotes":[{"turn":5,"to":9}],"paged":[`), `line 23: epoch 2: doc.quotes: turn 5 is none before 5`},
		{"epoch: quotes turn 0", at(23, `"paged":[`, `"quotes":[{"to":9}],"paged":[`), `line 23: epoch 2: doc.quotes: turn 0 is none before 5`},
		{"epoch: quotes backwards", at(23, `"paged":[`, `"quotes":[{"turn":2,"from":9,"to":9}],"paged":[`), `line 23: epoch 2: doc.quotes: bytes 9–9 of turn 2, 0 tokens`},
		{"epoch: quotes before the beginning", at(23, `"paged":[`, `"quotes":[{"turn":2,"from":-1,"to":9}],"paged":[`), `line 23: epoch 2: doc.quotes: bytes -1–9 of turn 2, 0 tokens`},
		{"epoch: quotes less than nothing", at(23, `"paged":[`, `"quotes":[{"turn":2,"to":9,"tokens":-1}],"paged":[`), `line 23: epoch 2: doc.quotes: bytes 0–9 of turn 2, -1 tokens`},
		{"epoch: quotes out of order", at(23, `"paged":[`, `"quotes":[{"turn":4,"to":9},{"turn":2,"to":9}],"paged":[`), `line 23: epoch 2: doc.quotes: bytes 0–9 of turn 2 stand after those of turn 4 up to 9`},
		{"epoch: quotes twice", at(23, `"paged":[`, `"quotes":[{"turn":4,"to":9},{"turn":4,"from":8,"to":9}],"paged":[`), `line 23: epoch 2: doc.quotes: bytes 8–9 of turn 4 stand after those of turn 4 up to 9`},
		{"epoch: has more to quote of what is shown", at(23, `"paged":[`, `"unquoted":[{"from":2,"to":5}],"paged":[`), `line 23: epoch 2: doc.quotes: 2–5 are no turns from 1 on and before 5`},
		{"epoch: has more to quote twice", at(23, `"paged":[`, `"unquoted":[{"from":1,"to":2},{"from":2,"to":3}],"paged":[`), `line 23: epoch 2: doc.quotes: 2–3 are no turns from 3 on and before 5`},
		{"epoch: has more to quote backwards", at(23, `"paged":[`, `"unquoted":[{"from":3,"to":2}],"paged":[`), `line 23: epoch 2: doc.quotes: 3–2 are no turns from 1 on and before 5`},
		{"epoch: goes back to itself", at(24, `"before":2`, `"before":3`), `line 24: epoch 3: doc.before: epoch 3 is not before it`},
		{"epoch: restores itself", at(24, `"before":2`, `"before":2,"restored":3`), `line 24: epoch 3: doc.restored: epoch 3 is not before it`},
		{"epoch: began after its passes", at(24, `"before":2`, `"before":2,"began":10`), `line 24: epoch 3: doc.began: 10 is not from 1 to 9`},
		{"epoch: goes back to nothing", at(24, `"before":2`, `"before":-2`), `line 24: epoch 3: doc.before: epoch -2 is not before it`},

		{"breaker: twice", again(26), `line 27: breaker: there is one already`},
		{"breaker: nonsense", at(26, `"failures":3`, `"failures":-3`), `line 26: breaker: failures: -3 is less than nothing`},
		{"breaker: member", at(26, `"failures":3`, `"mood":3`), `line 26: breaker: mood: is not a field`},
		{"breaker: past head", at(26, `"to":10`, `"to":13`), `line 26: breaker: range: 9–13 are no turns of 12`},

		{"snapshot: order", swap(27, 28), `line 28: snapshot 01M7CP919G0000000000000007: snapshot_id: stands after "01M7CP94780000000000000008"`},
		{"snapshot: twice", again(29), `line 30: snapshot 01M7CP965R000000000000000D: snapshot_id: stands after "01M7CP965R000000000000000D"`},
		{"snapshot: no id", at(27, `"snapshot_id":"01M7CP919G0000000000000007",`, ``), `line 27: snapshot : snapshot_id: stands after ""`},
		{"snapshot: odd id", at(29, `01M7CP965R000000000000000D`, `x`), `line 29: snapshot x: id: "x" is no ULID`},
		{"snapshot: past head", at(29, `"after_seq":10`, `"after_seq":13`), `line 29: snapshot 01M7CP965R000000000000000D: after_seq: 13 is no turn of 12`},
		{"snapshot: no place", at(29, `"after_seq":10,`, ``), `line 29: snapshot 01M7CP965R000000000000000D: turn: -1 is less than none`},
		{"snapshot: no time", at(29, `"at":"2026-11-14T09:30:12.000250Z",`, ``), `line 29: snapshot 01M7CP965R000000000000000D: at: is missing`},
		{"snapshot: of no epoch", at(29, `"epoch":2`, `"epoch":5`), `line 29: snapshot 01M7CP965R000000000000000D: doc.epoch: 5 is none of 4`},
		{"snapshot: bad document", at(29, `"tier":2`, `"tier":9`), `line 29: snapshot 01M7CP965R000000000000000D: tier: 9 is no tier`},
		{"snapshot: nothing", without(29), `line 29: snapshot 01M7CP965R000000000000000D: doc: is missing`},
		{"snapshot: too long", at(29, `"mode":"chat"`, `"mode":"`+strings.Repeat("x", 64<<10)+`"`), `line 29: snapshot 01M7CP965R000000000000000D: doc: is 65`},
		{"snapshot: member", at(29, `"auto":true`, `"auto":true,"by":"me"`), `line 29: snapshot: "by" is not a member; legal here: snapshot_id, after_seq, auto, at, doc, doc_text`},
		{"snapshot: both", at(29, `"auto":true`, `"auto":"perhaps"`), `line 29: snapshot: auto: `},
	} {
		t.Run(tt.name, func(t *testing.T) { refusedBecause(t, file, tt.change, tt.want) })
	}
}

func TestCountsOfVersion4(t *testing.T) {
	file := string(golden(t, "v4-long.bundle"))
	for _, change := range [][2]string{
		{`"checkpoint":3`, `"checkpoint":2`}, {`"breaker":1`, `"breaker":0`}, {`"snapshot":3}`, `"snapshot":4}`}, {`,"snapshot":3}`, `}`},
	} {
		changed := strings.Replace(file, change[0], change[1], 1)
		if changed == file {
			t.Fatalf("no %s", change[0])
		}
		if err := refused(t, []byte(changed)); err != nil && !strings.Contains(err.Error(), "line 30: the bundle was changed after it was written") {
			t.Errorf("%s: %v", change[1], err)
		}
	}
}
