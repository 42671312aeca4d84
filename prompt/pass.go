package prompt

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

// maxPass is how many turns a pass looks through at most. Where more were written since the last one, which
// takes a session for which nobody compiled a prompt, the oldest of them are only named.
const maxPass = 16384

// Pass is a compression that compiling made: turns left the prompt, and checkpoints stand for them.
type Pass struct {
	Number int64
	// Range are the turns that left; zero where none did and only checkpoints became smaller.
	Range turn.Range
	// Made are the checkpoints that must be stored with the epoch: one for the range, unless it says too
	// little for a summary, and next versions of older ones.
	Made []compress.Checkpoint
	// Before and After are what the prompt took, without the reserve for the reply.
	Before, After int
	// Drafted says that its summaries were made ahead.
	Drafted bool
	// Mended says that it took nothing out of the prompt: the checkpoint of the range was damaged, and Made is what
	// stands in its place. Its turns are only named where there is none.
	Mended bool
}

// Draft is a pass whose summaries were made ahead, for an epoch and the place where its recent turns are to
// begin.
type Draft struct {
	Epoch   int64
	From    int64
	Outcome compress.Outcome
	// Window, SummaryMax and Pins are what it was made for: the pinned turns then, ascending.
	Window     budget.Window
	SummaryMax int
	Pins       []int64
}

// leaving is what a pass takes out of the prompt.
type leaving struct {
	turn.Range
	turns []turn.Turn // those that were read, whole units only
	from  int64       // the first turn that was looked at
	said  []block     // the user's messages that were not kept before
	// quoted is what is quoted then.
	quoted quotation
}

// unseen are the epoch's turns that were not looked at.
func (l *leaving) unseen(p *Projection) turn.Range {
	return turn.Range{From: max(l.From, p.epoch.From), To: l.from - 1}
}

// leave reads what leaves the prompt when its recent turns begin at seq from and those before seq first are
// of no interest.
func (c *compiler) leave(p *Projection, first, from int64) (leaving, error) {
	l := leaving{Range: turn.Range{From: first, To: from - 1}}
	l.from = max(l.From, from-maxPass)
	turns, err := c.scan(p.epoch.Path, l.from, l.To, false, maxPass)
	if err != nil {
		return l, err
	}
	reader := &Projection{counter: p.counter, epoch: Epoch{Path: p.epoch.Path}, open: make(map[int64][]turn.Turn), digest: newDigest(nil)}
	if err := c.push(reader, turns, l.To); err != nil {
		return l, err
	}
	for _, b := range reader.recent {
		if b.said && b.To >= p.epoch.From {
			l.said = append(l.said, b)
		}
	}
	if l.turns, err = c.whole(p.epoch.Path, turns, l.To); err != nil {
		return l, err
	}
	l.quoted, err = c.quoting(p, &l)
	return l, err
}

// covered is the last turn that a checkpoint stands for, or that lies before the path.
func (p *Projection) covered() int64 {
	if n := len(p.checkpoints); n > 0 {
		return p.checkpoints[n-1].Range.To
	}
	return p.epoch.begin() - 1
}

// whole returns the turns with all of the units that they are of and that were complete at seq to on the path,
// without those that were not, in the order of the log.
func (l *log) whole(path []turn.Range, turns []turn.Turn, to int64) ([]turn.Turn, error) {
	units := map[int64][]turn.Turn{}
	var all []turn.Turn
	for i := range turns {
		if t := turns[i]; t.Unit == 0 {
			all = append(all, t)
		} else if on(path, t.Unit) {
			units[t.Unit] = append(units[t.Unit], t)
		}
	}
	for unit, members := range units {
		if members[0].Seq != unit || !turn.Complete(members) {
			var err error
			if members, err = l.unit(path, unit, to); err != nil {
				return nil, err
			}
		}
		if turn.Complete(members) {
			all = append(all, members...)
		}
	}
	slices.SortFunc(all, func(a, b turn.Turn) int { return cmp.Compare(a.Seq, b.Seq) })
	return slices.CompactFunc(all, func(a, b turn.Turn) bool { return a.Seq == b.Seq }), nil
}

// job returns what a pass has to summarise when the turns leave.
func (c *compiler) job(p *Projection, l *leaving, pinned []turn.Range) (*compress.Job, error) {
	r := &c.request
	pass := compress.Pass{Number: p.epoch.Passes + 1, Quoted: p.noted(&l.quoted)}
	turns := l.turns
	if l.To < p.epoch.From && c.over(p) {
		// No turn can leave: what stands for those that left has to make room.
		pass.Missing, turns = c.missing(p), nil
	}
	if len(turns) > 0 {
		pass.Range = turn.Range{From: l.from, To: l.To}
		most := compress.Cap(compress.Detailed, r.Window, r.Compression.SummaryMaxTokens)
		// A summary has nothing to say of what is quoted, and leaves room for it, so that as many stand side by side.
		pass.Tokens = max(most-most*pass.Quoted/compress.Share(r.Window), 1)
	}
	j := compress.NewJob(pass, p.checkpoints, r.Window, r.Compression.SummaryMaxTokens)
	j.Goal, j.Mode, j.Quoted, j.Count = r.Goal, r.Session.Mode, l.quoted.held(), p.count
	j.New = compress.NewSource(pass.Range, turns, pinned)
	var err error
	if j.Versions, err = c.versions(j.Steps); err != nil {
		return nil, err
	}
	for i := range j.Steps {
		s, err := c.source(p, j, &j.Steps[i], pinned)
		if err != nil {
			return nil, err
		}
		j.Sources = append(j.Sources, s)
	}
	return j, nil
}

