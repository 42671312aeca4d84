package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// line is one measured promise.
type line struct {
	name, bound string
	got         float64
	ok          bool
}

func (f *fidelity) atLeast(bound float64, name string, got float64) {
	f.add(line{name, fmt.Sprintf("≥ %g", bound), got, got >= bound})
}

func (f *fidelity) atMost(bound float64, name string, got float64) {
	f.add(line{name, fmt.Sprintf("≤ %g", bound), got, got <= bound})
}

func (f *fidelity) add(l line) {
	f.lines = append(f.lines, l)
	if !l.ok {
		f.missed++
	}
}

// print writes all promises side by side.
func (f *fidelity) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "measure\tgot\tbound\t")
	for _, l := range f.lines {
		mark := "ok"
		if !l.ok {
			mark = "MISSED"
		}
		fmt.Fprintf(t, "%s\t%.4g\t%s\t%s\n", l.name, l.got, l.bound, mark)
	}
	return t.Flush()
}

// cell reads a number out of a table that the evaluator printed, by the name of its row.
func cell(table, row string, column int) (float64, error) {
	for text := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(text), "|"), "|")
		if strings.TrimSpace(cells[0]) != row {
			continue
		}
		if column >= len(cells) {
			return 0, fmt.Errorf("the evaluator's row %s has no column %d: %s", row, column, text)
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(cells[column]), 64)
		if err != nil {
			return 0, fmt.Errorf("the evaluator's row %s: %w", row, err)
		}
		return n, nil
	}
	return 0, fmt.Errorf("the evaluator printed no row %s", row)
}
