package replay_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// work is a conversation that is compressed again and again, with an undo and a restore on the way.
type work struct {
	*testing.T
	eng    *turnstone.Engine
	opened map[prompt.Reason]int
}

var narrow = turnstone.PromptOptions{Model: "gpt-4o", Context: 2048}

// goOn says something and returns the hash of the prompt after each turn.
func (w *work) goOn(s *turnstone.Session, exchanges int, about string) (sums []string) {
	w.Helper()
	for i := range exchanges {
		for _, role := range []turn.Role{turn.User, turn.Agent} {
			text := fmt.Sprintf("%s, %d: file_%d.go has %d lines. %s", about, i, i, 100+i, strings.Repeat("It is about this and that. ", 1+i%5*3))
			if _, err := s.Append(w.Context(), turn.Draft{Role: role, Content: turn.Text{Text: text}}); err != nil {
				w.Fatal(err)
			}
			p, err := s.Prompt(w.Context(), narrow)
			if err != nil {
				w.Fatal(err)
			}
			w.opened[p.Opened]++
			sums = append(sums, p.SHA256)
		}
	}
	return sums
}

func (w *work) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// done makes the sessions: the conversation, a fork at its last turn and one at a pass.
func (w *work) done() {
	w.Helper()
	ctx := w.Context()
	s, err := w.eng.Session(ctx, "work")
	w.must(err)
	w.goOn(s, 16, "First")
	_, err = s.Snapshot(ctx, "mine")
	w.must(err)
	w.goOn(s, 5, "Second")
	_, err = s.Restore(ctx, "mine", narrow)
	w.must(err)
	w.goOn(s, 8, "Third")
	_, err = s.Compress(ctx, narrow)
	w.must(err)
	_, err = s.Undo(ctx, 0, narrow)
	w.must(err)
	list, err := s.Snapshots(ctx, "", 1)
	w.must(err)
	early, err := s.Fork(ctx, list[0].Turn, turn.SessionInfo{Key: turn.Key{Session: "early"}})
	w.must(err)
	_, err = s.Compress(ctx, narrow)
	w.must(err)
	late, err := s.Fork(ctx, turnstone.Head, turn.SessionInfo{Key: turn.Key{Session: "late"}})
	w.must(err)
	w.goOn(s, 6, "Fourth")
	w.goOn(early, 6, "Early")
	w.goOn(late, 6, "Late")
	for _, r := range []prompt.Reason{prompt.ReasonStart, prompt.ReasonFull} {
		if w.opened[r] == 0 {
			w.Errorf("no epoch was opened for %q: %v", r, w.opened)
		}
	}
}

// apart are the records but for the ids of snapshots, of which a fork and its parent bring some both.
func apart(file []byte) []string {
	lines := strings.Split(string(records(file)), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, `{"snapshot":`) {
			_, lines[i], _ = strings.Cut(l, `,"after_seq"`)
		}
	}
	return lines
}

// Prompts that show checkpoints are made again from a bundle byte for byte, on any store and under any name, and what
// was compiled there and here goes on alike.
func TestCompressedPromptsAreMadeAgainOnAnotherMachine(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) (store.Store, error){
		"mem": func(*testing.T) (store.Store, error) { return mem.New(mem.Config{}), nil },
		"sqlite": func(t *testing.T) (store.Store, error) {
			return sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "here.db"), sqlite.Config{})
		},
		"postgres": func(t *testing.T) (store.Store, error) {
			return postgres.Open(t.Context(), pgstore.URL(t), postgres.Config{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			there := mem.New(mem.Config{})
			eng := engineOn(t, there)
			w := &work{t, eng, make(map[prompt.Reason]int)}
			w.done()
			st, err := open(t)
			w.must(err)
			here := engineOn(t, st)
			for _, s := range written(t, eng, there) {
				b, err := verify(s.file)
				if err != nil || b.Checkpoints < 3 || b.Epochs < 3 || b.Snapshots < 2 {
					t.Errorf("%s: %+v, %v", s.Session, b.Counts, err)
				}
				recorded := 0
				for _, p := range s.prompts {
					if p.Recorded && strings.Contains(p.Text, "of this conversation, in short:") {
						recorded++
					}
				}
				if recorded < 10 {
					t.Errorf("%s: %d prompts show a checkpoint", s.Session, recorded)
				}
				var copies []*turnstone.Session
				for _, as := range []string{"", "copy-of-" + s.Session} {
					info, err := replay.Import(t.Context(), st, opener(s.file), replay.ImportOptions{As: as})
					w.must(err)
					if diff := cmp.Diff(s.prompts, promptsOf(t, here, info.Session, info.Head)); diff != "" {
						t.Errorf("%s as %q (-there +here):\n%s", s.Session, as, diff)
					}
					copied, err := here.Find(t.Context(), info.Session)
					w.must(err)
					copies = append(copies, copied)
				}
				var again bytes.Buffer
				_, err = copies[0].WriteBundle(t.Context(), &again, replay.WriteOptions{})
				w.must(err)
				if diff := cmp.Diff(apart(unpack(t, s.file)), apart(again.Bytes())); diff != "" {
					t.Errorf("%s written again (-first +again):\n%s", s.Session, diff)
				}
				original, err := eng.Find(t.Context(), s.Session)
				w.must(err)
				want := w.goOn(original, 6, "And on")
				for _, c := range copies {
					if diff := cmp.Diff(want, w.goOn(c, 6, "And on")); diff != "" {
						t.Errorf("%s goes on otherwise (-there +here):\n%s", s.Session, diff)
					}
				}
			}
			for _, st := range []store.Store{there, st} {
				(&world{tester: t, ctx: t.Context(), Store: st}).healthy()
			}
		})
	}
}
