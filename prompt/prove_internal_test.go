package prompt

import (
	"errors"
	"testing"

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
