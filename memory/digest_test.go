package memory_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/memory"
)

func TestDigestFold(t *testing.T) {
	var d memory.Digest
	for i := int64(1); i <= 5; i++ {
		d = fold(d, memory.Turn{
			Seq: 2 * i, TurnID: fmt.Sprint("t", i),
			Input: fmt.Sprintf("Report number%d about turtles, and some detail.", i), Reply: "Of course, here is the answer.",
			Decisions: []string{fmt.Sprint("decision ", i), "always be polite"},
		})
	}
	want := memory.Digest{
		ThroughSeq: 10,
		Rolling: memory.RollingSummary{Lines: []memory.Line{
			{Seq: 2, Text: "User: Report number1 about turtles"},
			{Seq: 4, Text: "User: Report number2 about turtles"},
			{Seq: 6, Text: "User: Report number3 about turtles, and some detail. Agent: Of course, here is the answer."},
			{Seq: 8, Text: "User: Report number4 about turtles, and some detail. Agent: Of course, here is the answer."},
			{Seq: 10, Text: "User: Report number5 about turtles, and some detail. Agent: Of course, here is the answer."},
		}},
		Decisions: []memory.Decision{
			{Seq: 2, TurnID: "t1", Text: "decision 1"}, {Seq: 2, TurnID: "t1", Text: "always be polite"},
			{Seq: 4, TurnID: "t2", Text: "decision 2"}, {Seq: 6, TurnID: "t3", Text: "decision 3"},
			{Seq: 8, TurnID: "t4", Text: "decision 4"}, {Seq: 10, TurnID: "t5", Text: "decision 5"},
		},
	}
	if diff := cmp.Diff(want, d, cmpopts.IgnoreFields(memory.Digest{}, "Topics")); diff != "" {
		t.Error(diff)
	}
	if got := d.Topics[0]; got.Score != 4095 || got.Word != "Report" {
		t.Errorf("the first topic is %+v", got)
	}
	text := d.Rolling.String()
	if !strings.HasPrefix(text, "User: Report number1 about turtles\nUser: ") || strings.Count(text, "\n") != 4 {
		t.Errorf("%q", text)
	}
}

func TestDigestTopicsFade(t *testing.T) {
	d := fold(memory.Digest{}, memory.Turn{Seq: 1, Input: "PostgreSQL migrations"})
	d = fold(d, memory.Turn{Seq: 2, Input: "the migration again and penguins"})
	want := []memory.Topic{{Word: "migrations", Score: 1900}, {Word: "penguins", Score: 1000}, {Word: "PostgreSQL", Score: 900}}
	if diff := cmp.Diff(want, d.Topics); diff != "" {
		t.Error(diff)
	}
	for i := range int64(22) {
		d = fold(d, memory.Turn{Seq: 3 + i, Input: "penguins"})
	}
	if got := d.Topics[len(d.Topics)-1].Word; got == "PostgreSQL" || d.Topics[0].Word != "penguins" {
		t.Errorf("what nobody speaks of stays: %+v", d.Topics)
	}
	for i := range int64(10) {
		d = fold(d, memory.Turn{Seq: 100 + i, Input: fmt.Sprintf("word%da word%db word%dc word%dd", i, i, i, i)})
	}
	if len(d.Topics) != 12 {
		t.Errorf("%d topics", len(d.Topics))
	}
}

func TestDigestFoldTwiceChangesNothing(t *testing.T) {
	turn := memory.Turn{Seq: 7, TurnID: "t", Input: "We decided to use PostgreSQL."}
	once := fold(memory.Digest{}, turn)
	if diff := cmp.Diff(once, fold(once, turn)); diff != "" {
		t.Error(diff)
	}
	turn.Seq = 6
	if diff := cmp.Diff(once, fold(once, turn)); diff != "" {
		t.Error(diff)
	}
}

func TestDigestDecisionsKeepTheLatest(t *testing.T) {
	var d memory.Digest
	for i := int64(1); i <= 100; i++ {
		d = fold(d, memory.Turn{Seq: i, Decisions: []string{fmt.Sprint("d", i)}})
	}
	if n := len(d.Decisions); n != 64 || d.Decisions[0].Text != "d37" || d.Decisions[63].Text != "d100" {
		t.Errorf("%d decisions, from %+v", n, d.Decisions[0])
	}
}

