package extract_test

import (
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/compress/extract"
)

func ExampleSummarise() {
	lines := []extract.Line{
		{Seq: 1, Time: "3 March", Speaker: "Ottilie", Text: "Hey Bram, how are you? I finally moved to Zwolle last week!", User: true},
		{Seq: 2, Time: "3 March", Speaker: "Bram", Text: "Wow, that's really great. I'm so happy for you!"},
		{Seq: 3, Time: "4 March", Speaker: "Ottilie", Text: "Thanks! The train leaves at 9:40, so order the tickets.", User: true},
		{Seq: 4, Time: "4 March", Kind: extract.Call, Name: "order", Text: `{"train": "IC 540", "seats": 2}`},
		{Seq: 5, Time: "4 March", Kind: extract.Result, Name: "order", Text: `{"id": "T-88412", "gate": null, "paid": true}`},
	}
	words := func(text string) int { return len(strings.Fields(text)) }
	s := extract.Summarise(lines, extract.Options{Budget: 27, Count: words})
	fmt.Print(s.Text)
	fmt.Println(s.Tokens, "words of", s.Seqs)
	// Output:
	// [3 March]
	// Ottilie: I finally moved to Zwolle last week
	// [4 March]
	// Ottilie: Thanks! The train leaves at 9:40, so order the tickets
	// order(train=IC 540 seats=2): id=T-88412
	// 27 words of [1 3 4 5]
}

// What was read once can be summed up at any length.
func ExamplePrepare() {
	lines := []extract.Line{
		{Seq: 1, Speaker: "Ottilie", Kind: extract.Talk, Text: "The train to Zwolle leaves at 9:40. It is a very nice train.", User: true},
		{Seq: 2, Speaker: "Bram", Kind: extract.Talk, Text: "I will bring the tickets, and Pim brings 3 sandwiches."},
	}
	words := func(text string) int { return len(strings.Fields(text)) }
	prepared := extract.Prepare(lines, "the train", words)
	for _, budget := range []int{12, 30} {
		fmt.Print(prepared.Fit(budget).Text)
	}
	// Output:
	// Ottilie: The train to Zwolle leaves at 9:40
	// Bram: will bring tickets
	// Ottilie: The train to Zwolle leaves at 9:40. It is a very nice train
	// Bram: I will bring the tickets, and Pim brings 3 sandwiches
}
