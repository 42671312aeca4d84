package replay_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/turn"
)

// small is a bundle that is short enough to try everything on.
func small(t *testing.T) []byte {
	t.Helper()
	w := newWorld(t, t.Context())
	k := w.create("small")
	w.say(k, turn.Draft{Role: turn.User, Content: turn.Image{MediaType: "image/png", Blob: turn.Blob{Data: []byte{0xff}}}})
	w.bookmark(k, "here", 1)
	return w.plain(k)
}

func TestEveryChangedByteIsFound(t *testing.T) {
	file := small(t)
	for i := range file {
		for _, x := range []byte{1, 2, 4, 8, 16, 32, 64, 128, 255} {
			changed := bytes.Clone(file)
			changed[i] ^= x
			_, err := verify(changed)
			var newer *replay.NewerVersionError
			if !errors.Is(err, replay.ErrDamaged) && !errors.As(err, &newer) {
				t.Fatalf("byte %d %q made %q: %v", i, file[i], changed[i], err)
			}
		}
	}
}

func TestEveryChangedByteOfACompressedBundleIsFoundOrMeansNothing(t *testing.T) {
	w := newWorld(t, t.Context())
	file, want := w.bundle(w.trip(), replay.WriteOptions{Compress: true})
	for i := range file {
		for _, x := range []byte{1, 8, 64, 255} {
			changed := bytes.Clone(file)
			changed[i] ^= x
			got, err := verify(changed)
			if err == nil {
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("byte %d: read as another bundle:\n%s", i, diff)
				}
			} else if !errors.Is(err, replay.ErrDamaged) {
				t.Fatalf("byte %d: %v", i, err)
			}
		}
	}
}

func TestEveryTruncationIsFound(t *testing.T) {
	w := newWorld(t, t.Context())
	k := w.trip()
	packed, _ := w.bundle(k, replay.WriteOptions{Compress: true})
	for name, file := range map[string][]byte{"plain": small(t), "compressed": packed} {
		for n := range file {
			if _, err := verify(file[:n]); !errors.Is(err, replay.ErrDamaged) || !strings.Contains(err.Error(), "the file is cut off here") {
				t.Fatalf("%s, %d of %d bytes: %v", name, n, len(file), err)
			}
		}
	}
}

func TestWhatFollowsTheEndIsFound(t *testing.T) {
	file := small(t)
	for _, tail := range []string{"\n", " ", "x", "{}\n", string(file)} {
		err := refused(t, append(bytes.Clone(file), tail...))
		if want := "line 7: something follows the end"; !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("after %q: %v, want %q", tail, err, want)
		}
		refused(t, append(pack(t, file), tail...))
	}
	if err := refused(t, append(pack(t, file), pack(t, []byte("more"))...)); !strings.Contains(err.Error(), "something follows the end") {
		t.Errorf("after a second frame: %v", err)
	}
}

// kinds of records, in the order of a bundle.
var kinds = []string{
	"blob", "turn", "revision", "flow_turn", "completed_flow", "bookmark", "intention", "observation", "memory_item", "digest", "trace_part",
	"material", "settings", "checkpoint", "epoch", "pin", "prompt", "breaker", "snapshot",
}

// kindsOf are the kinds that a bundle of the version counts.
func kindsOf(manifest string) []string {
	of := func(version string) bool {
		return strings.Contains(strings.Join(strings.Fields(manifest), ""), `"turnstone_bundle":`+version)
	}
	switch {
	case of("2"):
		return kinds[:11]
	case of("3"):
		added := []string{"checkpoint", "breaker", "snapshot"}
		return slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return slices.Contains(added, kind) })
	}
	return kinds
}

// resealed changes lines of a bundle and makes its figures right again, so that only the rules
// can find what is wrong.
func resealed(t *testing.T, file []byte, change func(lines []string) []string) []byte {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(string(file), "\n"), "\n")
	lines = change(slices.Clone(lines[:len(lines)-1]))
	counted := kinds
	if len(lines) > 0 {
		counted = kindsOf(lines[0])
	}
	counts := make([]string, len(counted))
	turns := 0
	for i, kind := range counted {
		n := 0
		for _, l := range lines {
			if strings.HasPrefix(strings.TrimSpace(l), `{"`+kind+`"`) {
				n++
			}
		}
		if counts[i] = fmt.Sprintf("%q:%d", kind, n); kind == "turn" {
			turns = n
		}
	}
	body := strings.Join(lines, "\n") + "\n"
	figures := fmt.Sprintf(`"counts":{%s}`, strings.Join(counts, ","))
	if len(lines) > 0 && strings.Contains(strings.Join(strings.Fields(lines[0]), ""), `"turnstone_bundle":1`) {
		figures = fmt.Sprintf(`"turns":%d`, turns)
	}
	return fmt.Appendf([]byte(body), `{"end":{"records":%d,%s,"sha256":"%x"}}`+"\n", len(lines)-1, figures, sha256.Sum256([]byte(body)))
}

