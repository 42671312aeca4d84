// Package literal is what a summary must not paraphrase: the identifiers, paths, addresses,
// numbers, dates, versions and error messages of a text, with the place where each stands.
//
// A literal is recognised by its form alone, so that the same one is found in every text, in
// whatever language it was written: nothing here knows a name or a program.
package literal

import "strings"

// Kind is what a literal looks like.
type Kind uint8

// The kinds. None is what an ordinary word is.
const (
	None       Kind = iota
	Number          // 42, 3.5, 1,200, $35, 80%
	Date            // 2024-05-23, 14:30, 2024-05-14T06:33:04Z, 5/8/2023, 3pm
	Version         // v1.2.3, 1.26.0-rc1
	Identifier      // snake_case, camelCase, pkg.Name, --flag, HTTP_PROXY
	ID              // M05KNL, 01J9Z…, 4f3c2a1b, #123, a UUID: letters and digits mixed
	Path            // store/sqlite/tx.go, ./x, C:\x, tx.go:12
	Address         // a URL or an e-mail address
	Error           // TypeError, ENOENT, ErrNotFound, and the message after "error:"
)

func (k Kind) String() string {
	return [...]string{"none", "number", "date", "version", "identifier", "id", "path", "address", "error"}[k]
}

// Literal is a literal at text[Start:End].
type Literal struct {
	Start, End int
	Kind       Kind
}

// maxMessage bounds the part of an error message that is one literal, in bytes: what follows is
// found word by word.
const maxMessage = 96

// Find returns the literals of text in order; they never overlap. It takes time linear in the
// length of text. The caller owns the slice. Safe for concurrent use.
func Find(text string) []Literal {
	var out []Literal
	for i := 0; i < len(text); {
		if gap(text[i]) {
			i++
			continue
		}
		end := i
		for end < len(text) && !gap(text[end]) {
			end++
		}
		start, stop := trim(text, i, end)
		if kind := Of(text[start:stop]); kind != None {
			out = append(out, Literal{start, stop, kind})
		} else if end < len(text) && announces(text[i:end]) {
			if from, to := message(text, end); from < to {
				out = append(out, Literal{from, to, Error})
				end = to
			}
		}
		i = end
	}
	return out
}

// gap reports whether a byte separates words. Brackets, quotes, commas in lists and equal signs do
// too: what they enclose is the literal.
func gap(b byte) bool { return b <= ' ' || gaps[b] }

var (
	gaps   = bytesOf("\"'`()[]{}<>=;|*")
	before = bytesOf(",:;!?\"'`([{<*")
	after  = bytesOf(".,:;!?\"'`)]}>*")
)

func bytesOf(list string) (set [256]bool) {
	for _, b := range []byte(list) {
		set[b] = true
	}
	return set
}

// trim returns the part of text[start:end] without the punctuation around it that belongs to the
// sentence and not to the word.
func trim(text string, start, end int) (int, int) {
	for end > start && after[text[end-1]] {
		end--
	}
	for start < end && before[text[start]] {
		start++
	}
	return start, end
}

// announces reports whether what follows a word is an error message.
func announces(word string) bool {
	name, found := strings.CutSuffix(word, ":")
	if !found {
		return false
	}
	switch strings.ToLower(name) {
	case "error", "panic", "fatal", "exception", "failure":
		return true
	}
	return false
}

// message returns the first words of the line that begins at offset i.
func message(text string, i int) (start, end int) {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	start, end = i, i
	for i <= len(text) && i-start <= maxMessage {
		if i == len(text) || text[i] == '\n' || text[i] == '\r' {
			end = i
			break
		}
		if text[i] == ' ' {
			end = i
		}
		i++
	}
	return trim(text, start, end)
}

// Contains reports whether text holds the literal as it is written, and not only as a part of a
// longer word or number. It takes time linear in the length of text for a literal of bounded
// length. Safe for concurrent use.
func Contains(text, literal string) bool {
	if literal == "" {
		return false
	}
	for from := 0; ; {
		i := strings.Index(text[from:], literal)
		if i < 0 {
			return false
		}
		start := from + i
		end := start + len(literal)
		if (start == 0 || !joined(text[start-1], literal[0])) &&
			(end == len(text) || !joined(literal[len(literal)-1], text[end])) {
			return true
		}
		from = start + 1
	}
}

// joined reports whether two neighbouring bytes belong to one word.
func joined(a, b byte) bool { return inWord(a) && inWord(b) }

func inWord(b byte) bool { return letterOrDigit(b) || b == '_' || b >= 128 }
