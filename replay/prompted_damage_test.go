package replay_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

const (
	planText  = "86c4e1e7a97d4c8e1fa65801ec22e931fcdd66ca876074c8baa348926ea069eb"
	sumsText  = "879e455cb9705ced57158dba4ff8dfc1adaa4ec5a096c90af3c9fe229b595184"
	toolsText = "e6c75142949e5b4e57e91bca2c045b94473a7c2b29ed4c075bb77d728cdd86e6"
	kindText  = "fdf513b532d206d31fffc61ae7698078e16c823544884763168e09108931da67"
	second    = "206f707f3f8ca66cc26e5b21011968f5d4f8f67138443e7f5095ffefd6de8902"
	first     = "d343e7655eb030998d25d907162f89f76f96942277ee585b389535916b93ba7f"
)

func sumOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// The talk's lines: 1 manifest, 2–9 turns, 10 revision, 11 intention, 12–16 materials, 17–18 settings,
// 19–20 epochs, 21–22 pins, 23–27 prompts.
func TestWhatPromptsAreMadeFromIsHeldToItsRules(t *testing.T) {
	file := golden(t, "v3-talk.bundle")
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
	gone := func(n int) func([]string) []string {
		return func(l []string) []string { return slices.Delete(l, n-1, n) }
	}
	// named has the second settings be other ones, by a hash that fits.
	named := func(old, new string) func([]string) []string {
		return func(l []string) []string {
			_, doc, _ := strings.Cut(l[16], `"doc":`)
			doc = strings.TrimSuffix(doc, "}}")
			changed := strings.Replace(doc, old, new, 1)
			if changed == doc {
				t.Fatalf("settings have no %s:\n%s", old, doc)
			}
			l[16] = fmt.Sprintf(`{"settings":{"sha256":%q,"doc":%s}}`, sumOf(changed), changed)
			if sumOf(changed) > first {
				l[16], l[17] = l[17], l[16]
			}
			return l
		}
	}
	long := strings.Repeat("x", prompt.MaxSystem+1)
	for _, tt := range []struct {
		name   string
		change func([]string) []string
		want   string
	}{
		{"older version", at(1, `"turnstone_bundle":3`, `"turnstone_bundle":2`), `line 12: "material" is no kind of record; legal here: blob, turn, revision, flow_turn, completed_flow, bookmark, intention, observation, memory_item, digest, trace_part, end`},
		{"unknown kind", at(21, `{"pin"`, `{"pins"`), `line 21: "pins" is no kind of record; legal here: blob, turn, revision, flow_turn, completed_flow, bookmark, intention, observation, memory_item, digest, trace_part, material, settings, epoch, pin, prompt, end`},
		{"material before an intention", swap(11, 12), `line 12: stands after records that must follow it`},
		{"settings before a material", swap(16, 17), `line 16: settings ` + second + `: doc: no material "` + kindText + `" stands before it`},
		{"material after settings", func(l []string) []string {
			return slices.Insert(l, 17, `{"material":{"sha256":"`+sumOf("x")+`","text":"x"}}`)
		}, `line 18: stands after records that must follow it`},
		{"settings after an epoch", func(l []string) []string { return slices.Insert(l, 19, lines[16]) }, `line 20: stands after records that must follow it`},
		{"epoch after a pin", swap(20, 21), `line 21: stands after records that must follow it`},
		{"pin after a prompt", swap(22, 23), `line 23: stands after records that must follow it`},

		{"material: order", swap(12, 13), `line 13: material ` + planText + `: stands after ` + sumsText},
		{"material: twice", again(12), `line 13: material ` + planText + `: stands after ` + planText},
		{"material: other text", at(13, `"text":"1+1 = 2"`, `"text":"1+1 = 3"`), `line 13: material ` + sumsText + `: sha256: the sum of its bytes is `},
		{"material: no hash", at(12, `"sha256":"`+planText+`",`, ``), `line 12: material : sha256: is missing`},
		{"material: no text", at(12, `,"text":"# Plan\n\nsums"`, ``), `line 12: material ` + planText + `: text: is missing`},
		{"material: NUL", at(12, `# Plan`, `\u0000`), `line 12: material ` + planText + `: text: has a NUL character`},
		{"material: too long", at(12, `# Plan`, strings.Repeat("x", 8<<20)), `line 12: material ` + planText + `: text: is 8388614 bytes long, at most 8388608`},
		{"material: gone", gone(13), `line 17: settings ` + first + `: doc: no material "` + sumsText + `" stands before it`},
		{"material: needed by none", func(l []string) []string {
			return slices.Insert(l, 11, `{"material":{"sha256":"`+sumOf("needless")+`","text":"needless"}}`)
		}, `line 29: material ` + sumOf("needless") + `: no settings name it`},
		{"material: member", at(12, `"text":`, `"name":"plan.md","text":`), `line 12: material: "name" is not a member; legal here: sha256, text`},

		{"settings: order", swap(17, 18), `line 18: settings ` + second + `: stands after ` + first},
		{"settings: other document", at(17, `"name":"plan.md"`, `"name":"plan.txt"`), `line 17: settings ` + second + `: sha256: the sum of its bytes is `},
		{"settings: no hash", at(17, `"sha256":"`+second+`",`, ``), `line 17: settings : sha256: is missing`},
		{"settings: no document", at(17, `"doc":`, `"dok":`), `line 17: settings: "dok" is not a member; legal here: sha256, doc, doc_text`},
		{"settings: nothing", func(l []string) []string {
			l[16] = `{"settings":{"sha256":"` + second + `"}}`
			return l
		}, `line 17: settings ` + second + `: doc: is missing`},
		{"settings: spaced", named(`{"system"`, `{ "system"`), `: doc: is not written as it would be today`},
		{"settings: field", named(`"sticky":[{"name":"plan.md"`, `"mood":"good","sticky":[{"name":"plan.md"`), `: doc: mood: is not a field`},
		{"settings: name", named(`"name":"plan.md"`, `"name":" "`), `: doc: sticky[0].name: is empty`},
		{"settings: no such tools", named(toolsText, sumOf("x")), `: doc: no material "` + sumOf("x") + `" stands before it`},
		{"settings: tools that are none", named(`"tools":"`+toolsText, `"tools":"`+planText), `: doc: material ` + planText + ` is not what it is named as`},
		{"settings: long text", func(l []string) []string {
			l[11] = `{"material":{"sha256":"` + sumOf(long) + `","text":"` + long + `"}}`
			return named(planText, sumOf(long))(l)
		}, `: doc: material ` + sumOf(long) + ` is not what it is named as`},
		{"settings: needed by none", func(l []string) []string {
			return slices.Insert(l, 17, `{"settings":{"sha256":"`+sumOf(`{"system":"`+kindText+`"}`)+`","doc":{"system":"`+kindText+`"}}}`)
		}, `line 29: settings ` + sumOf(`{"system":"`+kindText+`"}`) + `: no epoch has them`},

		{"epoch: gap", gone(19), `line 19: epoch 2: number: stands where epoch 1 must`},
		{"epoch: twice", again(20), `line 21: epoch 2: number: stands where epoch 3 must`},
		{"epoch: order", swap(19, 20), `line 19: epoch 2: number: stands where epoch 1 must`},
		{"epoch: no number", at(19, `"number":1,`, ``), `line 19: epoch 0: number: stands where epoch 1 must`},
		{"epoch: back", at(19, `"after_seq":1`, `"after_seq":8`), `line 20: epoch 2: after_seq: 7 is not from 8 to 8`},
		{"epoch: past head", at(20, `"after_seq":7`, `"after_seq":9`), `line 20: epoch 2: after_seq: 9 is not from 1 to 8`},
		{"epoch: no seq", at(19, `"after_seq":1,`, ``), `line 19: epoch 1: after_seq: -1 is not from 0 to 8`},
		{"epoch: no time", at(19, `"at":"2026-11-14T09:30:04.000250Z",`, ``), `line 19: epoch 1: at: is missing`},
		{"epoch: no document", at(19, `"doc":`, `"dok":`), `line 19: epoch: "dok" is not a member; legal here: number, after_seq, at, doc, doc_text`},
		{"epoch: nothing", func(l []string) []string {
			l[18] = l[18][:strings.Index(l[18], `,"doc":`)] + "}}"
			return l
		}, `line 19: epoch 1: doc: is missing`},
		{"epoch: two documents", at(19, `"doc":`, `"doc_text":"{}","doc":`), `line 19: epoch: doc: there is one doc, and it stands here already`},
		{"epoch: bad document", at(19, `"path":[`, `"path":7,"x":[`), `line 19: epoch 1: path: `},
		{"epoch: renderer", at(19, `"renderer":1`, `"renderer":99`), `line 19: epoch 1 was made by renderer 99, which this version does not have`},
		{"epoch: begins nowhere", at(19, `"from":1,"settings"`, `"settings"`), `line 19: epoch 1: doc.from: 0 is not from 1 to 2`},
		{"epoch: begins too late", at(20, `"from":6`, `"from":9`), `line 20: epoch 2: doc.from: 9 is not from 1 to 8`},
		{"epoch: keeps what is not there", at(20, `{"from":5,"to":5`, `{"from":5,"to":8`), `line 20: epoch 2: doc.kept: 5–8 are no turns of 7`},
		{"epoch: keeps turn 0", at(20, `{"from":1,"to":1`, `{"to":1`), `line 20: epoch 2: doc.kept: 0–1 are no turns of 7`},
		{"epoch: keeps backwards", at(20, `{"from":2,"to":3`, `{"from":3,"to":2`), `line 20: epoch 2: doc.kept: 3–2 are no turns of 7`},
		{"epoch: restored", at(20, `"from":6`, `"restored":-1,"from":6`), `line 20: epoch 2: `},
		{"epoch: began", at(20, `"from":6`, `"began":-1,"from":6`), `line 20: epoch 2: `},
		{"epoch: began after it", at(20, `"from":6`, `"began":7,"from":6`), `line 20: epoch 2: doc.began: 7 is not from 1 to 6`},
		{"epoch: names less than nothing", at(20, `"from":6`, `"paged":[{"from":1,"to":2,"messages":1,"tokens":-1}],"from":6`), `line 20: epoch 2: `},
		{"epoch: settings gone", gone(17), `line 19: epoch 2: doc.settings: no settings "` + second + `" stand before it`},
		{"epoch: a text for settings", at(19, first, kindText), `line 19: epoch 1: doc.settings: no settings "` + kindText + `" stand before it`},

		{"pin: gap", gone(21), `line 21: pin 2: number: stands where pin 1 must`},
		{"pin: twice", again(22), `line 23: pin 2: number: stands where pin 3 must`},
		{"pin: back", at(22, `"after_seq":7`, `"after_seq":4`), `line 22: pin 2: after_seq: 4 is not from 5 to 8`},
		{"pin: past head", at(22, `"after_seq":7`, `"after_seq":9`), `line 22: pin 2: after_seq: 9 is not from 5 to 8`},
		{"pin: no place", at(21, `"after_seq":5,`, ``), `line 21: pin 1: after_seq: -1 is not from 0 to 8`},
		{"pin: no turn", at(21, `"seq":1,`, ``), `line 21: pin 1: seq: 0 is no turn of 5`},
		{"pin: later turn", at(21, `"seq":1,`, `"seq":6,`), `line 21: pin 1: seq: 6 is no turn of 5`},
		{"pin: summary", func(l []string) []string {
			l[21] = strings.Replace(l[21], `"after_seq":7,"seq":1,`, `"after_seq":8,"seq":8,`, 1)
			return l
		}, `line 22: pin 2: seq: 8 is a summary, which no prompt shows`},
		{"pin: no time", at(21, `,"at":"2026-11-14T09:30:10.000250Z"`, ``), `line 21: pin 1: at: is missing`},
		{"pin: neither", at(21, `"pinned":true,`, ``), `line 21: pin: pinned: is missing`},
		{"pin: both", at(21, `"pinned":true`, `"pinned":"perhaps"`), `line 21: pin: pinned: `},
		{"pin: member", at(21, `"number":1,`, `"number":1,"by":"me",`), `line 21: pin: "by" is not a member; legal here: number, after_seq, seq, pinned, at`},

		{"prompt: gap", gone(24), `line 24: prompt 3: number: stands where prompt 2 must`},
		{"prompt: twice", again(27), `line 28: prompt 5: number: stands where prompt 6 must`},
		{"prompt: order", swap(23, 24), `line 23: prompt 2: number: stands where prompt 1 must`},
		{"prompt: no epoch", at(23, `"epoch":1,`, ``), `line 23: prompt 1: epoch: 0 is none of 2`},
		{"prompt: of another epoch", at(23, `"epoch":1,`, `"epoch":3,`), `line 23: prompt 1: epoch: 3 is none of 2`},
		{"prompt: before its epoch", at(24, `"epoch":1,`, `"epoch":2,`), `line 24: prompt 2: end: 5 is not from 7 to 8`},
		{"prompt: past head", at(27, `"end":8`, `"end":9`), `line 27: prompt 5: end: 9 is not from 7 to 8`},
		{"prompt: no end", at(23, `"end":1,`, ``), `line 23: prompt 1: end: -1 is not from 1 to 8`},
		{"prompt: no time", at(23, `"at":"2026-11-14T09:30:05.000250Z",`, ``), `line 23: prompt 1: at: is missing`},
		{"prompt: no hash", at(23, `"sha256":"`+firstPrompt+`",`, ``), `line 23: prompt 1: sha256: "" is not a sum`},
		{"prompt: short hash", at(23, firstPrompt, firstPrompt[2:]), `line 23: prompt 1: sha256: "` + firstPrompt[2:] + `" is not a sum`},
		{"prompt: capital hash", at(23, firstPrompt, strings.ToUpper(firstPrompt)), `" is not a sum`},
		{"prompt: no document", at(23, `"doc":`, `"dok":`), `line 23: prompt: "dok" is not a member; legal here: number, end, epoch, sha256, at, doc, doc_text`},
		{"prompt: nothing", func(l []string) []string {
			l[22] = l[22][:strings.Index(l[22], `,"doc":`)] + "}}"
			return l
		}, `line 23: prompt 1: doc: is missing`},
		{"prompt: bad document", at(23, `"tokens":120`, `"tokens":"many"`), `line 23: prompt 1: tokens: `},
		{"prompt: other settings", at(23, first, kindText), `line 23: prompt 1: doc.settings: no settings "` + kindText + `" stand before it`},
	} {
		t.Run(tt.name, func(t *testing.T) { refusedBecause(t, file, tt.change, tt.want) })
	}
}

