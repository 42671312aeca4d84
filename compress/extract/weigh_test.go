package extract

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// weighed cuts and weighs lines "speaker: text", counting words.
func weighed(rows ...string) *text {
	var lines []Line
	time := ""
	for _, row := range rows {
		if strings.HasPrefix(row, "[") {
			time = row
			continue
		}
		speaker, said, _ := strings.Cut(row, ": ")
		l := Line{Speaker: speaker, Text: said, Time: time, User: speaker == "User"}
		if speaker == "tool" {
			l.Kind, l.Speaker = Result, ""
		}
		lines = append(lines, l)
	}
	return read(lines, "", func(s string) int { return len(strings.Fields(s)) })
}

// weight is what a word adds to the unit it stands in first; 0 if it adds nothing.
func (t *text) weight(text string) float64 {
	for i := range t.units {
		u := &t.units[i]
		for k := range int(u.to - u.from) {
			if w := t.word(u, k); w.core == text {
				for _, x := range t.termsOf(int32(i)) {
					if slices.Contains(w.terms, x.term) || x.lasts && x.term == t.dated(w.terms[0], u.line) {
						return x.weight
					}
				}
				return 0
			}
		}
	}
	return -1
}

func TestTermWeights(t *testing.T) {
	t0 := weighed(
		"Bram: the lantern burns near Liesbeth", "Xanthe: a lantern and a ladder for Bram", "Bram: ladder K100 stands in awesome Kampen",
		"Xanthe: violins play in the harbour of Urk", "Bram: bakeries open early", "Xanthe: she met Liesbeth 42 times yesterday with three lanterns", "Bram: K100 is not K200, the mirror says, unmistakably",
	)
	for _, test := range []struct{ more, less string }{
		{"burns", "lantern"},     // rare, often said
		{"Liesbeth", "ladder"},   // a name
		{"42", "times"},          // a number
		{"K200", "unmistakably"}, // a literal
		{"K100", "K200"},         // one that stands in two lines
		{"times", "awesome"},     // praise
		{"lantern", "Bram"},      // who speaks is said in front
		{"yesterday", "awesome"}, // a time
		{"three", "not"},         // function words are worth nothing
	} {
		if more, less := t0.weight(test.more), t0.weight(test.less); more <= less || less < 0 {
			t.Errorf("%s %.2f, %s %.2f", test.more, more, test.less, less)
		}
	}
	for _, word := range strings.Fields("the near and a for is not she with") {
		if got := t0.weight(word); got != 0 {
			t.Errorf("%s weighs %v", word, got)
		}
	}
}

func TestUnitBoosts(t *testing.T) {
	boost := func(rows ...string) float64 {
		x := weighed(rows...)
		return x.units[len(x.units)-1].boost
	}
	plain := boost("Bram: kettles boil water")
	for _, test := range []struct {
		name   string
		rows   []string
		factor float64
	}{
		{"of the speaker", []string{"Bram: I boil water"}, ofSpeaker},
		{"of the speaker's", []string{"Bram: kettles of our aunt"}, ofSpeaker},
		{"of the listener", []string{"Bram: you boil water"}, ofListener},
		{"of both", []string{"Bram: I see you"}, ofSpeaker},
		{"of the user", []string{"User: kettles boil water"}, ofUser},
		{"open question", []string{"Bram: do kettles boil?"}, open},
		{"statement before", []string{"Xanthe: kettles.", "Bram: kettles boil water"}, 1},
		{"answer", []string{"Xanthe: do kettles?", "Bram: kettles boil water"}, answer},
		{"own answer", []string{"Bram: do kettles?", "Bram: kettles boil water"}, 1},
		{"answer after a tool", []string{"Xanthe: do kettles?", "tool: yes", "Bram: kettles boil water"}, answer},
		{"quotation", []string{`Bram: kettles "boil" water`}, quotation},
		{"decision", []string{"Bram: kettles decided"}, decided},
		{"trouble", []string{"Bram: kettles failed"}, troubled},
		{"error name", []string{"Bram: kettles ENOENT"}, troubled},
		{"tool", []string{"tool: kettles of mine"}, 1},
		{"failed tool", []string{"tool: kettles failed"}, failed},
		{"data", []string{`tool: {"a": "my kettle"}`}, 1},
		{"second of a kind", []string{"Bram: kettle 1 boils", "Bram: kettle 27 boils"}, 0.5},
		{"third of a kind", []string{"tool: a1\na2\na3"}, 1.0 / 3},
		{"other kind", []string{"Bram: kettle 1 boils", "Bram: kettle x boils"}, 1},
	} {
		if got := boost(test.rows...) / plain; got < test.factor-1e-9 || got > test.factor+1e-9 {
			t.Errorf("%s: %v, want %v", test.name, got, test.factor)
		}
	}
	x := weighed("Bram: do kettles boil?", "Xanthe: water does")
	if got := x.units[0].boost; got != asked {
		t.Errorf("answered question: %v, want %v", got, asked)
	}
	x = weighed("Bram: do large kettles boil, but who cares? water does")
	if x.units[0].boost != open || x.units[1].boost != open || x.units[2].boost != 1 {
		t.Errorf("a question in two parts: %v, %v, and then %v", x.units[0].boost, x.units[1].boost, x.units[2].boost)
	}
	x = weighed("Bram: do kettles boil?", "Bram: well", "Xanthe: water does")
	if got := x.units[0].boost; got != asked {
		t.Errorf("question answered later: %v, want %v", got, asked)
	}
}

