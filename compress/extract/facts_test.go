package extract_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/budget/bpe"
	"github.com/turnstone-dev/turnstone/compress/extract"
)

// TestFacts checks that facts stated once, early and in passing outlive long chatter about nothing.
func TestFacts(t *testing.T) {
	facts := [][2]string{
		{"The staging database runs on port 6543.", "6543"},
		{"The deploy key is named heron-ci.", "heron-ci"},
		{"Xanthe owns the billing service.", "Xanthe owns billing"},
		{"The release freeze starts on 14 March.", "14 March"},
		{"Retries are capped at 7 attempts.", "7 attempts"},
		{"The cache lives in /var/lib/turn/cache.", "/var/lib/turn/cache"},
		{"The API version is v2.4.1.", "v2.4.1"},
		{"Invoices are sent by the Kestrel queue.", "Kestrel"},
	}
	things := strings.Fields("lantern violin kettle harbour falcon orchard museum ladder bakery compass tunnel saddle")
	for name, exchange := range map[string]func(i int) (string, string){
		"numbered": func(i int) (string, string) {
			return fmt.Sprintf("Tell me something about topic %d, please.", i),
				fmt.Sprintf("Topic %d is interesting because it connects many ideas. There is a lot to say about topic %d.", i, i)
		},
		"worded": func(i int) (string, string) {
			a, b, c := things[i%12], things[(i*5+1)%12], things[(i*7+3)%12]
			return fmt.Sprintf("What do you think about the %s?", a),
				fmt.Sprintf("I think the %s near the %s is nice. Many people like a %s in the morning.", a, b, c)
		},
		"worked": func(i int) (string, string) {
			return fmt.Sprintf("Step %d: rename helper_%d in module%d.go", i, i, i),
				fmt.Sprintf("Renamed helper_%d to assist_%d in module%d.go, all %d tests passed in %d ms.", i, i, i, 40+i, 300+i*7)
		},
	} {
		var lines []extract.Line
		add := func(user bool, text string) {
			lines = append(lines, extract.Line{Seq: int64(len(lines)), Speaker: map[bool]string{true: "user", false: "agent"}[user], User: user, Text: text})
		}
		for i, fact := range facts {
			add(true, fmt.Sprintf("Question %d?", i))
			add(false, fact[0])
		}
		for i := range 48 {
			ask, reply := exchange(i)
			add(true, ask)
			add(false, reply)
		}
		s := extract.Summarise(lines, extract.Options{Budget: 300, Count: bpe.Cl100k().Count})
		for _, fact := range facts {
			if !strings.Contains(s.Text, fact[1]) {
				t.Errorf("%s: %q is lost in\n%s", name, fact[1], s.Text)
			}
		}
	}
}
