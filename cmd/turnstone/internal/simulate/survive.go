package simulate

import (
	"regexp"
	"slices"
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
			s.Said.add(strings.Contains(shown[t.Seq], words) && shown[t.Seq] != "", handles.name(t))
		}
		for _, l := range literal.Find(words) {
			word := words[l.Start:l.End]
			at, ok := counted[word]
			if !ok {
				at = len(order)
				counted[word] = at
				order, reachable = append(order, word), append(reachable, false)
			}
			reachable[at] = reachable[at] || handles.name(t)
		}
	}
	for i, word := range order {
		s.Literals.add(literal.Contains(text, word), reachable[i])
	}
	return s
}

// handles are the turns that the notes of a prompt name, so that they can be read in the log.
type handles struct {
	turns map[int64]bool
	said  []turn.Range // in which all messages of the user are meant
}

// What notes say: "More: turns 3, 17-19" of a summary, "- turn 7, 66 tokens" and "- turns 1 to 9: 4 messages" of
// what the user said. "Turns 1 to 40 of this conversation" names what a summary stands for, and no turn in it.
var (
	listed = regexp.MustCompile(`(?m)^More: turns? (\d+(?:-\d+)?(?:, ?\d+(?:-\d+)?)*)`)
	paged  = regexp.MustCompile(`(?m)^- turns? (\d+)(?: to (\d+))?[,:]`)
)

func handlesIn(messages []prompt.Message) handles {
	h := handles{turns: make(map[int64]bool)}
	for i := range messages {
		if messages[i].Role != prompt.Note {
			continue
		}
		text := textOf(&messages[i])
		for _, list := range listed.FindAllStringSubmatch(text, -1) {
			for item := range strings.SplitSeq(list[1], ",") {
				first, last, _ := strings.Cut(strings.TrimSpace(item), "-")
				r, ok := rangeOf(first, last)
				for seq := r.From; ok && seq <= r.To; seq++ {
					h.turns[seq] = true
				}
			}
		}
		for _, item := range paged.FindAllStringSubmatch(text, -1) {
			if r, ok := rangeOf(item[1], item[2]); ok {
				h.said = append(h.said, r)
			}
		}
	}
	return h
}

// maxHandle bounds the range that one handle is taken to name.
const maxHandle = 1 << 20

// rangeOf is a range as it is written; an empty last means the first alone.
func rangeOf(first, last string) (r turn.Range, ok bool) {
	from, err := strconv.ParseInt(first, 10, 64)
	to := from
	if err == nil && last != "" {
		to, err = strconv.ParseInt(last, 10, 64)
	}
	return turn.Range{From: from, To: to}, err == nil && to-from < maxHandle
}

// name reports whether a turn can be found by them.
func (h *handles) name(t *turn.Turn) bool {
	return h.turns[t.Seq] || t.Role == turn.User && slices.ContainsFunc(h.said, func(r turn.Range) bool { return r.From <= t.Seq && t.Seq <= r.To })
}
