package prompt_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// chance lets things happen in a session at random: parts of messages with anything between them, calls that wait
// for long, summaries, pins, and prompts that are compiled after every turn or after thousands.
type chance struct {
	*world
	*rand.Rand
	open  []string
	calls int
	forks int
	head  int64
	sums  map[int64]bool // summaries
}

func (c *chance) draft() turn.Draft {
	switch n := c.IntN(12); {
	case n < 3:
		return part(fmt.Sprint("m", c.head/4), words(1+c.IntN(20)))
	case n < 4 && c.head > 0:
		return summary(c.head)
	case n < 6 && len(c.open) < 6:
		ids := make([]string, 1+c.IntN(3))
		for i := range ids {
			c.calls++
			ids[i] = fmt.Sprint("c", c.calls)
		}
		c.open = append(c.open, ids...)
		return call(ids...)
	case n < 9 && len(c.open) > 0:
		i := c.IntN(len(c.open))
		id := c.open[i]
		c.open = slices.Delete(c.open, i, i+1)
		return result(id, words(1+c.IntN(60)))
	case n < 10:
		return user(words(1 + c.IntN(120)))
	}
	return agent(words(1 + c.IntN(80)))
}

func (c *chance) say(n int) []turn.Draft {
	drafts := make([]turn.Draft, n)
	for i := range drafts {
		drafts[i] = c.draft()
		c.head++
		if drafts[i].Kind == turn.KindSummary {
			c.sums[c.head] = true
		}
	}
	return drafts
}

func (c *chance) step() {
	c.Helper()
	switch n := c.IntN(20); {
	case n == 0:
		// A projection that sees them all needs an epoch that goes on.
		if c.check(); c.last != nil {
			c.grow(c.say(500 + c.IntN(1500))...)
			c.last = nil
		}
	case n == 1 && c.head > 0:
		if seq := 1 + c.Int64N(c.head); !c.sums[seq] {
			c.pin(seq)
			c.pin(-(1 + c.Int64N(c.head)))
		}
	case n == 2:
		c.begin(prompt.Settings{System: words(1 + c.IntN(300))})
	case n == 3 && c.head > 0 && len(c.open) == 0:
		c.forks++
		c.fork(fmt.Sprint("fork-", c.forks), c.head)
	default:
		c.world.append(c.say(1 + c.IntN(6))...)
	}
}

// check compiles, unless it cannot fit whoever remembers what.
func (c *chance) check() {
	c.Helper()
	if _, err := c.try(nil); errors.Is(err, budget.ErrOverBudget) {
		if _, err := c.try(c.earlier); !errors.Is(err, budget.ErrOverBudget) {
			c.Fatalf("from memory it fits: %v", err)
		}
		c.earlier, c.last = nil, nil
		return
	}
	p := c.compile()
	c.accounted(p)
	seqs := shown(p)
	slices.Sort(seqs)
	if len(slices.Compact(slices.Clone(seqs))) != len(seqs) {
		c.Fatalf("turns are shown twice: %v", seqs)
	}
}

func TestRandomSessionsFromMemoryAndFromTheStore(t *testing.T) {
	for seed := range uint64(24) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			c := &chance{world: newWorld(t, []int{2048, 4096, 16_384}[seed%3]), Rand: r, sums: make(map[int64]bool)}
			if seed%2 == 1 {
				summarised(c.world)
			}
			for range 50 {
				c.step()
				if r.IntN(3) > 0 {
					c.check()
				}
			}
		})
	}
}
