// Package mixed is made-up text of all kinds in one, to compare tokenizers on: prose, code, JSON,
// scripts without spaces, emoji, combining marks, blank lines of every sort and wrong bytes.
package mixed

import (
	"math/rand/v2"
	"strings"
	"unicode/utf8"
)

// Text returns text of about size bytes. Some of it is not valid UTF-8.
func Text(rng *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		kinds[rng.IntN(len(kinds))](rng, &b)
	}
	return b.String()
}

var kinds = []func(*rand.Rand, *strings.Builder){
	words(english), words(capitals), words(code), words(data), words(scripts), words(emoji), words(marks),
	blank, blank, digits, anyRune, anyByte, alphabet, alphabet, echo,
}

var (
	english  = strings.Fields("the The THE quick brown fox's doesn't I'll we've they're I'm he'd DON'T It'S Y'ALL'RE o'clock naïve café façade re-enter e.g. (maybe) \"quoted\" 'single' ... -- — well, said: $3.50 100% 1,234,567 3rd #1 a/b/c x@y.example and/or")
	capitals = strings.Fields("HTTPServer getURLFor XMLHttpRequest camelCase PascalCase snake_case SCREAMING_CASE ǅungla ΑΒΓαβγ ÉCOLE élan iPhone ABCdefGHI aB Ab aBc ABc ʰaʰAʰ ªº")
	code     = strings.Fields("func(x int) if(err!=nil){ return } }; }\n\t\t\n \t// /* */ a[i]+=b[j]; -> => :: <T> &&= ||= !== ??= #include<stdio.h> \\n \"\\u0041\" 0xFF 1e-9 __init__ $var @decorator `tick` <div\tclass=\"x\"> </div>\n\n //// ///\n ./a/b// --\r\n ;;\n/\n/x")
	data     = strings.Fields("{\"a\":1,\"b\":[true,false,null]} [[],[{}]] \"key\": \"value\", -1.5e+10 [1,2,3] {\"é\":\"ü\\n\"} 2024-01-31T12:34:56.789Z a,b,,c;d \"\",\"\" aGVsbG8gd29ybGQ= 9f86d081884c7d65")
	scripts  = strings.Fields("你好世界 中文分词没有空格 日本語のテキスト カタカナ ひらがな 한국어문장 Привет мир Здравствуйте ПРИВЕТ नमस्ते दुनिया สวัสดีชาวโลก مرحبا بالعالم שלום עולם Γειά σου ქართული አማርኛ ไทย தமிழ் తెలుగు 。 、「引用」 ١٢٣ ४५६ Ⅷ ½ ²³ ㊿ 𝟘𝟙 𐐀𐐨 𠀀𠮷")
	emoji    = strings.Fields("😀 👍🏽 👨\u200d👩\u200d👧\u200d👦 🇩🇪🇫🇷 ❤️ 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ✨!! 🤷‍♀️ ☃ ©® ™")
	marks    = strings.Fields("e\u0301 \u0301 \u0301A \u0301a A\u0301B a\u0301'S n\u0303o \u0300\u0301\u0302 !\u0301a !!\u0301 \u0301's 1\u0301 a\u20dd Z\u0351\u0343\u0357a\u0310l\u0312g\u0308o \u0301\u0301B \u093f\u0902")
)

func words(list []string) func(*rand.Rand, *strings.Builder) {
	gaps := []string{" ", " ", " ", " ", "", "  ", "\n", ", ", "\t", "\u00a0", "'", " '"}
	return func(rng *rand.Rand, b *strings.Builder) {
		for range 1 + rng.IntN(12) {
			b.WriteString(list[rng.IntN(len(list))])
			b.WriteString(gaps[rng.IntN(len(gaps))])
		}
	}
}

// blank is spaces and newlines, among them lines that are only indented.
func blank(rng *rand.Rand, b *strings.Builder) {
	list := []string{" ", " ", " ", "  ", "    ", "\t", "\n", "\n", "\r\n", "\r", "\n\n", "\v", "\f", "\u0085", "\u00a0", "\u2003", "\u2028", "\u3000", "\u200b", "\ufeff"}
	for range 1 + rng.IntN(9) {
		b.WriteString(list[rng.IntN(len(list))])
	}
}

func digits(rng *rand.Rand, b *strings.Builder) {
	for range 1 + rng.IntN(12) {
		b.WriteByte(byte('0' + rng.IntN(10)))
	}
}

func anyRune(rng *rand.Rand, b *strings.Builder) {
	limits := []int{0x80, 0x250, 0x3000, 0x10000, utf8.MaxRune + 1}
	limit := limits[rng.IntN(len(limits))]
	for range 1 + rng.IntN(6) {
		b.WriteRune(rune(rng.IntN(limit)))
	}
}

func anyByte(rng *rand.Rand, b *strings.Builder) {
	for range 1 + rng.IntN(3) {
		b.WriteByte(byte(rng.IntN(256)))
	}
}

// alphabet is a dense mixture of what the splitters tell apart.
func alphabet(rng *rand.Rand, b *strings.Builder) {
	list := []rune("aAsStTlLvVrReEmMdD''' \t\n\r/.!1٣ǅʰ中\u0301\u00a0éÉ😀")
	for range 1 + rng.IntN(16) {
		b.WriteRune(list[rng.IntN(len(list))])
	}
}

// echo is one thing over and over, long enough to be merged as a long piece.
func echo(rng *rand.Rand, b *strings.Builder) {
	list := []string{"a", "A", "ab", "the", " ", "\n", "\r\n", "\t ", "-", "=", "=-", "中", "中文", "é", "e\u0301", "ha", "xyz", "Zq", "!?", "😀", "0"}
	unit := list[rng.IntN(len(list))]
	b.WriteString(strings.Repeat(unit, 1+rng.IntN(1<<(1+rng.IntN(9)))))
}
