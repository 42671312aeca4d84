package replay_test

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// compressed lets turns leave prompts, adds a version of a checkpoint that no epoch refers to, takes a snapshot or
// notes that passes failed. Passes of prompts count from 1 on; the numbers that are made up are far from theirs.
func (s *story) compressed() {
	head := int64(len(s.turns))
	switch rapid.IntRange(0, 5).Draw(s.rapid, "left") {
	case 0:
		s.w.snapshot(s.key, rapid.SampledFrom([]string{"", "here", "“there”"}).Draw(s.rapid, "name"), 0)
	case 1:
		b := compress.Breaker{Failures: rapid.Int64Range(0, 4).Draw(s.rapid, "failures")}
		s.w.breaker(s.key, b.Stuck(rapid.Int64Range(0, 3).Draw(s.rapid, "epoch"), turn.Range{From: 1, To: head}, rapid.Int64Range(0, 9000).Draw(s.rapid, "until")))
	case 2, 3:
		s.speech()
	default:
		number := 1000 + rapid.Int64Range(0, 3).Draw(s.rapid, "number")
		version := s.versions(number) + 1
		covers := turn.Range{From: 1, To: rapid.Int64Range(1, head).Draw(s.rapid, "covers")}
		made := summary(number, version, covers, "S"+s.text())
		made.Level = compress.Ultra
		s.w.checkpoint(s.key, made)
	}
}

// speech is so long that turns leave a small prompt in a pass, or in several.
func (s *story) speech() {
	for i := range rapid.IntRange(4, 12).Draw(s.rapid, "speech") {
		said := fmt.Sprintf("%d: file_%d.go. %s", i, i, strings.Repeat("This is about that, and that is all. ", 12))
		s.turns = append(s.turns, s.w.say(s.key, text([]turn.Role{turn.User, turn.Agent, turn.Agent}[i%3], said))...)
		s.w.compile(s.key, 2048, nil)
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
