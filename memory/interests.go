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
	index    []int32 // open addressing: a word's first entry, plus one
}

// interest is how much a word says about a subject.
type interest struct {
	word    uint64
	subject int32
	weight  float32
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
	for i := range subjects {
		in.subjects[i] = min(max(subjects[i].Weight, 0), 1)
		in.add(int32(i), &subjects[i])
	}
	in.weigh()
	in.makeIndex()
	return in
}

// add appends the words of a subject, each once with the highest weight it has.
func (in *Interests) add(n int32, s *Subject) {
	start := len(in.entries)
	var g glance
	g.read(s.Title)
	titled := len(g.words)
	for _, text := range s.Texts {
		if len(g.words) >= subjectWords {
			break
		}
		g.read(text)
	}
	for i, word := range g.words {
		weight := float32(1)
		if i < titled {
			weight = 2
		}
		in.entries = append(in.entries, interest{word: word, subject: n, weight: weight})
	}
	own := in.entries[start:]
	slices.SortFunc(own, func(a, b interest) int {
		switch {
		case a.word < b.word:
			return -1
		case a.word > b.word:
			return 1
		}
		return cmp.Compare(b.weight, a.weight)
	})
	own = slices.CompactFunc(own, func(a, b interest) bool { return a.word == b.word })
	in.entries = in.entries[:start+len(own)]
}

// weigh orders the entries by word and makes common words count less.
func (in *Interests) weigh() {
	if len(in.subjects) > 1 { // one alone is in order
		slices.SortFunc(in.entries, func(a, b interest) int {
			switch {
			case a.word < b.word:
				return -1
			case a.word > b.word:
				return 1
			}
			return int(a.subject - b.subject)
		})
	}
	all := float64(len(in.subjects))
	for i := 0; i < len(in.entries); {
		end := i + 1
		for end < len(in.entries) && in.entries[end].word == in.entries[i].word {
			end++
		}
		idf := float32(math.Log(1+all/float64(end-i)) / math.Log(1+all))
		for ; i < end; i++ {
			in.entries[i].weight *= idf
		}
	}
}

func (in *Interests) makeIndex() {
	if len(in.entries) == 0 {
		return
	}
	in.index = make([]int32, 1<<bits.Len(uint(2*len(in.entries))))
	for i := range in.entries {
		if i > 0 && in.entries[i].word == in.entries[i-1].word {
			continue
		}
		slot := in.entries[i].word
		for in.index[slot&uint64(len(in.index)-1)] != 0 {
			slot++
		}
		in.index[slot&uint64(len(in.index)-1)] = int32(i) + 1
	}
}

// relevance returns how much words are about the subject they are most about, from 0 to 1: the
// weights of the words they share, saturating, so that two shared words say much and twenty not ten
// times as much, scaled by the subject's weight. Each word counts once, and at most 64 do.
func (in *Interests) relevance(words []uint64) float64 {
	if in == nil || len(in.entries) == 0 {
		return 0
	}
	var matches [64]int
	found := matches[:0]
	for _, word := range words {
		if at := in.find(word); at >= 0 && len(found) < len(matches) && !slices.Contains(found, at) {
			found = append(found, at)
		}
	}
	if len(found) == 0 {
		return 0
	}
	var shared [maxSubjects]float32
	for _, at := range found {
		for word := in.entries[at].word; at < len(in.entries) && in.entries[at].word == word; at++ {
			shared[in.entries[at].subject] += in.entries[at].weight
		}
	}
	best := 0.0
	for i, weight := range in.subjects {
		if shared[i] > 0 {
			best = max(best, weight*(1-math.Exp(-float64(shared[i])/2)))
		}
	}
	return best
}

// find returns a word's first entry, -1 where it has none.
func (in *Interests) find(word uint64) int {
	mask := uint64(len(in.index) - 1)
	for slot := word; ; slot++ {
		first := in.index[slot&mask]
		if first == 0 {
			return -1
		}
		if in.entries[first-1].word == word {
			return int(first - 1)
		}
	}
}
