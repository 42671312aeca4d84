package prompt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/turn"
)

// longQuotes are long quotes of so many turns.
func longQuotes(n int) *quoter {
	g := &quoter{counter: budget.NewCounter(budget.Profile{Name: "m", Context: 4096}, nil, false, budget.Calibration{})}
	for seq := int64(1); seq <= int64(n); seq++ {
		text := fmt.Sprintf("We decided on part %d", seq) + strings.Repeat(" and the yard", 30)
		g.append(Quote{Turn: seq, To: int64(len(text))}, text)
	}
	return g
}

// TestTheOldestLongQuotesAreOnlyNumbers also of so many that each must not be held against all before it.
func TestTheOldestLongQuotesAreOnlyNumbers(t *testing.T) {
	for _, n := range []int{300, 20_000} {
		testOldestQuotes(t, n)
	}
}

func testOldestQuotes(t *testing.T, n int) {
	t.Helper()
	q := longQuotes(n).fit(600)
	if len(q.unquoted) != 1 || q.unquoted[0].From != 1 || len(q.quotes) < 2 {
		t.Fatalf("%v, %v", q.unquoted, q.quotes)
	}
	// The numbers, then first words, then what is shown whole, without a gap.
	next, whole := q.unquoted[0].To+1, false
	for _, o := range q.quotes {
		if o.Turn != next || whole && o.Tokens > 0 {
			t.Errorf("%+v, want turn %d", o, next)
		}
		next, whole = next+1, o.Tokens == 0
	}
	if next != int64(n)+1 || !whole || q.quotes[0].Tokens == 0 {
		t.Errorf("%+v", q.quotes)
	}
	if !q.names(1) || q.before(2).unquoted[0] != (turn.Range{From: 1, To: 1}) {
		t.Errorf("%v", q.unquoted)
	}
}
