package prompt

import (
	"sort"
	"strings"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/turn"
)

// Prompt is what a model is to be sent. It is never changed.
type Prompt struct {
	// Messages must not be changed; later prompts share them.
	Messages []Message
	Tools    []Definition
	// Window is what it was held against, and Account where every token goes.
	Window  budget.Window
	Account budget.Account
	// Count is what the prompt takes without the reserve for the reply; Tally is what it is made of.
	Count budget.Count
	Tally budget.Tally
	// Model is who it is for.
	Model string
	// Epoch and End say what it was made from; Opened is why the epoch was opened, if this prompt did.
	Epoch  int64
	End    int64
	Opened Reason
	// From is where the recent turns begin: what was completed at From or later is shown in full.
	From int64
	// Path are the turns that it may show.
	Path []turn.Range
	// Checkpoints stand for turns before From, oldest first, and Paged names what the user said in them and
	// is not shown.
	Checkpoints []Ref
	Paged       []Handle
	// Quotes are what it quotes of turns before From that may not be rewritten, and Unquoted the turns that have
	// more of it.
	Quotes   []Quote
	Unquoted []turn.Range
	// Shown is how many turns it shows, Passes how many times turns have left the session's prompts.
	Shown  int64
	Passes int64
	// Generations is how many lossy generations lie between the log and what it shows, 0 where no checkpoint stands in it: the
	// mean of the checkpoints' by their tokens, rounded up. All are made of the turns themselves.
	Generations int
	// Summarisers are the models that made the summaries of its checkpoints; none where no model took part.
	Summarisers []string
	// Settings is the hash of the settings, Late the late block and SHA256 the hash of the whole.
	Settings string
	Late     string
	SHA256   string
	// LeftOut are the items that did not fit into the late block.
	LeftOut []string
}

// compile is assemble for a prompt that is to be sent. A *[budget.OverBudgetError] says where every token
// went if it does not fit.
func (p *Projection) compile(w budget.Window, late string) (*Prompt, error) {
	made, err := p.assemble(w, late)
	if err != nil {
		return nil, err
	}
	if made.Account.Free() < 0 {
		return nil, &budget.OverBudgetError{Account: made.Account}
	}
	return made, nil
}

// assemble puts the prompt together, whether it fits or not.
func (p *Projection) assemble(w budget.Window, late string) (*Prompt, error) {
	made := &Prompt{
		Tools: p.settings.Tools, Window: w,
		Epoch: p.epoch.Number, From: p.epoch.From, End: p.end, Passes: p.epoch.Passes, Settings: p.settings.SHA256, Late: late,
		Path: p.epoch.Path, Checkpoints: p.epoch.Checkpoints, Paged: p.epoch.Paged, Quotes: p.epoch.Quotes, Unquoted: p.epoch.Unquoted,
		Generations: generations(p.checkpoints), Summarisers: summarisers(p.checkpoints),
	}
	var lateTally budget.Tally
	made.Messages = p.messages[:len(p.messages):len(p.messages)]
	if late != "" {
		note := p.rendered(Message{Role: Note, Parts: []Part{{Text: late}}})
		lateTally = p.tally(&note)
		made.Messages = append(made.Messages, note)
	}
	for i := range made.Messages {
		made.Shown += int64(len(made.Messages[i].Seqs))
	}
	var err error
	if made.SHA256, err = p.digest.with(made.Messages[p.hashed:]); err != nil {
		return nil, err
	}
	parts := p.parts(lateTally)
	for _, t := range parts {
		made.Tally = made.Tally.Plus(t)
	}
	made.Count = p.counter.Tokens(made.Tally)
	made.Account = budget.NewAccount(w, p.counter, parts)
	return made, nil
}

// lateShare is how much of the usable window the late block may take.
const lateShare = 0.03

// LateRoom is how many tokens the items of a late block may have together, counted one by one.
func LateRoom(w budget.Window, c *budget.Counter) int {
	share, one := int(lateShare*float64(w.Usable)), budget.Tally{Messages: 1}
	begin := c.Text(noteBegin).Plus(one)
	most := sort.Search(share, func(n int) bool { return addedBy(c, one, begin.Plus(budget.Tally{Prose: n + 1})) > share })
	return c.Tokens(budget.Tally{Prose: most}).Upper()
}

// LateOver is how many tokens a late block of nothing but these items takes beyond its share at most; less than 1 where it fits.
// The items together are not what they are one by one: kinds of text are told apart in the whole block.
func LateOver(w budget.Window, c *budget.Counter, items ...string) int {
	one := budget.Tally{Messages: 1}
	note := c.Text(noteBegin + unforged(strings.Join(items, "\n\n"))).Plus(one)
	count := c.Tokens(note)
	// It is rounded with what stands before it, which may be one more.
	count.Tokens = c.Tokens(one.Plus(note)).Tokens - c.Tokens(one).Tokens + 1
	return count.Upper() - int(lateShare*float64(w.Usable))
}

// addedBy is what a note adds to a prompt at most, as an account has it: what a template wraps around every prompt is there
// without it.
func addedBy(c *budget.Counter, before, note budget.Tally) int {
	count := c.Tokens(note)
	count.Tokens = c.Tokens(before.Plus(note)).Tokens - c.Tokens(before).Tokens
	return count.Upper()
}

// late puts the late block together: what changed about the goal, then as many items as fit, whole. Fits is
// false if not even the progress does.
func (p *Projection) late(w budget.Window, progress string, items []string) (text string, left []string, fits bool) {
	sum := p.sum()
	takes := func(text string) bool {
		note := p.tally(&Message{Role: Note, Parts: []Part{{Text: text}}})
		return addedBy(p.counter, sum, note) <= int(lateShare*float64(w.Usable)) && p.counter.Tokens(sum.Plus(note)).Upper() <= w.Usable-w.Reserve
	}
	if progress != "" {
		text = noteBegin + progress
	}
	if text != "" && !takes(text) {
		return text, items, false
	}
	for _, item := range items {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		longer := text + "\n\n" + item
		if text == "" {
			longer = noteBegin + item
		}
		if !takes(longer) {
			left = append(left, item)
			continue
		}
		text = longer
	}
	return text, left, true
}
