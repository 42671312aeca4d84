package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/turn"
)

// seqs says which turns were appended: "turns 3 to 5".
func seqs(turns []turn.Turn) string {
	switch len(turns) {
	case 0:
		return "nothing"
	case 1:
		return fmt.Sprintf("turn %d", turns[0].Seq)
	}
	return fmt.Sprintf("turns %d to %d", turns[0].Seq, turns[len(turns)-1].Seq)
}

// rememberedWords counts what was remembered by type.
func rememberedWords(r commit.Result) string {
	types := make([]string, len(r.Episodes))
	for i, e := range r.Episodes {
		types[i] = string(e.Type)
	}
	return tally(types)
}

// droppedWords counts what was dropped by why.
func droppedWords(r commit.Result) string {
	reasons := make([]string, len(r.Dropped))
	for i, d := range r.Dropped {
		reasons[i] = string(d.Reason)
		if says := dropReasons[d.Reason]; says != "" {
			reasons[i] = says
		}
	}
	text := tally(reasons)
	if len(r.Dropped) == memory.MaxDropped {
		text += "; maybe more, the export has the count"
	}
	return text
}

// dropReasons are the reasons in people's words.
var dropReasons = map[memory.Reason]string{
	memory.Unimportant: "not important enough",
	memory.Irrelevant:  "not relevant to goals or user",
	memory.OverQuota:   "over the quota",
}

// tally counts words in the order they first come: "3: 2 user_data, 1 event".
func tally(words []string) string {
	if len(words) == 0 {
		return "nothing"
	}
	var order []string
	counts := map[string]int{}
	for _, w := range words {
		if !slices.Contains(order, w) {
			order = append(order, w)
		}
		counts[w]++
	}
	for i, w := range order {
		order[i] = fmt.Sprintf("%d %s", counts[w], w)
	}
	return progress.Count(int64(len(words)), "item") + ": " + strings.Join(order, ", ")
}

var (
	word = record.Text[string]()

	committedFields = record.Fields[committed]{
		record.Value("session_id", func(c *committed) *string { return &c.session }, word),
		record.Value("status", func(c *committed) *commit.State { return &c.Status }, record.Text[commit.State]()),
		record.Value("export_id", func(c *committed) *string { return &c.ExportID }, word),
		record.Value("turn_id", func(c *committed) *string { return &c.TurnID }, word),
		record.Value("repeated", func(c *committed) *bool { return &c.repeated }, record.Bool()).Always(),
		record.Value("reply", func(c *committed) *string { return &c.Reply }, word),
		record.List("turns", func(c *committed) *[]turn.Turn { return &c.Turns }, record.Codec[turn.Turn]{
			Append: func(dst []byte, t turn.Turn) []byte { return t.AppendJSON(dst) },
		}).Always(),
		record.List("remembered", func(c *committed) *[]memory.Episode { return &c.Episodes }, record.Codec[memory.Episode]{
			Append: func(dst []byte, e memory.Episode) []byte { return e.AppendJSON(dst) },
		}).Always(),
		record.List("dropped", func(c *committed) *[]memory.Dropped { return &c.Dropped }, record.Of(droppedFields)).Always(),
		record.List("refused", func(c *committed) *[]commit.Refusal { return &c.Refused }, record.Of(refusalFields)).Always(),
		record.List("deferred", func(c *committed) *[]commit.Target { return &c.Deferred }, record.Text[commit.Target]()).Always(),
		record.List("problems", func(c *committed) *[]string { return &c.Problems }, word).Always(),
	}

	droppedFields = record.Fields[memory.Dropped]{
		record.Value("candidate", func(d *memory.Dropped) *int { return &d.Index }, record.Codec[int]{
			Append: func(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) },
		}).Always(),
		record.Value("type", func(d *memory.Dropped) *memory.Type { return &d.Type }, record.Text[memory.Type]()),
		record.Value("reason", func(d *memory.Dropped) *memory.Reason { return &d.Reason }, record.Text[memory.Reason]()),
		record.Value("importance", func(d *memory.Dropped) *float64 { return &d.Importance }, record.Float()).Always(),
	}

	refusalFields = record.Fields[commit.Refusal]{
		record.Value("what", func(r *commit.Refusal) *string { return &r.What }, word),
		record.Value("reason", func(r *commit.Refusal) *string { return &r.Reason }, word),
	}
)
