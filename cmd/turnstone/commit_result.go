package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/commit"
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
		// A slip of the pen in a type is seen by nothing else.
		if !memory.DefaultPolicies.Names(d.Type) {
			reasons[i] += fmt.Sprintf(" (%s is taken as an event)", d.Type)
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
