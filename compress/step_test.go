package compress_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

func ranges(bounds ...int64) []turn.Range {
	var all []turn.Range
	for i := 0; i < len(bounds); i += 2 {
		all = append(all, turn.Range{From: bounds[i], To: bounds[i+1]})
	}
	return all
}

func TestWhatAStepReads(t *testing.T) {
	cp := func(from, to int64, worth ...turn.Range) compress.Checkpoint {
		return compress.Checkpoint{Range: turn.Range{From: from, To: to}, Worth: worth, Summary: fmt.Sprintf("from %d", from)}
	}
	for _, tt := range []struct {
		name string
		step compress.Step
		want []turn.Range
	}{
		{"all", compress.Step{Of: []compress.Checkpoint{cp(1, 9)}, Range: turn.Range{From: 1, To: 9}}, ranges(1, 9)},
		{"what is worth it", compress.Step{Of: []compress.Checkpoint{cp(1, 9, ranges(2, 3, 7, 7)...)}, Range: turn.Range{From: 1, To: 9}}, ranges(2, 3, 7, 7)},
		{"several", compress.Step{Of: []compress.Checkpoint{cp(1, 9, ranges(2, 3, 9, 9)...), cp(10, 20)}, Range: turn.Range{From: 1, To: 20}}, ranges(2, 3, 9, 20)},
		{"with the new one", compress.Step{Of: []compress.Checkpoint{cp(1, 9, ranges(2, 3)...)}, New: true, Range: turn.Range{From: 1, To: 30}}, ranges(2, 3, 10, 30)},
	} {
		if diff := cmp.Diff(tt.want, tt.step.Sources()); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	two := compress.Step{Of: []compress.Checkpoint{cp(1, 9), cp(10, 20)}}
	if two.Guide() != "from 1\nfrom 10" {
		t.Errorf("%q", two.Guide())
	}
}

func TestCheckpointsOfSteps(t *testing.T) {
	l := story()
	r := request(l, 200)
	summary, receipt, err := compress.Run(t.Context(), nil, r, compress.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pass := compress.Pass{Number: 5, Range: r.Source.Range, Tokens: 200}
	want := compress.Checkpoint{
		ID: "a", Number: 5, Version: 1, Level: compress.Detailed, Range: turn.Range{From: 1, To: 9}, Summary: summary, CreatedAt: start, CompressedAt: start,
		OriginalTokens: receipt.Before, CurrentTokens: int64(count(summary)), CompressionCount: 1, KeyDecisions: []string{"Use JWT for authentication", "We decided to keep refresh tokens in Redis on port 6380."},
		FilesModified: []string{"src/auth/jwt.ts"}, NextSteps: []string{"Write the tests for expiry"}, SourceHash: r.Source.Hash(), Receipt: receipt,
	}
	first := compress.First("a", pass, &r, summary, receipt, start)
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	older := first
	older.ID, older.Number, older.Version, older.CompressionCount, older.OriginalTokens = "b", 4, 7, 3, 1000
	// What an older one knew of is listed, and told by the receipt where the summary does not have it.
	older.KeyDecisions, older.FilesModified = []string{"Use PostgreSQL", "Use JWT for authentication"}, []string{"go.mod"}
	later := start.Add(time.Hour)
	step := compress.Step{Of: []compress.Checkpoint{older, first}, Level: compress.Ultra, Range: turn.Range{From: 1, To: 9}}
	want.Version, want.Level, want.CompressedAt, want.CompressionCount, want.OriginalTokens = 2, compress.Ultra, later, 4, 1000+first.OriginalTokens
	want.KeyDecisions = append([]string{"Use PostgreSQL"}, want.KeyDecisions...)
	want.FilesModified = append([]string{"go.mod"}, want.FilesModified...)
	want.Receipt.Omitted, want.Receipt.Before = append(slices.Clone(receipt.Omitted), "Use PostgreSQL"), want.OriginalTokens
	if diff := cmp.Diff(want, step.Next("unused", compress.Pass{Number: 9}, &r, summary, receipt, later)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	step = compress.Step{Of: []compress.Checkpoint{older}, New: true, Level: compress.Detailed, Range: turn.Range{From: 1, To: 9}}
	fresh := compress.Source{Turns: l.turns[6:]}
	want.ID, want.Number, want.Version, want.Level, want.OriginalTokens = "c", 6, 1, compress.Detailed, 1000+int64(fresh.Tokens(count))
	want.Receipt.Before = want.OriginalTokens
	if diff := cmp.Diff(want, step.Next("c", compress.Pass{Number: 6, Range: turn.Range{From: 7, To: 9}}, &r, summary, receipt, later)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWorth(t *testing.T) {
	l := &log{}
	for range 3 {
		l.user("Go on, please.")
		l.agent(strings.Repeat("Nothing of interest happened. ", 10))
	}
	l.agent("The port is 8471.")                           // 7
	l.agent("[DECISION] Use JWT")                          // 8
	l.tool("write", `{"path":"a.go"}`, turn.CallOK, `"x"`) // 9, 10
	l.user("The other port is 9999.")                      // 11
	l.agent("Fine.")                                       // 12
	s := l.source()
	all := s.Tokens(count)
	cost := func(from, to int) int {
		part := compress.Source{Turns: l.turns[from-1 : to]}
		return part.Tokens(count)
	}
	for _, tt := range []struct {
		name string
		most int
		want []turn.Range
	}{
		{"everything", all, nil},
		{"a little less", all - 1, ranges(2, 2, 4, 4, 6, 10, 12, 12)},
		{"facts and literals", cost(7, 10), ranges(7, 10)},
		{"facts", cost(8, 10), ranges(8, 10)},
		{"the most for its size", cost(8, 8), ranges(8, 8)},
		{"nothing", 3, nil},
	} {
		if diff := cmp.Diff(tt.want, s.Worth("", tt.most, count)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, diff)
		}
	}
	part := compress.Source{Range: s.Range, Turns: append(append([]turn.Turn(nil), l.turns[1:2]...), l.turns[6:9]...)}
	if diff := cmp.Diff(ranges(2, 2, 7, 9), part.Worth("", all, count)); diff != "" {
		t.Error(diff)
	}
}

func TestTurnsThatSayMoreAreNamed(t *testing.T) {
	l := &log{}
	for i := range 30 {
		l.agent(fmt.Sprintf("[DECISION] Paint the %s wall of house %c in a colour that fits the street\nIt was %s.", []string{"north", "south"}[i%2], 'a'+i, strings.Repeat("very ", i)+"clear"))
	}
	summary, receipt, err := compress.Run(t.Context(), nil, request(l, 200), compress.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("\nMore: turns 1-%d\n", 30-receipt.Facts); receipt.Facts < 3 || !strings.HasSuffix(summary, want) {
		t.Errorf("%q does not end in %q", summary, want)
	}

	l = &log{}
	for i := range 40 {
		text := strings.Repeat("People talked about the harbour, the weather and each other for quite some time. ", 3)
		if i == 4 || i == 8 || i == 9 {
			text += fmt.Sprintf("See id_%d, https://example.com/%d, /srv/data/part-%d.bin and %d", i, i*i, i, 1000+i)
		}
		l.agent(text)
	}
	summary, _, err = compress.Run(t.Context(), nil, request(l, 120), compress.Options{})
	if err != nil {
		t.Fatal(err)
	}
	made := &compress.Checkpoint{Range: turn.Range{From: 1, To: 40}, Summary: summary}
	for seq := int64(1); seq <= 40; seq++ {
		literals := seq == 5 || seq == 9 || seq == 10
		if reachable(made, seq) && !literals || literals && !reachable(made, seq) && !strings.Contains(summary, fmt.Sprintf("/srv/data/part-%d.bin", seq-1)) {
			t.Errorf("turn %d in %s", seq, summary)
		}
	}
}
