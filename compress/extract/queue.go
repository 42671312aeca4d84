package extract

// candidate is a unit with what it added when it was last looked at.
type candidate struct {
	unit int32
	gain float64
}

// queue is a heap with the largest gain on top; equal gains go in the order of the conversation.
type queue []candidate

func (q queue) before(i, j int) bool {
	return q[i].gain > q[j].gain || q[i].gain == q[j].gain && q[i].unit < q[j].unit
}

// order makes a heap of candidates in any order.
func (q queue) order() {
	for i := len(q)/2 - 1; i >= 0; i-- {
		q.down(i)
	}
}

// down moves a candidate whose gain has shrunk to its place.
func (q queue) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(q) {
			return
		}
		if child+1 < len(q) && q.before(child+1, child) {
			child++
		}
		if !q.before(child, i) {
			return
		}
		q[i], q[child] = q[child], q[i]
		i = child
	}
}

// push adds a candidate.
func (q *queue) push(c candidate) {
	*q = append(*q, c)
	for i := len(*q) - 1; i > 0; {
		parent := (i - 1) / 2
		if !q.before(i, parent) {
			return
		}
		(*q)[i], (*q)[parent] = (*q)[parent], (*q)[i]
		i = parent
	}
}

// pop removes the top.
func (q *queue) pop() {
	last := len(*q) - 1
	(*q)[0] = (*q)[last]
	*q = (*q)[:last]
	q.down(0)
}
