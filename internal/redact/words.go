// Package redact is how what was made of forgotten words is found and taken out of documents: texts that say
// what nobody but the forgotten said.
package redact

import "github.com/turnstone-dev/turnstone/internal/words"

// Words are what only some texts say: single words, and runs of three. The zero value is of no text and hits
// nothing. It is not safe for concurrent use while it is changed.
type Words struct {
	said map[string]struct{}
}

// shortest is how many bytes a word must have to give away something by itself.
const shortest = 3

// run is how many words that follow each other give away something together, however common each of them is.
const run = 3

// Add takes in what a text says.
func (w *Words) Add(text string) {
	if w.said == nil {
		w.said = make(map[string]struct{})
	}
	each(text, func(said string) bool {
		if _, ordinary := common[said]; !ordinary {
			w.said[said] = struct{}{}
		}
		return true
	})
}

// Spare takes out what a text says too: whoever reads that text knows it anyway.
func (w *Words) Spare(text string) {
	if len(w.said) == 0 {
		return
	}
	each(text, func(said string) bool {
		delete(w.said, said)
		return len(w.said) > 0
	})
}

// Hit reports whether a text says any of it.
func (w *Words) Hit(text string) (hit bool) {
	if len(w.said) == 0 || text == "" {
		return false
	}
	each(text, func(said string) bool {
		_, hit = w.said[said]
		return !hit
	})
	return hit
}

// each calls f with the words and the runs of words of a text until it returns false.
func each(text string, f func(string) bool) {
	terms := words.Terms(text)
	for i, term := range terms {
		if len(term) >= shortest && !f(term) {
			return
		}
		if i+run <= len(terms) && !f(joined(terms[i:i+run])) {
			return
		}
	}
}

func joined(terms []string) string {
	key := terms[0]
	for _, t := range terms[1:] {
		key += "\x00" + t
	}
	return key
}

// common are words that give away nothing by themselves.
var common = func() map[string]struct{} {
	set := make(map[string]struct{})
	for _, term := range words.Terms(`the and that have for not with you this but his from they say her she will one all would
		there their what out about who get which when make can like time just him know take people into year your good some could
		them see other than then now look only come its over think also back after use two how our work first well way even new want
		because any these give day most are was were been has had did does done being here very much many more such each every must
		may might should shall let yes please thanks thank okay tell ask need help something anything nothing thing things still
		same too own why where while until before again both few off once under above between through during own got going goes`) {
		set[term] = struct{}{}
	}
	return set
}()
