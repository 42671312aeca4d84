package words_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/internal/words"
)

func TestTerms(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "", ""},
		{"no words", " \t\n.,;:!?-_/\\'\"()[]{}<>@#$%^&*+=|~`\x00\x7f", ""},

		{"English", "The cats were running; a dog RUNS.", "the cat were run a dog run"},
		{"repeats in order", "b a b", "b a b"},
		{"stop words stay", "to be or not to be", "to be or not to be"},
		{"same stem", "connect connected connecting connection connections", "connect connect connect connect connect"},
		{"apostrophe", "don't John's users' 'quoted' o'clock it's", "dont john user quot oclock it"},
		{"typographic apostrophe", "don’t м’ята donʼt", "dont мята dont"},
		{"apostrophe before a space", "rock 'n' roll", "rock n roll"},
		{"two apostrophes", "y'all'd a''b", "yalld a b"},

		{"identifiers", "foo_bar fooBar foo-bar kebab-case-name", "foo bar foobar foo bar kebab case name"},
		{"versions and numbers", "v1.2.3 3.14 1,000 2026-01-31 running2", "v1 2 3 3 14 1 000 2026 01 31 running2"},
		{"paths and addresses", "/usr/lib/a_b.go https://example.org/x?y=z me@example.org", "usr lib a b go https exampl org x y z me exampl org"},
		{"code", "if err := db.Exec(`SELECT 1`); err != nil {", "if err db exec select 1 err nil"},
		{"hashes", "sha256:DEADbeef01", "sha256 deadbeef01"},

		{"German", "Straße STRASSE Größe Müller", "strass strass gross muller"},
		{"German decomposed", "Mu\u0308ller GRO\u0308SSE", "muller gross"},
		{"French composed", "Café déjà ÉCOLE cœur", "cafe deja ecol coeur"},
		{"French decomposed", "Cafe\u0301 de\u0301ja\u0300 E\u0301COLE", "cafe deja ecol"},
		{"French elision", "l'été d’accord qu'il aujourd'hui", "l ete d accord qu il aujourdhui"},
		{"Nordic and Polish", "smørrebrød Ægir Łódź þing", "smorrebrod aegir lodz thing"},
		{"Vietnamese", "tiếng Việt, Đà Nẵng", "tieng viet da nang"},
		{"Turkish", "İstanbul ISPARTA ısparta Iğdır", "istanbul isparta isparta igdir"},
		{"Greek", "Ὀδυσσεύς ΟΔΥΣΣΕΥΣ", "οδυσσευσ οδυσσευσ"},
		{"Russian", "Ещё Йод йод и\u0306од", "ещё йод йод йод"},
		{"Hebrew without points", "שָׁלוֹם שלום", "שלום שלום"},
		{"Arabic without vowels", "كِتَابٌ كتاب كتــاب", "كتاب كتاب كتاب"},
		{"Hindi with its marks", "हिन्दी में", "हिन्दी में"},
		{"Persian joiner", "می\u200cخواهم", "میخواهم"},

		{"Chinese", "数据库迁移", "数据 据库 库迁 迁移"},
		{"one character", "我 a 我", "我 a 我"},
		{"Japanese", "日本語のコーヒー", "日本 本語 語の のコ コー ーヒ ヒー"},
		{"Japanese composed and not", "がぎ か\u3099き\u3099 ｶﾞ", "がぎ がぎ ガ"},
		{"Japanese repetition", "人々が", "人々 々が"},
		{"Korean", "데이터 베이스", "데이 이터 베이 이스"},
		{"Korean decomposed", "\u1112\u1161\u11ab\u1100\u116e\u11a8", "한국"},
		{"Thai", "ที่นี่ดี", "ที่นี่ นี่ดี"},
		{"Lao, Khmer, Burmese", "ລາວ ខ្មែរ မြန်", "ລາ າວ ខ្មែ មែរ မြန်"},
		{"mixed scripts", "第3回Go言語v2", "第 3 回 go 言語 v2"},
		{"Han punctuation", "你好,世界。「再见」", "你好 世界 再见"},
		{"mark behind what is dropped", "か\ufe00\u3099 가\u200d\u11a8", "が 각"},
		{"Han variant", "葛\U000e0100城", "葛城"},

		{"emoji", "ship it 🎉🎉 ❤️👍🏽", "ship it 🎉 🎉 ❤ 👍"},
		{"emoji joined", "👩‍💻done", "👩 💻 done"},
		{"keycap", "1️⃣", "1"},
		{"arrows and boxes", "a → b ├── c • d", "a b c d"},
		{"symbols for letters", "Acme™ note¹ m² 5㎏ ½ №7 ①❶", "acm tm note 1 m 2 5 kg 1 2 no 7 1 ❶"},
		{"symbol behind other letters", "日本™é½ж", "日本 tm e 1 2 ж"},
		{"compatibility forms", "ﬁle ＡＢＣ１ Ⅷ 𝐀𝐛", "file abc1 viii ab"},
		{"invisible characters", "Ver\u00adfassung \u200eabc\u200f zero\u200bwidth \ufeffbom", "verfassung abc zero width bom"},
		{"accent on nothing", "\u0301 a \u0301b ´c", "a b c"},
		{"accent on a digit", "7\u0301x", "7x"},
		{"Arabic digits", "٣٤ x", "٣٤ x"},
		{"ligature of a phrase", "ﷺ", "صلى الله عليه وسلم"},

		{"broken UTF-8", "ab\xffcd \xe3\x81 e\xc3", "ab cd e"},
		{"broken UTF-8 beside letters", "é\xffü\xf0\x9f", "e u"},
		{"broken UTF-8 before a symbol", "\xf3²", "2"},
		{"replacement character", "a\ufffdb", "a b"},
		{"private use and unassigned", "a\ue000b\U000effffc", "a b c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(words.Terms(tt.text), " ")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSetIsSortedAndUnique(t *testing.T) {
	got := words.Set("b a 日本 B c A 日本語 connected connection")
	want := []string{"a", "b", "c", "connect", "日本", "本語"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLongWordsAreCutBetweenCharacters(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"63 letters have a stem", strings.Repeat("ab", 30) + "ing", []string{strings.Repeat("ab", 30)}},
		{"64 letters have none", strings.Repeat("ab", 31) + "ed", []string{strings.Repeat("ab", 31) + "ed"}},
		{"65 letters", strings.Repeat("a", 65), []string{strings.Repeat("a", 64)}},
		{"two bytes each", "1" + strings.Repeat("ж", 50), []string{"1" + strings.Repeat("ж", 31)}},
		{"marks", "की" + strings.Repeat("\u0902", 40), []string{"की" + strings.Repeat("\u0902", 19)}},
		{"marks in a pair", "ก" + strings.Repeat("\u0e48", 25) + "ข", []string{"ก" + strings.Repeat("\u0e48", 20)}},
		{"joined", strings.Repeat("a'", 80) + "a", []string{strings.Repeat("a", 64)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, words.Terms(tt.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTermsOfFoldedTextAreNotCopied(t *testing.T) {
	text := strings.Repeat("v1 of 42, as in a2. ", 20) // no stems: those are cached by chance
	if allocs := testing.AllocsPerRun(100, func() { words.Terms(text) }); allocs > 2 {
		t.Errorf("%v allocations, want the slice and once more room for it", allocs)
	}
}

// TestLongTexts counts the bytes allocated: unlike time they are the same on a
// busy machine, and whatever copies a text again and again shows in them.
func TestLongTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: there is nothing to watch")
	}
	const size = 1 << 20
	texts := map[string]string{
		"one word":         strings.Repeat("a", size),
		"one letter each":  strings.Repeat("a ", size/2),
		"apostrophes":      strings.Repeat("a'", size/2),
		"one run of Han":   strings.Repeat("字", size/3),
		"one run of marks": "а" + strings.Repeat("\u0301", size/2),
		"symbols":          strings.Repeat("™", size/3),
		"broken":           strings.Repeat("\xe3", size),
		"nothing":          strings.Repeat(" ", size),
		"Thai marks":       "ก" + strings.Repeat("\u0e48", size/3),
		"jamo":             strings.Repeat("\u1112\u1161\u11ab", size/9),
		"decomposed":       strings.Repeat("e\u0301", size/3),
		"half-width kana":  strings.Repeat("ｶﾞ", size/6),
		"unknown words":    unknownWords(size),
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			terms := words.Terms(text)
			runtime.ReadMemStats(&after)
			if perByte := (after.TotalAlloc - before.TotalAlloc) / size; perByte > 400 {
				t.Errorf("%d bytes allocated per byte of text", perByte)
			}
			for _, term := range terms {
				checkTerm(t, term)
			}
		})
	}
}

// TestEveryCharacterAlone looks for characters whose folding depends on a table
// that disagrees with another.
func TestEveryCharacterAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: there is nothing to watch")
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cf) {
			continue
		}
		for _, term := range words.Terms(string(r)) {
			checkTerm(t, term)
			if again := words.Terms(term); len(again) != 1 || again[0] != term {
				t.Errorf("%U gives %+q, which gives %+q", r, term, again)
			}
		}
		if upper := unicode.ToUpper(r); unicode.ToLower(upper) == r {
			if a, b := words.Terms(string(r)), words.Terms(string(upper)); !slices.Equal(a, b) {
				t.Errorf("%U gives %+q, %U gives %+q", r, a, upper, b)
			}
		}
	}
}

// TestUnspacedScripts holds the analyser against Unicode's own tables.
func TestUnspacedScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: there is nothing to watch")
	}
	scripts := []*unicode.RangeTable{unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if !unicode.IsLetter(r) {
			continue
		}
		folded := strings.Join(words.Terms(string(r)), "")
		if folded != string(r) {
			continue
		}
		pairs := len(words.Terms(folded+folded+folded)) == 2
		if want := unicode.In(r, scripts...) || r == 'ー'; pairs != want {
			t.Errorf("%U is cut into pairs: %v", r, pairs)
		}
	}
}
