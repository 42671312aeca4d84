package turnstone

import (
	"cmp"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/compress/literal"
	"github.com/turnstone-dev/turnstone/internal/redact"
	"github.com/turnstone-dev/turnstone/turn"
)

// Repeat is a turn that stays, and says something word for word that a turn said which is forgotten.
type Repeat struct {
	Session string    `json:"session_id"`
	Seq     int64     `json:"seq"`
	TurnID  string    `json:"turn_id"`
	Role    turn.Role `json:"role"`
	// Texts are the literals that it repeats or, where it repeats only words, the first sentence that does: in a preview alone.
	Texts []string `json:"texts,omitempty"`
}

// repeatable is what turns say that others may repeat: literals, such as names in code, numbers, paths and addresses, and words in a row.
type repeatable struct {
	literals map[string]bool
	runs     redact.Runs
}

func (r *repeatable) add(text string) {
	for _, word := range literalsOf(text) {
		r.literals[strings.ToLower(word)] = true
	}
	r.runs.Add(text)
}

// in returns which of the literals a text says, as it writes them, and whether it says anything at all of it.
func (r *repeatable) in(text string) (literals []string, says bool) {
	for _, word := range literalsOf(text) {
		if r.literals[strings.ToLower(word)] {
			literals = append(literals, word)
		}
	}
	return literals, len(literals) > 0 || r.runs.Hit(text)
}

// sentence returns the first one of a text that says some of it, and the text where none does by itself.
func (r *repeatable) sentence(text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		for sentence := range strings.SplitAfterSeq(line, ". ") {
			if r.runs.Hit(sentence) {
				return strings.TrimSpace(sentence)
			}
		}
	}
	return text
}

func literalsOf(text string) (found []string) {
	const shortest = 4 // bytes that a number must have to be no coincidence
	for _, l := range literal.Find(text) {
		if word := text[l.Start:l.End]; l.Kind != literal.Number || len(word) >= shortest {
			found = append(found, word)
		}
	}
	return found
}

// maxRepeats bounds how many a receipt lists.
const maxRepeats = 64

// repeated notes a turn that stays, if it repeats something. Copies of a turn are forgotten together: they are one.
func (f *forgetting) repeated(segment int64, t *turn.Turn, texts []string) {
	var literals []string
	sentence := ""
	for _, text := range texts {
		found, says := f.said.in(text)
		literals = append(literals, found...)
		if says && sentence == "" {
			sentence = shortened(f.said.sentence(text))
		}
	}
	if sentence == "" {
		return
	}
	owner := f.shows(segment, t.Seq)
	if owner.Importing() || f.target.User != "" && owner.User == f.target.User {
		return // nobody can ask for it, or it goes too
	}
	r := Repeat{Session: owner.Session, Seq: t.Seq, TurnID: t.ID, Role: t.Role}
	if f.target.Preview {
		slices.Sort(literals)
		if r.Texts = slices.Compact(literals); len(r.Texts) == 0 {
			r.Texts = []string{sentence}
		}
		r.Texts = r.Texts[:min(len(r.Texts), maxTouchedEach)]
	}
	home := f.target.Session
	if other, met := f.repeats[t.ID]; !met || r.Session == home || other.Session != home && r.Session < other.Session {
		f.repeats[t.ID] = r
	}
}

// shows returns a session that shows the turn at that place, the one that was asked for if it does.
func (f *forgetting) shows(segment, seq int64) (owner turn.SessionInfo) {
	for _, info := range f.family {
		if info.Segment == segment {
			owner = info
		}
		if info.Session == f.target.Session && slices.ContainsFunc(info.Spans(info.Head), func(s turn.Span) bool {
			return s.Segment == segment && s.From <= seq && seq <= s.To
		}) {
			return info
		}
	}
	return owner
}

// nameRepeats puts turns that repeat something into a receipt, those of the session that was asked for first, in one order on every store.
func (r *Receipt) nameRepeats(found []Repeat, more int) {
	order := func(session string) int {
		if len(r.Sessions) > 0 && session == r.Sessions[0] {
			return 0
		}
		return 1
	}
	all := slices.Concat(r.Repeats, found)
	met := make(map[string]bool, len(all))
	all = slices.DeleteFunc(all, func(r Repeat) bool {
		before := met[r.TurnID]
		met[r.TurnID] = true
		return before
	})
	slices.SortStableFunc(all, func(a, b Repeat) int {
		return cmp.Or(cmp.Compare(order(a.Session), order(b.Session)), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Seq, b.Seq))
	})
	r.RepeatsMore += more
	if len(all) > maxRepeats {
		r.RepeatsMore += len(all) - maxRepeats
		all = all[:maxRepeats]
	}
	r.Repeats = all
}
