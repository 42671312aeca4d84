package main

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// oneTurn is the text of a turn of 2 KB.
var oneTurn = strings.Repeat("a turn of two kilobytes, more or less ", 54)[:2048]

// benchAppend: one session, one turn after the other, each on disk before the next.
func benchAppend(ctx context.Context, b *bench) (err error) {
	const n = 400
	f, err := os.OpenFile(b.file("bare.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	eng, _, err := openSQLite(ctx, b.file("append.db"), sqlite.Config{})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, eng.Close()) }()
	chat, err := eng.Session(ctx, "one")
	if err != nil {
		return err
	}
	ours := func() (float64, error) {
		return p50(n, func() error {
			_, err := chat.Append(ctx, userText(oneTurn))
			return err
		})
	}
	bare := func() (float64, error) {
		return p50(n, func() error {
			if _, err := f.WriteString(oneTurn); err != nil {
				return err
			}
			return f.Sync()
		})
	}
	m, err := b.interleave(ours, bare)
	if err != nil {
		return err
	}
	b.atMost(3.0, Line{Name: "append one 2 KB turn, SQLite, p50", Ours: m[0], Baseline: m[1], Unit: "µs", Against: "bare file append + fsync"})
	return nil
}

// benchGroup: 128 sessions at once.
func benchGroup(ctx context.Context, b *bench) (err error) {
	const sessions, each = 128, 40
	bare, err := openFileLog(b.file("group.log"))
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, bare.close()) }()
	eng, _, err := openSQLite(ctx, b.file("group.db"), sqlite.Config{})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, eng.Close()) }()
	alone, _, err := openSQLite(ctx, b.file("alone.db"), sqlite.Config{GroupCommit: 1})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, alone.Close()) }()
	answers := make([]chan error, sessions)
	for i := range answers {
		answers[i] = make(chan error, 1)
	}
	data := []byte(oneTurn)
	m, err := b.interleave(
		func() (float64, error) { return appendAll(ctx, eng, "g", sessions, each, oneTurn) },
		func() (float64, error) {
			return throughput(sessions, each, func(i int) error { return bare.append(data, answers[i]) })
		},
		func() (float64, error) { return appendAll(ctx, alone, "a", sessions, each, oneTurn) },
	)
	if err != nil {
		return err
	}
	b.atLeast(0.10, Line{Name: "128 sessions append 2 KB, SQLite", Ours: m[0], Baseline: m[1], Unit: "turns/s", Against: "bare group-committed file log"})
	b.atLeast(2.0, Line{Name: "128 sessions append 2 KB, SQLite", Ours: m[0], Baseline: m[2], Unit: "turns/s", Against: "the same store, group commit off"})
	return nil
}

// p50 returns the median duration of n calls in microseconds.
func p50(n int, f func() error) (float64, error) {
	times := make([]float64, n)
	for i := range times {
		start := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		times[i] = float64(time.Since(start).Nanoseconds()) / 1e3
	}
	return median(times), nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
