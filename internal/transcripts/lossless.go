package transcripts

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// shownIn is the message that shows each turn.
func shownIn(p *prompt.Prompt) map[int64]*prompt.Message {
	shown := make(map[int64]*prompt.Message)
	for i, m := range p.Messages {
		for _, seq := range m.Seqs {
			shown[seq] = &p.Messages[i]
		}
	}
	return shown
}

// named is what the notes of a prompt name, read from their words alone.
type named struct {
	turns   []turn.Range // that left
	handles []handle     // of what the user said and is not shown
}

type handle struct {
	turn.Range
	several bool
	first   string // the first words of a single message
}

var (
	turnsLine   = regexp.MustCompile(`^Turns (\d+) to (\d+) of this conversation`)
	handlesLine = regexp.MustCompile(`^- turns? (\d+)(?: to (\d+))?(?:, \d+ tokens: (".*")|: (?:\d+ messages, \d+ tokens|not counted))$`)
)

// namedIn reads the notes of a prompt.
func namedIn(p *prompt.Prompt) (n named, err error) {
	for _, m := range p.Messages {
		if m.Role != prompt.Note {
			continue
		}
		lines := strings.Split(m.Parts[0].Text, "\n")[1:]
		if f := turnsLine.FindStringSubmatch(lines[0]); f != nil {
			n.turns = append(n.turns, rangeOf(f[1], f[2]))
		}
		if !strings.HasPrefix(lines[0], "Messages of the user that stand in the log") {
			continue
		}
		for _, line := range lines[1:] {
			f := handlesLine.FindStringSubmatch(line)
			if f == nil {
				return n, fmt.Errorf("%q is no handle", line)
			}
			h := handle{Range: rangeOf(f[1], f[2]), several: f[3] == ""}
			if !h.several {
				if h.first, err = strconv.Unquote(f[3]); err != nil {
					return n, fmt.Errorf("%q is no handle: %w", line, err)
				}
			}
			n.handles = append(n.handles, h)
		}
	}
	return n, nil
}

func rangeOf(from, to string) turn.Range {
	if to == "" {
		to = from
	}
	first, _ := strconv.ParseInt(from, 10, 64)
	last, _ := strconv.ParseInt(to, 10, 64)
	return turn.Range{From: first, To: last}
}

// lossless checks that everything that the user said in the conversation is in the prompt byte for byte, or named by
// a handle of it, and that every other turn is shown or one of those that a note stands for.
func (r *run) lossless(p *prompt.Prompt) error {
	shown := shownIn(p)
	names, err := namedIn(p)
	if err != nil {
		return err
	}
	for seq := int64(1); seq <= r.head; seq++ {
		if !r.shows(seq) || r.pending(seq) {
			continue
		}
		user := r.said[seq].Role == turn.User
		if m := shown[seq]; m != nil {
			if user && !verbatim(m, r.said[seq].Content) {
				return fmt.Errorf("turn %d is shown as %v, was %+v", seq, m.Parts, r.said[seq].Content)
			}
			if user && seq < p.From {
				r.stats.Said++
			}
			continue
		}
		within := func(n turn.Range) bool { return n.From <= seq && seq <= n.To }
		if !slices.ContainsFunc(names.turns, within) {
			return fmt.Errorf("turn %d is neither shown nor among those that left: %v", seq, names.turns)
		}
		if !user {
			continue
		}
		i := slices.IndexFunc(names.handles, func(h handle) bool { return within(h.Range) })
		if i < 0 {
			return fmt.Errorf("turn %d of the user is neither shown nor named: %+v", seq, names.handles)
		}
		if err := r.quoted(names.handles[i]); err != nil {
			return err
		}
		r.stats.Named++
	}
	return nil
}

// verbatim reports whether a message has the content as it was said.
func verbatim(m *prompt.Message, c turn.Content) bool {
	return m.Role == prompt.User && slices.ContainsFunc(m.Parts, func(p prompt.Part) bool {
		switch c := c.(type) {
		case turn.Text:
			return p.Text == c.Text
		case turn.Speech:
			return p.Text == c.Transcript
		case turn.Image:
			return p.Image != nil && p.Image.Alt == c.Alt && p.Image.MediaType == c.MediaType
		case turn.Action:
			return strings.Contains(p.Text, c.Name) && strings.Contains(p.Text, c.Target) && strings.HasSuffix(p.Text, c.Payload)
		}
		return false
	})
}

// quoted checks that the handle of a single message begins as the message does.
func (r *run) quoted(h handle) error {
	if h.several {
		return nil
	}
	first, cut := strings.CutSuffix(h.first, " …")
	var text string
	for seq := h.From; seq <= h.To && text == ""; seq++ {
		switch c := r.said[seq].Content.(type) {
		case turn.Text:
			text = c.Text
		case turn.Speech:
			text = c.Transcript
		default:
			continue
		}
		if seq != h.From && !r.together(h.From, seq) {
			text = ""
		}
	}
	text = strings.Join(strings.Fields(text), " ")
	if text != "" && (!strings.HasPrefix(text, first) || !cut && first != text) {
		return fmt.Errorf("the handle of turn %d quotes %q of %q", h.From, h.first, text)
	}
	return nil
}

// keeps checks that the active goal stands in the prompt with all of its milestones and locked decisions.
func (r *run) keeps(p *prompt.Prompt) error {
	state, err := r.session.Intentions(r.ctx, true)
	if err != nil {
		return err
	}
	goal, ok := state.ActiveGoal()
	if !ok {
		return nil
	}
	must := []string{goal.Title}
	for _, m := range goal.Milestones {
		mark := map[cortex.MilestoneStatus]string{cortex.MilestoneCompleted: "[x] ", cortex.MilestoneInProgress: "[~] "}
		must = append(must, mark[m.Status]+m.Description)
	}
	for _, d := range goal.Decisions {
		must = append(must, d.Description+" (locked)")
	}
	text := p.Late
	for _, m := range p.Messages {
		if m.Role == prompt.System && len(m.Seqs) == 0 {
			text += m.Parts[0].Text
		}
	}
	for _, m := range must {
		if !strings.Contains(text, m) {
			return fmt.Errorf("%q of the active goal is not in it", m)
		}
		r.stats.Decisions++
	}
	return nil
}

// honest checks that nothing stands in the prompt that somebody put into the user's mouth.
func (r *run) honest(p *prompt.Prompt) error {
	for i, m := range p.Messages {
		for _, part := range m.Parts {
			if strings.Contains(part.Text, "zebra9") {
				return fmt.Errorf("message %d has what the user never said: %q", i, part.Text)
			}
		}
	}
	return nil
}

// shares checks that the checkpoints keep to their share of the window. Those of a larger one stay as they are until
// the next pass.
func (r *run) shares(p *prompt.Prompt) error {
	if r.shrunk {
		return nil
	}
	for _, line := range p.Account.Lines {
		if line.Part == budget.Checkpoints && line.Count.Upper() > p.Window.Usable*30/100 {
			return fmt.Errorf("%d checkpoints take %d tokens of %d", len(p.Checkpoints), line.Count.Upper(), p.Window.Usable)
		}
	}
	return nil
}
