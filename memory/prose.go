package memory

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// proseBytes is how much of an input or a reply is read for its summary.
const proseBytes = 2 << 10

// oneLine brings text to one line: white space and control characters become single spaces, what is no
// UTF-8 is left out.
func oneLine(text string) string {
	clean := true
	i := lineBytes(text)
	space := i == 0 || text[i-1] == ' ' // so that a leading one is found
	for size := 1; i < len(text); i += size {
		if c := text[i]; c < utf8.RuneSelf {
			size, clean = 1, c > ' ' && c < 0x7f || c == ' ' && !space
			space = c == ' '
		} else {
			var r rune
			r, size = utf8.DecodeRuneInString(text[i:])
			clean = r != utf8.RuneError && !unicode.IsControl(r) && !unicode.IsSpace(r)
			space = false
		}
		if !clean {
			break
		}
	}
	if clean && (text == "" || !space) {
		return text
	}
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
}

// lineBytes counts the bytes that text begins with, in steps of eight, that are as they are on a line: ASCII that can be seen,
// and single spaces behind it. Adding 1 sets the top bit of DEL, taking 0x20 that of control characters, and both may
// carry into bytes above those only, so that what is counted is right.
func lineBytes(text string) int {
	i, before := 0, uint64(0x80) // the byte before is a space: a leading one is not clean
	for ; i+8 <= len(text); i += 8 {
		x := eight(text[i : i+8])
		spaces := zeroBytes(x ^ ' '*every)
		if ((x+every)|(x-' '*every)|x)&topBits|spaces&(spaces<<8|before) != 0 {
			break
		}
		before = spaces >> 56
	}
	return i
}

// clipped returns text, shortened at the end of a word to at most n bytes, with an ellipsis.
func clipped(text string, n int) string {
	if len(text) <= n {
		return text
	}
	const ellipsis = "…"
	short := firstBytes(text, n-len(ellipsis))
	if at := strings.LastIndexByte(short, ' '); at > len(short)/2 {
		short = short[:at]
	}
	return strings.TrimRight(short, " ,;:") + ellipsis
}

// sentence cuts the first sentence off text, which must be a line or several.
func sentence(text string) (first, rest string) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\n', '\r':
			return text[:i], text[i+1:]
		case "。"[0], "！"[0]: // and "？"[0] is the same
			for _, stop := range []string{"。", "！", "？"} {
				if strings.HasPrefix(text[i:], stop) {
					end := i + len(stop)
					return text[:end], text[end:]
				}
			}
		case '.', '!', '?':
			end := i + 1
			if end == len(text) || text[end] == ' ' || text[end] == '\n' || text[end] == '\r' || text[end] == '\t' {
				return text[:end], text[end:]
			}
		}
	}
	return text, ""
}

// opening returns the first sentence of text on one line, with the next one where it says little by
// itself ("Yes.").
func opening(text string, n int) string {
	const little, enough = 24, 512
	text = firstBytes(text, enough)
	var said string
	for len(said) < little && text != "" {
		var next string
		next, text = sentence(text)
		if next = oneLine(strings.TrimSpace(next)); next != "" && said != "" {
			said += " "
		}
		said += next
	}
	return clipped(said, n)
}

// clause returns the part of a line before its first comma, semicolon or full stop that ends a word.
func clause(line string, n int) string {
	for i := 0; i+1 < len(line); i++ {
		if c := line[i]; (c == ',' || c == ';' || c == '.' || c == '!' || c == '?') && line[i+1] == ' ' {
			line = line[:i]
			break
		}
	}
	return clipped(line, n)
}

// decisionCues are how people say that something is settled. Lower case, with what surrounds them.
var decisionCues = []string{
	"decided", "let's use", "let’s use", "let us use", "let's go with", "let’s go with", "agreed", "we will use",
	"we'll use", "we’ll use", "we will go with", "we'll go with", "we’ll go with", "going with", "decision:", "settled on",
	"from now on",
}

// decisions returns up to n sentences of text that say that something is settled: no questions, nothing
// that is not decided yet, nothing too short to say what was.
func decisions(text string, n int) []string {
	text = firstBytes(text, proseBytes)
	if cueAt(text) < 0 {
		return nil
	}
	var found []string
	for text != "" && len(found) < n {
		var next string
		next, text = sentence(text)
		next = oneLine(next)
		at := cueAt(next)
		if at < 0 || strings.HasSuffix(next, "?") || strings.Count(next, " ") < 2 {
			continue
		}
		if before := " " + strings.ToLower(next[:at]); strings.Contains(before, " not ") || strings.Contains(before, "n't ") ||
			strings.Contains(before, "n’t ") || strings.Contains(before, " if ") || strings.Contains(before, " never ") {
			continue
		}
		found = append(found, strings.Clone(clipped(next, maxDecision))) // kept for long, unlike what it was said in
	}
	return found
}

// cuesBy has the cues by the letter that they begin with, in both cases, and cueStarts a bit for each [cueStart] of them.
var cuesBy, cueStarts = func() (by [256][]string, starts [16]uint64) {
	for _, cue := range decisionCues {
		for _, first := range []byte{cue[0], cue[0] - 'a' + 'A'} {
			by[first] = append(by[first], cue)
		}
		start := cueStart(eight(cue + "  "))
		starts[start/64] |= 1 << (start % 64)
	}
	return by, starts
}()

// cueStart is a number below 1024 for the first three of eight bytes, in any case. Of other words hardly one has that of a cue,
// so that whether there may be one is foretold.
func cueStart(x uint64) uint64 { return (x | small) & 0xffffff * hashFactor >> 54 }

// cueAt returns where the first cue starts that is no part of a longer word (undecided), in any case, -1
// without one. It looks at where words begin only, since it runs over everything that is said, and gathers these of 64 bytes
// first: how many there are in so many hardly varies, which a processor foretells better than of eight.
func cueAt(text string) int {
	within := uint64(0) // the lowest bit: the byte before is part of a word
	for i := 0; i < len(text); i += 64 {
		words := uint64(0) // a bit for each byte
		if i+64 <= len(text) {
			for chunk := text[i : i+64]; len(chunk) >= 8; chunk = chunk[8:] {
				words = words>>8 | topsOf(wordMask(eight(chunk)))<<56
			}
		} else {
			for at := 0; i+at < len(text); at += 8 {
				words |= topsOf(wordMask(eightAt(text, i+at))) << at
			}
		}
		for starts := words &^ (words<<1 | within); starts != 0; starts &= starts - 1 {
			at := i + bits.TrailingZeros64(starts)
			var said uint64
			if at+8 <= len(text) { // written out: eightAt is too large to be inlined
				said = eight(text[at : at+8])
			} else {
				said = lastAt(text, at)
			}
			start := cueStart(said)
			if cueStarts[start/64]>>(start%64)&1 != 0 && cued(text, at) {
				return at
			}
		}
		within = words >> 63
	}
	return -1
}

// topsOf gathers the top bits of eight bytes, of which but those are set, in one: the lowest byte's lowest.
func topsOf(x uint64) uint64 { return x >> 7 * 0x0102040810204080 >> 56 }

// cued reports whether a cue starts there.
func cued(text string, at int) bool {
	for _, cue := range cuesBy[text[at]] {
		if len(text)-at >= len(cue) && text[at+2]|0x20 == cue[2] && strings.EqualFold(text[at:at+len(cue)], cue) {
			before, _ := utf8.DecodeLastRuneInString(text[:at])
			return !unicode.IsLetter(before)
		}
	}
	return false
}
