package mem

import (
	"github.com/turnstone-dev/turnstone/prompt"
)

func dumpEpochs(s *state, row func(...any) error) error {
	return each(s.numbers, func(k segmentKey) error {
		return each(s.segments[k].epochs, func(e prompt.EpochRow) error {
			return row(k.tenant, k.segment, e.Number, e.AfterSeq, e.Doc, e.At.UnixMicro())
		})
	})
}

func dumpPrompts(s *state, row func(...any) error) error {
	return each(s.numbers, func(k segmentKey) error {
		return each(s.segments[k].prompts, func(c prompt.CallRow) error {
			return row(k.tenant, k.segment, c.Number, c.End, c.Epoch, c.Doc, c.SHA256, c.At.UnixMicro())
		})
	})
}

func dumpPins(s *state, row func(...any) error) error {
	return each(s.numbers, func(k segmentKey) error {
		return each(s.segments[k].pins, func(p prompt.PinRow) error {
			pinned := int64(0)
			if p.Pinned {
				pinned = 1
			}
			return row(k.tenant, k.segment, p.Number, p.AfterSeq, p.Seq, pinned, p.At.UnixMicro())
		})
	})
}

func dumpMaterials(s *state, row func(...any) error) error {
	return each(inOrder(s.materials, compareRowKeys), func(k rowKey) error {
		m := s.materials[k]
		return row(k.tenant, k.id, m.text, m.at.UnixMicro())
	})
}

func dumpCalibrations(s *state, row func(...any) error) error {
	return each(inOrder(s.calibrations, compareRowKeys), func(k rowKey) error {
		c := s.calibrations[k]
		return row(k.tenant, c.Model, c.Doc, c.At.UnixMicro())
	})
}
