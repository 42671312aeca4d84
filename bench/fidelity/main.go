// Command fidelity measures on public conversations what the extractive summariser keeps and what prompts cost,
// with an evaluator that is no part of this repository: scripts/fidelity builds both and runs it. Exit code 1
// means that a bound was missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
)

func main() {
	var f fidelity
	flag.StringVar(&f.data, "data", "", "folder with the conversations")
	flag.StringVar(&f.eval, "eval", "", "the evaluator")
	flag.StringVar(&f.turnstone, "turnstone", "", "the command that is measured")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := f.run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fidelity:", err)
		os.Exit(2)
	}
	if f.missed > 0 {
		fmt.Fprintf(os.Stderr, "fidelity: %d bounds missed\n", f.missed)
		os.Exit(1)
	}
}

// fidelity is one run.
type fidelity struct {
	data, eval, turnstone string
	dir                   string // for what is written on the way
	lines                 []line
	missed                int
}

func (f *fidelity) run(ctx context.Context, w io.Writer) (err error) {
	if f.dir, err = os.MkdirTemp("", "turnstone-fidelity-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(f.dir)) }()
	if err := f.summaries(ctx, w); err != nil {
		return err
	}
	sets, err := f.sets()
	if err != nil {
		return err
	}
	for _, s := range sets {
		for _, late := range []bool{false, true} {
			if err := f.prefix(ctx, w, s, late); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	return f.print(w)
}

// summaries measures the extractive summariser alone.
func (f *fidelity) summaries(ctx context.Context, w io.Writer) error {
	extract := []string{"--", f.turnstone, "extract", "--model", "gpt-4", "--budget", "{budget}"}
	survival, err := f.evaluate(ctx, w, append([]string{"survival", "-data", f.data, "-budgets", "4096,8192"}, extract...)...)
	if err != nil {
		return err
	}
	calls, err := f.evaluate(ctx, w, append([]string{"calls", "-data", f.data, "-sizes", "0.2"}, extract...)...)
	if err != nil {
		return err
	}
	name := filepath.Base(f.turnstone)
	for _, m := range []struct {
		name, table string
		column      int
		bound       float64
	}{
		{"answers that survive in 4,096 tokens, %", survival, 1, 58},
		{"answers that survive in 8,192 tokens, %", survival, 4, 78},
		{"arguments needed later, at a fifth of the size, %", calls, 1, 60},
	} {
		got, err := cell(m.table, name, m.column)
		if err != nil {
			return err
		}
		f.atLeast(m.bound, m.name, got)
	}
	return nil
}

// evaluate runs the evaluator and shows what it prints.
func (f *fidelity) evaluate(ctx context.Context, w io.Writer, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, f.eval, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("eval %s: %w", args[0], err)
	}
	_, err = fmt.Fprintf(w, "%s\n", out)
	return string(out), err
}
