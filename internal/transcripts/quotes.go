package transcripts

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// decides is something that the agent decided and no summary may take the place of: mostly short, now and then long,
// sometimes what was decided before.
func (r *run) decides() string {
	if len(r.decided) > 0 && r.rand.IntN(5) == 0 {
		return pick(r.rand, r.decided...)
	}
	text := fmt.Sprintf("We decided to put the %s into port %d", r.words(2), r.rand.IntN(1e6))
	if r.rand.IntN(6) == 0 {
		text += ", since " + r.words(20+r.rand.IntN(120))
	}
	text = pick(r.rand, "", "Fine. ", "- ", "[DECISION] ") + text + "."
	r.decided = append(r.decided, text)
	return text
}

var (
	quotedLine = regexp.MustCompile(`^- turn (\d+), \d+ tokens: ".*"$`)
	moreLine   = regexp.MustCompile(`^There is more of it in (?:turn (\d+): look it up by its number|turns (\d+[,-][0-9, -]+): look them up by their numbers)\.$`)
)

// quotesIn is the note of a prompt that quotes, and the turns that it only names, read from its words alone.
func quotesIn(p *prompt.Prompt) (note string, named []turn.Range) {
	for _, m := range p.Messages {
		if m.Role != prompt.Note || !strings.Contains(m.Parts[0].Text, "\nDecided before, or to be kept word for word") {
			continue
		}
		note = m.Parts[0].Text + "\n"
		for line := range strings.SplitSeq(note, "\n") {
			if f := quotedLine.FindStringSubmatch(line); f != nil {
				named = append(named, rangeOf(f[1], ""))
			}
			if f := moreLine.FindStringSubmatch(line); f != nil {
				for item := range strings.SplitSeq(f[1]+f[2], ", ") {
					from, to, _ := strings.Cut(item, "-")
					named = append(named, rangeOf(from, to))
				}
			}
		}
	}
	return note, named
}

// quotes checks that everything in the conversation that may not be rewritten is in the prompt byte for byte, or
// named by it: what was decided and what the session's mode protects, but for the user's own words. Of turns that were
// written in another mode only the decisions are sure to be there.
func (r *run) quotes(p *prompt.Prompt) error {
	shown := shownIn(p)
	note, named := quotesIn(p)
	says := make(map[string][]int64)
	for seq := int64(1); seq <= r.head; seq++ {
		if !r.shows(seq) || r.pending(seq) || r.said[seq].Role == turn.User {
			continue
		}
		t := turn.Turn{Seq: seq, Role: r.said[seq].Role, Kind: turn.KindTurn, Content: r.said[seq].Content}
		source := compress.Source{Turns: []turn.Turn{t}}
		mode := r.mode
		if seq <= r.moded {
			mode = ""
		}
		for _, q := range source.Quotes(mode) {
			words := compress.Wording(&t)[q.From:q.To]
			says[words] = append(says[words], seq)
		}
	}
	for words, seqs := range says {
		switch {
		case slices.ContainsFunc(seqs, func(seq int64) bool { return shown[seq] != nil }):
		case strings.Contains(note, words):
			r.stats.Quoted++
		case slices.ContainsFunc(seqs, func(seq int64) bool {
			return slices.ContainsFunc(named, func(n turn.Range) bool { return n.From <= seq && seq <= n.To })
		}):
			r.stats.Unquoted++
		default:
			return fmt.Errorf("turns %v say %q, which is neither quoted nor named: %s", seqs, words, note)
		}
	}
	return nil
}
