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
