package replay_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/turn"
)

// A session that is imported in pieces, however small, is the one that is imported at once.
func TestImportInPiecesIsTheSame(t *testing.T) {
	for name, make := range map[string]func(*world) turn.Key{
		"trip": (*world).trip, "plan": (*world).plan, "talk": (*world).talk, "long": (*world).long, "shown": (*world).shown,
	} {
		for _, as := range []string{"", "other"} {
			for _, size := range []int{1, 2, 7} {
				w := newWorld(t, t.Context())
				file := w.plain(make(w))
				whole, parts := newWorld(t, t.Context()), newWorld(t, t.Context())
				o := replay.ImportOptions{As: as}
				want := whole.plain(whole.imported(file, o).Key)
				got := parts.plain(parts.imported(file, o.InPieces(size)).Key)
				if diff := cmp.Diff(string(records(want)), string(records(got))); as == "" && diff != "" {
					t.Errorf("%s in pieces of %d (-whole +parts):\n%s", name, size, diff)
				}
				if a, b := len(whole.dump()), len(parts.dump()); a != b {
					t.Errorf("%s as %q in pieces of %d: %d rows, want %d", name, as, size, b, a)
				}
				parts.healthy()
			}
		}
	}
}
