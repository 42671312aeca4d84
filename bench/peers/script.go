package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
)

const exchanges = 200

const (
	window      = 8192
	modelName   = "gpt-4o"
	toolName    = "lookup"
	toolPurpose = "Looks up a record of the shop and what is known of it."
	instruction = "You keep the orders of a shop in order. Look up the record that a question is about before you answer, " +
		"say what it says and where it leaves something open, and propose one next step. Never make up amounts, dates or names. " +
		"Ask before you delete or refund anything."
)

type lookupArgs struct {
	Record int    `json:"record"`
	Query  string `json:"query"`
}

type lookupResult struct {
	Text string `json:"text"`
}

// exchange is what is said in one: about 200 bytes of a question, a call, 1,500 bytes of a result, 600 of a reply.
type exchange struct {
	input     string
	args      lookupArgs
	arguments string // args as the model writes them
	result    string
	reply     string
}

// talk is the conversation that all of them have.
var talk = func() []exchange {
	w := writer{rand.New(rand.NewPCG(6, 3))}
	all := make([]exchange, exchanges)
	for i := range all {
		args := lookupArgs{i, w.text(24)}
		arguments, err := json.Marshal(args)
		if err != nil {
			panic(err) // numbers and texts always have a JSON
		}
		all[i] = exchange{
			input:     fmt.Sprintf("Question %d: %s", i, w.text(185)),
			args:      args,
			arguments: string(arguments),
			result:    fmt.Sprintf("record %d: %s", i, w.text(1485)),
			reply:     fmt.Sprintf("Of record %d: %s", i, w.text(580)),
		}
	}
	return all
}()

// summaryText is what the model says when it is asked for a summary of 200 words.
var summaryText = writer{rand.New(rand.NewPCG(7, 3))}.text(1200)

// lookup is the tool.
func lookup(a lookupArgs) (lookupResult, error) {
	if a.Record < 0 || a.Record >= exchanges || a != talk[a.Record].args {
		return lookupResult{}, fmt.Errorf("there is no record %d with %q", a.Record, a.Query)
	}
	return lookupResult{talk[a.Record].result}, nil
}

// script says what the model answers: a call, then the reply, and so on.
type script struct {
	asked atomic.Int64
	// seen is told the prompts. Nil in runs that are measured.
	seen *prompts
}

// next is the exchange that the model is asked in, and whether it has to call the tool.
func (s *script) next() (e *exchange, call bool) {
	n := s.asked.Add(1) - 1
	return &talk[int(n/2)%exchanges], n%2 == 0
}

// whole says whether the model was asked as often as the conversation needs.
func (s *script) whole() error {
	if n := s.asked.Load(); n != 2*exchanges {
		return fmt.Errorf("the model was asked %d times, want %d", n, 2*exchanges)
	}
	return nil
}

type writer struct{ *rand.Rand }

var vocabulary = strings.Fields(`the of and to a in is it that for was on are with as be at this have from or one had by word but not what all were when
your can said there use an each which she do how their if will up other about out many then them these so some her would make like him into time has look
two more write go see number no way could people my than first water been call who oil its now find long down day did get come made may part order ship
paid refund parcel address invoice amount customer warehouse delivery return broken late colour size green blue kettle lamp chair desk printer cable
Monday Tuesday Friday March April October Oslo Bergen Lyon Porto Weber Tanaka Rossi Novak Haugen approved rejected pending cancelled waiting`)

// text returns n bytes of sentences with names and numbers in them.
func (w writer) text(n int) string {
	var b strings.Builder
	for b.Len() < n {
		switch w.IntN(14) {
		case 0:
			fmt.Fprintf(&b, "%d", w.IntN(100_000))
		case 1:
			fmt.Fprintf(&b, "A-%04d", w.IntN(10_000))
		case 2:
			b.WriteString(vocabulary[w.IntN(len(vocabulary))])
			b.WriteByte('.')
		default:
			b.WriteString(vocabulary[w.IntN(len(vocabulary))])
		}
		b.WriteByte(' ')
	}
	return b.String()[:n-1] + "."
}
