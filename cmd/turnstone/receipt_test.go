package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestReceipt(t *testing.T) {
	modelled := compress.Receipt{
		By: "llama3.2", Tries: 2, Repaired: true, Facts: 3, Literals: 1200, Held: 1100, Before: 5000, After: 400, More: 7, SourceHash: "ab",
		Patched: []string{"port 5001"}, Missing: []string{"5002", "5003"}, Omitted: []string{"5004"}, Refused: []string{"it is empty"},
	}
	fallen := compress.Receipt{By: compress.ByExtract, Tries: 1, Facts: 1, Refused: []string{"it is empty"}, SourceHash: "ab"}
	for _, test := range []struct {
		name          string
		receipt       compress.Receipt
		short, fields string
	}{
		{"of a model", modelled, `3 of 3 facts and 1,100 of 1,200 literals that had to be in the summary
1 added to it word for word
2 missing
1 left out for want of room`, `checkpoint: 2, version 1, detailed
of: turns 3-9
made by: llama3.2
asked: 2 times; the answer was repaired
tokens: 5,000 -> 400
facts: 3 of 3 that had to be in the summary
literals: 1,100 of 1,200 that had to be in the summary
added: port 5001
missing: 5002
: 5003
left out: 5004
refused: it is empty
more: 7 in no list, since they got too long
source sha256: ab`},
		{"of turns that left nothing to check", compress.Receipt{By: compress.ByExtract, SourceHash: "ab"}, "nothing had to be in the summary", `checkpoint: 2, version 1, detailed
of: turns 3-9
made by: the built-in summariser
asked: nobody was: no model took part
tokens: 0 -> 0
facts: none had to be in the summary
literals: none had to be in the summary
source sha256: ab`},
		{"of the safety net", fallen, "1 of 1 fact that had to be in the summary", `checkpoint: 2, version 1, detailed
of: turns 3-9
made by: the built-in summariser, since no answer of the model could be taken
asked: 1 time
tokens: 0 -> 0
facts: 1 of 1 that had to be in the summary
literals: none had to be in the summary
refused: it is empty
source sha256: ab`},
	} {
		if diff := cmp.Diff(test.short, strings.Join(receiptLines(&test.receipt), "\n")); diff != "" {
			t.Errorf("%s, in short (-want +got)\n%s", test.name, diff)
		}
		var lines []string
		for _, f := range receiptFields(&compress.Checkpoint{Number: 2, Version: 1, Level: compress.Detailed, Range: turn.Range{From: 3, To: 9}, Receipt: test.receipt}) {
			lines = append(lines, f[0]+": "+f[1])
		}
		if diff := cmp.Diff(test.fields, strings.Join(lines, "\n")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", test.name, diff)
		}
	}
}
