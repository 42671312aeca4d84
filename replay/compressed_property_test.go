package replay_test

import (
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// compressed adds a version of a checkpoint that no epoch refers to, takes a snapshot or notes that passes failed.
// Passes of prompts count from 1 on; these numbers are far from theirs.
func (s *story) compressed() {
	head := int64(len(s.turns))
	switch rapid.IntRange(0, 3).Draw(s.rapid, "left") {
	case 0:
		s.w.snapshot(s.key, rapid.SampledFrom([]string{"", "here", "“there”"}).Draw(s.rapid, "name"), 0)
	case 1:
		b := compress.Breaker{Failures: rapid.Int64Range(0, 4).Draw(s.rapid, "failures")}
		s.w.breaker(s.key, b.Stuck(rapid.Int64Range(0, 3).Draw(s.rapid, "epoch"), turn.Range{From: 1, To: head}))
	default:
		number := 1000 + rapid.Int64Range(0, 3).Draw(s.rapid, "number")
		version := s.versions(number) + 1
		covers := turn.Range{From: 1, To: rapid.Int64Range(1, head).Draw(s.rapid, "covers")}
		made := summary(number, version, covers, "S"+s.text())
		made.Level = compress.Ultra
		s.w.checkpoint(s.key, made)
	}
}

// versions is how many versions of a checkpoint the session sees.
func (s *story) versions(number int64) (n int64) {
	info := s.w.info(s.key)
	s.w.view(func(tx store.Tx) error {
		rows, err := tx.Compress().Checkpoints(s.w.ctx, s.key.Tenant, info.Lineage(info.Head), number-1, 1)
		for _, r := range rows {
			if r.Number == number {
				n = r.Version
			}
		}
		return err
	})
	return n
}
