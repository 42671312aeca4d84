package ids_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/invalid"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func seeded() io.Reader { return rand.NewChaCha8([32]byte{7}) }

func TestFloorStandsBetweenTheIDsOfBeforeAndAfter(t *testing.T) {
	before, at := ids.New(seeded()).Next(noon.Add(-time.Millisecond)), ids.New(seeded()).Next(noon)
	if floor := ids.Floor(noon); !ids.Valid(floor) || !(before < floor && floor < at) || !timeOf(t, floor).Equal(noon) {
		t.Errorf("%s is not between %s and %s", floor, before, at)
	}
	for _, far := range []time.Time{time.Unix(-1, 0), {}, time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)} {
		if floor := ids.Floor(far); !ids.Valid(floor) {
			t.Errorf("%v: %q is no id", far, floor)
		}
	}
}

func timeOf(t *testing.T, id string) time.Time {
	t.Helper()
	parsed, err := ulid.ParseStrict(id)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Timestamp().UTC()
}

func TestDerivedIsTheSameForTheSameNames(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_123)
	id := ids.Derived(at, "ab", "c")
	if !ids.Valid(id) || !timeOf(t, id).Equal(at) || id != ids.Derived(at, "ab", "c") {
		t.Errorf("got %s, then %s", id, ids.Derived(at, "ab", "c"))
	}
	for _, other := range []string{ids.Derived(at, "a", "bc"), ids.Derived(at, "ab"), ids.Derived(at.Add(time.Millisecond), "ab", "c")} {
		if other == id {
			t.Errorf("%s is of other names or another time, too", id)
		}
	}
	if id := ids.Derived(time.Time{}, "ab"); !ids.Valid(id) || timeOf(t, id).UnixMilli() != 0 {
		t.Errorf("of no time: %s", id)
	}
}

func TestNextCarriesItsTime(t *testing.T) {
	s := ids.New(nil)
	for _, now := range []time.Time{noon, noon.Add(time.Millisecond), noon.Add(time.Hour)} {
		if got := timeOf(t, s.Next(now)); !got.Equal(now) {
			t.Errorf("got %v, want %v", got, now)
		}
	}
}

func TestNextIsDeterministicForASeed(t *testing.T) {
	a, b := ids.New(seeded()), ids.New(seeded())
	for i := range 100 {
		now := noon.Add(time.Duration(i/3) * time.Millisecond)
		if x, y := a.Next(now), b.Next(now); x != y {
			t.Fatalf("id %d is %s and %s", i, x, y)
		}
	}
}

func TestSourcesDiffer(t *testing.T) {
	for _, now := range []time.Time{noon, {}, time.UnixMilli(0)} {
		if a, b := ids.New(nil).Next(now), ids.New(nil).Next(now); a == b {
			t.Errorf("two sources made %s", a)
		}
	}
}

// TestNextRises draws clocks that stand still, jump back and leave the range
// of ULIDs.
func TestNextRises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		s := ids.New(rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}))
		steps := rapid.SliceOf(rapid.OneOf(
			rapid.Just(int64(0)), rapid.Int64Range(-5, 5), rapid.Int64Range(-1<<45, 1<<45),
		)).Draw(t, "steps in ms")
		now, last := noon, ""
		for _, step := range steps {
			now = now.Add(time.Duration(step) * time.Millisecond)
			id := s.Next(now)
			if !ids.Valid(id) || id <= last {
				t.Fatalf("%s came after %s", id, last)
			}
			last = id
		}
	})
}

func TestNextRisesWhereTheRandomPartOverflows(t *testing.T) {
	full := bytes.Repeat([]byte{0xff}, 10)
	s := ids.New(bytes.NewReader(full))
	first := s.Next(noon)
	if !strings.HasSuffix(first, "ZZZZZZZZZZZZZZZZ") {
		t.Fatalf("the random part of %s is not full", first)
	}
	second := s.Next(noon)
	if got := timeOf(t, second); !got.Equal(noon.Add(time.Millisecond)) || !strings.HasSuffix(second, "0000000000000000") {
		t.Errorf("%s was followed by %s", first, second)
	}
	if third := s.Next(noon.Add(time.Millisecond)); third <= second {
		t.Errorf("%s was followed by %s", second, third)
	}
}

