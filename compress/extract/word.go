package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/compress/literal"
	"github.com/turnstone-dev/turnstone/internal/words"
)

// word is a different word of the conversation, as it is written, with the punctuation on it.
type word struct {
	text   string
	core   string // without the punctuation; empty for what is punctuation only
	terms  []int32
	tokens int32 // of the text after a space
	class  class
	kind   literal.Kind
	end    byte // . ? , ; or 0
	title  bool // begins with a capital
	plain  bool // nothing but the end's punctuation is on it
	open   bool // begins with a bracket that it does not shut
	shut   bool // shuts a bracket that it does not open
	quoted bool // has a quotation mark on it
	opens  bool // and what is quoted goes on after it
}

// term is what different words share: a stem, or a literal as it is written.
type term struct {
	units, lines       int32 // that hold it
	lastUnit, lastLine int32
	inner, titles      int32 // inside of sentences; of these, with a capital
	weight             float64
	literal            bool
	speaker            bool
	focus              bool
}

// vocabulary looks at each different word once, however often it is used.
type vocabulary struct {
	count func(string) int
	ids   map[string]int32
	words []word
	stems map[string]int32
	terms []term
}

// newVocabulary returns the vocabulary of a text of the given length. In texts of a few pages
// every tenth word is a new one.
func newVocabulary(count func(string) int, length int) *vocabulary {
	size := min(length/40, 1<<14)
	return &vocabulary{
		count: count,
		ids:   make(map[string]int32, 2*size), words: make([]word, 0, 2*size),
		stems: make(map[string]int32, size), terms: make([]term, 0, size),
	}
}

// term returns the number of a stem or literal.
func (v *vocabulary) term(s string) int32 {
	id, known := v.stems[s]
	if !known {
		id = int32(len(v.terms))
		v.stems[s] = id
		v.terms = append(v.terms, term{lastUnit: -1, lastLine: -1})
	}
	return id
}

// blob is the length in bytes from which a word is data, which nobody asks for word by word.
const blob = 256

// word returns the number of a word.
func (v *vocabulary) word(text string) int32 {
	if id, known := v.ids[text]; known {
		return id
	}
	w := v.look(text)
	id := int32(len(v.words))
	v.ids[text] = id
	v.words = append(v.words, w)
	return id
}

func (v *vocabulary) look(text string) word {
	w := word{text: text, tokens: int32(v.count(" " + text))}
	w.core = strings.TrimRight(strings.TrimFunc(text, around), "-")
	if w.core != "&" && w.core != "+" && strings.IndexFunc(w.core, spoken) < 0 {
		w.core = ""
	}
	w.end = ending(text)
	w.plain = w.core == strings.TrimRight(text, ".,!;")
	w.open = text[0] == '(' && strings.IndexByte(text, ')') < 0
	w.shut = strings.IndexByte(text, ')') > 0 && strings.IndexByte(text, '(') < 0
	w.quoted = strings.ContainsAny(text, `"“”«»„`)
	w.opens = w.quoted && opensQuotation(text)
	if w.core == "" {
		return w
	}
	if w.core == text {
		v.understand(&w)
	} else {
		plain := &v.words[v.word(w.core)]
		w.class, w.kind, w.terms, w.title = plain.class, plain.kind, plain.terms, plain.title
	}
	if annotation(text) {
		w.class, w.plain = article, true
	}
	return w
}

// understand finds what a word without punctuation means.
func (v *vocabulary) understand(w *word) {
	if class, known := lexicon()[strings.ToLower(strings.ReplaceAll(w.core, "’", "'"))]; known {
		w.class = class
	}
	initial, _ := utf8.DecodeRuneInString(w.core)
	w.title = unicode.IsUpper(initial)
	if len(w.core) > blob {
		return
	}
	w.kind = literal.Of(w.core)
	if w.kind > literal.Number {
		w.terms = []int32{v.term(w.core)}
	} else {
		for _, s := range words.Terms(w.core) {
			w.terms = append(w.terms, v.term(s))
		}
	}
	if w.kind != literal.None {
		for _, t := range w.terms {
			v.terms[t].literal = true
		}
	}
}

// opensQuotation reports whether the only quotation mark of a word stands in front of it.
func opensQuotation(text string) bool {
	at := strings.IndexFunc(text, spoken)
	return at > 0 && strings.ContainsAny(text[:at], `"“«„`) && !strings.ContainsAny(text[at:], `"”»“`)
}

// annotation reports whether a word is a transcriber's, as in {laugh}.
func annotation(text string) bool {
	return len(text) > 2 && text[0] == '{' && strings.Trim(text[1:], "abcdefghijklmnopqrstuvwxyz") == "}"
}

// around reports whether a character at either end of a word is punctuation on it.
func around(r rune) bool {
	return !spoken(r) && !unicode.IsMark(r) && (r >= utf8.RuneSelf || strings.IndexByte("#$%&/-+_~", byte(r)) < 0)
}

func spoken(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// ending returns the punctuation that a word ends a sentence or clause with.
func ending(text string) byte {
	text = strings.TrimRight(text, "\"')]}*_”’»")
	switch r, _ := utf8.DecodeLastRuneInString(text); r {
	case '.', '!', '…', '。', '！':
		return '.'
	case '?', '？':
		return '?'
	case ',', '，', '、':
		return ','
	case ';', '；':
		return ';'
	}
	return 0
}
