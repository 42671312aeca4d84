package recall

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/turnstone-dev/turnstone/turn"
)

// What the parts of a score weigh. A score is in shares of what a turn would get that holds every word of
// the query once.
const (
	saturation     = 1.2 // BM25's k1
	lengthShare    = 0.75
	familyShare    = 0.8 // of a word that is only of the family of the one asked for
	nearWeight     = 1.3 // the words of the turns right around it
	nearReach      = 3.0
	aroundWeight   = 2.5 // what is being talked about
	aroundReach    = 9.0
	besideWeight   = 0.2 // the turn before and the one after
	answerWeight   = 0.5 // the turn before, where that is a question
	togetherWeight = 0.3 // words that stand together as they do in the query
	speakerWeight  = 0.2
	timelyWeight   = 0.3
	dateWeight     = 0.4
)

const (
	// maxPlaces is how many places of a term are read, the newest.
	maxPlaces = 2048
	// maxJudged is how many candidates are read and judged by all that is known of them.
	maxJudged = 200
	// maxReach is how far words have any effect, in turns.
	maxReach = 64
	// beside is how far from a turn that holds a word of the query another one can be a candidate.
	beside = 6
)

// corpus is what is searched: the log of some sessions in a store, or a transcript.
type corpus interface {
	// size is how many turns there are.
	size() float64
	// places returns where a term stands, each place once, at most maxPlaces of them, and in how many turns
	// it is thought to stand.
	places(ctx context.Context, term string) (at []turn.Place, frequency float64, err error)
	// holds reports whether there is a turn that may be found.
	holds(at turn.Place) bool
	// read returns those of the turns that there are and that may be found.
	read(ctx context.Context, at []turn.Place) (map[turn.Place]*document, error)
}

// ranked is a turn in the order of a ranking.
type ranked struct {
	turn.Place
	doc   *document // nil if it was not judged
	score float64
	why   []string // the words of the query that it holds
}

// clue is a word of the query and where it stands.
type clue struct {
	wanted
	weight float64
	at     []turn.Place // ascending
}

// rank returns the turns of a corpus that answer a query, best first: those that were judged, then, if
// all are wanted, the other candidates.
func rank(ctx context.Context, c corpus, q *question, clues []clue, all bool) ([]ranked, error) {
	f := newField(c, clues)
	best := f.best(maxJudged)
	list, err := f.judge(ctx, c, q, best)
	if err != nil || !all {
		return list, err
	}
	for _, i := range f.best(len(f.at))[len(best):] {
		list = append(list, ranked{Place: f.at[i], score: f.score(i) / f.total})
	}
	return list, nil
}

// look finds every word of the query.
func look(ctx context.Context, c corpus, q *question) ([]clue, error) {
	clues := make([]clue, 0, len(q.terms))
	for _, w := range q.terms {
		found := clue{wanted: w}
		unseen := 0.0 // what stands in more places than were read
		for _, term := range append([]string{w.term}, w.others...) {
			at, frequency, err := c.places(ctx, term)
			if err != nil {
				return nil, err
			}
			unseen += frequency - float64(len(at))
			found.at = append(found.at, at...)
		}
		slices.SortFunc(found.at, comparePlaces)
		found.at = slices.Compact(found.at)
		frequency := min(c.size(), float64(len(found.at))+unseen)
		found.weight = math.Log(1 + (c.size()-frequency+0.5)/(frequency+0.5))
		clues = append(clues, found)
	}
	return clues, nil
}

func comparePlaces(a, b turn.Place) int {
	return cmp.Or(cmp.Compare(a.Segment, b.Segment), cmp.Compare(a.Seq, b.Seq))
}

// field is the candidates and what is known of them without reading them.
type field struct {
	clues  []clue
	at     []turn.Place // ascending
	own    []float64    // the weight of the words that a turn holds
	around []float64    // of those around it
	total  float64      // of all
}