// count is how many tokens a text takes at most.
func (p *Projection) count(text string) int { return p.counter.Tokens(p.counter.Text(text)).Upper() }

// source reads what a step is made of.
func (c *compiler) source(p *Projection, j *compress.Job, s *compress.Step, pinned []turn.Range) (compress.Source, error) {
	older := *s
	older.New = false
	var turns []turn.Turn
	for _, r := range older.Sources() {
		found, err := c.scan(p.epoch.Path, r.From, r.To, false, int(r.To-r.From)+1)
		if err != nil {
			return compress.Source{}, err
		}
		turns = append(turns, found...)
	}
	if s.New {
		turns = append(turns, j.New.Turns...)
	}
	turns, err := c.whole(p.epoch.Path, turns, s.Range.To)
	return compress.NewSource(s.Range, turns, pinned), err
}

// versions are the last versions there ever were of the checkpoints that the steps make again.
func (c *compiler) versions(steps []compress.Step) (map[int64]int64, error) {
	versions := map[int64]int64{}
	for i := range steps {
		number := steps[i].Of[len(steps[i].Of)-1].Number
		rows, err := c.checkpoints.Checkpoints(c.ctx, c.request.Session.Tenant, c.spans, number-1, 1)
		if err != nil {
			return nil, fmt.Errorf("checkpoint %d of %s: %w", number, c.session.Session, err)
		}
		for _, r := range rows {
			if r.Number == number {
				versions[number] = max(versions[number], r.Version)
			}
		}
	}
	return versions, nil
}

// pass lets the turns before seq from leave the prompt. Ok is false if that would not make it smaller. Unless it is
// summarised, they and the oldest checkpoints for which there is no room are only named.
func (c *compiler) pass(p *Projection, reason Reason, from int64, pins []int64, draft *Draft, summarised bool) (next *Projection, ok bool, err error) {
	r := &c.request
	first := p.epoch.From
	if summarised && draft == nil {
		// What too little was said of for a summary is summarised with what comes after it.
		first = p.covered() + 1
	}
	l, err := c.leave(p, first, from)
	if err != nil {
		return nil, false, err
	}
	pinned, err := c.pinned(p, pins, from)
	if err != nil {
		return nil, false, err
	}
	made := compress.Outcome{Live: p.checkpoints}
	switch {
	case draft != nil:
		made = draft.Outcome
	case summarised:
		j, err := c.job(p, &l, pinned)
		if err != nil {
			return nil, false, err
		}
		if made, err = r.Pass(c.ctx, j); err != nil {
			return nil, false, err
		}
	}
	ch := change{from: from, pins: pinned, checkpoints: made.Live, quoted: l.quoted, passes: 1}
	opened := c.opened
	next, err = c.after(p, reason, &l, ch)
	for ; err == nil && !summarised && c.drops(p, next); next, err = c.after(p, reason, &l, ch) {
		ch.checkpoints = ch.checkpoints[1:]
		c.opened = opened
	}
	if err != nil {
		return nil, false, err
	}
	before, after := p.total(), next.total()
	// What was not read is not counted either, and gone.
	if p.begin == p.epoch.From && after > before-c.gain(p) {
		c.opened = opened
		return nil, false, nil
	}
	pass := Pass{Number: next.epoch.Passes, Made: made.Made, Before: before, After: after, Drafted: draft != nil}
	if from > p.epoch.From {
		pass.Range = turn.Range{From: p.epoch.From, To: from - 1}
	}
	c.passes = append(c.passes, pass)
	return next, true, nil
}

// after returns the projection of the epoch that a pass opens, proved.
func (c *compiler) after(p *Projection, reason Reason, l *leaving, ch change) (*Projection, error) {
	opened := c.opened
	old, err := c.unquoted(p)
	if err != nil {
		return nil, err
	}
	for named := false; ; named = true {
		c.opened = opened
		paged := ch
		if err := c.page(p, l, &paged); err != nil {
			return nil, err
		}
		next, err := c.reopen(p, reason, paged)
		if err != nil {
			return nil, err
		}
		if err := next.proved(slices.Concat(p.kept, l.said), paged); err != nil {
			return nil, err
		}
		lost, err := next.lost(p, slices.Concat(old, l.turns), l.unseen(p), c.request.Session.Mode)
		if err != nil || len(lost) == 0 {
			return next, err
		}
		if named {
			return nil, fmt.Errorf("turn %d, which says what may not be rewritten: %w", lost[0].From, errLost)
		}
		// A session must not end for a quote: whatever was missed can be looked up.
		for _, r := range lost {
			ch.quoted.unquoted = withTurns(ch.quoted.unquoted, r)
		}
	}
}

