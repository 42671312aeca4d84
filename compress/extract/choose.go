package extract

import (
	"math"
	"sort"
)

const (
	// lengthPower sets worth against length: below 1, a longer unit of the same density is better,
	// as it needs no reader to guess.
	lengthPower = 0.8
	// repeated is what a term is worth each further time, down to repeatedFloor of its weight: the
	// same word in another sentence may be another fact. A literal is the same fact unless its unit
	// binds it, a time or a number in words mostly another.
	repeated        = 0.6
	repeatedFloor   = 0.2
	lasting         = 0.8
	lastingFloor    = 0.4
	repeatedLiteral = 0.1
	literalFloor    = 0.01
	// toolShare is the most of what is spent that goes to data while there is talk.
	toolShare = 0.75
	// shortCall is the most tokens of a call's arguments that are kept with its result.
	shortCall = 40
)

// choice is the units in the order of their worth.
type choice struct {
	order []int32
	costs []int // tokens up to and with each, labels and headers included, by estimate
	all   bool  // no unit is left
}

// chooser picks units greedily. What a unit adds shrinks while others are kept, so the best is
// known once its worth, looked at afresh, still leads the queue; only a unit whose line is opened
// by another becomes cheaper, and is queued again.
type chooser struct {
	*text
	labels []int32   // tokens of each line's label
	left   []float64 // of each term's weight
	opened []bool    // lines
	kept   []bool
	queues [2]queue // talk and tools
	spent  [2]int
	power  [256]float64 // of lengthPower, by cost
}

// choose orders the units until they cost the limit. A unit that costs more alone is left out.
func (t *text) choose(limit int, labels, headers []int32) choice {
	c := chooser{
		text: t, labels: labels, left: make([]float64, len(t.vocab.terms)),
		opened: make([]bool, len(t.lines)), kept: make([]bool, len(t.units)),
	}
	for i := range c.left {
		c.left[i] = 1
	}
	for i := range c.power {
		c.power[i] = math.Pow(float64(i), lengthPower)
	}
	for i := range t.units {
		if gain := c.gain(int32(i)); gain > 0 && int(t.units[i].cost) <= limit {
			side := c.side(int32(i))
			c.queues[side] = append(c.queues[side], candidate{int32(i), gain})
		}
	}
	c.queues[0].order()
	c.queues[1].order()
	var out choice
	dated := map[string]bool{}
	for c.spent[0]+c.spent[1] < limit {
		i, ok := c.best()
		if !ok {
			out.all = true
			break
		}
		line := t.units[i].line
		if !c.opened[line] {
			c.spent[c.side(i)] += int(labels[line])
		}
		if time := t.lines[line].Time; !dated[time] {
			dated[time] = true
			c.spent[c.side(i)] += int(headers[line])
		}
		for _, j := range append(c.arguments(line), i) {
			c.keep(j)
			out.order = append(out.order, j)
			out.costs = append(out.costs, c.spent[0]+c.spent[1])
		}
	}
	return out
}

// side is 0 for talk and 1 for what tools were given and gave.
func (c *chooser) side(i int32) int {
	if c.lines[c.units[i].line].Kind == Talk {
		return 0
	}
	return 1
}

// best takes the best unit off its queue. Data is dense and would leave no room for what it was
// wanted for, so its share is bounded while there is talk.
func (c *chooser) best() (int32, bool) {
	talk, tool := c.fresh(0), c.fresh(1)
	if !talk && !tool {
		return 0, false
	}
	side := 0
	if !talk || tool && c.queues[1][0].gain > c.queues[0][0].gain &&
		float64(c.spent[1]) <= toolShare*float64(c.spent[0]+c.spent[1]) {
		side = 1
	}
	i := c.queues[side][0].unit
	c.queues[side].pop()
	return i, true
}

// fresh brings a unit to the top of a queue whose gain is up to date; false if none is left.
func (c *chooser) fresh(side int) bool {
	q := &c.queues[side]
	for len(*q) > 0 {
		top := &(*q)[0]
		if c.kept[top.unit] {
			q.pop()
			continue
		}
		gain := c.gain(top.unit)
		if gain == top.gain {
			return true
		}
		top.gain = gain
		q.down(0)
	}
	return false
}

// keep marks a unit as kept.
func (c *chooser) keep(i int32) {
	c.kept[i] = true
	c.spent[c.side(i)] += int(c.units[i].cost)
	for _, x := range c.termsOf(i) {
		switch left := &c.left[x.term]; {
		case x.lasts:
			*left = lastingFloor + float64((*left-lastingFloor)*lasting)
		case c.vocab.terms[x.term].literal:
			*left = max(*left*repeatedLiteral, literalFloor)
		default:
			*left = repeatedFloor + float64((*left-repeatedFloor)*repeated)
		}
	}
	line := c.units[i].line
	if c.opened[line] {
		return
	}
	c.opened[line] = true
	for j := i - 1; j >= 0 && c.units[j].line == line; j-- {
		c.cheaper(j)
	}
	for j := i + 1; int(j) < len(c.units) && c.units[j].line == line; j++ {
		c.cheaper(j)
	}
}

// arguments returns the units of the call of a result that is opened, if they are few: without them
// nobody knows what the result is of.
func (c *chooser) arguments(line int32) []int32 {
	call := c.partner[line]
	if c.opened[line] || c.lines[line].Kind != Result || call < 0 {
		return nil
	}
	var out []int32
	cost := int32(0)
	first := sort.Search(len(c.units), func(i int) bool { return c.units[i].line >= call })
	for i := first; i < len(c.units) && c.units[i].line == call; i++ {
		if cost += c.units[i].cost; cost > shortCall {
			return nil
		}
		if !c.kept[i] {
			out = append(out, int32(i))
		}
	}
	return out
}

func (c *chooser) cheaper(i int32) {
	if gain := c.gain(i); gain > 0 && !c.kept[i] {
		c.queues[c.side(i)].push(candidate{i, gain})
	}
}

// gain is what keeping a unit now would add, per token.
func (c *chooser) gain(i int32) float64 {
	sum := c.units[i].said
	for _, x := range c.termsOf(i) {
		sum += float64(x.weight * c.left[x.term])
	}
	u := &c.units[i]
	cost := u.cost
	if !c.opened[u.line] {
		cost += c.labels[u.line]
	}
	if int(cost) < len(c.power) {
		return sum * u.boost / c.power[cost]
	}
	return sum * u.boost / math.Pow(float64(cost), lengthPower)
}

// termsOf returns the terms of a unit.
func (t *text) termsOf(i int32) []worth {
	end := len(t.terms)
	if int(i)+1 < len(t.units) {
		end = int(t.units[i+1].terms)
	}
	return t.terms[t.units[i].terms:end]
}
