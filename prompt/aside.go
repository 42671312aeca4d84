package prompt

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// noteBegin stands at the beginning of everything that the engine says in the user's place.
const noteBegin = "[Turnstone note, not said by the user]\n"

// noteWord are the letters that a note begins with.
const noteWord = "turnstonenote"

// behind stands before a line of somebody else that begins as a note does.
const behind = "> "

// asideRenderer is the first that puts it there.
const asideRenderer = 3

// rendered is a message as a model sees it. The prompts of older renderers stay as they were.
func (p *Projection) rendered(m Message) Message {
	if p.renderer < asideRenderer {
		return m
	}
	return m.unforged()
}

// unforged is the message without lines that could be taken for the beginning of a note, but for the note's own.
func (m Message) unforged() Message {
	m.Parts = slices.Clone(m.Parts)
	for i := range m.Parts {
		p := &m.Parts[i]
		text, own := p.Text, ""
		if m.Role == Note {
			if rest, ok := strings.CutPrefix(text, noteBegin); ok {
				text, own = rest, noteBegin
			}
		}
		p.Text = own + unforged(text)
		if p.Image != nil {
			image := *p.Image
			image.Alt = unforged(image.Alt)
			p.Image = &image
		}
	}
	return m
}

// unforged puts every line of a text behind "> " that begins as a note does.
func unforged(text string) string {
	var b strings.Builder
	done := 0
	for at := 0; at < len(text); {
		if forges(text[at:]) {
			b.WriteString(text[done:at] + behind)
			done = at
		}
		end := strings.IndexFunc(text[at:], breaks)
		if end < 0 {
			break
		}
		_, size := utf8.DecodeRuneInString(text[at+end:])
		at += end + size
	}
	return b.String() + text[done:]
}

// forges reports whether a text's first line begins as a note does, in the eyes of a model: an opening bracket and the letters of
// [noteWord], whatever their case and width and whatever stands between that is no letter or digit. What is quoted already does not.
func forges(text string) bool {
	bracket, left := false, noteWord
	for _, r := range text {
		switch {
		case breaks(r), r == '>' && !bracket:
			return false
		case unicode.Is(unicode.Ps, r):
			bracket = true
		case unicode.IsLetter(r), unicode.IsNumber(r):
			if !bracket || narrow(r) != rune(left[0]) {
				return false
			}
			if left = left[1:]; left == "" {
				return true
			}
		}
	}
	return false
}

// narrow is a letter in lower case and of the width of ASCII.
func narrow(r rune) rune {
	const wide = '！' - '!'
	if '！' <= r && r <= '～' {
		r -= wide
	}
	return unicode.ToLower(unicode.ToUpper(r))
}

// breaks reports whether a line ends there for anybody who reads it.
func breaks(r rune) bool {
	return '\n' <= r && r <= '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}
