package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/internal/transcripts"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// benchTranscripts: 50,000 random conversations with passes, undos and restores, every prompt of them held to its
// promises. TURNSTONE_SEED names the seed of the first.
func benchTranscripts(ctx context.Context, b *bench) error {
	broken := 0
	series := transcripts.Series{Count: 50_000, Workers: 2, Broken: func(err error) {
		fmt.Fprintln(os.Stderr, err)
		broken++
	}}
	if seed := os.Getenv("TURNSTONE_SEED"); seed != "" {
		var err error
		if series.First, err = strconv.ParseUint(seed, 10, 64); err != nil {
			return fmt.Errorf("TURNSTONE_SEED: %w", err)
		}
	}
	all, err := series.Play(ctx)
	if err != nil {
		return err
	}
	b.atMost(0, Line{Name: "transcripts with a broken promise, of 50,000", Ours: float64(broken), Unit: "transcripts", Against: "absolute"})
	fmt.Fprintf(os.Stderr, "transcripts: %+v\n", all)
	return nil
}

// benchSame: 10,000 random conversations on all three stores, and once more after a restart: how many prompts
// differ by a byte.
func benchSame(ctx context.Context, b *bench) (err error) {
	const count = 10_000
	cluster, err := pgtest.Start(ctx, pgtest.Options{})
	if err != nil {
		return fmt.Errorf("%w; scripts/deps installs PostgreSQL", err)
	}
	defer func() { err = firstError(err, cluster.Stop()) }()
	path := b.file("same.db")
	opens := []func() (store.Store, error){
		func() (store.Store, error) { return mem.New(mem.Config{}), nil },
		func() (store.Store, error) { return sqlite.Open(ctx, path, sqlite.Config{}) },
		func() (store.Store, error) { return postgres.Open(ctx, cluster.URL(), postgres.Config{}) },
	}
	digests := make([][]string, len(opens))
	ends := make([][]string, len(opens))
	errs := make([]error, len(opens))
	var wait sync.WaitGroup
	for i, open := range opens {
		wait.Go(func() { digests[i], ends[i], errs[i] = playAll(ctx, open, count, i > 0) })
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	differ := 0
	for seed := range digests[0] {
		for i := range digests {
			if digests[i][seed] != digests[0][seed] || ends[i][seed] != ends[0][seed] {
				differ++
			}
		}
	}
	b.atMost(0, Line{Name: "prompts that differ by store or restart, of 10,000 sessions", Ours: float64(differ), Unit: "sessions", Against: "absolute"})
	return nil
}

// playAll plays transcripts and returns the digest of each, then compiles the first session's prompt of each
// once more, after a restart where the store survives one.
func playAll(ctx context.Context, open func() (store.Store, error), count int, restart bool) (digests, ends []string, err error) {
	eng, err := openEngine(ctx, open)
	if err != nil {
		return nil, nil, err
	}
	digests, err = each(count, func(seed uint64) (string, error) {
		stats, err := transcripts.Compile(ctx, eng, seed)
		return stats.Digest, err
	})
	if err != nil {
		return nil, nil, firstError(err, eng.Close())
	}
	if restart {
		if err := eng.Close(); err != nil {
			return nil, nil, err
		}
		if eng, err = openEngine(ctx, open); err != nil {
			return nil, nil, err
		}
	}
	ends, err = each(count, func(seed uint64) (string, error) { return lastPrompt(ctx, eng, seed) })
	return digests, ends, firstError(err, eng.Close())
}

// each calls f for every seed, a few at a time, and returns what it answers.
func each(count int, f func(seed uint64) (string, error)) ([]string, error) {
	const workers = 8
	answers := make([]string, count)
	errs := make(chan error, workers)
	var next atomic.Int64
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for i := next.Add(1) - 1; i < int64(count); i = next.Add(1) - 1 {
				var err error
				if answers[i], err = f(uint64(i)); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wait.Wait()
	select {
	case err := <-errs:
		return nil, err
	default:
		return answers, nil
	}
}

func openEngine(ctx context.Context, open func() (store.Store, error)) (*turnstone.Engine, error) {
	st, err := open()
	if err != nil {
		return nil, err
	}
	return turnstone.Open(ctx, st, transcripts.Config)
}

// lastPrompt is the hash of the prompt that a transcript's first session has now, or why it has none.
func lastPrompt(ctx context.Context, eng *turnstone.Engine, seed uint64) (string, error) {
	chat, err := eng.Find(ctx, transcripts.Session(seed))
	if err != nil {
		return "", err
	}
	p, err := chat.Prompt(ctx, turnstone.PromptOptions{Preview: true, Model: "gpt-4o"})
	if err != nil {
		return err.Error(), nil
	}
	return p.SHA256, nil
}
