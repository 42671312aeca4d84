package compress_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

// quotesOf are the words that are quoted of a source, behind the turns that say them.
func quotesOf(s compress.Source, mode string) (seqs []int64, words []string) {
	for _, q := range s.Quotes(mode) {
		seqs = append(seqs, q.Seq)
		for i := range s.Turns {
			if s.Turns[i].Seq == q.Seq {
				words = append(words, compress.Wording(&s.Turns[i])[q.From:q.To])
			}
		}
	}
	return seqs, words
}

func TestQuotes(t *testing.T) {
	for _, tt := range []struct {
		name, mode string
		log        *log
		seqs       []int64
		words      []string
	}{
		{
			"decisions as they stand", "",
			(&log{}).agent("Fine.  - not this.\n  - We decided  to use\tSQLite. It is small.\n[DECISION] Ship  on Friday"),
			[]int64{1, 1}, []string{"We decided  to use\tSQLite.", "Ship  on Friday"},
		},
		{"no questions, no code, no requests", "", (&log{}).agent("We decided to stop?\n```\nWe decided to go.\n```\nTODO: go."), nil, nil},
		{"not the user's", "", (&log{}).user("We decided to use SQLite."), nil, nil},
		{
			"the same words once, where they were said first", "",
			(&log{}).agent("We decided on A.").agent("We decided on B. We decided on A."),
			[]int64{1, 2}, []string{"We decided on A.", "We decided on B."},
		},
		{
			"what the mode protects, together with a decision", compress.ModePlanning,
			(&log{}).agent("- We decided that it must be done by May. It rains. At most 3 people."),
			[]int64{1, 1}, []string{"- We decided that it must be done by May.", "At most 3 people."},
		},
		{
			"what a tool returned as text", compress.ModeDebugger,
			(&log{}).tool("run", `{}`, turn.CallError, `"panic: \"x\" is gone\n\tat x.go:3"`),
			[]int64{2, 2}, []string{`panic: "x" is gone`, "at x.go:3"},
		},
		{
			"what a tool returned as an object", compress.ModeDebugger,
			(&log{}).tool("run", `{}`, turn.CallOK, `{"out":"ok\nerror: no route\nbye"}`),
			[]int64{2}, []string{"error: no route"},
		},
		{"no tool's in other modes", compress.ModeDeveloper, (&log{}).tool("run", `{}`, turn.CallOK, `"error: the schema is gone"`), nil, nil},
	} {
		seqs, words := quotesOf(tt.log.source(), tt.mode)
		if !cmp.Equal(seqs, tt.seqs) || !cmp.Equal(words, tt.words) {
			t.Errorf("%s: %v %q, want %v %q", tt.name, seqs, words, tt.seqs, tt.words)
		}
	}
}

// TestALongDecisionIsQuotedWhole though what a summary is asked for of it is cut.
func TestALongDecisionIsQuotedWhole(t *testing.T) {
	long := "We decided to " + strings.Repeat("build one more, and ", 60) + "rest."
	if _, words := quotesOf((&log{}).agent(long).source(), ""); len(words) != 1 || words[0] != long {
		t.Errorf("%q", words)
	}
}

// TestWhatIsQuotedIsNotAskedFor leaves facts that stand beside the summary out of it, and asks for the others.
func TestWhatIsQuotedIsNotAskedFor(t *testing.T) {
	l := (&log{}).agent("We decided to use SQLite. " + strings.Repeat("The build took a while. ", 30)).agent("We decided to ship on Friday. " + strings.Repeat("The tests ran again. ", 30))
	r := request(l, 120)
	r.Quoted = []string{"- We decided to  use SQLite."}
	summary, err := compress.Extractive{}.Summarise(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if v := compress.Verify(r, summary); !v.OK() || strings.Contains(summary, "SQLite") || !strings.Contains(summary, "Decided: We decided to ship on Friday.") {
		t.Errorf("%+v: %s", v.Problems, summary)
	}
	r.Quoted = nil
	if v := compress.Verify(r, summary); v.OK() {
		t.Error("what is not quoted is not asked for either")
	}
}
