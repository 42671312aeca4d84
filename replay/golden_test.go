package replay_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

var update = flag.Bool("update", false, "write golden bundles that are not there yet; those that are stay as they are")

type goldenBundle struct {
	file    string
	options replay.WriteOptions
	make    func(*world) turn.Key // nil for one that is only read: such a session is not made any more
	turns   int64
	blobs   int
}

// goldens are bundles that programs in the field have made. They are never changed: a program that
// cannot read one of them cannot read what its users kept.
var goldens = []goldenBundle{
	{"v1-trip.bundle", replay.WriteOptions{}, (*world).trip, 19, 2},
	{"v1-trip.bundle.zst", replay.WriteOptions{Compress: true}, (*world).trip, 19, 2},
	{"v1-detour.bundle", replay.WriteOptions{}, func(w *world) turn.Key { return w.detour(w.trip()) }, 18, 2},
	{"v1-empty.bundle", replay.WriteOptions{}, func(w *world) turn.Key { return w.create("empty") }, 0, 0},
	{"v2-plan.bundle", replay.WriteOptions{}, (*world).plan, 8, 0},
	{"v2-plan.bundle.zst", replay.WriteOptions{Compress: true}, (*world).plan, 8, 0},
	{"v2-other-plan.bundle", replay.WriteOptions{}, func(w *world) turn.Key { return w.otherPlan(w.plan()) }, 6, 0},
	{"v2-trip.bundle", replay.WriteOptions{}, (*world).trip, 19, 2},
	{"v2-empty.bundle", replay.WriteOptions{}, func(w *world) turn.Key { return w.create("empty") }, 0, 0},
	{"v3-talk.bundle", replay.WriteOptions{}, (*world).talk, 8, 0},
	{"v3-talk.bundle.zst", replay.WriteOptions{Compress: true}, (*world).talk, 8, 0},
	// Forks took along only the last of the prompts at their point then.
	{"v3-other-talk.bundle", replay.WriteOptions{}, nil, 8, 0},
	{"v3-plan.bundle", replay.WriteOptions{}, (*world).plan, 8, 0},
	{"v3-trip.bundle", replay.WriteOptions{}, (*world).trip, 19, 2},
	{"v3-empty.bundle", replay.WriteOptions{}, func(w *world) turn.Key { return w.create("empty") }, 0, 0},
	{"v4-long.bundle", replay.WriteOptions{}, (*world).long, 12, 0},
	{"v4-long.bundle.zst", replay.WriteOptions{Compress: true}, (*world).long, 12, 0},
	{"v4-other-long.bundle", replay.WriteOptions{}, func(w *world) turn.Key { return w.otherLong(w.long()) }, 11, 0},
	{"v4-shown.bundle", replay.WriteOptions{}, (*world).shown, 6, 0},
	{"v4-other-talk.bundle", replay.WriteOptions{}, func(w *world) turn.Key { return w.otherTalk(w.talk()) }, 8, 0},
	{"v4-talk.bundle", replay.WriteOptions{}, (*world).talk, 8, 0},
	{"v4-plan.bundle", replay.WriteOptions{}, (*world).plan, 8, 0},
	{"v4-trip.bundle", replay.WriteOptions{}, (*world).trip, 19, 2},
	{"v4-empty.bundle", replay.WriteOptions{}, func(w *world) turn.Key { return w.create("empty") }, 0, 0},
}

// comparable is what of a bundle's text must be written today as it was then: all of it, and of one of an
// older version the records.
func (g *goldenBundle) comparable(plain []byte) []byte {
	if strings.HasPrefix(g.file, fmt.Sprintf("v%d-", replay.Version)) {
		return plain
	}
	return records(plain)
}

