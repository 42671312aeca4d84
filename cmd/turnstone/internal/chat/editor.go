package chat

import (
	"strings"
	"unicode"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
)

// editor is a text of any number of lines that is being written.
type editor struct {
	text   []rune
	cursor int
}

func (e *editor) value() string { return string(e.text) }

func (e *editor) empty() bool { return strings.TrimSpace(e.value()) == "" }

func (e *editor) set(text string) {
	e.text = []rune(text)
	e.cursor = len(e.text)
}

// insert writes at the cursor. What cannot be shown is written as an escape, as if it had been typed.
func (e *editor) insert(text string) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	runes := []rune(strings.ReplaceAll(terminal.Clean(text), "\t", "    "))
	e.text = append(e.text[:e.cursor:e.cursor], append(runes, e.text[e.cursor:]...)...)
	e.cursor += len(runes)
}

// precede writes lines before all that is there. The cursor stays where it was in that.
func (e *editor) precede(lines string) {
	if e.empty() {
		e.set(lines)
		return
	}
	runes := []rune(lines + "\n")
	e.text = append(runes, e.text...)
	e.cursor += len(runes)
}

// erase deletes from one place to another and leaves the cursor there.
func (e *editor) erase(from, to int) {
	from, to = max(min(from, to), 0), min(max(from, to), len(e.text))
	e.text = append(e.text[:from:from], e.text[to:]...)
	e.cursor = from
}

func (e *editor) move(to int) { e.cursor = max(0, min(to, len(e.text))) }

// lineStart and lineEnd are the bounds of the cursor's line.
func (e *editor) lineStart() int {
	at := e.cursor
	for at > 0 && e.text[at-1] != '\n' {
		at--
	}
	return at
}

func (e *editor) lineEnd() int {
	at := e.cursor
	for at < len(e.text) && e.text[at] != '\n' {
		at++
	}
	return at
}

// up and down move by a line; false where there is none.
func (e *editor) up() bool {
	start := e.lineStart()
	if start == 0 {
		return false
	}
	column := e.cursor - start
	e.cursor = start - 1
	e.cursor = min(e.lineStart()+column, e.cursor)
	return true
}

func (e *editor) down() bool {
	end := e.lineEnd()
	if end == len(e.text) {
		return false
	}
	column := e.cursor - e.lineStart()
	e.cursor = end + 1
	e.cursor = min(e.cursor+column, e.lineEnd())
	return true
}

// wordLeft and wordRight are where the word before and behind the cursor begins and ends.
func (e *editor) wordLeft() int {
	at := e.cursor
	for at > 0 && unicode.IsSpace(e.text[at-1]) {
		at--
	}
	for at > 0 && !unicode.IsSpace(e.text[at-1]) {
		at--
	}
	return at
}

func (e *editor) wordRight() int {
	at := e.cursor
	for at < len(e.text) && unicode.IsSpace(e.text[at]) {
		at++
	}
	for at < len(e.text) && !unicode.IsSpace(e.text[at]) {
		at++
	}
	return at
}

// rows breaks the text into rows of at most width columns and says where the cursor is among them: at most one
// column further.
func (e *editor) rows(width int) (rows []string, row, column int) {
	var b strings.Builder
	cells := 0
	flush := func() {
		rows = append(rows, b.String())
		b.Reset()
		cells = 0
	}
	for i, r := range e.text {
		wide := terminal.Cells(string(r))
		if r != '\n' && cells+wide > width {
			flush()
		}
		if i == e.cursor {
			row, column = len(rows), cells
		}
		if r == '\n' {
			flush()
			continue
		}
		b.WriteRune(r)
		cells += wide
	}
	if e.cursor == len(e.text) {
		row, column = len(rows), cells
	}
	flush()
	return rows, row, column
}
