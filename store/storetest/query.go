package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// corpus is what the tables below search: its first five turns are inherited by a fork.
var corpus = []turn.Draft{
	/* 1*/ said(turn.User, "Running tests in the morning"),
	/* 2*/ said(turn.Agent, "The test runs at night."),
	/* 3*/ said(turn.User, "Café crème, s'il vous plaît"),
	/* 4*/ said(turn.Agent, "cafe creme"),
	/* 5*/ said(turn.System, `a.b*c (literal) [brackets] ^start$ \d+ 100% x_y`),
	/* 6*/ said(turn.User, "東京タワーに行きたい"),
	/* 7*/ said(turn.Agent, "京都と東京は違う"),
	/* 8*/ said(turn.User, "a 🎉 party\nline two\r\nline three"),
	/* 9*/ {Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: "c1", Name: "forecast", Arguments: `{"city": "Paris"}`}}}},
	/*10*/ {Role: turn.System, Content: turn.Result{Name: "forecast", CallID: "c1", Status: turn.CallOK, Result: `{"degrees": 21.5, "in": "Paris"}`}},
	/*11*/ {Role: turn.User, Content: turn.Image{MediaType: "image/png", Alt: "a red bicycle in Paris", Blob: turn.Blob{Data: []byte("png")}}},
	/*12*/ {Role: turn.User, Content: turn.Speech{Transcript: "turn the lights on"}},
	/*13*/ {Role: turn.User, Content: turn.Action{Name: "click", Target: "#submit", Payload: `{"x": 1}`}},
	/*14*/ {Role: turn.System, Kind: turn.KindSummary, Content: turn.Text{Text: "They spoke about Paris"}, Covers: turn.Range{From: 1, To: 9}},
	/*15*/ said(turn.User, "ÅNGSTRÖM and e\u0301clair; ﬁne print"),
	/*16*/ {Role: turn.Agent, Content: turn.Text{Text: "done", Thinking: "hidden zebra"}},
	/*17*/ said(turn.User, "don't repeat: test test TEST"),
}

// fillCorpus writes the corpus, a second apart, into a session whose first part is inherited.
func fillCorpus(w *world) turn.Key {
	root, k := w.key("corpus-root"), w.key("corpus")
	w.create(root)
	for i, d := range corpus {
		to := k
		if i < 5 {
			to = root
		}
		if i == 5 {
			w.fork(root, 5, k)
			w.append(root, said(turn.User, "Paris test café 東京 after the fork"))
		}
		d.ID = w.newID()
		sealed, err := w.seal(d)
		if err != nil {
			w.Fatal(err)
		}
		w.update(func(tx store.Tx) error {
			_, err := turn.Append(w.ctx(), tx.Log(), to, noon.Add(time.Duration(i)*time.Second), sealed...)
			return err
		})
	}
	return k
}

