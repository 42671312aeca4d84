package sqlite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

func size(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestTheLogIsCopiedInTheBackground(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path, sqlite.Config{})
	s.ShortenLog(16, 1<<20)
	k := create(t, s, key("s")).Key
	for range 20 {
		mustSay(t, s, k, strings.Repeat("x", 20_000))
	}
	eventually(t, "copying", func() bool { return size(t, path) > 300_000 })
}

// The log starts anew once it is copied, so that it does not grow with the file.
func TestTheLogStaysShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path, sqlite.Config{})
	s.ShortenLog(64, 256)
	k := create(t, s, key("s")).Key
	for range 300 {
		mustSay(t, s, k, strings.Repeat("x", 20_000))
	}
	if log, file := size(t, path+"-wal"), size(t, path); log > 10<<20 || file < 1<<20 {
		t.Errorf("the log has %d bytes, the file %d", log, file)
	}
}

// Where the background catches up the writer copies only what is left, long before the log is too long.
func TestTheLogStartsAnewBeforeItIsTooLong(t *testing.T) {
	const copyAfter, almost = 1024, 980
	s := openNew(t, sqlite.Config{})
	// What it reads in the wrong moment keeps pages from being copied, and what it writes is more than little.
	t.Cleanup(s.HoldIndex())
	s.ShortenLog(copyAfter, 1<<20)
	k := create(t, s, key("s")).Key
	sayUntil := func(pages int64, text string) {
		for length, _ := s.LogPages(); length < pages; length, _ = s.LogPages() {
			mustSay(t, s, k, text)
		}
	}
	for round := range 2 {
		sayUntil(almost, strings.Repeat("x", 80_000))
		// What comes while somebody reads cannot be copied in the background.
		err := s.View(t.Context(), func(tx store.Tx) error {
			if _, err := tx.Log().Session(t.Context(), k); err != nil {
				return err
			}
			sayUntil(copyAfter, "left over")
			eventually(t, "copying", func() bool { _, copied := s.LogPages(); return copied >= almost })
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		// Two are enough, unless the index looks for what it is behind in the same moment.
		for range 50 {
			mustSay(t, s, k, "the writer copies this and what is left, or begins the log anew")
			if length, _ := s.LogPages(); length < almost {
				break
			}
		}
		if length, _ := s.LogPages(); length >= almost {
			t.Errorf("round %d: the log has %d pages", round, length)
		}
	}
}

// A file keeps the pages that it was made with, and its log is as long in bytes as any.
func TestPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "small.db")
	rawSQL(t, path, `PRAGMA page_size = 4096; PRAGMA journal_mode = WAL`)
	for page, s := range map[int]*sqlite.Store{4096: open(t, path, sqlite.Config{}), 8192: openNew(t, sqlite.Config{})} {
		copyAfter, tooLong := s.LogBounds()
		if copyAfter*page != 16<<20 || tooLong*page != 64<<20 {
			t.Errorf("pages of %d: the log is copied after %d, and too long from %d on", page, copyAfter, tooLong)
		}
	}
}

// The writer copies what is left when it is little and nobody waits, or when the log is too long.
func TestWhenTheWriterCopies(t *testing.T) {
	const copyAfter, tooLong = 1600, 6400 // so that 100 pages are little
	for name, test := range map[string]struct {
		frames, copied int
		awaited, want  bool
	}{
		"nothing was copied":                     {frames: 1700},
		"little is left":                         {frames: 1700, copied: 1600, want: true},
		"more is left":                           {frames: 1701, copied: 1600},
		"little is left while others wait":       {frames: 1700, copied: 1600, awaited: true},
		"of a log that is long, others wait":     {frames: 6400, copied: 6350, awaited: true},
		"of one that is too long, others wait":   {frames: 6401, copied: 6350, awaited: true, want: true},
		"more is left of a log that is too long": {frames: 6500, copied: 6300},
	} {
		if got := sqlite.NearlyCopied(copyAfter, tooLong, test.frames, test.copied, test.awaited); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A reader that takes its time makes the log grow, and nobody wait.
func TestALongReadDoesNotHoldUpWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path, sqlite.Config{})
	s.ShortenLog(16, 32)
	k := create(t, s, key("s")).Key
	mustSay(t, s, k, "seen")
	err := s.View(t.Context(), func(tx store.Tx) error {
		before, err := tx.Log().Session(t.Context(), k)
		if err != nil {
			return err
		}
		for range 100 {
			mustSay(t, s, k, strings.Repeat("x", 20_000))
		}
		after, err := tx.Log().Session(t.Context(), k)
		if err != nil {
			return err
		}
		if before.Head != 1 || after.Head != 1 {
			t.Errorf("head %d and then %d in one view", before.Head, after.Head)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		mustSay(t, s, k, strings.Repeat("x", 20_000))
	}
	if log := size(t, path+"-wal"); log > 9<<20 {
		t.Errorf("the log has %d bytes after the reader left", log)
	}
}
