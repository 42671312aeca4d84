package main

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// display is what a terminal shows of what it is sent, with all that has scrolled off its top. As most terminals do, one
// that becomes narrower breaks its lines.
type display struct {
	width, height int
	rows          [][]rune
	x, y          int // the cursor; y is counted in rows
	unwrapped     bool
	rest          []byte // the beginning of a sequence
}

func newDisplay(width, height int) *display {
	d := &display{width: width, height: height}
	d.fill()
	return d
}

func (d *display) fill() {
	for len(d.rows) < d.height {
		d.rows = append(d.rows, nil)
	}
}

func (d *display) top() int { return len(d.rows) - d.height }

// lines are all that it ever showed, without the space at their ends.
func (d *display) lines() []string {
	lines := make([]string, len(d.rows))
	for i, row := range d.rows {
		lines[i] = strings.TrimRight(string(row), " ")
	}
	return lines
}

// shown are the lines on the terminal.
func (d *display) shown() []string { return d.lines()[d.top():] }

// resize breaks the lines that have no room, and leaves nothing below the cursor but what is written there.
func (d *display) resize(width, height int) {
	var rows [][]rune
	x, y := d.x, d.y
	for i, row := range d.rows {
		if i == d.y {
			x, y = d.x%width, len(rows)+d.x/width
		}
		row = []rune(strings.TrimRight(string(row), " "))
		for len(row) > width {
			rows, row = append(rows, row[:width:width]), row[width:]
		}
		rows = append(rows, row)
	}
	for len(rows) > y+1 && len(rows[len(rows)-1]) == 0 {
		rows = rows[:len(rows)-1]
	}
	for len(rows) <= y {
		rows = append(rows, nil)
	}
	d.rows, d.x, d.y, d.width, d.height = rows, x, y, width, height
	d.fill()
}

func (d *display) feed(data []byte) {
	data = append(d.rest, data...)
	for len(data) > 0 {
		n := d.step(data)
		if n == 0 {
			break
		}
		data = data[n:]
	}
	d.rest = bytes.Clone(data)
}

// step takes a character or a sequence and says how many bytes it has; 0 if it is not all there.
func (d *display) step(data []byte) int {
	switch c := data[0]; {
	case c == '\r':
		d.x = 0
	case c == '\n':
		d.y++
		if d.y == len(d.rows) {
			d.rows = append(d.rows, nil)
		}
	case c == '\b':
		d.x = max(d.x-1, 0)
	case c == '\x1b':
		return d.escape(data)
	case c >= ' ':
		if !utf8.FullRune(data) {
			return 0
		}
		r, n := utf8.DecodeRune(data)
		d.put(r)
		return n
	}
	return 1
}

func (d *display) put(r rune) {
	if d.x >= d.width {
		if d.x = d.width - 1; !d.unwrapped {
			d.step([]byte("\r"))
			d.step([]byte("\n"))
		}
	}
	d.put1(d.x, r)
	d.x++
}

func (d *display) put1(x int, r rune) {
	for len(d.rows[d.y]) <= x {
		d.rows[d.y] = append(d.rows[d.y], ' ')
	}
	d.rows[d.y][x] = r
}

func (d *display) escape(data []byte) int {
	if len(data) < 2 {
		return 0
	}
	switch data[1] {
	case '[':
	case 'M':
		d.y = max(d.y-1, d.top())
		return 2
	case ']', 'P':
		end := bytes.IndexAny(data, "\x07\\")
		return end + 1
	default:
		return 2
	}
	end := bytes.IndexFunc(data[2:], func(r rune) bool { return r >= '@' && r <= '~' })
	if end < 0 {
		return 0
	}
	d.control(string(data[2:2+end]), data[2+end])
	return end + 3
}

func (d *display) control(params string, final byte) {
	if strings.HasPrefix(params, "?") {
		if params == "?7" {
			d.unwrapped = final == 'l'
		}
		return
	}
	n, err := strconv.Atoi(params)
	if err != nil {
		n = 0 // other parameters are not of what follows
	}
	times := max(n, 1)
	row := d.rows[d.y]
	switch final {
	case 'A':
		d.y = max(d.y-times, d.top())
	case 'B':
		d.y = min(d.y+times, len(d.rows)-1)
	case 'C':
		d.x = min(d.x+times, d.width-1)
	case 'D':
		d.x = max(d.x-times, 0)
	case 'G':
		d.x = times - 1
	case 'd':
		d.y = d.top() + times - 1
	case 'K':
		d.rows[d.y] = row[:min(d.x, len(row))]
	case 'J':
		d.rows[d.y] = row[:min(d.x, len(row))]
		for i := d.y + 1; i < len(d.rows); i++ {
			d.rows[i] = nil
		}
	case 'X':
		for i := range times {
			d.put1(d.x+i, ' ')
		}
	case 'P':
		d.rows[d.y] = slices.Delete(row, min(d.x, len(row)), min(d.x+times, len(row)))
	case '@':
		d.rows[d.y] = slices.Insert(row, min(d.x, len(row)), slices.Repeat([]rune{' '}, times)...)
	case 'L':
		d.rows = slices.Insert(d.rows, d.y, make([][]rune, times)...)
		d.rows = d.rows[:len(d.rows)-times]
	}
}
