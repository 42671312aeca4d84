package replay_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/turn"
)

// A bundle whose hash is right and that breaks a rule of the store is refused: the store that it was brought to would be condemned.
func TestABundleThatBreaksTheRulesOfTheStore(t *testing.T) {
	w := newWorld(t, t.Context())
	plan, shown := w.plain(w.plan()), w.plain(w.shown())
	summed, sum := w.create("summed"), `"sha256":"`
	w.say(summed, text(turn.User, "Hello."), turn.Draft{Role: turn.System, Kind: turn.KindSummary, Content: turn.Text{Text: "Hello."}, Covers: turn.Range{From: 1, To: 1}})
	edit := func(kind, from, to string) func([]string) []string {
		return func(lines []string) []string {
			for i, l := range lines {
				if strings.HasPrefix(l, `{"`+kind+`"`) && strings.Contains(l, from) {
					lines[i] = strings.Replace(l, from, to, 1)
					return lines
				}
			}
			t.Fatalf("no %s with %s", kind, from)
			return nil
		}
	}
	for name, test := range map[string]struct {
		file   []byte
		change func([]string) []string
	}{
		"a summary of another form": {w.plain(summed), edit("turn", `"form":"text","kind":"summary","content":{"text":"Hello."}`, `"form":"action","kind":"summary","content":{"name":"x"}`)},
		"another first revision":    {plan, edit("revision", `"number":0`, `"number":1`)},
		"no revision": {plan, func(lines []string) []string {
			return slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, `{"revision"`) })
		}},
		"no hash of a checkpoint": {shown, func(lines []string) []string {
			for i, l := range lines {
				if at := strings.Index(l, sum); strings.HasPrefix(l, `{"epoch"`) && strings.Contains(l, `"checkpoints":[`) {
					lines[i] = l[:at+len(sum)] + "action" + l[at+len(sum)+64:]
					return lines
				}
			}
			t.Fatal("no checkpoint in an epoch")
			return nil
		}},
		"a path that turns back": {shown, edit("epoch", `"path":[{"from":1}]`, `"path":[{"from":1,"to":2},{"from":2}]`)},
		"a context below nothing": {shown, func(lines []string) []string {
			for i, l := range lines {
				if strings.HasPrefix(l, `{"epoch"`) {
					lines[i] = regexp.MustCompile(`"context":\d+`).ReplaceAllString(l, `"context":-5`)
				}
			}
			return lines
		}},
		"blocks out of order": {shown, edit("epoch", `{"from":1,"to":1,"why":"said"},{"from":3,"to":3,"why":"said"}`, `{"from":3,"to":3,"why":"said"},{"from":1,"to":1,"why":"said"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			here := newWorld(t, t.Context())
			_, err := replay.Import(t.Context(), here.Store, opener(resealed(t, test.file, test.change)), replay.ImportOptions{})
			if !errors.Is(err, replay.ErrDamaged) || len(here.dump()) != 0 {
				t.Errorf("%v, %d rows", err, len(here.dump()))
			}
			here.healthy()
		})
	}
}

// Whatever is changed in a bundle, what is imported of it is sound.
func TestWhateverIsImportedIsSound(t *testing.T) {
	w := newWorld(t, t.Context())
	files := [][]byte{w.plain(w.trip()), w.plain(w.plan()), w.plain(w.long()), w.plain(w.shown()), w.plain(w.talk())}
	taken := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 0))
		file := files[r.IntN(len(files))]
		changed := resealed(t, file, func(lines []string) []string {
			for range 1 + r.IntN(2) {
				switch i := 1 + r.IntN(len(lines)-1); r.IntN(8) {
				case 0:
					lines = slices.Delete(lines, i, i+1)
				default:
					lines[i] = mutated(t, r, lines[i])
				}
			}
			return lines
		})
		here := newWorld(t, t.Context())
		if _, err := replay.Import(t.Context(), here.Store, opener(changed), replay.ImportOptions{}); err == nil {
			taken++
			here.healthy()
		} else if !errors.Is(err, replay.ErrDamaged) {
			t.Errorf("seed %d: %v", seed, err)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if taken < 100 {
		t.Errorf("only %d were imported", taken)
	}
}

// mutated changes a value somewhere in a line.
func mutated(t *testing.T, r *rand.Rand, line string) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	var doc any
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	var values []func()
	var walk func(v any, set func(any))
	walk = func(v any, set func(any)) {
		switch v := v.(type) {
		case map[string]any:
			names := make([]string, 0, len(v))
			for name := range v {
				names = append(names, name)
			}
			slices.Sort(names)
			for _, name := range names {
				walk(v[name], func(to any) { v[name] = to })
				values = append(values, func() { delete(v, name) })
			}
		case []any:
			for i := range v {
				walk(v[i], func(to any) { v[i] = to })
			}
			if len(v) > 1 {
				values = append(values, func() { slices.Reverse(v) })
			}
			values = append(values, func() { set([]any{}) })
		case json.Number:
			values = append(values, func() { set([]any{0, 1, 2, 3, 7, -1, 1000}[r.IntN(7)]) })
		case string:
			values = append(values, func() {
				set([]any{"", "action", "text", "summary", "system", "active", "x", strings.Repeat("0", 64), "2020-01-01T00:00:00.000000Z"}[r.IntN(9)])
			})
		case bool:
			values = append(values, func() { set(!v) })
		}
	}
	walk(doc, nil)
	if len(values) == 0 {
		return line
	}
	values[r.IntN(len(values))]()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(doc); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}
