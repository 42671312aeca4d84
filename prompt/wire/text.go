package wire

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/prompt"
)

// text appends the prompt for people.
func (w *writer) text(r *Request) {
	head := "# prompt"
	if r.Model != "" {
		head += " | model " + word(r.Model)
	}
	if r.Context > 0 {
		head += fmt.Sprintf(" | window %d", r.Context)
	}
	if r.MaxTokens > 0 {
		head += fmt.Sprintf(" | reply %d", r.MaxTokens)
	}
	w.raw(head + "\n")
	for i := range r.Tools {
		d := &r.Tools[i]
		w.raw("# tool " + word(d.Name) + "\n")
		w.lines(d.Description)
		if d.Schema != "" {
			w.raw("# parameters\n")
			w.lines(d.Schema)
		}
	}
	for i := range r.Messages {
		w.textMessage(&r.Messages[i])
	}
}

func (w *writer) textMessage(m *prompt.Message) {
	if m.Role == prompt.Tool {
		call := w.answered()
		w.raw("# result " + call.ID + " | " + word(call.Name))
		if m.Failed {
			w.raw(" | failed")
		}
	} else {
		w.raw("# " + string(m.Role))
	}
	for i, seq := range m.Seqs {
		switch {
		case i > 0:
			w.raw(", ")
		case len(m.Seqs) == 1:
			w.raw(" | turn ")
		default:
			w.raw(" | turns ")
		}
		w.dst = strconv.AppendInt(w.dst, seq, 10)
	}
	w.raw("\n")
	for i := range m.Parts {
		if im := m.Parts[i].Image; im != nil {
			w.raw("# image " + word(im.MediaType) + " | " + strconv.FormatInt(im.Size, 10) + " bytes | sha256 " + word(im.SHA256) + "\n")
			w.lines(im.Alt)
			continue
		}
		w.lines(m.Parts[i].Text)
	}
	if m.Role == prompt.Agent {
		w.open = m.Calls
	}
	for i := range m.Calls {
		w.raw("# call " + m.Calls[i].ID + " | " + word(m.Calls[i].Name) + "\n")
		w.lines(m.Calls[i].Arguments)
	}
}

// lines appends text line by line, indented; nothing of an empty one.
func (w *writer) lines(text string) {
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if line != "" {
			w.raw("  ")
			w.visible(line)
		}
		w.raw("\n")
	}
}

func (w *writer) visible(line string) {
	for i, r := range line {
		size := utf8.RuneLen(r)
		broken := r == utf8.RuneError && !strings.HasPrefix(line[i:], "\ufffd")
		switch {
		case broken:
			w.dst = append(w.dst, `\x`...)
			w.dst = append(w.dst, fmt.Sprintf("%02x", line[i])...)
		case r == '\t' || !moves(r):
			w.raw(line[i : i+size])
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			w.raw(quoted[1 : len(quoted)-1])
		}
	}
}

// moves says whether a terminal or an editor may do something else about r than show it.
func moves(r rune) bool {
	if r < 0x7f {
		return r < ' '
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// word is a name as it stands in a header: quoted where it is not plain.
func word(s string) string {
	plain := func(r rune) bool { return r > ' ' && r < 0x7f && r != '"' }
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return strconv.QuoteToASCII(s)
}