// edit replaces a piece of the one line that holds it.
func edit(old, new string) func([]string) []string {
	return func(lines []string) []string {
		i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, old) })
		if i < 0 {
			return nil
		}
		lines[i] = strings.Replace(lines[i], old, new, 1)
		return lines
	}
}

func drop(holding string) func([]string) []string {
	return func(lines []string) []string {
		i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, holding) })
		return slices.Delete(lines, i, i+1)
	}
}

// swap exchanges two lines, counted from 1.
func swap(i, j int) func([]string) []string {
	return func(lines []string) []string {
		lines[i-1], lines[j-1] = lines[j-1], lines[i-1]
		return lines
	}
}

// insert makes the line the n-th.
func insert(line string, n int) func([]string) []string {
	return func(lines []string) []string { return slices.Insert(lines, n-1, line) }
}

func TestBundlesAgainstTheRulesAreRefusedByLine(t *testing.T) {
	file := golden(t, "v1-trip.bundle")
	for _, tt := range []struct {
		name   string
		change func([]string) []string
		want   string
	}{
		{"manifest: member", edit(`"mode":"chat"`, `"mood":"good"`), `line 1: session: "mood" is not a member; legal here: session_id, tenant`},
		{"manifest: member outside", edit(`{"turnstone_bundle":1`, `{"turnstone_bundle":1,"by":"me"`), `line 1: "by" is not a member`},
		{"manifest: no bundle", edit(`{"turnstone_bundle":1,`, `{`), `line 1: this is no session bundle: turnstone_bundle, the version of the format, is missing`},
		{"manifest: version 0", edit(`{"turnstone_bundle":1,`, `{"turnstone_bundle":0,`), `line 1: this is no session bundle`},
		{"manifest: no json", edit(`{"turnstone_bundle":1,`, `turnstone 1`), `line 1: this is no session bundle: offset 0`},
		{"manifest: no time", edit(`"created_at":"2026-11-14T09:30:18.000250Z",`, ``), `line 1: created_at: is missing`},
		{"manifest: odd time", edit(`09:30:18.000250Z`, `09:30:18Z`), `line 1: created_at: parsing time`},
		{"manifest: status", edit(`"status":"active"`, `"status":"asleep"`), `line 1: session.status: "asleep" is neither active nor ended`},
		{"manifest: tenant", edit(`"tenant":"acme",`, ``), `line 1: session.tenant: is missing`},
		{"manifest: id", edit(`"session_id":"trip"`, `"session_id":"a trip"`), `line 1: session: "a trip" holds `},
		{"manifest: head", edit(`"head":19`, `"head":-1`), `line 1: session.head: -1 is negative`},
		{"manifest: session time", edit(`"created_at":"2026-11-14T09:30:01.000250Z",`, ``), `line 1: session.created_at: is missing`},
		{"manifest: activity", edit(`"last_activity":"2026-11-14T09:30:17.000250Z",`, ``), `line 1: session.last_activity: is missing`},
		{"manifest: fork", edit(`"head":19`, `"fork_seq":3,"head":19`), `line 1: session.fork_seq: only a fork has one`},
		{"manifest: fork past head", edit(`"head":19`, `"parent":"p","fork_seq":20,"head":19`), `line 1: session.fork_seq: 20 is no turn of 19`},
		{"manifest: fork before the first", edit(`"head":19`, `"parent":"p","fork_seq":-1,"head":19`), `line 1: session.fork_seq: -1 is no turn of 19`},
		{"manifest: parent", edit(`"head":19`, `"parent":"p p","head":19`), `line 1: session.parent: "p p" holds `},
		{"manifest: long title", edit(`"title":"`, `"title":"`+strings.Repeat("x", 300)), `line 1: title: `},

		{"unknown kind", edit(`{"bookmark":{"name":"after`, `{"bookmarks":{"name":"after`), `line 32: "bookmarks" is no kind of record; legal here: blob, turn,`},
		{"two kinds", insert(`{"bookmark":{"name":"a","seq":1,"at":"2026-11-14T09:30:12.000250Z"}, "x":1}`, 33), `line 33: bookmark: offset`},
		{"two kinds, spaced", insert(`{ "bookmark":{}, "x":1}`, 33), `line 33: 2 members, where one names the kind`},
		{"empty object", insert(`{}`, 2), `line 2: 0 members`},
		{"empty line", insert(``, 2), `line 2: offset 0: expected an object, found the end`},
		{"no object", insert(`7`, 2), `line 2: expected an object, found a number`},
		{"turn after revision", swap(22, 23), `line 23: stands after records that must follow it`},
		{"revision after flow", swap(26, 27), `line 27: stands after records that must follow it`},
		{"flow after completed flow", swap(30, 31), `line 31: stands after records that must follow it`},
		{"completed flow after bookmark", swap(31, 32), `line 32: stands after records that must follow it`},

		{"turn: gap", drop(`"seq":5,`), `line 8: turn 6 stands where 5 must`},
		{"turn: missing at the end", drop(`"seq":19,`), `line 33: the bundle has 18 turns, and its session 19`},
		{"turn: past head", edit(`"head":19`, `"head":18`), `line 22: turn 19, and the session has 18`},
		{"turn: member", edit(`"seq":1,`, `"seq":1,"mood":"good",`), `line 2: turn: turn.mood: is not a field`},
		{"turn: session", edit(`"seq":1,`, `"seq":1,"session_id":"trip",`), `line 2: turn 1: session_id: a turn of a bundle has none`},
		{"turn: id", edit(`"turn_id":"01000000000000000000000001",`, `"turn_id":"1",`), `line 2: turn 1: turn_id: "1" is not a ULID`},
		{"turn: id twice", edit(`"turn_id":"01000000000000000000000002",`, `"turn_id":"01000000000000000000000001",`), `line 3: turn 2: turn_id: 01000000000000000000000001 stands twice`},
		{"turn: key twice", edit(`"seq":2,`, `"seq":2,"idempotency_key":"request-1",`), `line 3: turn 2: idempotency_key: "request-1" stands twice`},
		{"turn: role", edit(`"role":"agent"`, `"role":"assistant"`), `line 3: turn: role: "assistant" is not a role`},
		{"turn: kind", edit(`"kind":"summary"`, `"kind":""`), `line 17: turn 14: kind: "" is not a kind`},
		{"turn: time", edit(`,"created_at":"2026-11-14T09:30:02.000250Z"`, ``), `line 2: turn 1: created_at: is missing`},
		{"turn: covers itself", edit(`"covers":[1,9]`, `"covers":[1,14]`), `line 17: turn 14: covers: 1–14 goes past turn 13`},
		{"turn: empty text", edit(`"text":"like this"`, `"text":""`), `line 8: turn 5: content.text: is empty`},
		{"turn: NUL", edit(`"text":"like this"`, `"text":"\u0000"`), `line 8: turn 5: content.text: holds a NUL byte`},
		{"turn: message", edit(`"message_id":"m-7"`, `"message_id":"`+strings.Repeat("m", 257)+`"`), `line 7: turn 4: message_id: 257 bytes, at most 256`},
		{"turn: key", edit(`"idempotency_key":"request-1"`, `"idempotency_key":"\u0000"`), `line 2: turn 1: idempotency_key: holds a NUL byte`},
		{"turn: meta", edit(`"tokens":12`, `"tokens":-12`), `line 3: turn 2: meta: is negative`},
		{"turn: data", edit(`"alt":"a tram",`, `"alt":"a tram","data":"eA==",`), `line 7: turn 4: content: holds data`},

		{"blob: gone", drop(`"data":"T2dn`), `line 4: turn 3: content.sha256: no blob "83e34af1`},
		{"blob: twice", func(l []string) []string { return slices.Insert(l, 8, l[3]) }, `line 9: blob 83e34af1e5596fa99be6cb008f4aab0d76869bfec30a225c28e2e9132a3d9806 stands twice`},
		{"blob: before another turn", swap(5, 4), `line 4: turn 3: content.sha256: no blob`},
		{"blob: before no turn", func(l []string) []string { return slices.Insert(l, 28, blobLine("zz")) }, `line 29: stands after records`},
		{"blob: last", func(l []string) []string { return append(l[:22:22], blobLine("zz")) }, `line 24: blob `},
		{"blob: before a revision", func(l []string) []string { return slices.Insert(l, 22, blobLine("zz")) }, `line 24: blob `},
		{"blob: other turn", func(l []string) []string { return slices.Insert(l, 1, blobLine("zz")) }, `stands before a turn that does not refer to it`},
		{"blob: other bytes", edit(`"data":"T2dn`, `"data":"T2dm`), `line 4: blob 83e34af1e5596fa99be6cb008f4aab0d76869bfec30a225c28e2e9132a3d9806: sha256: the sum of its bytes is`},
		{"blob: size", edit(`"size":12,"data"`, `"size":13,"data"`), `line 4: blob 83e34af1e5596fa99be6cb008f4aab0d76869bfec30a225c28e2e9132a3d9806: size: 12 bytes are there, not 13`},
		{"blob: turn's size", edit(`"size":12}`, `"size":13}`), `line 5: turn 3: content.size: blob 83e34af1e5596fa99be6cb008f4aab0d76869bfec30a225c28e2e9132a3d9806 has 12 bytes, not 13`},
		{"blob: no data", edit(`,"data":"T2dnUyBtYWRlIHVw"`, ``), `line 4: blob 83e34af1e5596fa99be6cb008f4aab0d76869bfec30a225c28e2e9132a3d9806: data: is missing`},
		{"blob: no base64", edit(`"data":"T2dn`, `"data":"!2dn`), `line 4: blob: data: illegal base64`},
		{"blob: member", edit(`"size":12,"data"`, `"media":1,"data"`), `line 4: blob: "media" is not a member`},

		{"unit: result without call", edit(`"call_id":"c2"`, `"call_id":"cX"`), `line 14: turn 11: content.call_id: no call "cX" is open`},
		{"unit: result of another tool", edit(`"name":"hotels","call_id"`, `"name":"boats","call_id"`), `line 14: turn 11: content.name: call "c2" is to "hotels", not "boats"`},
		{"unit: call open twice", edit(`"id":"c3","name":"pay"`, `"id":"c4","name":"pay"`), `line 21: turn 18: content.tool_calls[1].id: "c4" stands twice`},
		{"unit: call still open", edit(`"id":"c3","name":"book"`, `"id":"c1","name":"book"`), `line 20: turn 17: content.call_id: no call "c3" is open`},
		{"unit: call open in another turn", edit(`"content":{"name":"book","call_id":"c3","status":"cancelled","synthetic":true},"created_at":"2026-11-14T09:30:14.000250Z","unit":16`,
			`"content":{"name":"tick"},"created_at":"2026-11-14T09:30:14.000250Z"`), `line 21: turn 18: content.tool_calls[1].id: call "c3" is still open`},
		{"unit: wrong number", edit(`"unit":16`, `"unit":15`), `line 19: turn 16: unit: is 15, must be 16`},
		{"unit: of a plain turn", edit(`"seq":2,`, `"seq":2,"unit":1,`), `line 3: turn 2: unit: is 1, must be 0`},

		{"revision: twice", edit(`"number":1,`, `"number":0,`), `line 24: revision 0 stands after 0`},
		{"revision: a later one twice", edit(`"number":2,"after_seq":8`, `"number":1,"after_seq":8`), `line 25: revision 1 stands after 1`},
		{"revision: negative", edit(`"number":0,`, `"number":-1,`), `line 23: revision -1 stands after -1`},
		{"revision: back", edit(`"number":2,"after_seq":8`, `"number":2,"after_seq":1`), `line 25: revision 2: after_seq: 1 is not from 2 to 19`},
		{"revision: past head", edit(`"number":3,"after_seq":17`, `"number":3,"after_seq":20`), `line 26: revision 3: after_seq: 20 is not from 8 to 19`},
		{"revision: no seq", edit(`"number":0,"after_seq":0`, `"number":0`), `line 23: revision 0: after_seq: -1`},
		{"revision: no time", edit(`"at":"2026-11-14T09:30:01.000250Z",`, ``), `line 23: revision 0: at: is missing`},
		{"revision: no state", edit(`,"state":{"stack":[]}`, ``), `line 23: revision: state: is missing`},
		{"revision: two states", edit(`"state":{"stack":[]}`, `"state":{"stack":[]},"state_text":"{\"stack\":[]}"`), `line 23: revision: state_text: there is one state, and it stands here already`},
		{"revision: pending top", edit(`"name":"book trip","status":"active"`, `"name":"book trip","status":"pending"`), `line 24: revision: state: stack[0].status: the top cannot be pending`},
		{"revision: turn_ids", edit(`"name":"book trip",`, `"name":"book trip","turn_ids":["x"],`), `line 24: revision: state: flow "flow-1" has turn_ids`},
		{"revision: member", edit(`"number":0`, `"number":0,"by":"me"`), `line 23: revision: "by" is not a member`},

		{"flow: order", swap(28, 29), `line 29: flow_turn: flow "flow-1" and turn "01000000000000000000000006" at 8 are out of order`},
		{"flow: twice", func(l []string) []string { return slices.Insert(l, 27, l[27]) }, `line 29: flow_turn:`},
		{"flow: no id", edit(`"flow_turn":{"flow_id":"flow-1",`, `"flow_turn":{`), `line 27: flow_turn: flow_id: is missing`},
		{"flow: no turn", edit(`"flow_turn":{"flow_id":"flow-1","turn_id":"01000000000000000000000001"`, `"flow_turn":{"flow_id":"flow-1","turn_id":""`), `line 27: flow_turn: turn_id: is missing`},
		{"flow: NUL", edit(`"flow_turn":{"flow_id":"flow-1"`, `"flow_turn":{"flow_id":"\u0000"`), `line 27: flow_turn: flow_id: "\x00" has control characters`},
		{"flow: long", edit(`"flow_turn":{"flow_id":"flow-1"`, `"flow_turn":{"flow_id":"`+strings.Repeat("f", 257)+`"`), `line 27: flow_turn: flow_id: 257 bytes, at most 256`},
		{"flow: past head", edit(`"turn_id":"01000000000000000000000001","seq":2}`, `"turn_id":"01000000000000000000000001","seq":20}`), `line 27: flow_turn: seq: 20 is no turn of 19`},
		{"flow: no seq", edit(`"turn_id":"01000000000000000000000001","seq":2}`, `"turn_id":"01000000000000000000000001"}`), `line 27: flow_turn: seq: -1`},
		{"flow: member", edit(`"flow_turn":{`, `"flow_turn":{"by":"me",`), `line 27: flow_turn: "by" is not a member`},
		{"completed: no id", edit(`"completed_flow":{"flow_id":"flow-2"`, `"completed_flow":{"flow_id":""`), `line 31: completed_flow: flow_id: is missing`},
		{"completed: past head", edit(`"after_seq":8}}`, `"after_seq":20}}`), `line 31: completed_flow: after_seq: 20 is not from 0 to 19`},
		{"completed: no seq", edit(`"flow_id":"flow-2","after_seq":8}}`, `"flow_id":"flow-2"}}`), `line 31: completed_flow: after_seq: -1`},
		{"completed: back", insert(`{"completed_flow":{"flow_id":"x","after_seq":7}}`, 32), `line 32: completed_flow: after_seq: 7 is not from 8 to 19`},
		{"completed: member", edit(`"completed_flow":{`, `"completed_flow":{"by":"me",`), `line 31: completed_flow: "by" is not a member`},
		{"bookmark: order", swap(32, 33), `line 33: bookmark "after-search" stands after "before-search"`},
		{"bookmark: twice", func(l []string) []string { return append(l, l[32]) }, `line 34: bookmark "before-search" stands after "before-search"`},
		{"bookmark: name", edit(`"name":"after-search"`, `"name":"after search"`), `line 32: bookmark: name: "after search" holds `},
		{"bookmark: seq", edit(`"name":"after-search","seq":14`, `"name":"after-search"`), `line 32: bookmark "after-search": seq: -1 is no turn of 19`},
		{"bookmark: past head", edit(`"name":"after-search","seq":14`, `"name":"after-search","seq":20`), `line 32: bookmark "after-search": seq: 20 is no turn of 19`},
		{"bookmark: time", edit(`,"at":"2026-11-14T09:30:12.000250Z"`, ``), `line 32: bookmark "after-search": at: is missing`},
		{"bookmark: member", edit(`"bookmark":{`, `"bookmark":{"by":"me",`), `line 32: bookmark: "by" is not a member`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			refusedBecause(t, file, tt.change, tt.want)
		})
	}
}

