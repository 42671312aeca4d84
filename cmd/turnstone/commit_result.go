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

// appendedWords says which turns were appended: "turns 3 to 5, and their summary as turn 6". What is appended together is of one time;
// a turn that was there under its idempotency key is of an earlier one.
func appendedWords(turns []turn.Turn) string {
	earlier := slices.IndexFunc(turns, func(t turn.Turn) bool { return t.CreatedAt.Equal(turns[len(turns)-1].CreatedAt) })
	if earlier > 0 {
		return fmt.Sprintf("%s; there before: %s", appendedWords(turns[earlier:]), seqs(turns[:earlier]))
	}
	n := len(turns)
	if n > 0 && turns[n-1].Kind == turn.KindSummary {
		if n == 1 {
			return fmt.Sprintf("the summary, as turn %d", turns[0].Seq)
		}
		their := "their"
		if n == 2 {
			their = "its"
		}
		return fmt.Sprintf("%s, and %s summary as turn %d", seqs(turns[:n-1]), their, turns[n-1].Seq)
	}
	return seqs(turns)
}

// seqs says which turns there are: "turns 3 to 5".
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
	reasons := make([]string, len(r.Dropped), len(r.Dropped)+r.DroppedMore.Sum())
	for i, d := range r.Dropped {
		reasons[i] = dropReasons[d.Reason]
		// A slip of the pen in a type is seen by nothing else.
		if !memory.DefaultPolicies.Names(d.Type) {
			reasons[i] += fmt.Sprintf(" (%s is taken as an event)", d.Type)
		}
	}
	for _, more := range []struct {
		reason memory.Reason
		n      int
	}{{memory.Unimportant, r.DroppedMore.Unimportant}, {memory.Irrelevant, r.DroppedMore.Irrelevant}, {memory.OverQuota, r.DroppedMore.OverQuota}} {
		reasons = append(reasons, slices.Repeat([]string{dropReasons[more.reason]}, more.n)...)
	}
	return tally(reasons)
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
	counts := map[string]int64{}
	for _, w := range words {
		if !slices.Contains(order, w) {
			order = append(order, w)
		}
		counts[w]++
	}
	for i, w := range order {
		order[i] = progress.Thousands(counts[w]) + " " + w
	}
	return progress.Count(int64(len(words)), "item") + ": " + strings.Join(order, ", ")
}