// An exchange that is told of anew takes the place of what was told of it, and of nothing else.
func TestDigestWithout(t *testing.T) {
	var d memory.Digest
	for _, turn := range []memory.Turn{{Seq: 2, TurnID: "a", Input: "One?", Reply: "One."}, {Seq: 4, TurnID: "b", Input: "Two?"}, {Seq: 6, TurnID: "c", Input: "Three?"}} {
		d = fold(d, turn)
	}
	for want, seqs := range map[string][]int64{
		"User: One? Agent: One.\nUser: Three?": {4}, "User: One? Agent: One.\nUser: Two?": {5, 6}, d.Rolling.String(): {1, 3, 7}, "": {6, 2, 4},
	} {
		var tries []memory.Try
		for _, seq := range seqs {
			tries = append(tries, memory.Try{Seq: seq})
		}
		without := d.Without(tries...)
		if got := without.Rolling.String(); got != want || without.ThroughSeq != 6 {
			t.Errorf("without %d: %q through %d", seqs, got, without.ThroughSeq)
		}
		if after := fold(without, memory.Turn{Seq: 8, TurnID: "d", Input: "Again?"}); len(after.Rolling.Lines) != len(without.Rolling.Lines)+1 {
			t.Errorf("after %d: %q", seqs, after.Rolling)
		}
	}
	if len(d.Rolling.Lines) != 3 || d.Rolling.Lines[1].Seq != 4 {
		t.Errorf("it was changed: %+v", d.Rolling)
	}
}

// TestTopicsOfATryCountOnce: however often an exchange is tried, its topics stand as if it had been told of once, and so do others.
func TestTopicsOfATryCountOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var before memory.Digest
		for i := range rapid.Int64Range(0, 12).Draw(t, "turns") {
			before = fold(before, drawTurn(t, i+1))
		}
		last := drawTurn(t, 100)
		once, tried := fold(before, last), before
		var tries []memory.Try
		for n := range rapid.Int64Range(1, 4).Draw(t, "tries") {
			try := last
			try.Seq = 20 + n
			tried = fold(tried, try)
			tries = append(tries, memory.Try{Seq: try.Seq, Topics: manager.Turn(try).Topics})
			tried = tried.Without(tries...)
		}
		if diff := cmp.Diff(once.Topics, fold(tried, last).Topics, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-once +tried)\n%s", diff)
		}
	})
	d := fold(fold(memory.Digest{}, memory.Turn{Seq: 1, Input: "walrus"}), memory.Turn{Seq: 2, Input: "teapot"})
	d = d.Without(memory.Try{Seq: 1, Topics: []string{"walrus"}, Since: 1})
	if diff := cmp.Diff([]memory.Topic{{Word: "teapot", Score: 1000}}, d.Topics); diff != "" {
		t.Errorf("with another behind it (-want +got)\n%s", diff)
	}
}

// TestDigestProperties: a digest is bounded, reads back, and is the same when it is made of stored
// summaries and when folding is repeated.
func TestDigestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var folded, rebuilt memory.Digest
		for i := range rapid.Int64Range(1, 12).Draw(t, "turns") {
			turn := drawTurn(t, i+1)
			before := string(folded.AppendJSON(nil))
			next := fold(folded, turn)
			if diff := cmp.Diff(next, fold(folded, turn)); diff != "" {
				t.Fatal("folded twice", diff)
			}
			if string(folded.AppendJSON(nil)) != before {
				t.Fatal("folding changed the digest before")
			}
			folded = next
			rebuilt = rebuilt.FoldText(turn.Seq, manager.Turn(turn).String(), opening(turn))
		}
		if diff := cmp.Diff(folded, rebuilt, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal("rebuilt", diff)
		}
		row := folded.Row(noon)
		if len(row.Doc) > 6<<10 || row.ThroughSeq != folded.ThroughSeq || !row.At.Equal(noon) {
			t.Fatalf("%d bytes through %d at %v", len(row.Doc), row.ThroughSeq, row.At)
		}
		back, err := memory.DecodeDigest(row.Doc)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(folded, back, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal("decoded", diff)
		}
		if len(folded.Topics) > 12 || len(folded.Rolling.String()) > 2<<10 || len(folded.Rolling.Lines) == 0 {
			t.Fatalf("%+v", folded)
		}
	})
}

