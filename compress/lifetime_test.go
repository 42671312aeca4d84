package compress_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

// facts are what the agent finds out at the beginning, and what is asked for much later.
var facts = []struct{ text, literal string }{
	{"The staging server answers on port 8471.", "8471"},
	{"The customer's contract number is KX-20931.", "KX-20931"},
	{"The nightly backup goes to s3://acme-backups/nightly.", "s3://acme-backups/nightly"},
	{"The failing test is in pkg/ledger/rounding_test.go.", "pkg/ledger/rounding_test.go"},
	{"Maria from accounting signs off every invoice above $12,500.", "$12,500"},
	{"The certificate expires on 2027-03-14.", "2027-03-14"},
	{"The old importer needs the flag --legacy-dates.", "--legacy-dates"},
	{"The queue drops messages when maxInflight is too low.", "maxInflight"},
}

// chatter is the n-th of many exchanges that nobody will ask for again.
func chatter(l *log, n int) {
	about := []string{"the weather", "lunch", "the new office", "a film", "the garden", "music", "the traffic", "holidays"}
	l.user(fmt.Sprintf("What do you think about %s today?", about[n%len(about)]))
	l.agent(fmt.Sprintf("There is a lot to say about %s, and most of it was said before, %d times. ", about[n%len(about)], 200+7*n) +
		strings.Repeat("It depends on whom one asks, on the mood of the day and on what else is going on around here. ", 2+n%4))
}

// life compresses a conversation again and again as an engine does, with the extractive summariser.
type life struct {
	t       *testing.T
	window  budget.Window
	log     *log
	pass    int64
	live    []compress.Checkpoint
	covered int // turns
	read    int // turns in this pass
}

// compress makes a pass over what is not compressed yet, but for the last ten turns.
func (l *life) compress() {
	l.pass++
	to := len(l.log.turns) - 10
	p := compress.Pass{
		Number: l.pass, Range: turn.Range{From: int64(l.covered + 1), To: int64(to)}, Tokens: compress.Cap(compress.Detailed, l.window, 1024),
	}
	j := l.log.job(p, l.live, l.window)
	out := mustRun(l.t, j, func() string { return fmt.Sprintf("cp%d", l.pass) })
	l.read = len(j.New.Turns)
	for i := range j.Sources {
		l.read += len(j.Sources[i].Turns)
	}
	l.live, l.covered = out.Live, to
}

// reachable reports whether a checkpoint names a turn.
func reachable(c *compress.Checkpoint, seq int64) bool {
	return slices.ContainsFunc(compress.Handles(c.Summary, c.Range), func(r turn.Range) bool { return seq >= r.From && seq <= r.To })
}

// TestFactsLiveThroughAging states facts early and compresses until the checkpoint that holds them is
// ultra.
func TestFactsLiveThroughAging(t *testing.T) {
	if testing.Short() {
		t.Skip("many passes")
	}
	for _, context := range []int{4096, 8192, 16384} {
		t.Run(strconv.Itoa(context), func(t *testing.T) {
			l := &life{t: t, window: window(t, context), log: &log{}}
			for _, f := range facts {
				l.log.user("Go on.")
				l.log.agent(f.text + " That took a while to find out, as nobody had written it down.")
			}
			for n := 0; l.pass < 12; n++ {
				chatter(l.log, n)
				if n%48 == 47 {
					l.compress()
				}
			}
			oldest := l.live[0]
			held, handled := 0, 0
			for i, f := range facts {
				switch {
				case strings.Contains(oldest.Summary, f.literal):
					held++
				case reachable(&oldest, int64(2*i+2)):
					handled++
				}
			}
			t.Logf("%v checkpoint of %d tokens for turns %d to %d: %d facts, %d more by handle\n%s", oldest.Level, oldest.CurrentTokens, oldest.Range.From, oldest.Range.To, held, handled, oldest.Summary)
			if held+handled < len(facts) {
				t.Errorf("%d of %d facts are held, %d more by handle", held, len(facts), handled)
			}
		})
	}
}

// TestTwoHundredPasses compresses one conversation two hundred times: the checkpoints stay within their
// share, they cover every turn, no pass reads more than a bounded part of the conversation, and the
// decisions that were made early are still told.
func TestTwoHundredPasses(t *testing.T) {
	if testing.Short() {
		t.Skip("many passes")
	}
	l := &life{t: t, window: window(t, 8192), log: &log{}}
	l.log.agent("[DECISION] Use PostgreSQL for the ledger - LOCKED")
	for n := 0; l.pass < 200; n++ {
		chatter(l.log, n)
		if n%12 < 11 {
			continue
		}
		l.compress()
		total, next := compress.Frame*len(l.live), int64(1)
		for _, c := range l.live {
			total += int(c.CurrentTokens)
			if c.Range.From != next || count(c.Summary) != int(c.CurrentTokens) {
				t.Fatalf("pass %d: %+v", l.pass, c)
			}
			next = c.Range.To + 1
		}
		if total > l.window.Usable*30/100 || next != int64(l.covered+1) || len(l.live) > 2 {
			t.Fatalf("pass %d: %d tokens in %d checkpoints up to turn %d", l.pass, total, len(l.live), next)
		}
		if l.read > 400 {
			t.Fatalf("pass %d read %d of %d turns", l.pass, l.read, l.covered)
		}
		if !strings.Contains(l.live[0].Summary, "Decided: Use PostgreSQL for the ledger\n") || l.live[0].KeyDecisions[0] != "Use PostgreSQL for the ledger" {
			t.Fatalf("pass %d: %s", l.pass, l.live[0].Summary)
		}
	}
	oldest := l.live[0]
	if whole := oldest.OriginalTokens; whole < 100_000 || oldest.Version != 2 || oldest.Number != 199 || oldest.CompressionCount < 190 {
		t.Errorf("%d tokens, version %d of %d, compressed %d times", whole, oldest.Version, oldest.Number, oldest.CompressionCount)
	}
}
