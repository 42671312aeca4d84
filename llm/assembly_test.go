package llm_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/llm"
)

func TestAssembly(t *testing.T) {
	at := func(i int) *int { return &i }
	for name, test := range map[string]struct {
		pieces []llm.CallPiece
		want   []llm.Call // an id that is made is "new"
	}{
		"none": {nil, nil},
		"pieces of two calls, by turns": {
			[]llm.CallPiece{{at(0), "a", "weather", `{"ci`}, {at(1), "b", "time", `{`}, {at(0), "", "", `ty":1}`}, {at(1), "", "", `}`}},
			[]llm.Call{{ID: "a", Name: "weather", Arguments: `{"city":1}`}, {ID: "b", Name: "time", Arguments: `{}`}},
		},
		"every call has the index 0": {
			[]llm.CallPiece{{at(0), "a", "weather", `{}`}, {at(0), "b", "time", `{`}, {at(0), "b", "", `}`}},
			[]llm.Call{{ID: "a", Name: "weather", Arguments: `{}`}, {ID: "b", Name: "time", Arguments: `{}`}},
		},
		"no index":           {[]llm.CallPiece{{nil, "a", "weather", `{`}, {nil, "", "", `}`}}, []llm.Call{{ID: "a", Name: "weather", Arguments: `{}`}}},
		"an id that is late": {[]llm.CallPiece{{at(0), "", "weather", `{`}, {at(0), "a", "other", `}`}}, []llm.Call{{ID: "a", Name: "weather", Arguments: `{}`}}},
		"no id":              {[]llm.CallPiece{{at(0), "", "weather", `{}`}}, []llm.Call{{ID: "new", Name: "weather", Arguments: `{}`}}},
		"neither ids nor indexes": {
			[]llm.CallPiece{{nil, "", "weather", `{"city":1}`}, {nil, "", "weather", `{"city":2}`}, {nil, "", "time", ``}, {nil, "", "date", `{`}, {nil, "", "", `}`}},
			[]llm.Call{
				{ID: "new", Name: "weather", Arguments: `{"city":1}`}, {ID: "new", Name: "weather", Arguments: `{"city":2}`},
				{ID: "new", Name: "time"}, {ID: "new", Name: "date", Arguments: `{}`},
			},
		},
		"a name with every piece": {
			[]llm.CallPiece{{at(0), "", "weather", ``}, {at(0), "", "weather", `{"city`}, {at(0), "", "weather", `":1}`}, {at(0), "", "", " "}},
			[]llm.Call{{ID: "new", Name: "weather", Arguments: `{"city":1} `}},
		},
		"an id twice": {
			[]llm.CallPiece{{at(0), "a", "weather", `{}`}, {at(1), "a", "time", `{}`}},
			[]llm.Call{{ID: "a", Name: "weather", Arguments: `{}`}, {ID: "new", Name: "time", Arguments: `{}`}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var a llm.Assembly
			for _, p := range test.pieces {
				a.Add(p)
			}
			got := a.Calls()
			for i := range got {
				if made, ok := strings.CutPrefix(got[i].ID, "call_"); ok && len(made) > 20 {
					got[i].ID = "new"
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A call that writes a file comes in as many pieces as it has tokens.
func TestACallOfManyPieces(t *testing.T) {
	const pieces = 10_000
	allocations := testing.AllocsPerRun(1, func() {
		var a llm.Assembly
		for range pieces {
			a.Add(llm.CallPiece{ID: "a", Arguments: "word "})
		}
		if got := a.Calls(); len(got) != 1 || len(got[0].Arguments) != pieces*len("word ") {
			t.Errorf("%d calls", len(got))
		}
	})
	if allocations > 100 {
		t.Errorf("%.0f allocations: with every piece all before it is copied", allocations)
	}
}