func TestDigestIsBoundedAtItsWorst(t *testing.T) {
	quotes := strings.Repeat(`"\`, 5000)
	var d memory.Digest
	for i := range int64(200) {
		turn := memory.Turn{Seq: 1<<62 + i, TurnID: strings.Repeat("i", 128), Input: quotes, Reply: quotes}
		for j := range 8 {
			turn.Decisions = append(turn.Decisions, fmt.Sprint(i, j, quotes))
		}
		turn.Input += fmt.Sprintf(" abcdefghijklmnopqrst%03d", i)
		d = fold(d, turn)
	}
	if n := len(d.Row(time.Time{}).Doc); n > 6<<10 || n < 3<<10 {
		t.Errorf("%d bytes", n)
	}
}

func TestDecodeDigestRefuses(t *testing.T) {
	const valid = `{"v":1,"through_seq":3,"rolling":[{"seq":3,"text":"a"}],"topics":[{"word":"b","score":9}],"decisions":[{"seq":3,"turn_id":"t","text":"c"}]}`
	d, err := memory.DecodeDigest(valid)
	if err != nil || string(d.AppendJSON(nil)) != valid {
		t.Fatalf("%v: %s", err, d.AppendJSON(nil))
	}
	tests := []struct{ old, new, field string }{
		{`"v":1`, `"v":2`, "digest.v"},
		{`"v":1,`, ``, "digest.v"},
		{`"topics"`, `"words"`, "digest.words"},
		{`"text":"a"`, `"line":"a"`, "digest.rolling[0].line"},
		{`"score":9`, `"score":0.5`, "digest.topics[0].score"},
		{`"word":`, `"term":`, "digest.topics[0].term"},
		{`"turn_id":"t"`, `"turn_id":1`, "digest.decisions[0].turn_id"},
		{`"text":"c"`, `"by":"c"`, "digest.decisions[0].by"},
		{`"through_seq":3`, `"through_seq":"3"`, "digest.through_seq"},
		{valid, `[]`, "digest"},
	}
	for _, tt := range tests {
		_, err := memory.DecodeDigest(strings.Replace(valid, tt.old, tt.new, 1))
		wantField(t, err, tt.field)
	}
}

func BenchmarkFold(b *testing.B) {
	var d memory.Digest
	for i := range int64(100) {
		d = fold(d, memory.Turn{Seq: i + 1, TurnID: itemID, Input: fmt.Sprintf("We decided on plan %d for today.", i), Reply: strings.Repeat("Fine, so be it. ", 10)})
	}
	turn := memory.Turn{
		Seq: 1000, TurnID: itemID, Input: strings.Repeat("Please move the sessions table to the new schema. ", 10),
		Reply: strings.Repeat("All columns are there; we decided to keep the old ones. ", 60), Tools: []memory.ToolRun{{Name: "migrate"}},
	}
	b.ReportAllocs()
	for b.Loop() {
		fold(d, turn).Row(noon)
	}
}

// Sessions that were forked go on from one digest: what one decides must not be seen by another.
func TestDigestsOfForksAreApart(t *testing.T) {
	m := memory.NewManager(memory.ManagerConfig{})
	cite := func(string) (int64, string) { return 1, "" }
	var d memory.Digest
	for seq := range int64(9) {
		d = m.Fold(d, 2*seq+1, memory.Summary{Line: "said", Decided: []string{fmt.Sprint("number ", seq)}}, cite)
		d = m.Fold(d, 2*seq+2, memory.Summary{Line: "nothing decided"}, cite)
		one := m.Fold(d, 100, memory.Summary{Line: "one", Decided: []string{"tea"}}, cite)
		other := m.Fold(d, 100, memory.Summary{Line: "other", Decided: []string{"coffee"}}, cite)
		if got := one.Decisions[len(one.Decisions)-1].Text; got != "tea" {
			t.Errorf("after %d decisions a fork decided tea, and has %q", seq+1, got)
		}
		if n := len(d.Decisions); n != int(seq)+1 || len(other.Decisions) != n+1 {
			t.Errorf("after %d decisions there are %d, and %d in a fork that made one more", seq+1, n, len(other.Decisions))
		}
	}
}
