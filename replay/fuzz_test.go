package replay_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/turnstone-dev/turnstone/replay"
)

// FuzzRead holds the reader to three things, whatever it is given: it says damaged or newer and
// nothing else, it allocates little, and what it takes can be imported and is written again as a
// bundle that stays as it is.
func FuzzRead(f *testing.F) {
	for _, g := range goldens {
		file := golden(f, g.file)
		f.Add(file)
		f.Add(pack(f, unpack(f, file)))
		f.Add(file[:len(file)/2])
	}
	f.Add([]byte(`{"turnstone_bundle":2}` + "\n"))
	f.Add([]byte("\x28\xb5\x2f\xfd"))
	f.Fuzz(func(t *testing.T, file []byte) {
		var read replay.Bundle
		var err error
		if used := allocated(func() { read, err = verify(file) }); used > 512<<20 {
			t.Errorf("%d MiB allocated for %d bytes", used>>20, len(file))
		}
		if err != nil {
			var newer *replay.NewerVersionError
			if !errors.Is(err, replay.ErrDamaged) && !errors.As(err, &newer) {
				t.Errorf("refused with %v", err)
			}
			return
		}
		first := newWorld(t, t.Context())
		info := first.imported(file, replay.ImportOptions{})
		once, bundle := first.bundle(info.Key, replay.WriteOptions{})
		if bundle.Turns != read.Turns {
			t.Errorf("%d turns read, %d written", read.Turns, bundle.Turns)
		}
		second := newWorld(t, t.Context())
		second.imported(once, replay.ImportOptions{})
		if twice := second.plain(info.Key); !bytes.Equal(records(once), records(twice)) {
			t.Errorf("written once:\n%s\ntwice:\n%s", once, twice)
		}
	})
}

// FuzzRecords is FuzzRead past the sum: what it is given stands between a first and a last line that
// fit.
func FuzzRecords(f *testing.F) {
	for _, g := range goldens {
		f.Add(string(unpack(f, golden(f, g.file))))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) == 0 || bytes.Count([]byte(text), []byte("\n")) < 2 {
			return
		}
		file := resealed(t, []byte(text), func(lines []string) []string { return lines })
		if _, err := verify(file); err != nil {
			var newer *replay.NewerVersionError
			if !errors.Is(err, replay.ErrDamaged) && !errors.As(err, &newer) {
				t.Errorf("refused with %v", err)
			}
			return
		}
		first := newWorld(t, t.Context())
		info := first.imported(file, replay.ImportOptions{})
		once := first.plain(info.Key)
		second := newWorld(t, t.Context())
		second.imported(once, replay.ImportOptions{})
		if twice := second.plain(info.Key); !bytes.Equal(records(once), records(twice)) {
			t.Errorf("written once:\n%s\ntwice:\n%s", once, twice)
		}
	})
}
