package extract

import (
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/compress/literal"
)

func vocabularyOf() *vocabulary {
	return newVocabulary(func(s string) int { return len(s) }, 0)
}

func TestLook(t *testing.T) {
	for _, test := range []struct {
		text string
		want word // without its terms and tokens
	}{
		{"lantern", word{core: "lantern", plain: true}},
		{"Lantern.", word{core: "Lantern", plain: true, title: true, end: '.'}},
		{"lantern,", word{core: "lantern", plain: true, end: ','}},
		{"lantern?", word{core: "lantern", end: '?'}},
		{"lantern;", word{core: "lantern", plain: true, end: ';'}},
		{"lantern…", word{core: "lantern", end: '.'}},
		{"灯籠。", word{core: "灯籠", end: '.'}},
		{"(lantern", word{core: "lantern", open: true}},
		{"lantern).", word{core: "lantern", shut: true, end: '.'}},
		{"(lantern)", word{core: "lantern"}},
		{"f(x)", word{core: "f(x"}},
		{`"The`, word{core: "The", title: true, class: article, quoted: true, opens: true}},
		{`Rings."`, word{core: "Rings", title: true, quoted: true, end: '.'}},
		{`"one"`, word{core: "one", class: function, quoted: true}},
		{"**bold**", word{core: "bold"}},
		{"I’m", word{core: "I’m", class: first, plain: true, title: true}},
		{"THE", word{core: "THE", class: article, plain: true, title: true}},
		{"{laugh}", word{core: "laugh", class: article, plain: true}},
		{"{1}", word{core: "1", kind: literal.Number}},
		{"42,", word{core: "42", kind: literal.Number, plain: true, end: ','}},
		{"store/tx.go.", word{core: "store/tx.go", kind: literal.Path, plain: true, end: '.'}},
		{"&", word{core: "&", plain: true}},
		{"-", word{}},
		{"💪", word{}},
		{"...", word{end: '.', plain: true}},
		{"?!", word{end: '.'}},
		{"well-", word{core: "well", class: opening}},
	} {
		v := vocabularyOf()
		got := v.words[v.word(test.text)]
		if got.text != test.text || got.tokens != int32(len(test.text)+1) {
			t.Errorf("%q: text %q, %d tokens", test.text, got.text, got.tokens)
		}
		got.text, got.tokens, got.terms = "", 0, nil
		if got.core != test.want.core || got.class != test.want.class || got.kind != test.want.kind || got.end != test.want.end ||
			got.title != test.want.title || got.plain != test.want.plain || got.open != test.want.open ||
			got.shut != test.want.shut || got.quoted != test.want.quoted || got.opens != test.want.opens {
			t.Errorf("%q:\n got %+v\nwant %+v", test.text, got, test.want)
		}
	}
}

// TestTerms checks which words mean the same.
func TestTerms(t *testing.T) {
	v := vocabularyOf()
	terms := func(text string) []int32 { return v.words[v.word(text)].terms }
	for _, same := range [][2]string{
		{"lantern", "Lanterns!"}, {"painting", "(painted)"}, {"Café", "cafe,"}, {"K100", "**K100**"}, {"42", "42%"},
	} {
		a, b := terms(same[0]), terms(same[1])
		if len(a) == 0 || len(a) != len(b) || a[0] != b[0] {
			t.Errorf("%q and %q: %v and %v", same[0], same[1], a, b)
		}
	}
	for _, other := range [][2]string{{"lantern", "ladder"}, {"K100", "k100"}, {"store/tx.go", "store"}, {"v1.2.3", "v1.2.4"}} {
		if a, b := terms(other[0]), terms(other[1]); a[0] == b[0] {
			t.Errorf("%q and %q are the same", other[0], other[1])
		}
	}
	if got := terms("self-care"); len(got) != 2 {
		t.Errorf("self-care has %d terms", len(got))
	}
	if got := terms(strings.Repeat("x", blob+1)); got != nil {
		t.Errorf("a blob has terms: %v", got)
	}
	for text, want := range map[string]bool{"K100": true, "42": true, "lantern": false} {
		if got := v.terms[terms(text)[0]].literal; got != want {
			t.Errorf("%s is a literal: %v", text, got)
		}
	}
}

func TestLexicon(t *testing.T) {
	for word, class := range lexicon() {
		if word != strings.ToLower(word) || strings.ContainsAny(word, "’., ") {
			t.Errorf("%q is never looked up", word)
		}
		if class == content {
			t.Errorf("%q needs no place", word)
		}
	}
	for word, want := range map[string]class{
		"not": function, "never": decision, "because": function, "with": function, "the": article, "i'm": first, "my": own,
		"your": other, "awesome": cheer, "yesterday": moment, "three": number, "failed": trouble, "it's": opening,
	} {
		if got := lexicon()[word]; got != want {
			t.Errorf("%q is of class %d, want %d", word, got, want)
		}
	}
	// A telegram without these would say something else.
	for _, word := range strings.Fields("not no never none nor without isn't don't can't won't but or if unless will would could should might was were had") {
		if class := lexicon()[word]; class == article || class == opening || class == first {
			t.Errorf("%q is left out", word)
		}
	}
}
