package compress

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/turn"
)

// Measure counts what matters in a source: decisions, open requests, files, next steps, sentences that the
// mode protects, and literals; and how much of it the text of a prompt holds, in its own or in nearly the
// same words, or can look up: by the number of a turn in the [Handles] of its checkpoints, or because what is of that
// kind in the turn is reached in another way, which reached says; it may be nil, and the kind of a literal is
// empty. What the user said, and whatever else stays
// beside the summary, counts too: the prompt is to hold it word for word. Named is how many of those that are held can
// only be looked up.
func Measure(s Source, mode, text string, handles []turn.Range, reached func(seq int64, kind FactKind) bool) (held, named, total int) {
	s.Beside = nil
	facts := s.required(mode, sayings(s.Turns))
	places := s.literals(facts)
	handled := func(seq int64, kind FactKind) bool {
		return covered(handles, seq) || reached != nil && reached(seq, kind)
	}

	hay := newHaystack(text)
	for _, f := range missing(facts, hay) {
		if handled(f.Seq, f.Kind) {
			named++
		} else {
			held--
		}
	}
	for _, p := range places {
		if !p.matters() {
			continue
		}
		total++
		if hay.holds(p.text) {
			held++
		} else if handled(p.first, "") || handled(p.last, "") {
			held++
			named++
		}
	}
	return held + len(facts), named, total + len(facts)
}

// Handles are the turns of its range that a checkpoint's summary names as those that say more, in its last line:
// "More: turns 3, 17-19". They are ascending and apart. What stands anywhere else, whoever said it, names
// nothing.
func Handles(summary string, within turn.Range) []turn.Range {
	summary = strings.TrimSpace(summary)
	list, ok := strings.CutPrefix(strings.TrimSpace(summary[strings.LastIndexByte(summary, '\n')+1:]), moreTurns)
	if !ok {
		return nil
	}
	var all []turn.Range
	for item := range strings.SplitSeq(list, ",") {
		if r, ok := handleOf(strings.TrimSpace(item)); ok && r.From >= within.From && r.To <= within.To {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b turn.Range) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	var apart []turn.Range
	for _, r := range all {
		if last := len(apart) - 1; last >= 0 && r.From <= apart[last].To+1 {
			apart[last].To = max(apart[last].To, r.To)
			continue
		}
		apart = append(apart, r)
	}
	return apart
}

// handleOf reads "3" or "17-19".
func handleOf(item string) (turn.Range, bool) {
	first, last, several := strings.Cut(item, "-")
	from, err := strconv.ParseInt(first, 10, 64)
	if err != nil || from < 1 {
		return turn.Range{}, false
	}
	if !several {
		return turn.Range{From: from, To: from}, true
	}
	to, err := strconv.ParseInt(last, 10, 64)
	return turn.Range{From: from, To: to}, err == nil && to >= from
}
