package resident

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestKeep has a process work and rest, by the time that it used in each look, and says when it released.
func TestKeep(t *testing.T) {
	const much, little = time.Second, time.Millisecond
	for _, test := range []struct {
		name string
		used []time.Duration
		want []time.Duration
	}{
		{"it rests after the start, once", []time.Duration{little, little, little}, []time.Duration{0, look}},
		{"it works from the start", []time.Duration{much, much}, []time.Duration{0}},
		{"it rests, works and rests", []time.Duration{little, much, little, little}, []time.Duration{0, look, 3 * look}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				begin, looks := time.Now(), 0
				var total time.Duration
				var released []time.Duration
				err := keeper{
					used: func() (time.Duration, bool) {
						if looks > len(test.used)-1 {
							stop()
						}
						if looks > 0 {
							total += test.used[looks-1]
						}
						looks++
						return total, true
					},
					release: func() error {
						released = append(released, time.Since(begin))
						return nil
					},
				}.keep(ctx)
				if err != nil || len(released) != len(test.want) {
					t.Fatalf("released at %v, %v", released, err)
				}
				for i := range released {
					if released[i] != test.want[i] {
						t.Errorf("released at %v, want %v", released, test.want)
					}
				}
			})
		})
	}
}

func TestKeepEnds(t *testing.T) {
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		known   bool
		fails   int // the release that fails, none if 0
		want    error
		release int
	}{
		"the first release fails":  {true, 1, broken, 1},
		"the second release fails": {true, 2, broken, 2},
		"nothing is known of work": {false, 2, nil, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			releases := 0
			err := keeper{
				used: func() (time.Duration, bool) { return 0, test.known },
				release: func() error {
					if releases++; releases == test.fails {
						return broken
					}
					return nil
				},
			}.keep(t.Context())
			if !errors.Is(err, test.want) || releases != test.release {
				t.Errorf("%s: %v after %d releases", name, err, releases)
			}
		})
	}
}
