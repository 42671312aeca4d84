package simulate

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/compress/literal"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// Survival says what of a conversation its last prompt still holds.
type Survival struct {
	// Said are the user's messages.
	Said Kept
	// Literals are the names, numbers, paths and the like of all turns, each counted once.
	Literals Kept
}

// Kept is how many things stand in a prompt word for word, how many it names by a turn where they can be read,
// and how many it does neither of.
type Kept struct {
	Verbatim, Handle, Lost int
}

// All is how many there are.
func (k Kept) All() int { return k.Verbatim + k.Handle + k.Lost }

func (k *Kept) add(verbatim, handle bool) {
	switch {
	case verbatim:
		k.Verbatim++
	case handle:
		k.Handle++
	default:
		k.Lost++
	}
}

func survived(turns []turn.Turn, p *prompt.Prompt) Survival {
	var s Survival
	text, handles := written(p.Messages), handlesIn(p.Messages)
	shown := make(map[int64]string)
	for i := range p.Messages {
		for _, seq := range p.Messages[i].Seqs {
			shown[seq] += textOf(&p.Messages[i])
		}
	}
	counted := make(map[string]int) // literals: where they stand in order
	var order []string
	var reachable []bool
	for i := range turns {
		t := &turns[i]
		if t.Kind != turn.KindTurn {
			continue
		}
		words := t.Content.Searchable()
		if t.Role == turn.User {
			s.Said.add(strings.Contains(shown[t.Seq], words) && shown[t.Seq] != "", handles[t.Seq])
		}
		for _, l := range literal.Find(words) {
			word := words[l.Start:l.End]
			at, ok := counted[word]
			if !ok {
				at = len(order)
				counted[word] = at
				order, reachable = append(order, word), append(reachable, false)
			}
			reachable[at] = reachable[at] || handles[t.Seq]
		}
	}
	for i, word := range order {
		s.Literals.add(literal.Contains(text, word), reachable[i])
	}
	return s
}

// handle is a list of turns that a note names to be looked up: "turns 3, 17-19".
var handle = regexp.MustCompile(`\bturns? (\d+(?:-\d+)?(?:, ?\d+(?:-\d+)?)*)`)

// maxHandle bounds the range that one handle is taken to name.
const maxHandle = 1 << 20

// handlesIn are the turns that the notes of a prompt name. That turns are not shown, "Turns 1 to 40", names none.
func handlesIn(messages []prompt.Message) map[int64]bool {
	named := make(map[int64]bool)
	for i := range messages {
		if messages[i].Role != prompt.Note {
			continue
		}
		for _, list := range handle.FindAllStringSubmatch(textOf(&messages[i]), -1) {
			for item := range strings.SplitSeq(list[1], ",") {
				first, last, ok := strings.Cut(strings.TrimSpace(item), "-")
				if !ok {
					last = first
				}
				from, err := strconv.ParseInt(first, 10, 64)
				to, errTo := strconv.ParseInt(last, 10, 64)
				if err != nil || errTo != nil || to-from > maxHandle {
					continue
				}
				for seq := from; seq <= to; seq++ {
					named[seq] = true
				}
			}
		}
	}
	return named
}
