package memory

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// Interests are texts that something can be relevant to, made ready to be compared with: the active
// goals, what is known of a user, an input. Making them costs more than asking, so that whoever
// commits often keeps them until the texts change. They never change and may be shared. The zero
// Interests, and nil, are interested in nothing.
type Interests struct {
	subjects []float64 // the weight of each subject
	entries  []interest
	index    []int32 // open addressing: a word's first entry, counted from 1
}

// interest is how much a word says about a subject.
type interest struct {
	word    uint64
	subject int32
	weight  float32
	next    int32 // the word's next entry, counted from 1; 0: it has no more
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

// The weights of goals by their priority.
const (
	HighPriority   = 1.0
	MediumPriority = 0.85
	LowPriority    = 0.6
)

const (
	maxSubjects  = 64
	subjectWords = 512
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
	in := &Interests{subjects: make([]float64, len(subjects))}
	g := glances.Get().(*glance)
	defer g.release()
	ends := make([]wordsOf, len(subjects))
	for i := range subjects {
		in.subjects[i] = min(max(subjects[i].Weight, 0), 1)
		ends[i] = g.subject(&subjects[i])
	}
	if len(g.words) == 0 {
		return in
	}
	in.index = make([]int32, 1<<bits.Len(uint(2*len(g.words))))
	in.entries = make([]interest, 0, len(g.words))
	start := 0
	for i, end := range ends {
		for at, word := range g.words[start:end.all] {
			weight := float32(1)
			if start+at < end.titled {
				weight = 2
			}
			in.add(word, int32(i), weight)
		}
		start = end.all
	}
	in.weigh()
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

// add takes a word of a subject in. Of one that it has already the first counts, which has the highest
// weight: titles are read first.
func (in *Interests) add(word uint64, subject int32, weight float32) {
	slot := in.slot(word)
	before := in.index[slot]
	if before != 0 && in.entries[before-1].subject == subject {
		return
	}
	in.entries = append(in.entries, interest{word: word, subject: subject, weight: weight, next: before})
	in.index[slot] = int32(len(in.entries))
}

// weigh makes common words count less.
func (in *Interests) weigh() {
	all := float64(len(in.subjects))
	var idfs [maxSubjects + 1]float32 // by how many subjects have the word
	for _, first := range in.index {
		n := 0
		for at := first; at != 0; at = in.entries[at-1].next {
			n++
		}
		if n < 2 {
			continue // it counts whole
		}
		if idfs[n] == 0 {
			idfs[n] = float32(math.Log(1+all/float64(n)) / math.Log(1+all))
		}
		for at := first; at != 0; at = in.entries[at-1].next {
			in.entries[at-1].weight *= idfs[n]
		}
	}
}

// relevance returns how much words are about the subject they are most about, from 0 to 1: the
// weights of the words they share, saturating, so that two shared words say much and twenty not ten
// times as much, scaled by the subject's weight. Each word counts once, and at most 64 do.
func (in *Interests) relevance(words []uint64) float64 {
	if in == nil || len(in.entries) == 0 {
		return 0
	}
	var matches [64]int32
	found := matches[:0]
	for _, word := range words {
		if at := in.index[in.slot(word)]; at != 0 && len(found) < len(matches) && !slices.Contains(found, at) {
			found = append(found, at)
		}
	}
	if len(found) == 0 {
		return 0
	}
	var shared [maxSubjects]float32
	for _, at := range found {
		for ; at != 0; at = in.entries[at-1].next {
			shared[in.entries[at-1].subject] += in.entries[at-1].weight
		}
	}
	best, heaviest, most := 0.0, 0.0, float32(0)
	for i, weight := range in.subjects {
		if shared[i] == 0 || shared[i] <= most && weight <= heaviest {
			continue // it cannot be the most
		}
		if relevance := weight * (1 - math.Exp(-float64(shared[i])/2)); relevance > best {
			best, heaviest, most = relevance, weight, shared[i]
		}
	}
	return best
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
