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
	// same word in another sentence may be another fact. A literal is the same fact.
	repeated        = 0.5
	repeatedFloor   = 0.2
	repeatedLiteral = 0.1
	// shortCall is the most tokens of a call's arguments that are kept with its result.
	shortCall = 40
)

// choice is the units in the order of their worth.
type choice struct {
	order []int32
	costs []int // tokens up to and with each, labels and headers included, by estimate
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
	queue  queue
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
	for i := range t.units {
		if gain := c.gain(int32(i)); gain > 0 && int(t.units[i].cost) <= limit {
			c.queue = append(c.queue, candidate{int32(i), gain})
		}
	}
	c.queue.order()
	var out choice
	spent := 0
	dated := map[string]bool{}
	for spent < limit {
		i, ok := c.best()
		if !ok {
			break
		}
		u := &t.units[i]
		spent += int(u.cost)
		if !c.opened[u.line] {
			spent += int(labels[u.line])
		}
		if time := t.lines[u.line].Time; !dated[time] {
			dated[time] = true
			spent += int(headers[u.line])
		}
		for _, j := range c.arguments(u.line) {
			spent += int(t.units[j].cost)
			c.keep(j)
			out.order = append(out.order, j)
			out.costs = append(out.costs, spent)
		}
		c.keep(i)
		out.order = append(out.order, i)
		out.costs = append(out.costs, spent)
	}
	return out
}

// best takes the best unit off the queue.
func (c *chooser) best() (int32, bool) {
	for len(c.queue) > 0 {
		top := c.queue[0]
		if !c.kept[top.unit] {
			gain := c.gain(top.unit)
			if gain == top.gain {
				c.queue.pop()
				return top.unit, true
			}
			if gain > 0 {
				c.queue[0].gain = gain
				c.queue.down(0)
				continue
			}
		}
		c.queue.pop()
	}
	return 0, false
}

// keep marks a unit as kept.
func (c *chooser) keep(i int32) {
	c.kept[i] = true
	for _, x := range c.termsOf(i) {
		if c.vocab.terms[x.term].literal {
			c.left[x.term] *= repeatedLiteral
		} else {
			c.left[x.term] = repeatedFloor + float64((c.left[x.term]-repeatedFloor)*repeated)
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
		c.queue.push(candidate{i, gain})
	}
}

// gain is what keeping a unit now would add, per token.
func (c *chooser) gain(i int32) float64 {
	sum := c.units[i].said
	for _, x := range c.termsOf(i) {
		if x.lasts {
			sum += x.weight
		} else {
			sum += float64(x.weight * c.left[x.term])
		}
	}
	u := &c.units[i]
	cost := u.cost
	if !c.opened[u.line] {
		cost += c.labels[u.line]
	}
	return sum * u.boost / powers(cost)
}

// termsOf returns the terms of a unit.
func (t *text) termsOf(i int32) []worth {
	end := len(t.terms)
	if int(i)+1 < len(t.units) {
		end = int(t.units[i+1].terms)
	}
	return t.terms[t.units[i].terms:end]
}

// powers is cost^lengthPower.
func powers(cost int32) float64 { return math.Pow(float64(cost), lengthPower) }
