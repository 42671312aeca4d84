package extract

import (
	"strings"
	"testing"
)

// TestGaps checks the marks of what is left out of a result whose other units are written.
func TestGaps(t *testing.T) {
	for _, test := range []struct{ name, data, without, want string }{
		{"nothing", `{"ids":["K1","K2"],"n":3}`, "", "ids=K1,K2 n=3"},
		{"inside", `{"ids":["K1","K2","K3","K4"]}`, "K2 K3", "ids=K1,…,K4"},
		{"first", `{"ids":["K1","K2"]}`, "K1", "ids=…,K2"},
		{"last", `{"ids":["K1","K2"],"n":3}`, "K2", "ids=K1,… n=3"},
		{"end", `{"n":3,"ids":["K1","K2"]}`, "K2", "n=3 ids=K1,…"},
		{"both", `{"ids":["K1","K2"],"of":["L1","L2"]}`, "K2 L1", "ids=K1,… of=…,L2"},
		{"whole list", `{"m":2,"ids":["K1","K2"],"n":3}`, "K1 K2", "m=2 … n=3"},
		{"bare list", `["K1","K2","K3","K4"]`, "K2 K4", "K1 … K3 …"},
		{"bare list, first", `["K1","K2"]`, "K1", "… K2"},
		{"full stops", `{"x":["a.","b","c."]}`, "b", "x=a.,…,c"},
		{"field", `{"a":1,"b":2,"c":3}`, "2", "a=1 c=3"},
		{"rows", `[{"id":"K1","n":1},{"id":"K2","n":2},{"id":"K3","n":3}]`, "K2", "id=K1 n=1; …; K3 3"},
		{"outer rows", `[{"id":"K1","n":1},{"id":"K2","n":2},{"id":"K3","n":3}]`, "K1 K3", "…; id=K2 n=2; …"},
		{"rows of other keys", `[{"id":"K1","n":1},{"id":"K2","n":2},{"id":"K3","m":3}]`, "K2", "id=K1 n=1; … id=K3 m=3"},
		{"list in a row", `[{"tags":["x1","x2"],"n":1},{"tags":["x3","x4"],"n":2}]`, "x1", "…; tags=x3,x4 n=2"},
		{"fields of a row", `[{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7}]`, "1 4 7", "b=2 c=3 e=5 f=6"},
		{"large rows", `[{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7},{"a":11,"b":12,"c":13,"d":14,"e":15,"f":16,"g":17}]`,
			"11 12 13 14 15 16 17", "a=1 b=2 c=3 d=4 e=5 f=6 g=7 …"},
		{"output", "one\ntwo\nthree\nfour\nfive", "one three five", "… two …\n  four …"},
		{"sentence", `{"note":"The violin plays upstairs while the kettle boils. A falcon sits. The end is near."}`, "falcon",
			"The violin plays upstairs while the kettle boils …; The end is near"},
	} {
		x := read([]Line{{Kind: Result, Name: "f", Text: test.data}}, "", func(s string) int { return len(strings.Fields(s)) })
		left := map[string]bool{}
		for word := range strings.FieldsSeq(test.without) {
			left[word] = true
		}
		var kept []int32
		for i := range x.units {
			u := &x.units[i]
			u.written = 1<<(u.to-u.from) - 1
			out := false
			for k := range int(u.to - u.from) {
				out = out || left[x.word(u, k).core]
			}
			if !out {
				kept = append(kept, int32(i))
			}
		}
		if got := strings.TrimSpace(x.render(kept)); got != "f: "+test.want {
			t.Errorf("%s: %q, want %q", test.name, got, "f: "+test.want)
		}
	}
}
