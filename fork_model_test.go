package turnstone_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// branch is what a session of the model holds: all it was told, and which of it restores left behind, as they did one
// after the other.
type branch struct {
	session   *turnstone.Session
	said      []string
	left      []leaving
	snapshots []point
}

// leaving is which turns are off the path from a turn on.
type leaving struct {
	after int64
	off   []int64
}

// point is a snapshot and what was off the path when it was taken.
type point struct {
	name string
	turn int64
	off  []int64
}

func (b *branch) head() int64 { return int64(len(b.said)) }

func (b *branch) off() []int64 { return b.left[len(b.left)-1].off }

// path are the turns that are on it.
func (b *branch) path() []int64 {
	list := []int64{}
	for seq := range b.head() {
		if !slices.Contains(b.off(), seq+1) {
			list = append(list, seq+1)
		}
	}
	return list
}

// restored notes that the branch went back to a snapshot.
func (b *branch) restored(to point) {
	off := slices.Clone(to.off)
	for seq := to.turn + 1; seq <= b.head(); seq++ {
		off = append(off, seq)
	}
	b.left = append(b.left, leaving{b.head(), off})
}

// forked is what a fork inherits.
func (b *branch) forked(at int64) *branch {
	return &branch{
		said:      slices.Clone(b.said[:at]),
		left:      slices.DeleteFunc(slices.Clone(b.left), func(l leaving) bool { return l.after > at }),
		snapshots: slices.DeleteFunc(slices.Clone(b.snapshots), func(p point) bool { return p.turn > at }),
	}
}

// TestForksOfForks grows trees of forks that are talked in, prompted, restored and forked again, and holds each against a
// model of what it shows.
func TestForksOfForks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		st := mem.New(mem.Config{})
		eng, err := turnstone.Open(t.Context(), st, turnstone.Config{})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() {
			if err := eng.Close(); err != nil {
				rt.Fatal(err)
			}
		}()
		ctx := t.Context()
		o := turnstone.PromptOptions{Model: "gpt-4o", Context: 4096}
		must := func(err error) {
			if err != nil {
				rt.Fatal(err)
			}
		}
		root, err := eng.Session(ctx, "b0")
		must(err)
		all := []*branch{{session: root, left: []leaving{{}}}}
		which := func(rt *rapid.T) *branch { return rapid.SampledFrom(all).Draw(rt, "branch") }
		names := 0
		rt.Repeat(map[string]func(*rapid.T){
			"say": func(rt *rapid.T) {
				b := which(rt)
				b.said = append(b.said, fmt.Sprintf("%d of %s", len(b.said)+1, b.session.ID()))
				_, err := b.session.Append(ctx, turn.Draft{Role: turn.User, Content: turn.Text{Text: b.said[len(b.said)-1]}})
				must(err)
			},
			"prompt": func(rt *rapid.T) {
				names++
				o := o
				o.Late = []string{fmt.Sprint(names)}
				_, err := which(rt).session.Prompt(ctx, o)
				must(err)
			},
			"pin": func(rt *rapid.T) {
				if b := which(rt); b.head() > 0 {
					must(b.session.Pin(ctx, rapid.Int64Range(1, b.head()).Draw(rt, "turn")))
				}
			},
			"snapshot": func(rt *rapid.T) {
				b := which(rt)
				names++
				taken, err := b.session.Snapshot(ctx, fmt.Sprint("snapshot ", names))
				must(err)
				b.snapshots = append(b.snapshots, point{taken.Name, b.head(), b.off()})
			},
			"restore": func(rt *rapid.T) {
				b := which(rt)
				if len(b.snapshots) == 0 {
					return
				}
				to := rapid.SampledFrom(b.snapshots).Draw(rt, "snapshot")
				_, err := b.session.Restore(ctx, to.name, o)
				must(err)
				b.restored(to)
			},
			"restore and undo": func(rt *rapid.T) {
				b := which(rt)
				if len(b.snapshots) == 0 {
					return
				}
				to := rapid.SampledFrom(b.snapshots).Draw(rt, "snapshot")
				then := b.forked(b.head())
				if then.restored(to); slices.Equal(then.path(), b.path()) {
					return // there is nothing to undo
				}
				_, err := b.session.Restore(ctx, to.name, o)
				must(err)
				_, err = b.session.Undo(ctx, 0, o)
				must(err)
			},
			"fork": func(rt *rapid.T) {
				b := which(rt)
				at := rapid.OneOf(rapid.Just(b.head()), rapid.Int64Range(0, b.head())).Draw(rt, "turn")
				child := b.forked(at)
				var err error
				child.session, err = b.session.Fork(ctx, at, turn.SessionInfo{Key: turn.Key{Session: fmt.Sprint("b", len(all))}})
				must(err)
				all = append(all, child)
			},
			"": func(rt *rapid.T) {
				for _, b := range all {
					b.check(rt, t)
				}
			},
		})
		healthy(t, st)
	})
}

// check holds a branch against its session.
func (b *branch) check(rt *rapid.T, t *testing.T) {
	ctx := t.Context()
	fail := func(what string, err error, diff string) {
		if err != nil || diff != "" {
			rt.Fatalf("%s of %s: %v (-want +got)\n%s", what, b.session.ID(), err, diff)
		}
	}
	path := b.path()
	shown, err := b.session.Window(ctx)
	fail("window", err, cmp.Diff(path[max(0, len(path)-turn.WindowSize):], seqs(shown)))
	history, err := b.session.History(ctx, turn.HistoryOptions{Turns: 1000, KeepSystem: true})
	fail("history", err, cmp.Diff(path, seqs(history)))
	page, err := b.session.Query(ctx, turn.Query{})
	var said []string
	for i := range page.Turns {
		said = append(said, page.Turns[i].Content.Searchable())
	}
	fail("log", err, cmp.Diff(b.said, said, cmpopts.EquateEmpty()))
	calls, err := b.session.Prompts(ctx, 0, 1000)
	var numbers, want []int64
	for i := range calls {
		numbers, want = append(numbers, calls[i].Number), append(want, int64(i+1))
	}
	fail("prompts", err, cmp.Diff(want, numbers))
}
