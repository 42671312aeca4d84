package recall

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/words"
	"github.com/turnstone-dev/turnstone/turn"
)

// document is a turn, or an item of memory, as it is judged.
type document struct {
	// terms are without those that say nothing, and length is how many there are. Of a turn of a log only those that a
	// question asks about are kept, with gaps between them; see narrow.
	terms  []string
	length int
	asks   bool // it ends with a question
	role   turn.Role
	names  []string // the terms of the speaker's name
	date   calendar
	prior  float64 // what its score is multiplied with

	stored  turn.Stored // of a turn of a log
	session string      // that it is cited by
}

func newDocument(text string) *document {
	d := &document{prior: 1, asks: strings.HasSuffix(strings.TrimRight(text, " \t\n\"'”)"), "?")}
	for _, term := range words.Terms(text) {
		if !stopped()[term] {
			d.terms = append(d.terms, term)
		}
	}
	d.length = len(d.terms)
	return d
}

// narrow keeps the terms that matter alone, so that hundreds of documents of any length can be held at once. Where others
// stood there is a gap, which is long enough to tell that words do not stand together.
func (d *document) narrow(matter map[string]string) {
	var kept []string
	gap := 0
	for _, term := range d.terms {
		own, ok := matter[term]
		if !ok {
			if gap++; gap <= apart+1 {
				kept = append(kept, "")
			}
			continue
		}
		// Its own string: the other would keep the whole text.
		kept, gap = append(kept, own), 0
	}
	d.terms = slices.Clip(kept)
}

// judge reads the candidates and ranks them by all that is known of them.
func (f *field) judge(ctx context.Context, c corpus, q *question, candidates []int) ([]ranked, error) {
	var wanted []turn.Place
	for _, i := range candidates {
		wanted = append(wanted, f.at[i])
		if f.before(i) > 0 {
			wanted = append(wanted, f.at[i-1])
		}
	}
	slices.SortFunc(wanted, comparePlaces)
	docs, err := c.read(ctx, slices.Compact(wanted))
	if err != nil {
		return nil, err
	}
	judge := newJudge(q, f.clues, docs)
	var list []ranked
	for _, i := range candidates {
		doc := docs[f.at[i]]
		if doc == nil {
			continue
		}
		context := f.context(i)
		if f.before(i) > 0 {
			if question := docs[f.at[i-1]]; question != nil && question.asks {
				context += answerWeight * f.before(i)
			}
		}
		r := judge.of(doc, context)
		r.Place = f.at[i]
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	return list, nil
}

// judge knows how much words are worth.
type judge struct {
	q      *question
	clues  []clue
	total  float64
	length float64 // of a usual document
}

func newJudge[K comparable](q *question, clues []clue, docs map[K]*document) *judge {
	j := &judge{q: q, clues: clues, total: 1e-9}
	terms := 0
	for _, doc := range docs {
		terms += doc.length
	}
	j.length = max(1, float64(terms)/float64(max(1, len(docs))))
	for _, c := range clues {
		j.total += c.weight
	}
	return j
}

// of judges a document by its words and what it gets for those around it.
func (j *judge) of(d *document, context float64) ranked {
	r := ranked{doc: d}
	counts := make(map[string]float64, len(d.terms))
	for _, term := range d.terms {
		counts[term]++
	}
	norm := saturation * (1 - lengthShare + lengthShare*float64(d.length)/j.length)
	for _, c := range j.clues {
		count := counts[c.term]
		for _, other := range c.others {
			count += familyShare * counts[other]
		}
		if count > 0 {
			r.score += c.weight * count * (saturation + 1) / (count + norm)
			r.why = append(r.why, j.q.spoken[c.term])
		}
	}
	if len(r.why) > 1 {
		r.score += togetherWeight * j.together(d)
	}
	r.score = (r.score + context) / j.total
	if j.q.speaker != "" && j.q.speaker == d.role || slices.ContainsFunc(d.names, j.asked) {
		r.score *= 1 + speakerWeight
	}
	if j.q.when && overlaps(d.terms, timely()) {
		r.score *= 1 + timelyWeight
	}
	r.score = (r.score + dateWeight*j.q.date.agrees(d.date)) * d.prior
	return r
}

func (j *judge) asked(name string) bool {
	return slices.ContainsFunc(j.q.terms, func(w wanted) bool { return w.term == name })
}

// apart is how many words may stand between two that stand together.
const apart = 2

// together counts the neighbours in the query that are neighbours in the document, in the same order.
func (j *judge) together(d *document) (n float64) {
	for _, pair := range j.q.pairs {
		for at, term := range d.terms {
			if term == pair[0] && slices.Contains(d.terms[at+1:min(len(d.terms), at+2+apart)], pair[1]) {
				n++
				break
			}
		}
	}
	return n
}