// TestTimes checks that a time word is another term under another date.
func TestTimes(t *testing.T) {
	x := weighed("[9 May]", "Bram: kettles yesterday", "Bram: ladders yesterday", "[10 May]", "Bram: mirrors yesterday")
	var ids []int32
	for i := range x.units {
		for _, w := range x.termsOf(int32(i)) {
			if w.lasts {
				ids = append(ids, w.term)
			}
		}
	}
	if len(ids) != 3 || ids[0] != ids[1] || ids[1] == ids[2] {
		t.Errorf("terms %v", ids)
	}
}

// TestRepetition checks what a term is worth when it is kept already.
func TestRepetition(t *testing.T) {
	x := weighed("Bram: kettle", "Bram: kettle", "Bram: K100", "Bram: K100", "Bram: yesterday", "Bram: yesterday", "Bram: mirror")
	labels := make([]int32, len(x.lines))
	c := chooser{text: x, labels: labels, left: slices.Repeat([]float64{1}, len(x.vocab.terms)), opened: make([]bool, len(x.lines)), kept: make([]bool, len(x.units))}
	for i := range c.power {
		c.power[i] = 1
	}
	for _, test := range []struct {
		unit  int32
		left  float64
		again float64
	}{
		{0, repeatedFloor + (1-repeatedFloor)*repeated, repeatedFloor + (1-repeatedFloor)*repeated*repeated},
		{2, repeatedLiteral, literalFloor},
		{4, lastingFloor + (1-lastingFloor)*lasting, lastingFloor + (1-lastingFloor)*lasting*lasting},
	} {
		first, mirror := c.gain(test.unit+1), c.gain(6)
		id := x.termsOf(test.unit)[0].term
		c.keep(test.unit)
		if got := c.left[id]; fmt.Sprintf("%.6f", got) != fmt.Sprintf("%.6f", test.left) {
			t.Errorf("unit %d: left %v, want %v", test.unit, got, test.left)
		}
		if c.gain(test.unit+1) >= first || c.gain(6) != mirror {
			t.Errorf("unit %d: gain %v after %v, another's %v after %v", test.unit, c.gain(test.unit+1), first, c.gain(6), mirror)
		}
		c.keep(test.unit + 1)
		if got := c.left[id]; fmt.Sprintf("%.6f", got) != fmt.Sprintf("%.6f", test.again) {
			t.Errorf("unit %d: left %v, want %v", test.unit, got, test.again)
		}
	}
}

// TestOverhead checks that lines share the cost of a header.
func TestOverhead(t *testing.T) {
	x := weighed("Bram: a", "[on the ninth of May]", "Bram: b", "Xanthe: c", "[on the tenth of May]", "Bram: d", ": e")
	labels, headers := x.overhead(func(s string) int { return len(strings.Fields(s)) })
	if want := []int32{0, 5, 5, 5, 5}; !slices.Equal(headers, want) {
		t.Errorf("headers %v, want %v", headers, want)
	}
	if want := []int32{2, 4, 4, 4, 3}; !slices.Equal(labels, want) {
		t.Errorf("labels %v, want %v", labels, want)
	}
}
