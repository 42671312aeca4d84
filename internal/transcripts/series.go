package transcripts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
)

// Series is many transcripts.
type Series struct {
	// First is the seed of the first, and Count how many there are.
	First, Count uint64
	// Workers is how many are played at once. Defaults to 1.
	Workers int
	// Restless plays longer ones than [Run] does, in which the window grows, passes overlap and many are undone.
	Restless bool
	// State is a file in which it is kept how far they are; a series with the same First goes on from there.
	// Defaults to none.
	State string
	// Broken is told of every promise that was broken, one after the other. Nil: the first ends the series.
	Broken func(error)
	// Reached is told now and then how far they are. Defaults to nobody.
	Reached func(next uint64, all Stats)
}

// batch is how many transcripts are played between two notes in the state.
const batch = 64

// state is what the file of a series holds.
type state struct {
	First uint64 `json:"first"`
	Next  uint64 `json:"next"`
	Stats Stats  `json:"stats"`
}

// Play plays the transcripts that were not played yet and returns what all of them went through. When ctx ends it
// returns its error; what was played until then is in the state, but for the last few.
func (s Series) Play(ctx context.Context) (Stats, error) {
	at, err := s.load()
	if err != nil {
		return Stats{}, err
	}
	for end := s.First + s.Count; at.Next < end; {
		to := min(at.Next+batch, end)
		stats, broken := s.batch(ctx, at.Next, to)
		if err := ctx.Err(); err != nil {
			return at.Stats, err
		}
		for _, err := range broken {
			if s.Broken == nil {
				return at.Stats, err
			}
			s.Broken(err)
		}
		at.Next = to
		at.Stats.Add(stats)
		if err := s.save(at); err != nil {
			return at.Stats, err
		}
		if s.Reached != nil {
			s.Reached(at.Next, at.Stats)
		}
	}
	return at.Stats, nil
}

// batch plays the transcripts from one seed up to another and returns what is wrong with each that broke a promise.
func (s Series) batch(ctx context.Context, from, to uint64) (all Stats, broken []error) {
	var mu sync.Mutex // guards all and broken
	var next atomic.Uint64
	next.Store(from)
	var wait sync.WaitGroup
	for range max(s.Workers, 1) {
		wait.Go(func() {
			for seed := next.Add(1) - 1; seed < to && ctx.Err() == nil; seed = next.Add(1) - 1 {
				stats, err := Run(ctx, seed, s.Restless)
				mu.Lock()
				all.Add(stats)
				if err != nil {
					broken = append(broken, err)
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return all, broken
}

// load reads how far the series is.
func (s Series) load() (state, error) {
	fresh := state{First: s.First, Next: s.First}
	if s.State == "" {
		return fresh, nil
	}
	data, err := os.ReadFile(s.State)
	if errors.Is(err, fs.ErrNotExist) {
		return fresh, nil
	}
	if err != nil {
		return fresh, err
	}
	var at state
	if err := json.Unmarshal(data, &at); err != nil {
		return fresh, fmt.Errorf("state of the series in %s, delete it to begin anew: %w", s.State, err)
	}
	if at.First != s.First {
		return fresh, fmt.Errorf("%s is the state of a series from seed %d, not %d: name another file", s.State, at.First, s.First)
	}
	return at, nil
}

// save keeps how far the series is; a file that is half written is never seen.
func (s Series) save(at state) error {
	if s.State == "" {
		return nil
	}
	data, err := json.Marshal(at)
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.State+".new", data, 0o644); err != nil {
		return err
	}
	return os.Rename(s.State+".new", s.State)
}