func TestBundlesAtTheBoundsOfTheRulesAreRead(t *testing.T) {
	trip, plan, talk := golden(t, "v1-trip.bundle"), golden(t, "v2-plan.bundle"), golden(t, "v3-talk.bundle")
	for name, tt := range map[string]struct {
		file   []byte
		change func([]string) []string
	}{
		"a flow's long id":          {trip, edit(`"flow_turn":{"flow_id":"flow-1"`, `"flow_turn":{"flow_id":"`+strings.Repeat("f", 256)+`"`)},
		"a flow before all turns":   {trip, edit(`"turn_id":"01000000000000000000000001","seq":2}`, `"turn_id":"01000000000000000000000001","seq":0}`)},
		"a bookmark before them":    {trip, edit(`"name":"after-search","seq":14`, `"name":"after-search","seq":0`)},
		"a bookmark behind them":    {trip, edit(`"name":"after-search","seq":14`, `"name":"after-search","seq":19`)},
		"a digest of no turns":      {plan, edit(`"through_seq":8`, `"through_seq":0`)},
		"an epoch that shows none":  {talk, edit(`"from":6`, `"from":8`)},
		"an epoch that keeps all":   {talk, edit(`{"from":5,"to":5`, `{"from":5,"to":7`)},
		"an epoch that began there": {talk, edit(`"from":6`, `"began":6,"from":6`)},
	} {
		changed := resealed(t, tt.file, tt.change)
		if bytes.Equal(changed, tt.file) {
			t.Fatalf("%s: the change changes nothing", name)
		}
		if _, err := verify(changed); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// refusedBecause checks that a change of a good bundle is found and told, and nothing of it imported.
func refusedBecause(t *testing.T, file []byte, change func([]string) []string, want string) {
	t.Helper()
	changed := resealed(t, file, change)
	if bytes.Equal(changed, file) {
		t.Fatal("the change changes nothing")
	}
	if err := refused(t, changed); err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("got  %v\nwant …%s…", err, want)
	}
	w := newWorld(t, t.Context())
	if _, err := replay.Import(w.ctx, w.Store, opener(changed), replay.ImportOptions{}); !errors.Is(err, replay.ErrDamaged) {
		t.Errorf("import: %v", err)
	}
	if rows := w.dump(); len(rows) != 0 {
		t.Errorf("import left %d rows", len(rows))
	}
}

func blobLine(data string) string {
	return fmt.Sprintf(`{"blob":{"sha256":"%x","size":2,"data":"eno="}}`, sha256.Sum256([]byte(data)))
}

func TestOtherSpellingsOfTheSameAreRead(t *testing.T) {
	file := golden(t, "v1-trip.bundle")
	spaced := resealed(t, file, func(lines []string) []string {
		for i, l := range lines {
			lines[i] = " " + strings.Replace(l, `:`, " :\t", 1) + " \r"
		}
		return lines
	})
	w := newWorld(t, t.Context())
	info := w.imported(spaced, replay.ImportOptions{})
	if got := w.plain(info.Key); !bytes.Equal(records(got), records(file)) {
		t.Errorf("imported and written again:\n%s", got)
	}
}

func TestNewerVersionsAreNamed(t *testing.T) {
	file := bytes.Replace(small(t), []byte(`{"turnstone_bundle":4,`), []byte(`{"signed":true,"turnstone_bundle":12,`), 1)
	for _, f := range [][]byte{file, pack(t, file), file[:bytes.IndexByte(file, '\n')+1]} {
		_, err := verify(f)
		var newer *replay.NewerVersionError
		if !errors.As(err, &newer) || newer.Have != 12 || newer.Know != replay.Version || errors.Is(err, replay.ErrDamaged) {
			t.Fatalf("got %v", err)
		}
		if want := "the bundle has format version 12, this program knows up to 4; use a newer turnstone"; err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
	w := newWorld(t, t.Context())
	var newer *replay.NewerVersionError
	if _, err := replay.Import(w.ctx, w.Store, opener(file), replay.ImportOptions{}); !errors.As(err, &newer) {
		t.Errorf("import: %v", err)
	}
}

func TestAFileThatCannotBeReadIsNotDamaged(t *testing.T) {
	disk := errors.New("disk on fire")
	file := small(t)
	for _, f := range [][]byte{file, pack(t, file)} {
		for n := range f {
			r := io.MultiReader(bytes.NewReader(f[:n]), iotest.ErrReader(disk))
			_, err := replay.Verify(t.Context(), r, replay.VerifyOptions{})
			if !errors.Is(err, disk) || errors.Is(err, replay.ErrDamaged) {
				t.Fatalf("after %d bytes: %v", n, err)
			}
		}
	}
}

func TestVerifyEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := replay.Verify(ctx, bytes.NewReader(small(t)), replay.VerifyOptions{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
