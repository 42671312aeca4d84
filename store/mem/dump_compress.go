package mem

import (
	"github.com/turnstone-dev/turnstone/compress"
)

func dumpCheckpoints(s *state, row func(...any) error) error {
	return each(s.numbers, func(k segmentKey) error {
		return each(s.segments[k].checkpoints, func(r compress.Row) error {
			return row(k.tenant, k.segment, r.Number, r.Version, r.AfterSeq, r.Doc, r.At.UnixMicro())
		})
	})
}

func dumpBreakers(s *state, row func(...any) error) error {
	return each(inOrder(s.breakers, compareSegments), func(k segmentKey) error {
		b := s.breakers[k]
		return row(k.tenant, k.segment, b.doc, b.at.UnixMicro())
	})
}

func dumpSnapshots(s *state, row func(...any) error) error {
	return each(inOrder(s.snapshots, compareRowKeys), func(k rowKey) error {
		r := s.snapshots[k]
		var auto any
		if r.Auto {
			auto = int64(1)
		}
		return row(k.tenant, r.ID, r.segment, r.AfterSeq, r.Doc, r.At.UnixMicro(), auto)
	})
}