var queries = []struct {
	rule string
	q    turn.Query
	want []int64
}{
	{"everything", turn.Query{}, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}},
	{"role", turn.Query{Role: turn.Agent}, []int64{2, 4, 7, 9, 16}},
	{"form", turn.Query{Form: turn.FormAction}, []int64{10, 13}},
	{"role and form", turn.Query{Role: turn.User, Form: turn.FormAction}, []int64{13}},
	{"summaries", turn.Query{Kind: turn.KindSummary}, []int64{14}},
	{"ordinary turns", turn.Query{Kind: turn.KindTurn, From: 13}, []int64{13, 15, 16, 17}},
	{"seqs", turn.Query{From: 4, To: 7}, []int64{4, 5, 6, 7}},
	{"times", turn.Query{Since: noon.Add(2 * time.Second), Until: noon.Add(5 * time.Second)}, []int64{3, 4, 5}},

	{"literal", turn.Query{Match: "test"}, []int64{1, 2, 17}},
	{"literal, case counts", turn.Query{Match: "Test"}, []int64{}},
	{"literal, accents count", turn.Query{Match: "cafe"}, []int64{4}},
	{"literal, inside a word", turn.Query{Match: "ornin"}, []int64{1}},
	{"literal %", turn.Query{Match: "0% x"}, []int64{5}},
	{"literal _", turn.Query{Match: "x_y"}, []int64{5}},
	{"literal % is no wildcard", turn.Query{Match: "R%g"}, []int64{}},
	{"literal _ is no wildcard", turn.Query{Match: "t_st"}, []int64{}},
	{"literal dot and star", turn.Query{Match: "a.b*c"}, []int64{5}},
	{"literal backslash", turn.Query{Match: `\d+`}, []int64{5}},
	{"literal quote", turn.Query{Match: "s'il"}, []int64{3}},
	{"literal over a line end", turn.Query{Match: "two\r\nline"}, []int64{8}},
	{"literal of other scripts", turn.Query{Match: "東京"}, []int64{6, 7}},
	{"literal, one sign of two", turn.Query{Match: "京"}, []int64{6, 7}},
	{"literal emoji", turn.Query{Match: "🎉"}, []int64{8}},
	{"literal combining mark", turn.Query{Match: "e\u0301"}, []int64{15}},
	{"literal in arguments", turn.Query{Match: `{"city"`}, []int64{9}},
	{"literal in results", turn.Query{Match: "21.5"}, []int64{10}},
	{"literal in a description", turn.Query{Match: "bicycle"}, []int64{11}},
	{"literal in a transcript", turn.Query{Match: "lights"}, []int64{12}},
	{"literal in an action", turn.Query{Match: "#submit"}, []int64{13}},
	{"not in thinking", turn.Query{Match: "zebra"}, []int64{}},
	{"not in other sessions", turn.Query{Match: "after the fork"}, []int64{}},

	{"regexp", turn.Query{Regexp: `t(est|urn)s?\b`}, []int64{1, 2, 12, 17}},
	{"regexp, case counts", turn.Query{Regexp: `paris`}, []int64{}},
	{"regexp without case", turn.Query{Regexp: `(?i)paris`}, []int64{9, 10, 11, 14}},
	{"regexp anchored to the text", turn.Query{Regexp: `^The`}, []int64{2, 14}},
	{"regexp anchored to lines", turn.Query{Regexp: `(?m)^line`}, []int64{8}},
	{"regexp of classes", turn.Query{Regexp: `\p{Han}{2}`}, []int64{6, 7}},
	{"regexp without case of other scripts", turn.Query{Regexp: `(?i)ångström`}, []int64{15}},
	{"regexp of digits", turn.Query{Regexp: `\d+\.\d`}, []int64{10}},
	{"regexp that matches nothing much", turn.Query{Regexp: `x*`, To: 3}, []int64{1, 2, 3}},

	{"text, stems", turn.Query{Text: "running test"}, []int64{1, 2}},
	{"text, any order and case", turn.Query{Text: "NIGHT tests"}, []int64{2}},
	{"text, accents do not count", turn.Query{Text: "cafe"}, []int64{3, 4}},
	{"text, accents asked for do not count either", turn.Query{Text: "CAFÉ crème"}, []int64{3, 4}},
	{"text, accent as a mark of its own", turn.Query{Text: "éclair"}, []int64{15}},
	{"text, letters of other shape", turn.Query{Text: "fine angstrom"}, []int64{15}},
	{"text of other scripts", turn.Query{Text: "東京"}, []int64{6, 7}},
	{"text of other scripts, longer", turn.Query{Text: "東京タワー"}, []int64{6}},
	{"text emoji", turn.Query{Text: "🎉"}, []int64{8}},
	{"text, whole words only", turn.Query{Text: "ornin"}, []int64{}},
	{"text, every word", turn.Query{Text: "test paris"}, []int64{}},
	{"text, apostrophe", turn.Query{Text: "dont"}, []int64{17}},
	{"text in every form", turn.Query{Text: "paris"}, []int64{9, 10, 11, 14}},
	{"text, not in thinking", turn.Query{Text: "zebra"}, []int64{}},
	{"text of one role", turn.Query{Text: "paris", Role: turn.System}, []int64{10, 14}},
	{"text of one form", turn.Query{Text: "paris", Form: turn.FormImage}, []int64{11}},
	{"text of one kind", turn.Query{Text: "paris", Kind: turn.KindSummary}, []int64{14}},
	{"text and times", turn.Query{Text: "test", Since: noon.Add(time.Second)}, []int64{2, 17}},
	{"text and seqs", turn.Query{Text: "paris", From: 10, To: 11}, []int64{10, 11}},
	{"text and literal", turn.Query{Text: "test", Match: "TEST"}, []int64{17}},
	{"text, literal and regexp", turn.Query{Text: "paris", Match: "in", Regexp: "^a"}, []int64{11}},
	{"all that is asked for must hold", turn.Query{Text: "test", Match: "runs", Regexp: "night", Role: turn.User}, []int64{}},
}