func newField(c corpus, clues []clue) *field {
	f := &field{clues: clues, at: candidates(c, clues)}
	f.own, f.around = make([]float64, len(f.at)), make([]float64, len(f.at))
	near, far := fading(nearReach), fading(aroundReach)
	hits, sums := make([]bool, len(f.at)), make([]float64, len(f.at))
	for _, clue := range clues {
		f.total += clue.weight
		if len(clue.at) == 0 {
			continue
		}
		f.mark(clue, hits)
		f.spread(hits, near, sums)
		f.add(clue.weight*nearWeight, sums)
		f.spread(hits, far, sums)
		f.add(clue.weight*aroundWeight, sums)
		for i, hit := range hits {
			if hit {
				f.own[i] += clue.weight
			}
		}
	}
	f.total = max(f.total, math.SmallestNonzeroFloat32)
	return f
}

// candidates are the turns that hold a word of the query and those right beside them.
func candidates(c corpus, clues []clue) []turn.Place {
	var hits []turn.Place
	for _, clue := range clues {
		hits = append(hits, clue.at...)
	}
	slices.SortFunc(hits, comparePlaces)
	hits = slices.Compact(hits)
	at := make([]turn.Place, 0, 2*len(hits))
	for _, hit := range hits {
		from := hit.Seq - beside
		if n := len(at); n > 0 && at[n-1].Segment == hit.Segment {
			from = max(from, at[n-1].Seq+1)
		}
		for seq := from; seq <= hit.Seq+beside; seq++ {
			if p := (turn.Place{Segment: hit.Segment, Seq: seq}); c.holds(p) {
				at = append(at, p)
			}
		}
	}
	return at
}

// mark says which candidates hold the clue.
func (f *field) mark(c clue, hits []bool) {
	next := 0
	for i, p := range f.at {
		for next < len(c.at) && comparePlaces(c.at[next], p) < 0 {
			next++
		}
		hits[i] = next < len(c.at) && c.at[next] == p
	}
}

// fading returns what is left of a word's effect after so many turns.
func fading(reach float64) []float64 {
	left := make([]float64, maxReach)
	for distance := range left {
		left[distance] = math.Exp(-float64(distance) / reach)
	}
	return left
}

// spread sums up, for each candidate, what reaches it of the hits before and after it and its own.
func (f *field) spread(hits []bool, left, sums []float64) {
	carried := 0.0
	for i := range f.at {
		if carried *= f.fade(i-1, i, left); hits[i] {
			carried++
		}
		sums[i] = carried
	}
	carried = 0
	for i := len(f.at) - 1; i >= 0; i-- {
		carried *= f.fade(i, i+1, left)
		sums[i] += carried
		if hits[i] {
			carried++
		}
	}
}

// fade is what is left on the way between two candidates; nothing goes from one segment to another.
func (f *field) fade(i, j int, left []float64) float64 {
	if i < 0 || j == len(f.at) || f.at[i].Segment != f.at[j].Segment || f.at[j].Seq-f.at[i].Seq >= maxReach {
		return 0
	}
	return left[f.at[j].Seq-f.at[i].Seq]
}

// add adds to what is around each candidate; much of one word is worth little more than some.
func (f *field) add(weight float64, sums []float64) {
	for i, sum := range sums {
		f.around[i] += weight * sum / (sum + 1)
	}
}

// before is the weight of the words of the turn before a candidate, after of the one after it.
func (f *field) before(i int) float64 {
	if i > 0 && f.at[i-1] == (turn.Place{Segment: f.at[i].Segment, Seq: f.at[i].Seq - 1}) {
		return f.own[i-1]
	}
	return 0
}

func (f *field) after(i int) float64 {
	if i+1 < len(f.at) && f.at[i+1] == (turn.Place{Segment: f.at[i].Segment, Seq: f.at[i].Seq + 1}) {
		return f.own[i+1]
	}
	return 0
}

func (f *field) context(i int) float64 {
	return f.around[i] + besideWeight*(f.before(i)+f.after(i))
}

func (f *field) score(i int) float64 { return f.own[i] + f.context(i) }

// best returns the candidates with the highest scores, best first, of equals the newest.
func (f *field) best(n int) []int {
	scores := make([]float64, len(f.at))
	for i := range scores {
		scores[i] = f.score(i)
	}
	least := math.Inf(-1)
	if n < len(scores) {
		sorted := slices.Sorted(slices.Values(scores))
		least = sorted[len(sorted)-n]
	}
	var order []int
	for i, score := range scores {
		if score >= least {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(b, a)) })
	return order[:min(n, len(order))]
}
