package prompt

import (
	"errors"
	"slices"
	"testing"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestAPassThatLosesSomethingIsNotMade(t *testing.T) {
	word := func(seq int64, text string) block {
		return block{
			Range: turn.Range{From: seq, To: seq}, said: true,
			messages: []Message{{Role: User, Seqs: []int64{seq}, Parts: []Part{{Text: text}}}},
		}
	}
	one, two, three := word(1, "one"), word(2, "two"), word(3, "three")
	goal := &cortex.Goal{ID: "g", Title: "Ship it"}
	ch := change{from: 5, pins: []turn.Range{two.Range}}
	whole := func() *Projection {
		return &Projection{
			epoch: Epoch{
				Goal: goal, Kept: []Kept{{one.Range, Said}, {two.Range, Pinned}}, Paged: []Handle{{Range: three.Range, Messages: 1}},
			},
			frozen:   frozen{kept: []block{one, two}},
			messages: []Message{{Role: System, Parts: []Part{{Text: "Be brief.\n\n" + goalBlock(goal)}}}},
		}
	}
	blocks := []block{one, two, three, {Range: turn.Range{From: 4, To: 4}}}
	if err := whole().proved(blocks, ch); err != nil {
		t.Fatal(err)
	}
	for name, lose := range map[string]func(*Projection){
		"a message":         func(p *Projection) { p.kept = p.kept[1:] },
		"a word":            func(p *Projection) { p.kept = []block{word(1, "on"), two} },
		"a handle":          func(p *Projection) { p.epoch.Paged = nil },
		"a pin":             func(p *Projection) { p.epoch.Kept[1].Why = Said },
		"the goal":          func(p *Projection) { p.messages[0].Parts[0].Text = "Be brief." },
		"part of a message": func(p *Projection) { p.epoch.Paged[0].Range = turn.Range{From: 4, To: 4} },
	} {
		p := whole()
		lose(p)
		if err := p.proved(blocks, ch); !errors.Is(err, errLost) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

func TestAQuoteThatIsLostIsFound(t *testing.T) {
	agent := func(seq int64, text string) turn.Turn {
		return turn.Turn{Seq: seq, Role: turn.Agent, Kind: turn.KindTurn, Content: turn.Text{Text: text}}
	}
	const one, two, three, four = "We decided on alpha.", "We decided on beta.", "We decided on gamma.", "We decided on delta."
	before := &Projection{
		epoch:  Epoch{Quotes: []Quote{{Turn: 4, To: 20}, {Turn: 6, To: 20, Tokens: 90}, {Turn: 7, To: 19}}, Unquoted: []turn.Range{{From: 1, To: 3}}},
		frozen: frozen{quotes: []string{one, two, three}},
	}
	left := []turn.Turn{agent(9, four), agent(10, one), agent(11, "nothing")}
	unseen := turn.Range{From: 8, To: 8}
	whole := func() *Projection {
		return &Projection{
			epoch: Epoch{
				Quotes:   []Quote{{Turn: 7, To: 19}, {Turn: 9, To: 20}},
				Unquoted: []turn.Range{{From: 1, To: 4}, {From: 6, To: 6}, {From: 8, To: 8}},
			},
			frozen: frozen{quotes: []string{three, four}},
		}
	}
	lost := func(p *Projection) []turn.Range {
		quoted := p.quoted()
		p.messages = []Message{{Role: Note, Parts: []Part{{Text: quoted.note()}}}}
		lost, err := p.lost(before, left, unseen, "")
		if err != nil {
			t.Fatal(err)
		}
		return lost
	}
	if got := lost(whole()); len(got) > 0 {
		t.Fatal(got)
	}
	for name, lose := range map[string]func(*Projection){
		"what was quoted before":         func(p *Projection) { p.epoch.Quotes, p.quotes = p.epoch.Quotes[1:], p.quotes[1:] },
		"what left":                      func(p *Projection) { p.epoch.Quotes, p.quotes = p.epoch.Quotes[:1], p.quotes[:1] },
		"a word":                         func(p *Projection) { p.quotes[1] = "We decided on delt." },
		"what is named instead":          func(p *Projection) { p.epoch.Unquoted[0].To = 3 },
		"what was named by first words":  func(p *Projection) { p.epoch.Unquoted[1] = turn.Range{From: 5, To: 5} },
		"a part of what was named":       func(p *Projection) { p.epoch.Unquoted[0].From = 2 },
		"what was not looked at":         func(p *Projection) { p.epoch.Unquoted = p.epoch.Unquoted[:2] },
		"all but the first words of one": func(p *Projection) { p.epoch.Quotes[1] = Quote{Turn: 12, To: 20, Tokens: 9} },
	} {
		p := whole()
		lose(p)
		missing := lost(p)
		if len(missing) == 0 {
			t.Errorf("without %s it is taken for whole", name)
		}
		for _, r := range missing {
			p.epoch.Unquoted = withTurns(p.epoch.Unquoted, r)
		}
		if still := lost(p); len(still) > 0 {
			t.Errorf("without %s turns %v are lost, and %v when those are named", name, missing, still)
		}
	}
	p := whole()
	p.messages = []Message{{Role: Note, Parts: []Part{{Text: "something else"}}}}
	if _, err := p.lost(before, left, unseen, ""); !errors.Is(err, errLost) {
		t.Errorf("not shown: %v", err)
	}
}

// TestAPassNamesWhatItMissed has a pass find less than there is to quote: it is made, and what was missed is named.
func TestAPassNamesWhatItMissed(t *testing.T) {
	window, err := budget.WindowOf(4096)
	if err != nil {
		t.Fatal(err)
	}
	counter := budget.NewCounter(budget.Profile{Name: "m", Context: 4096}, nil, false, budget.Calibration{})
	c := &compiler{request: Request{Window: window, Counter: counter, Session: turn.SessionInfo{Head: 3}}}
	p := newProjection(Epoch{Number: 1, Renderer: Renderer, Path: anywhere, From: 1}, Sealed{}, frozen{}, counter, Renderer)
	turns := []turn.Turn{
		{Seq: 1, Role: turn.Agent, Kind: turn.KindTurn, Content: turn.Text{Text: "We decided on alpha."}},
		{Seq: 2, Role: turn.Agent, Kind: turn.KindTurn, Content: turn.Text{Text: "nothing"}},
		{Seq: 3, Role: turn.User, Kind: turn.KindTurn, Content: turn.Text{Text: "go on"}},
	}
	for _, u := range turns {
		p.push(u)
	}
	l := leaving{Range: turn.Range{From: 1, To: 2}, turns: turns[:2], from: 1}
	next, err := c.after(p, ReasonFull, &l, change{from: 3, passes: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := next.quoted().unquoted; !slices.Equal(got, []turn.Range{{From: 1, To: 1}}) || next.epoch.Number != 2 || c.opened.Number != 2 {
		t.Errorf("epoch %d names turns %v", next.epoch.Number, got)
	}
}

func TestQuotesThatOverlapBecomeOne(t *testing.T) {
	const wording = "abcdefghijklmnopqrstuvwxyz"
	for _, tt := range []struct {
		add  Quote
		want []string
	}{
		{Quote{From: 5, To: 9}, []string{"cdefghijkl", "uvwx"}},
		{Quote{From: 12, To: 20}, []string{"cdef", "ijkl", "mnopqrst", "uvwx"}},
		{Quote{From: 0, To: 26}, []string{wording}},
		{Quote{From: 25, To: 26}, []string{"cdef", "ijkl", "uvwx", "z"}},
	} {
		q := quotedTurn{quotes: []Quote{{From: 2, To: 6}, {From: 8, To: 12}, {From: 20, To: 24}}, texts: []string{"cdef", "ijkl", "uvwx"}}
		q.insert(tt.add, wording)
		for i, o := range q.quotes {
			if wording[o.From:o.To] != q.texts[i] {
				t.Errorf("%v is not %q", o, q.texts[i])
			}
		}
		if !slices.Equal(q.texts, tt.want) {
			t.Errorf("with %v there are %q", tt.add, q.texts)
		}
	}
}
