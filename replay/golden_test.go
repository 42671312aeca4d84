package replay_test

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/turn"
)

var update = flag.Bool("update", false, "write golden bundles that are not there yet; those that are stay as they are")

// goldens are bundles that programs in the field have made. They are never changed: a program that
// cannot read one of them cannot read what its users kept.
var goldens = []struct {
	file    string
	options replay.WriteOptions
	make    func(*world) turn.Key
	turns   int64
	blobs   int
}{
	{"v1-trip.bundle", replay.WriteOptions{}, (*world).trip, 19, 2},
	{"v1-trip.bundle.zst", replay.WriteOptions{Compress: true}, (*world).trip, 19, 2},
	{"v1-detour.bundle", replay.WriteOptions{}, func(w *world) turn.Key { return w.detour(w.trip()) }, 18, 2},
	{"v1-empty.bundle", replay.WriteOptions{}, func(w *world) turn.Key { return w.create("empty") }, 0, 0},
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
		t.Run(g.file, func(t *testing.T) {
			w := newWorld(t, t.Context())
			got, _ := w.bundle(g.make(w), g.options)
			path := filepath.Join("testdata", g.file)
			if _, err := os.Stat(path); *update && errors.Is(err, fs.ErrNotExist) {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want := golden(t, g.file)
			if !bytes.Equal(unpack(t, got), unpack(t, want)) {
				t.Errorf("written:\n%s\nkept:\n%s", unpack(t, got), unpack(t, want))
			}
		})
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