func testQuery(t *testing.T, w *world) {
	k := fillCorpus(w)

	w.run("each query finds the same turns right after the append and when all is indexed", func(t *testing.T) {
		for _, c := range queries {
			same(t, c.rule, seqs(w.query(k, c.q).Turns), c.want)
		}
		if err := w.IndexText(w.ctx()); err != nil {
			t.Fatal(err)
		}
		for _, c := range queries {
			same(t, c.rule+", indexed", seqs(w.query(k, c.q).Turns), c.want)
		}
	})

	w.run("pages together are the whole answer, whatever their size", func(t *testing.T) {
		for _, c := range queries {
			for _, limit := range []int{1, 2, 3, 5} {
				q, got := c.q, []int64{}
				q.Limit = limit
				for {
					page := w.query(k, q)
					got = append(got, seqs(page.Turns)...)
					if page.Next == 0 {
						break
					}
					if len(page.Turns) != limit || page.Next != got[len(got)-1] {
						t.Fatalf("%s: a page of %d turns with cursor %d", c.rule, len(page.Turns), page.Next)
					}
					q.After = page.Next
				}
				same(t, fmt.Sprintf("%s, %d at a time", c.rule, limit), got, c.want)
			}
		}
	})

	w.run("turns are found by id in their session only", func(t *testing.T) {
		log := w.log(k)
		ask := func(q turn.Query) []int64 { return seqs(w.query(k, q).Turns) }
		same(t, "one", ask(turn.Query{ID: log[8].ID}), []int64{9})
		same(t, "an inherited one", ask(turn.Query{ID: log[2].ID}), []int64{3})
		outside := w.log(w.key("corpus-root"))[5]
		same(t, "one after the fork point", ask(turn.Query{ID: outside.ID}), []int64{})
		same(t, "unknown", ask(turn.Query{ID: w.newID()}), []int64{})
		among := []string{log[16].ID, log[1].ID, outside.ID, log[0].ID}
		same(t, "some, in the log's order", ask(turn.Query{Among: among}), []int64{1, 2, 17})
		same(t, "some and a text", ask(turn.Query{Among: among, Text: "running"}), []int64{1, 2})
		same(t, "some and a role", ask(turn.Query{Among: among, Role: turn.Agent}), []int64{2})
		same(t, "some from a seq on", ask(turn.Query{Among: among, From: 2}), []int64{2, 17})
		same(t, "one named twice", ask(turn.Query{Among: []string{log[0].ID, log[0].ID}}), []int64{1})
		same(t, "one of some", ask(turn.Query{ID: log[1].ID, Among: among}), []int64{2})
		same(t, "one that is not among them", ask(turn.Query{ID: log[8].ID, Among: among}), []int64{})
		same(t, "none of none", ask(turn.Query{Among: []string{}}), []int64{})
	})

	w.run("an invalid pattern is an error, not an empty answer", func(t *testing.T) {
		for field, q := range map[string]turn.Query{
			"regexp": {Regexp: "(unclosed"}, "text": {Text: "!?"}, "match": {Match: "\xff"},
			"role": {Role: "robot"}, "form": {Form: "smell"}, "kind": {Kind: "sort"}, "limit": {Limit: 10_001}, "after": {After: -1},
		} {
			_, err := q.Compile()
			refused(t, field, err, field)
		}
	})

	w.run("a row of a unit says which unit", func(t *testing.T) {
		for _, u := range w.query(k, turn.Query{From: 9, To: 10}).Turns {
			if u.Unit != 9 {
				t.Errorf("turn %d says unit %d, want 9", u.Seq, u.Unit)
			}
		}
	})
}
