package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
)

// bench collects lines.
type bench struct {
	dir    string
	rounds int
	lines  []Line
	files  int
}

// Line is one measured promise.
type Line struct {
	Name     string  `json:"name"`
	Ours     float64 `json:"ours"`
	Baseline float64 `json:"baseline"` // 0 where the bound is absolute
	Ratio    float64 `json:"ratio"`    // ours / baseline, or ours where the bound is absolute
	Bound    string  `json:"bound"`
	OK       bool    `json:"ok"`
	Unit     string  `json:"unit"`
	Against  string  `json:"against"` // what the baseline is
	Machine  float64 `json:"machine"` // the mean of machineSpeed before and after it, in milliseconds
	Stolen   float64 `json:"stolen"`  // how much of the processors' busy time others had meanwhile, from 0 to 1
}

// atMost adds a line whose ratio may not exceed the bound.
func (b *bench) atMost(bound float64, l Line) {
	b.add(l, func(r float64) bool { return r <= bound }, "≤", bound)
}

// atLeast adds a line whose ratio may not fall below the bound.
func (b *bench) atLeast(bound float64, l Line) {
	b.add(l, func(r float64) bool { return r >= bound }, "≥", bound)
}

// show adds a line without a bound.
func (b *bench) show(l Line) {
	l.Ratio, l.Bound, l.OK = l.Ours/l.Baseline, "none", true
	b.lines = append(b.lines, l)
}

func (b *bench) add(l Line, ok func(float64) bool, sign string, bound float64) {
	l.Ratio = l.Ours
	if l.Baseline != 0 {
		l.Ratio = l.Ours / l.Baseline
	}
	l.Bound, l.OK = fmt.Sprintf("%s %g", sign, bound), ok(l.Ratio)
	b.lines = append(b.lines, l)
}

// around runs a suite and notes beside its lines how fast the machine was, and how much of it others had.
func (b *bench) around(suite func() error) error {
	from, before := len(b.lines), machineSpeed()
	busy, stolen := processors()
	if err := suite(); err != nil {
		return err
	}
	busyAfter, stolenAfter := processors()
	speed := (before + machineSpeed()) / 2
	for i := range b.lines[from:] {
		b.lines[from+i].Machine, b.lines[from+i].Stolen = speed, (stolenAfter-stolen)/max(1, busyAfter-busy)
	}
	return nil
}

func (b *bench) missed() int {
	n := 0
	for _, l := range b.lines {
		if !l.OK {
			n++
		}
	}
	return n
}

func (b *bench) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "measure\tours\tbaseline\t\tratio\tbound\t\tmachine\tagainst")
	for _, l := range b.lines {
		mark, baseline := "ok", "–"
		if !l.OK {
			mark = "MISSED"
		}
		if l.Baseline != 0 {
			baseline = fmt.Sprintf("%.4g", l.Baseline)
		}
		fmt.Fprintf(t, "%s\t%.4g\t%s\t%s\t%.3g\t%s\t%s\t%.0f ms, %.0f %% stolen\t%s\n", l.Name, l.Ours, baseline, l.Unit, l.Ratio, l.Bound, mark, l.Machine, 100*l.Stolen, l.Against)
	}
	if err := t.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
}

func (b *bench) save(path string) error {
	data, err := json.MarshalIndent(b.lines, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

// file names a fresh file.
func (b *bench) file(name string) string {
	b.files++
	return filepath.Join(b.dir, fmt.Sprintf("%d-%s", b.files, name))
}

// interleave runs the variants in turns and returns the median of each.
func (b *bench) interleave(variants ...func() (float64, error)) ([]float64, error) {
	all := make([][]float64, len(variants))
	for range b.rounds {
		for i, v := range variants {
			x, err := v()
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], x)
		}
	}
	medians := make([]float64, len(variants))
	for i, xs := range all {
		medians[i] = median(xs)
	}
	return medians, nil
}

// best runs a measurement and returns the smallest result.
func (b *bench) best(measure func() (float64, error)) (float64, error) {
	var xs []float64
	for range b.rounds {
		x, err := measure()
		if err != nil {
			return 0, err
		}
		xs = append(xs, x)
	}
	return slices.Min(xs), nil
}

func median(xs []float64) float64 {
	xs = slices.Clone(xs)
	slices.Sort(xs)
	return xs[len(xs)/2]
}