func golden(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestGoldenBundlesAreStillWritten(t *testing.T) {
	for _, g := range goldens {
		if g.make == nil {
			continue
		}
		t.Run(g.file, func(t *testing.T) {
			w := newWorld(t, t.Context())
			got, _ := w.bundle(g.make(w), g.options)
			path := filepath.Join("testdata", g.file)
			if _, err := os.Stat(path); *update && errors.Is(err, fs.ErrNotExist) {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got, want := g.comparable(unpack(t, got)), g.comparable(unpack(t, golden(t, g.file)))
			if !bytes.Equal(got, want) {
				t.Errorf("written:\n%s\nkept:\n%s", got, want)
			}
		})
	}
}

// The same sessions make the same bundles on every store, and a bundle of one store can be read
// into every other.
func TestBundlesAreTheSameOnEveryStore(t *testing.T) {
	for _, st := range []struct {
		name string
		open func(t *testing.T, clock func() time.Time) (store.Store, error)
	}{
		{"sqlite", func(t *testing.T, clock func() time.Time) (store.Store, error) {
			return sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "turns.db"), sqlite.Config{Clock: clock})
		}},
		{"postgres", func(t *testing.T, clock func() time.Time) (store.Store, error) {
			return postgres.Open(t.Context(), pgstore.URL(t), postgres.Config{Clock: clock})
		}},
	} {
		for _, g := range goldens {
			t.Run(st.name+"/"+g.file, func(t *testing.T) {
				w := &world{tester: t, ctx: t.Context(), clock: newClock()}
				var err error
				if w.Store, err = st.open(t, w.clock.now); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := w.Close(); err != nil {
						t.Errorf("close: %v", err)
					}
				})
				want := unpack(t, golden(t, g.file))
				if g.make != nil {
					got, _ := w.bundle(g.make(w), g.options)
					if diff := cmp.Diff(string(g.comparable(want)), string(g.comparable(unpack(t, got)))); diff != "" {
						t.Errorf("written (-kept +got):\n%s", diff)
					}
				}
				moved := w.imported(golden(t, g.file), replay.ImportOptions{Tenant: "other"})
				if diff := cmp.Diff(string(records(want)), string(records(w.plain(moved.Key)))); diff != "" {
					t.Errorf("imported and written again (-kept +got):\n%s", diff)
				}
				w.imported(golden(t, g.file), replay.ImportOptions{As: "copy"})
				w.healthy()
				before := w.dump()
				for n := range 80 {
					_, err := replay.Import(w.ctx, &faulty{Store: w.Store, failAt: n + 1}, opener(golden(t, g.file)), replay.ImportOptions{As: "late"})
					if err == nil {
						break
					}
					if diff := cmp.Diff(before, w.dump()); !errors.Is(err, errBroken) || diff != "" {
						t.Fatalf("write %d failed with %v and left:\n%s", n+1, err, diff)
					}
				}
				w.ids = 1000
				if got := w.say(key("late"), text(turn.User, "on we go")); got[0].Seq != g.turns+1 {
					t.Errorf("went on at turn %d", got[0].Seq)
				}
			})
		}
	}
}

func TestGoldenBundlesAreStillRead(t *testing.T) {
	for _, g := range goldens {
		t.Run(g.file, func(t *testing.T) {
			file := golden(t, g.file)
			b, err := verify(file)
			if err != nil {
				t.Fatal(err)
			}
			if b.Turns != g.turns || b.Session.Head != g.turns {
				t.Errorf("%d turns and head %d, want %d", b.Turns, b.Session.Head, g.turns)
			}
			if n := bytes.Count(unpack(t, file), []byte("\n{\"blob\":")); n != g.blobs {
				t.Errorf("%d blobs, want %d", n, g.blobs)
			}
			w := newWorld(t, t.Context())
			info := w.imported(file, replay.ImportOptions{})
			if again := w.plain(info.Key); !bytes.Equal(records(again), records(unpack(t, file))) {
				t.Errorf("written again:\n%s\nkept:\n%s", again, unpack(t, file))
			}
			if made := w.remade(info.Key); len(made) != int(b.Prompts) {
				t.Errorf("%d of %d prompts were made again", len(made), b.Prompts)
			}
		})
	}
}

// unpack returns a bundle's text.
func unpack(t testing.TB, file []byte) []byte {
	t.Helper()
	if !bytes.HasPrefix(file, []byte("\x28\xb5\x2f\xfd")) {
		return file
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	plain, err := z.DecodeAll(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// pack compresses a bundle's text.
func pack(t testing.TB, plain []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(plain, nil)
}