// drops reports whether the oldest checkpoint must go: they take more than their share, or the prompt does not fit though
// no turn can leave it any more.
func (c *compiler) drops(p, next *Projection) bool {
	if len(next.checkpoints) == 0 {
		return false
	}
	share := compress.Share(c.request.Window)
	return p.counter.Tokens(next.tallies[budget.Checkpoints]).Upper() > share || next.epoch.From == p.epoch.From && c.over(next)
}

// leastGain is how much of the usable window a pass must free at least while the prompt fits.
const leastGain = 0.02

// gain is how many tokens smaller a pass must make the prompt to be worth the break of its prefix.
func (c *compiler) gain(p *Projection) int {
	if c.over(p) {
		return 1
	}
	return max(int(leastGain*float64(c.request.Window.Usable)), 1)
}

// total is what the prompt takes without a late block.
func (p *Projection) total() int { return p.counter.Tokens(p.sum()).Upper() }

func (p *Projection) sum() budget.Tally {
	sum := p.spent
	for _, t := range p.tallies {
		sum = sum.Plus(t)
	}
	return sum
}

// saidRoom is how many tokens the user's words may have besides the last ones: their share, or what the rest
// leaves of the window.
func (p *Projection) saidRoom(w budget.Window, ch *change, last budget.Tally) int {
	left := p.left(w, ch.from, ch.pins, last) - p.noted(&ch.quoted)
	for i := range ch.checkpoints {
		left -= int(ch.checkpoints[i].CurrentTokens) + compress.Frame
	}
	return max(min(int(saidShare*float64(w.Usable)), left), 0)
}

// noted is how many tokens a quotation takes at most.
func (p *Projection) noted(q *quotation) int {
	text := q.note()
	if text == "" {
		return 0
	}
	return p.counter.Tokens(p.tally(&Message{Role: Note, Parts: []Part{{Text: text}}})).Upper()
}

// left is how many tokens are left for what stands for the turns before seq from, beside the rest of the prompt.
func (p *Projection) left(w budget.Window, from int64, pins []turn.Range, rest budget.Tally) int {
	for part, t := range p.tallies {
		if part != budget.Said && part != budget.Checkpoints && part != budget.Recent {
			rest = rest.Plus(t)
		}
	}
	for i := range p.recent {
		if b := &p.recent[i]; b.To >= from || slices.Contains(pins, b.Range) {
			rest = rest.Plus(p.recent[i].tally)
		}
	}
	return w.Usable - w.Reserve - int(lateShare*float64(w.Usable)) - p.counter.Tokens(rest).Upper()
}

// page decides what stays of the user's words when the turns leave.
func (c *compiler) page(p *Projection, l *leaving, ch *change) error {
	must, err := c.withLast(p, ch.from, nil)
	if err != nil {
		return err
	}
	g := pager{counter: p.counter, handles: slices.Clone(p.epoch.Paged), lines: map[turn.Range]string{}}
	for i, h := range p.epoch.Paged {
		g.lines[h.Range] = p.handles[i]
	}
	var pinned []block
	add := func(b block) {
		if slices.Contains(ch.pins, b.Range) {
			pinned = append(pinned, b)
			return
		}
		g.said = append(g.said, b)
	}
	for i, b := range p.kept {
		if b.said && b.To < ch.from && (p.epoch.Kept[i].Why != Undone || !g.names(b.Range)) {
			add(b)
		}
	}
	for _, b := range l.said {
		add(b)
	}
	if len(must) > 0 {
		g.last = must[0].Range
		if !slices.ContainsFunc(slices.Concat(g.said, pinned), func(b block) bool { return b.Range == g.last }) {
			b, err := c.reuse(p, must[0])
			if err != nil {
				return err
			}
			g.said = append(g.said, b)
		}
	}
	if unseen := l.unseen(p); unseen.From <= unseen.To {
		g.name(Handle{Range: unseen}, "")
	}
	slices.SortFunc(g.said, func(a, b block) int { return cmp.Compare(a.To, b.To) })
	var last budget.Tally
	for i := range g.said {
		if g.said[i].Range == g.last {
			last = g.said[i].tally
		}
	}
	g.fit(p.saidRoom(c.request.Window, ch, last))
	for _, b := range pinned {
		ch.said = append(ch.said, Kept{b.Range, Said})
	}
	ch.said = append(ch.said, g.kept()...)
	ch.blocks = slices.Concat(g.said, pinned)
	ch.paged, ch.handles = g.handles, g.texts()
	return nil
}
