package budget

import "strings"

// kind is what a line of text is made of.
type kind int

const (
	prose kind = iota
	code
	data
	dense
	kinds
)

// perByte is how many tokens a byte of each kind makes, in proportion.
var perByte = [kinds]int{prose: 10, code: 14, data: 17, dense: 16}

// weights are a text's bytes by kind, times perByte.
type weights [kinds]int

// split parts n tokens in proportion to the weights. What rounding leaves goes to the largest.
func (w weights) split(n int) Tally {
	total, largest := 0, prose
	for k, weight := range w {
		total += weight
		if weight > w[largest] {
			largest = kind(k)
		}
	}
	var parts [kinds]int
	rest := n
	for k, weight := range w {
		if kind(k) != largest && weight > 0 {
			parts[k] = int(float64(n) * (float64(weight) / float64(total)))
			rest -= parts[k]
		}
	}
	parts[largest] = rest
	return Tally{Prose: parts[prose], Code: parts[code], Data: parts[data], Dense: parts[dense]}
}

// class is what a byte tells about the kind of its line.
type class uint8

const (
	letter class = iota // and punctuation that stands in any text
	blank
	digit
	symbol  // of programs
	bracket // of programs and data
	quote   // and what else structures data
	lead    // of a rune of several bytes
	tail    // what follows it
	classes
)

var classOf = func() (table [256]class) {
	for c, of := range map[string]class{
		" \t\r\n":               blank,
		"0123456789":            digit,
		"();=<>_$&|*+/\\#@^~`%": symbol,
		"[]{}":                  bracket,
		"\":,":                  quote,
	} {
		for i := range len(c) {
			table[c[i]] = of
		}
	}
	for c := 0x80; c < 0xC0; c++ {
		table[c] = tail
	}
	for c := 0xC0; c < 256; c++ {
		table[c] = lead
	}
	return table
}()

// weigh tells the kinds of a text apart, in one pass.
func weigh(text string) weights {
	var w weights
	last, fenced := prose, false
	var fence kind
	for len(text) > 0 {
		end := strings.IndexByte(text, '\n') + 1
		if end == 0 {
			end = len(text)
		}
		line := text[:end]
		text = text[end:]
		if language, is := fenceOf(line); is {
			fenced = !fenced
			fence = code
			if language == "json" || language == "yaml" || language == "csv" || language == "xml" {
				fence = data
			}
		}
		counts, foreign := census(line)
		k := fence
		if !fenced {
			k = lineKind(line, counts, last)
			last = k
		}
		w[k] += (len(line) - foreign) * perByte[k]
		w[dense] += foreign * perByte[dense]
	}
	return w
}

// fenceOf says whether a line begins or ends a fenced block of Markdown, and in which language.
func fenceOf(line string) (language string, is bool) {
	if len(line) < 3 || line[0] != '`' && line[0] != '~' && line[0] != ' ' {
		return "", false
	}
	line = strings.TrimLeft(line, " ")
	if !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "~~~") {
		return "", false
	}
	return strings.TrimSpace(strings.TrimLeft(line, "`~")), true
}

// census counts the classes of a line's bytes, and the bytes of runes that are of other scripts than Latin.
func census(line string) (counts [classes]int, foreign int) {
	other := false // the rune that is being read is of another script
	for i := range len(line) {
		c := classOf[line[i]]
		counts[c]++
		if c == lead {
			other = !latin(line[i:])
		}
		if other && c >= lead {
			foreign++
		}
	}
	return counts, foreign
}

// latin says whether a rune of several bytes is one that Latin text has: letters with accents, dashes,
// quotation marks.
func latin(s string) bool {
	return s[0] <= 0xC9 || s[0] == 0xE2 && len(s) > 1 && s[1] == 0x80
}

// lineKind judges a line outside of fences; last is the kind of the line before it.
func lineKind(line string, n [classes]int, last kind) kind {
	visible := n[letter] + n[digit] + n[symbol] + n[bracket] + n[quote]
	structure := n[bracket] + n[quote] + n[symbol]
	if visible <= 3 && (visible == 0 || structure == visible) {
		return last
	}
	indent := 0
	for indent < len(line) && (line[indent] == ' ' || line[indent] == '\t') {
		indent++
	}
	switch first := classOf[line[indent]]; {
	case visible > 80 && n[blank]*40 < visible && n[lead] == 0:
		return data // without spaces: base64, minified JSON, hexadecimal dumps
	case (first == bracket || first == quote || first == digit) && (n[bracket]+n[quote]+n[digit])*100 >= 22*visible:
		return data
	case (n[symbol]+n[bracket])*100 >= 8*visible:
		return code
	case last == code && (indent >= 4 || line[0] == '\t'):
		return code
	}
	return prose
}
