package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
)

// table writes rows in columns, each as wide as its widest cell, under a head. Without rows it writes
// nothing; a row may be shorter than the head.
func (a *app) table(head []string, rows [][]string) error {
	for _, line := range tabulate(head, rows, a.style()) {
		if err := a.printf("%s", line); err != nil {
			return err
		}
	}
	return nil
}

// tabulate makes the lines of a table. Cells are cleaned: they may hold what others said.
func tabulate(head []string, rows [][]string, style terminal.Style) []string {
	if len(rows) == 0 {
		return nil
	}
	widths := make([]int, len(head))
	for i, name := range head {
		widths[i] = terminal.Cells(name)
	}
	for _, row := range rows {
		for i := range row {
			row[i] = terminal.CleanLine(row[i])
			widths[i] = max(widths[i], terminal.Cells(row[i]))
		}
	}
	lines := []string{style.Dim(columns(head, widths, terminal.Style{}))}
	for _, row := range rows {
		lines = append(lines, columns(row, widths, style))
	}
	return lines
}

// alignRight pads the cells of these columns, which hold numbers, and their heads to the width of the widest.
func alignRight(head []string, rows [][]string, columns ...int) {
	for _, column := range columns {
		width := len(head[column])
		for _, row := range rows {
			if column < len(row) {
				width = max(width, len(row[column]))
			}
		}
		head[column] = fmt.Sprintf("%*s", width, head[column])
		for _, row := range rows {
			if column < len(row) && row[column] != "" {
				row[column] = fmt.Sprintf("%*s", width, row[column])
			}
		}
	}
}

// columns joins cells, the first of them strong.
func columns(row []string, widths []int, style terminal.Style) string {
	var b strings.Builder
	gap := 0
	for i, cell := range row {
		if cell != "" {
			b.WriteString(strings.Repeat(" ", gap))
			gap = 0
			if i == 0 {
				b.WriteString(style.Strong(cell))
			} else {
				b.WriteString(cell)
			}
		}
		gap += widths[i] - terminal.Cells(cell) + 2
	}
	return b.String()
}

// listed makes fields of a list: its name stands before the first line of it.
func listed(name string, lines []string) [][2]string {
	pairs := make([][2]string, len(lines))
	for i, line := range lines {
		pairs[i] = [2]string{name, line}
		name = ""
	}
	return pairs
}

// short is the beginning of a text, on one line.
func short(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "..."
}
