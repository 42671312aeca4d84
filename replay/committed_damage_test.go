package replay_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/scratch"
)

// The plan's lines: 1 manifest, 2–9 turns, 10 revision, 11–18 intentions, 19–21 observations, 22–24 memory
// items, 25 digest, 26–28 traces.
func TestWhatCommitsWroteIsHeldToItsRules(t *testing.T) {
	file := golden(t, "v2-plan.bundle")
	lines := strings.Split(string(file), "\n")
	again := func(n int) func([]string) []string { return insert(lines[n-1], n+1) }
	// at edits the n-th line.
	at := func(n int, old, new string) func([]string) []string {
		return func(l []string) []string {
			if !strings.Contains(l[n-1], old) {
				t.Fatalf("line %d has no %s:\n%s", n, old, l[n-1])
			}
			l[n-1] = strings.Replace(l[n-1], old, new, 1)
			return l
		}
	}
	for _, tt := range []struct {
		name   string
		change func([]string) []string
		want   string
	}{
		{"older version", at(1, `"turnstone_bundle":2`, `"turnstone_bundle":1`), `line 11: "intention" is no kind of record; legal here: blob, turn, revision, flow_turn, completed_flow, bookmark, end`},
		{"unknown kind", at(25, `{"digest"`, `{"digests"`), `line 25: "digests" is no kind of record; legal here: blob, turn, revision, flow_turn, completed_flow, bookmark, intention, observation, memory_item, digest, trace_part, end`},
		{"intention after observation", swap(18, 19), `line 19: stands after records that must follow it`},
		{"observation after item", swap(21, 22), `line 22: stands after records that must follow it`},
		{"item after digest", swap(24, 25), `line 25: stands after records that must follow it`},
		{"digest after trace", swap(25, 26), `line 26: stands after records that must follow it`},
		{"bookmark after trace", func(l []string) []string {
			return append(l, `{"bookmark":{"name":"a","seq":1,"at":"2026-11-14T09:30:12.000250Z"}}`)
		}, `line 29: stands after records that must follow it`},

		{"intention: gap", drop(`"after_seq":4,"at":"2026-11-14T09:30:13.000250Z","doc":{"id":"measure"`), `line 12: action "measure" version 3: version: stands where version 2 must`},
		{"intention: no first", drop(`"after_seq":2,"at":"2026-11-14T09:30:04.000250Z","doc":{"id":"measure"`), `line 11: action "measure" version 2: version: it is the first that stands here, and the first is 1`},
		{"intention: twice", again(11), `line 12: action "measure" version 1: version: stands where version 2 must`},
		{"intention: order of kinds", func(l []string) []string { return slices.Insert(slices.Delete(l, 13, 14), 10, lines[13]) }, `line 12: action "measure" version 1: stands after goal "01000000000000000000000003"`},
		{"intention: order of ids", func(l []string) []string { return slices.Insert(slices.Delete(l, 13, 14), 17, lines[13]) }, `line 18: goal "01000000000000000000000003" version 1: stands after goal "garden"`},
		{"intention: kind", at(11, `"kind":"action"`, `"kind":"dream"`), `line 11: intention: kind: "dream" is neither goal nor action`},
		{"intention: other kind", at(11, `"kind":"action"`, `"kind":"goal"`), `line 11: intention: doc: `},
		{"intention: seq back", at(13, `"after_seq":8`, `"after_seq":3`), `line 13: action "measure" version 3: after_seq: 3 is not from 4 to 8`},
		{"intention: seq past head", at(13, `"after_seq":8`, `"after_seq":9`), `line 13: action "measure" version 3: after_seq: 9 is not from 4 to 8`},
		{"intention: no seq", at(11, `"after_seq":2,`, ``), `line 11: action "measure" version 1: after_seq: -1 is not from 0 to 8`},
		{"intention: no time", at(11, `"at":"2026-11-14T09:30:04.000250Z",`, ``), `line 11: action "measure" version 1: at: is missing`},
		{"intention: bad document", at(15, `"priority":"medium"`, `"priority":"utmost"`), `line 15: intention: doc: priority: `},
		{"intention: no document", at(15, `"doc":`, `"dok":`), `line 15: intention: "dok" is not a member; legal here: kind, after_seq, at, doc, doc_text, change, change_text`},
		{"intention: two documents", at(15, `"doc":`, `"doc_text":"{}","doc":`), `line 15: intention: doc: there is one doc, and it stands here already`},
		{"intention: bad change", at(15, `"change":[`, `"change":[7,`), `line 15: goal "garden" version 1: change: `},
		{"intention: no change", func(l []string) []string {
			l[14] = l[14][:strings.Index(l[14], `,"change":`)] + "}}"
			return l
		}, `line 15: goal "garden" version 1: change: is missing`},

		{"observation: order", swap(20, 21), `line 21: observation "old": id: stands after "slope"`},
		{"observation: twice", again(20), `line 21: observation "old": id: stands after "old"`},
		{"observation: status", at(20, `"status":"archived"`, `"status":"asleep"`), `line 20: observation: status: "asleep" is none; use active`},
		{"observation: member", at(20, `"status":`, `"mood":1,"status":`), `line 20: observation: mood: is not a field`},
		{"observation: no expiry", at(20, `"expires_at":"2026-11-21T09:30:06.000250Z",`, ``), `line 20: observation "old": expires_at: is missing`},
		{"observation: no change", at(20, `,"updated_at":"2026-11-14T09:30:06.000250Z"`, ``), `line 20: observation "old": updated_at: is missing`},
		{"observation: too many", func(l []string) []string {
			for n := range scratch.MaxLive - 1 {
				l = slices.Insert(l, 21+n, strings.Replace(l[20], `"id":"slope"`, fmt.Sprintf(`"id":"slope-%03d"`, n), 1))
			}
			return l
		}, `line 120: observation "slope-098": status: is active; at most 100 observations may be live`},

		{"item: order", swap(22, 23), `line 23: memory_item 01000000000000000000000007: item.id: stands after 01000000000000000000000006, and the newest stand first`},
		{"item: twice", again(22), `line 23: memory_item 01000000000000000000000007: item.id: stands after 01000000000000000000000007`},
		{"item: no type", at(22, `"type":"lesson",`, ``), `line 22: memory_item: item: type: is empty`},
		{"item: importance", at(22, `"importance":0.123456`, `"importance":7`), `line 22: memory_item: item: importance: 7 is not from 0 to 1`},
		{"item: expired before it was", at(23, `"expires_at":"2026`, `"expires_at":"2025`), `line 23: memory_item: item: expires_at: is before created_at`},
		{"item: gone", at(22, `{"memory_item":{"item":`, `{"memory_item":{"itim":`), `line 22: memory_item: "itim" is not a member; legal here: item, user, archived_at`},
		{"item: missing", insert(`{"memory_item":{"user":"u"}}`, 22), `line 22: memory_item: item: is missing`},
		{"item: user", at(22, `"user":"u-17"`, `"user":"`+strings.Repeat("u", 257)+`"`), `line 22: memory_item 01000000000000000000000007: user: 257 bytes`},
		{"item: archived", at(23, `"archived_at":"2026`, `"archived_at":"x`), `line 23: memory_item: archived_at: parsing time`},

		{"digest: twice", again(25), `line 26: digest: there is one already`},
		{"digest: past head", at(25, `"through_seq":8`, `"through_seq":9`), `line 25: digest: doc.through_seq: 9 is no turn of 8`},
		{"digest: before the first turn", at(25, `"through_seq":8`, `"through_seq":-1`), `line 25: digest: doc`},
		{"digest: version", at(25, `"v":1`, `"v":2`), `line 25: digest: doc: digest.v: 2 is not a version of a digest`},
		{"digest: no time", at(25, `"at":"2026-11-14T09:30:18.000250Z",`, ``), `line 25: digest: at: is missing`},
		{"digest: member", at(25, `"at":`, `"by":"me","at":`), `line 25: digest: "by" is not a member; legal here: at, doc, doc_text`},

		{"trace: order", swap(26, 27), `line 27: trace_part 01000000000000000000000008 of turn 01000000000000000000000001: stands after part 0100000000000000000000000B of turn 01000000000000000000000001`},
		{"trace: order of turns", swap(27, 28), `line 28: trace_part 0100000000000000000000000B of turn 01000000000000000000000001: stands after part 0100000000000000000000000C of turn 01000000000000000000000009`},
		{"trace: twice", again(28), `line 29: trace_part 0100000000000000000000000C`},
		{"trace: no such turn", func(l []string) []string {
			l[27] = strings.ReplaceAll(l[27], "01000000000000000000000009", "0100000000000000000000000Z")
			return l
		}, `line 28: trace_part 0100000000000000000000000C of turn 0100000000000000000000000Z: turn_id: the bundle has no such turn`},
		{"trace: of another turn", at(28, `"body":{"started":"2026-11-14T09:30:15.00025Z","turn_id":"01000000000000000000000009"`, `"body":{"started":"2026-11-14T09:30:15.00025Z","turn_id":"01000000000000000000000001"`),
			`line 28: trace_part 0100000000000000000000000C of turn 01000000000000000000000009: body.turn_id: tells of turn "01000000000000000000000001"`},
		{"trace: id", at(28, `"part_id":"0100000000000000000000000C"`, `"part_id":"C"`), `part_id: "C" is not a ULID`},
		{"trace: no time", at(28, `"at":"2026-11-14T09:30:15.000250Z",`, ``), `of turn 01000000000000000000000009: at: is missing`},
		{"trace: no body", func(l []string) []string {
			l[27] = l[27][:strings.Index(l[27], `,"body":`)] + "}}"
			return l
		}, `of turn 01000000000000000000000009: body: is missing`},
		{"trace: bad body", at(28, `"spans":[`, `"spans":7,"x":[`), `of turn 01000000000000000000000009: body: trace: `},
		{"trace: member", at(28, `"part_id":`, `"by":"me","part_id":`), `line 28: trace_part: "by" is not a member; legal here: turn_id, part_id, at, body, body_text`},
	} {
		t.Run(tt.name, func(t *testing.T) { refusedBecause(t, file, tt.change, tt.want) })
	}
}

// What no record shows is in the last line: how many there are of each kind.
func TestCountsThatDoNotFitAreRefused(t *testing.T) {
	file := string(golden(t, "v2-plan.bundle"))
	for _, change := range [][2]string{
		{`"trace_part":3}`, `"trace_part":2}`}, {`"memory_item":3`, `"memory_item":4`}, {`"counts":{"blob":0,`, `"counts":{`}, {`"records":27`, `"records":28`},
	} {
		changed := strings.Replace(file, change[0], change[1], 1)
		if changed == file {
			t.Fatalf("no %s", change[0])
		}
		if err := refused(t, []byte(changed)); err != nil && !strings.Contains(err.Error(), "line 29: the bundle was changed after it was written") {
			t.Errorf("%s: %v", change[1], err)
		}
	}
}
