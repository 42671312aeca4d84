package extract_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/budget/bpe"
	"github.com/turnstone-dev/turnstone/compress/extract"
)

// chatter is a made-up conversation of about the given size, with a tool call now and then.
func chatter(size int) []extract.Line {
	random := rand.New(rand.NewPCG(3, 4))
	nouns := strings.Fields(`harbour lantern violin bicycle orchard kettle museum ladder falcon tunnel
		garden printer blanket compass river bakery ticket engine planet mirror cabin bridge saddle pepper`)
	verbs := strings.Fields("painted borrowed repaired sold found visited cleaned measured photographed lost built carried")
	names := strings.Fields("Ottilie Bram Xanthe Corvin Liesbeth Pell")
	var lines []extract.Line
	for n := 0; n < size; {
		seq := int64(len(lines))
		l := extract.Line{Seq: seq, Speaker: names[seq%2], Time: fmt.Sprintf("day %d", seq/20), User: seq%2 == 0}
		if seq%9 == 8 {
			l = extract.Line{Seq: seq, Time: l.Time, Kind: extract.Result, Name: "look_up", Text: fmt.Sprintf(
				`{"order_id": "K%06d", "total": %d, "items": [{"name": "%s", "price": %d}, {"name": "%s", "price": %d}], "note": null}`,
				random.IntN(1e6), random.IntN(500), nouns[random.IntN(len(nouns))], random.IntN(90), nouns[random.IntN(len(nouns))], random.IntN(90))}
		} else {
			var b strings.Builder
			for range 2 + random.IntN(4) {
				fmt.Fprintf(&b, "I %s the %s%d near the %s with %s, and it was really great. ", verbs[random.IntN(len(verbs))],
					nouns[random.IntN(len(nouns))], random.IntN(size/200+1), nouns[random.IntN(len(nouns))], names[random.IntN(len(names))])
			}
			l.Text = b.String()
		}
		n += len(l.Text)
		lines = append(lines, l)
	}
	return lines
}

func BenchmarkSummarise(b *testing.B) {
	for _, size := range []int{100 << 10, 1 << 20, 8 << 20} {
		for _, share := range []int{20, 3} {
			lines := chatter(size)
			b.Run(fmt.Sprintf("%dKB/1of%d", size>>10, share), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					extract.Summarise(lines, extract.Options{Budget: size / 4 / share, Count: bpe.Cl100k().Count})
				}
			})
		}
	}
}