func TestNoMoreTurnsArePinnedThanASessionMay(t *testing.T) {
	w := newWorld(t, t.Context())
	k := w.create("pinned")
	for range prompt.MaxPins + 2 {
		w.say(k, text(turn.User, "pin me"))
	}
	for seq := range int64(prompt.MaxPins) {
		w.pin(k, seq+1, true)
	}
	w.pin(k, 1, true)
	w.pin(k, 1, false)
	w.pin(k, prompt.MaxPins+1, true)
	w.pin(k, prompt.MaxPins+2, false) // which was not pinned
	w.pin(k, 2, true)                 // which is
	file := w.plain(k)
	if _, err := verify(file); err != nil {
		t.Fatal(err)
	}
	more := func(l []string) []string {
		return append(l, fmt.Sprintf(`{"pin":{"number":%d,"after_seq":258,"seq":258,"pinned":true,"at":"2026-11-14T09:30:10.000250Z"}}`, prompt.MaxPins+6))
	}
	refusedBecause(t, file, more, "pin 262: pinned: 256 turns are, which is the most")
}

func TestCountsOfVersion3(t *testing.T) {
	file := string(golden(t, "v3-talk.bundle"))
	for _, change := range [][2]string{
		{`"material":5`, `"material":4`}, {`"settings":2,"epoch"`, `"settings":3,"epoch"`}, {`"epoch":2,"pin"`, `"epoch":1,"pin"`},
		{`"pin":2,"prompt"`, `"pin":0,"prompt"`}, {`"prompt":5}`, `"prompt":6}`}, {`,"prompt":5}`, `}`},
	} {
		changed := strings.Replace(file, change[0], change[1], 1)
		if changed == file {
			t.Fatalf("no %s", change[0])
		}
		if err := refused(t, []byte(changed)); err != nil && !strings.Contains(err.Error(), "line 28: the bundle was changed after it was written") {
			t.Errorf("%s: %v", change[1], err)
		}
	}
}
