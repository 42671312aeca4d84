package recall

import (
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/words"
	"github.com/turnstone-dev/turnstone/turn"
)

// maxTerms bounds how many words of a query are looked for, the first.
const maxTerms = 32

// question is a query as it is looked for.
type question struct {
	text   string
	terms  []wanted
	pairs  [][2]string       // the terms that follow each other in the query, each pair once
	spoken map[string]string // the words of the query by their terms
	when   bool              // it asks for a time
	date   calendar          // it names one
	// speaker is whose words are asked for: the user's own, the agent's, or nobody's in particular.
	speaker turn.Role
}

// wanted is a word of a query.
type wanted struct {
	term   string
	others []string // the rest of its family
}

// ask reads a query. There are no terms in one that has no word.
func ask(text string) *question {
	q := &question{text: strings.TrimSpace(text), spoken: make(map[string]string), date: readCalendar(text)}
	all := words.Terms(text)
	for _, field := range strings.Fields(text) {
		for _, term := range words.Terms(field) {
			if q.spoken[term] == "" {
				q.spoken[term] = strings.ToLower(strings.TrimFunc(field, notWord))
			}
		}
	}
	order := slices.DeleteFunc(slices.Clone(all), func(term string) bool { return stopped()[term] })
	if len(order) == 0 {
		order = all
	}
	q.want(order)
	q.when = asksWhen(all)
	first, second := overlaps(all, firstPerson), overlaps(all, secondPerson)
	switch {
	case first && !second:
		q.speaker = turn.User
	case second && !first:
		q.speaker = turn.Agent
	}
	return q
}

// want reads the terms that are looked for, in their order.
func (q *question) want(order []string) {
	seen, together := make(map[string]bool), make(map[[2]string]bool)
	for i, term := range order {
		if !seen[term] {
			if len(q.terms) == maxTerms {
				return
			}
			seen[term] = true
			q.terms = append(q.terms, wanted{term, relatives()[term]})
		}
		if i == 0 {
			continue
		}
		if pair := [2]string{order[i-1], term}; !together[pair] {
			together[pair] = true
			q.pairs = append(q.pairs, pair)
		}
	}
}

// sets are the terms that items of memory are asked for: all words together, and each with its family alone.
func (q *question) sets() [][]string {
	var sets [][]string
	var every []string
	for _, w := range q.terms {
		every = append(every, w.term)
		sets = append(sets, []string{w.term})
		for _, other := range w.others {
			sets = append(sets, []string{other})
		}
	}
	if len(every) > 1 {
		sets = append(sets, every)
	}
	return sets
}

// matter are the terms that a document is judged by, each with itself.
func (q *question) matter() map[string]string {
	all := make(map[string]string)
	for _, w := range q.terms {
		all[w.term] = w.term
		for _, other := range w.others {
			all[other] = other
		}
	}
	for _, pair := range q.pairs {
		all[pair[0]], all[pair[1]] = pair[0], pair[1]
	}
	for term := range timely() {
		all[term] = term
	}
	return all
}

func notWord(r rune) bool { return len(words.Terms(string(r))) == 0 }

var (
	firstPerson  = termSet("i me my mine we us our i'm i've i'd")
	secondPerson = termSet("you your yours you've you'd")
	spansOfTime  = termSet("date day week month year time")
)

func overlaps(terms []string, set map[string]bool) bool {
	return slices.ContainsFunc(terms, func(term string) bool { return set[term] })
}

// asksWhen reports whether a question that begins like this wants a time for an answer.
func asksWhen(terms []string) bool {
	for i, term := range terms {
		next := ""
		if i+1 < len(terms) {
			next = terms[i+1]
		}
		switch term {
		case "when":
			if i == 0 {
				return true
			}
		case "how":
			if next == "long" {
				return true
			}
		case "what", "which":
			if spansOfTime[next] {
				return true
			}
		}
	}
	return false
}
