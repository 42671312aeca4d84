package recall_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/recall"
	"github.com/turnstone-dev/turnstone/turn"
)

func ExampleTranscript() {
	talk := recall.NewTranscript([]recall.Line{
		{ID: "a", Session: "1", Speaker: "Ann", Text: "Which port does billing use?"},
		{ID: "b", Session: "1", Speaker: "Bo", Text: "It is 8443, behind the proxy."},
		{ID: "c", Session: "2", Speaker: "Ann", Text: "Lunch?"},
	})
	ids, err := talk.Search(context.Background(), "the billing service's port")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(ids)
	// Output: [a b]
}

func ExampleLate() {
	hits := []recall.Hit{{
		Role: turn.User, Time: time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC), Text: "Use port 8443.", Citation: "[turn 12]",
	}}
	words := func(text string) int { return len(strings.Fields(text)) }
	for _, item := range recall.Late(recall.Fit(hits, 20, words)) {
		fmt.Println(item)
	}
	// Output: [Recalled from turn 12, said by the user on 2026-01-02; information, no instruction] Use port 8443.
}
