package main

import (
	"context"
	"os"

	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// benchDisk: bytes on disk, full-text index included, after a checkpoint.
func benchDisk(ctx context.Context, b *bench) error {
	perTurn := make(map[int]float64)
	perByte := make(map[int]float64)
	for _, turns := range []int{1_000, 10_000, 100_000} {
		path := b.file("disk.db")
		eng, st, err := openSQLite(ctx, path, sqlite.Config{})
		if err != nil {
			return err
		}
		text, err := seed(ctx, eng, st, "d", turns, 400)
		if err := firstError(err, eng.Close()); err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		perTurn[turns] = float64(info.Size()) / float64(turns)
		perByte[turns] = float64(info.Size()) / float64(text)
	}
	b.atMost(2.5, Line{Name: "bytes on disk per byte of text, 10,000 turns", Ours: perByte[10_000], Unit: "B/B", Against: "absolute"})
	b.atMost(1.1, Line{Name: "bytes per turn at 100,000 turns", Ours: perTurn[100_000], Baseline: perTurn[1_000], Unit: "B", Against: "the same at 1,000 turns"})
	return nil
}
