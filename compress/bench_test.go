package compress_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

// work is a conversation of about so many tokens, half of it tool output, no two turns alike.
func work(tokens int) *log {
	l := &log{}
	for i := 0; ; i++ {
		l.user(fmt.Sprintf("Please look at host-%d and tell me why job %d of the migration is slow.", i, i*7))
		l.tool("read_log", fmt.Sprintf(`{"path":"/var/log/job-%d.log"}`, i), turn.CallOK, fmt.Sprintf("%q", strings.Repeat(fmt.Sprintf("%d rows in %d ms from shard_%d\n", i*13, i*3, i%9), 12)))
		l.agent(fmt.Sprintf("The job reads shard_%d twice, since nobody told the planner that store/sqlite/tx_%d.go keeps a cursor open while it waits. "+
			"We decided to close the cursor of job %d first. The rest of the log shows nothing that matters for this, only the usual noise of other jobs.", i%9, i%40, i*7))
		if i%20 == 0 && (&compress.Source{Turns: l.turns}).Tokens(count) > tokens {
			return l
		}
	}
}

// BenchmarkPlanAndVerify is what a pass costs besides the summary, over 30,000 tokens.
func BenchmarkPlanAndVerify(b *testing.B) {
	l := work(30_000)
	all := turn.Range{From: 1, To: int64(len(l.turns))}
	r := compress.Request{Source: compress.NewSource(all, l.turns, nil), Budget: 1024, Count: count, Mode: compress.ModeDeveloper}
	summary, _, err := compress.Run(b.Context(), nil, r, compress.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r.Source = compress.NewSource(all, l.turns, nil)
		if quotes := r.Source.Quotes(r.Mode); len(quotes) == 0 {
			b.Fatal("nothing to quote")
		}
		if v := compress.Verify(r, summary); !v.OK() {
			b.Fatal(v.Problems)
		}
	}
}

func BenchmarkExtractive(b *testing.B) {
	r := request(work(30_000), 1024)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := compress.Run(b.Context(), nil, r, compress.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
