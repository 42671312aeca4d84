package main

import (
	"context"
	"fmt"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/store/postgres"
)

// benchPostgres: 128 sessions through the pool, against the same through one connection, on a
// cluster with fsync on.
func benchPostgres(ctx context.Context, b *bench) (err error) {
	cluster, err := pgtest.Start(ctx, pgtest.Options{Durable: true})
	if err != nil {
		return fmt.Errorf("%w; scripts/deps installs PostgreSQL", err)
	}
	defer func() { err = firstError(err, cluster.Stop()) }()
	variant := func(name string, config postgres.Config) (func() (float64, error), func() error, error) {
		st, err := postgres.Open(ctx, cluster.URL(), config)
		if err != nil {
			return nil, nil, err
		}
		eng, err := turnstone.Open(ctx, st, turnstone.Config{})
		if err != nil {
			return nil, nil, err
		}
		return func() (float64, error) { return appendAll(ctx, eng, name, 128, 20, oneTurn) }, eng.Close, nil
	}
	pool, closePool, err := variant("pool", postgres.Config{})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, closePool()) }()
	one, closeOne, err := variant("one", postgres.Config{MaxConns: 1})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, closeOne()) }()
	m, err := b.interleave(pool, one)
	if err != nil {
		return err
	}
	b.atLeast(1.2, Line{Name: "128 sessions append 2 KB, PostgreSQL", Ours: m[0], Baseline: m[1], Unit: "turns/s", Against: "the same through one connection"})
	return nil
}
