package prompt

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

func TestTheOldestLongQuotesAreOnlyNumbers(t *testing.T) {
	q := longQuotes(300).fit(600)
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
	if next != 301 || !whole || q.quotes[0].Tokens == 0 {
		t.Errorf("%+v", q.quotes)
	}
	if !q.names(1) || q.before(2).unquoted[0] != (turn.Range{From: 1, To: 1}) {
		t.Errorf("%v", q.unquoted)
	}
}

// TestFittingQuotesCostsWhatTheyAre: four times as many take about four times as long, and not sixteen times.
func TestFittingQuotesCostsWhatTheyAre(t *testing.T) {
	took := func(n int) time.Duration {
		least := time.Hour
		for range 2 {
			g := longQuotes(n)
			began := time.Now()
			g.fit(600)
			least = min(least, time.Since(began))
		}
		return least
	}
	if few, many := took(5_000), took(20_000); many > 8*few {
		t.Errorf("5,000 took %v, and 20,000 took %v", few, many)
	}
}
