package doctor

import (
	"hash/maphash"
	"slices"
	"strconv"
)

// hashes is a set of names that takes eight bytes for each. A name that is not in it is taken for one
// that is once in 2⁶⁴ divided by their number, which hides a finding and never makes one up.
type hashes struct {
	seed   maphash.Seed
	list   []uint64
	sorted bool
}

func newHashes() hashes { return hashes{seed: maphash.MakeSeed()} }

func (h *hashes) add(name string) {
	h.list, h.sorted = append(h.list, maphash.String(h.seed, name)), false
}

// has is cheap as long as nothing is added in between.
func (h *hashes) has(name string) bool {
	if !h.sorted {
		slices.Sort(h.list)
		h.sorted = true
	}
	_, found := slices.BinarySearch(h.list, maphash.String(h.seed, name))
	return found
}

// turnPlace names a turn in a segment. No part of it holds a slash.
func turnPlace(s *segment, id string) string { return segmentPlace(s.key.Tenant, s.number, id) }

func segmentPlace(tenant string, segment int64, id string) string {
	return tenant + "/" + strconv.FormatInt(segment, 10) + "/" + id
}

// inLog reports whether a turn is among those that the session reads.
func (e *examination) inLog(s *segment, id string) bool {
	if e.turnIDs.has(turnPlace(s, id)) {
		return true
	}
	return slices.ContainsFunc(s.lineage(), func(segment int64) bool {
		return e.turnIDs.has(segmentPlace(s.key.Tenant, segment, id))
	})
}

// lineage are the segments that the session inherits from.
func (s *segment) lineage() []int64 {
	segments := make([]int64, len(s.inherited))
	for i, in := range s.inherited {
		segments[i] = in.Segment
	}
	return segments
}