func TestNextOutsideTheRangeOfTimes(t *testing.T) {
	if got := timeOf(t, ids.New(nil).Next(time.Time{})); !got.Equal(time.UnixMilli(0)) {
		t.Errorf("the year 1 became %v", got)
	}
	late := time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)
	if got, want := timeOf(t, ids.New(nil).Next(late)), ulid.Time(ulid.MaxTime()); !got.Equal(want) {
		t.Errorf("the year 20000 became %v, want %v", got, want)
	}
}

func TestNextWhereEntropyFails(t *testing.T) {
	readers := map[string]func() io.Reader{
		"fails":     func() io.Reader { return iotest.ErrReader(errors.New("broken")) },
		"ends":      func() io.Reader { return strings.NewReader("") },
		"ends soon": func() io.Reader { return strings.NewReader("12345") },
	}
	for name, reader := range readers {
		t.Run(name, func(t *testing.T) {
			a, b := ids.New(reader()).Next(noon), ids.New(reader()).Next(noon)
			if a == b || !ids.Valid(a) || !timeOf(t, a).Equal(noon) {
				t.Errorf("made %s and %s", a, b)
			}
		})
	}
}

func TestNextConcurrently(t *testing.T) {
	const makers, each = 8, 500
	s := ids.New(seeded())
	made := make([][]string, makers)
	var wait sync.WaitGroup
	for i := range made {
		wait.Go(func() {
			for j := range each {
				made[i] = append(made[i], s.Next(noon.Add(time.Duration(j%7)*time.Millisecond)))
			}
		})
	}
	wait.Wait()
	var all []string
	for _, mine := range made {
		if !slices.IsSorted(mine) {
			t.Error("one goroutine's ids do not rise")
		}
		all = append(all, mine...)
	}
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != makers*each {
		t.Errorf("%d different ids, want %d", n, makers*each)
	}
}

func TestValid(t *testing.T) {
	tests := map[string]bool{
		"01ARZ3NDEKTSV4RRFFQ69G5FAV":  true,
		"00000000000000000000000000":  true,
		"7ZZZZZZZZZZZZZZZZZZZZZZZZZ":  true,
		"80000000000000000000000000":  false,
		"01arz3ndektsv4rrffq69g5fav":  false,
		"01ARZ3NDEKTSV4RRFFQ69G5FA":   false,
		"01ARZ3NDEKTSV4RRFFQ69G5FAVX": false,
		"01ARZ3NDEKTSV4RRFFQ69G5FAU":  false,
		"01ARZ3NDEKTSV4RRFFQ69G5FA ":  false,
		"":                            false,
	}
	for s, want := range tests {
		if got := ids.Valid(s); got != want {
			t.Errorf("%q: got %v", s, got)
		}
	}
}

func TestCheckName(t *testing.T) {
	for _, name := range []string{"a", "Z9", "tenant:user_1-2.3", "...", strings.Repeat("x", 128), "01ARZ3NDEKTSV4RRFFQ69G5FAV"} {
		if err := ids.CheckName("session", name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	const fix = "; use 1 to 128 letters, digits and . _ : -"
	refused := map[string]string{
		"":                       "is empty",
		strings.Repeat("x", 129): "is 129 bytes long",
		"a b":                    `"a b" holds ' '`,
		"a/b":                    `"a/b" holds '/'`,
		"käse":                   `"käse" holds 'ä'`,
		"a\x00":                  `"a\x00" holds '\x00'`,
		"a\n":                    `"a\n" holds '\n'`,
		"\xff":                   `"\xff" holds '�'`,
		"[":                      `"[" holds '['`,
		"`":                      "\"`\" holds '`'",
		"{":                      `"{" holds '{'`,
		"@":                      `"@" holds '@'`,
		".":                      `"." is a step in a path`,
		"..":                     `".." is a step in a path`,
	}
	for name, want := range refused {
		err := ids.CheckName("session", name)
		var field *invalid.Field
		if !errors.As(err, &field) || field.Name != "session" || err.Error() != "session: "+want+fix {
			t.Errorf("%q: got %v", name, err)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	s := ids.New(nil)
	b.Run("same millisecond", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.Next(noon)
		}
	})
	b.Run("new millisecond", func(b *testing.B) {
		b.ReportAllocs()
		now := noon
		for b.Loop() {
			now = now.Add(time.Millisecond)
			s.Next(now)
		}
	})
}
