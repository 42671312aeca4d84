package memory

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sync"
)

// Interests are texts that something can be relevant to, made ready to be compared with: the active
// goals, what is known of a user, an input. Making them costs more than asking, so that whoever
// commits often keeps them until the texts change. They never change, but for those of [Facts], and may be shared. The zero
// Interests, and nil, are interested in nothing.
type Interests struct {
	weights []float64 // by subject
	entries []interest
	index   []uint16  // open addressing, at most half full: a word's entry, counted from 1
	shares  []float32 // see sharesOf
	one     *single   // in place of all these where there is one subject
}

// interest is a word with the subjects that have it, a bit for each.
type interest struct {
	word   uint64
	said   uint64
	titled uint64 // those of them that have it in their title
}

// Subject is one thing to be interested in.
type Subject struct {
	// Weight scales the relevance to it, from 0 to 1.
	Weight float64
	// Title is what it is called: each of its words counts twice.
	Title string
	// Texts are what else is known of it.
	Texts []string
}

func (s *Subject) weight() float64 { return min(max(s.Weight, 0), 1) }

// The weights of goals by their priority.
const (
	HighPriority   = 1.0
	MediumPriority = 0.85
	LowPriority    = 0.6
)

const (
	maxSubjects  = 64  // as many as an interest has bits
	subjectWords = 512 // and as many again of the last text at most, so that an entry of the index has all numbers
)

// NewInterests makes interests of at most 64 subjects, those with the highest weights and of these
// the first. Of each text the first KiB is read, until there are about 512 words of a subject.
//
// A word that is in many subjects says little about each: it counts by its inverse document
// frequency among them, scaled so that a word of one subject alone counts whole.
func NewInterests(subjects ...Subject) *Interests {
	if len(subjects) > maxSubjects {
		subjects = slices.Clone(subjects)
		slices.SortStableFunc(subjects, func(a, b Subject) int { return cmp.Compare(b.Weight, a.Weight) })
		subjects = subjects[:maxSubjects]
	}
	if len(subjects) == 1 {
		return newSingle(&subjects[0])
	}
	in := &Interests{weights: make([]float64, len(subjects)), shares: sharesOf(len(subjects))}
	g := glances.Get().(*glance)
	defer g.release()
	var room [4]wordsOf
	ends := room[:0]
	for i := range subjects {
		in.weights[i] = subjects[i].weight()
		ends = append(ends, g.subject(&subjects[i]))
	}
	if len(g.words) == 0 {
		return in
	}
	in.index = make([]uint16, 1<<bits.Len(uint(2*len(g.words))))
	in.entries = make([]interest, 0, len(g.words))
	start := 0
	for i, end := range ends {
		in.add(g.words[start:end.titled], 1<<i, 1<<i)
		in.add(g.words[end.titled:end.all], 1<<i, 0)
		start = end.all
	}
	return in
}

// wordsOf says where the words of a subject end: those of its title, and all.
type wordsOf struct{ titled, all int }

// subject reads a subject.
func (g *glance) subject(s *Subject) wordsOf {
	start := len(g.words)
	g.read(s.Title)
	titled := len(g.words)
	for _, text := range s.Texts {
		if len(g.words)-start >= subjectWords {
			break
		}
		g.read(text)
	}
	return wordsOf{titled, len(g.words)}
}

// add takes words of a subject in.
func (in *Interests) add(words []uint64, said, titled uint64) {
	for _, word := range words {
		slot := in.slot(word)
		if in.index[slot] == 0 {
			in.entries = append(in.entries, interest{word: word})
			in.index[slot] = uint16(len(in.entries))
		}
		e := &in.entries[in.index[slot]-1]
		e.said |= said
		e.titled |= titled
	}
}

// shares are what sharesOf returned.
var shares [maxSubjects + 1]struct {
	once sync.Once
	of   []float32
}

// sharesOf returns, by how many of all subjects have a word, how much it counts for each.
func sharesOf(all int) []float32 {
	s := &shares[all]
	s.once.Do(func() {
		s.of = make([]float32, all+1)
		for n := 1; n <= all; n++ {
			s.of[n] = float32(math.Log(1+float64(all)/float64(n)) / math.Log(1+float64(all)))
		}
	})
	return s.of
}

// relevance returns how much words are about the subject they are most about, from 0 to 1: the
// weights of the words they share, saturating, so that two shared words say much and twenty not ten
// times as much, scaled by the subject's weight. Each word counts once, and at most 64 do.
func (in *Interests) relevance(words []uint64) float64 {
	if in == nil {
		return 0
	}
	if in.one != nil {
		return in.one.relevance(words)
	}
	if len(in.entries) == 0 {
		return 0
	}
	var shared [maxSubjects]float32
	about := in.share(words, &shared)
	best, weight, most := 0.0, 0.0, float32(0)
	for ; about != 0; about &= about - 1 {
		i := bits.TrailingZeros64(about)
		if in.weights[i] == weight {
			most = max(most, shared[i]) // of those with the same weight only the most counts
			continue
		}
		best = max(best, saturated(weight, most))
		weight, most = in.weights[i], shared[i]
	}
	return max(best, saturated(weight, most))
}

func saturated(weight float64, shared float32) float64 {
	if weight == 0 {
		return 0
	}
	return weight * (1 - math.Exp(-float64(shared)/2))
}

// share adds up by subject what the words count that it has, and returns which subjects have any.
func (in *Interests) share(words []uint64, shared *[maxSubjects]float32) (about uint64) {
	var matches [64]uint16
	var seen uint64 // the ends of the numbers of matches, so that most words are known to be new without looking
	found := matches[:0]
	for _, word := range words {
		at := in.index[in.slot(word)]
		if at == 0 || seen>>(at&63)&1 != 0 && slices.Contains(found, at) {
			continue
		}
		e := &in.entries[at-1]
		if e.said == 0 {
			continue // it was forgotten
		}
		if len(found) == len(matches) {
			break
		}
		found = append(found, at)
		seen |= 1 << (at & 63)
		about |= e.said
		share := in.shares[bits.OnesCount64(e.said)]
		for said := e.said; said != 0; said &= said - 1 {
			i := bits.TrailingZeros64(said)
			shared[i&63] += share * float32(1+e.titled>>i&1)
		}
	}
	return about
}

// slot returns where in the index a word is, or the empty place where it belongs.
func (in *Interests) slot(word uint64) uint64 {
	mask := uint64(len(in.index) - 1)
	slot := word & mask
	for in.index[slot] != 0 && in.entries[in.index[slot]-1].word != word {
		slot = (slot + 1) & mask
	}
	return slot
}
