package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"text/tabwriter"
)

// The ways to fit a conversation that ours has to be cheaper than, as simulate calls them.
const (
	ours        = "turnstone"
	fullHistory = "full history"
	dropOldest  = "drop oldest"
	dropHalf    = "drop half"
)

// agreement is how far the evaluator's figures may be from those of simulate, relative to them: what is cached
// is told by whole texts there and by tokens here.
const agreement = 0.02

// simulation is what simulate --json prints, as far as it matters here.
type simulation struct {
	Tokens  int
	Prompts int
	Passes  int
	Ways    []way
	Said    struct{ Lost int } `json:"user_messages"`
}

type way struct {
	Name    string
	Tokens  float64
	Reuse   float64
	Billed  float64
	Largest int
}

// prefix replays the conversations of a set and measures what their prompts have in common.
func (f *fidelity) prefix(ctx context.Context, w io.Writer, s set, late bool) error {
	name := s.name
	if late {
		name += ", late block"
	}
	path := filepath.Join(f.dir, "prompts.jsonl")
	prompts, err := os.Create(path)
	if err != nil {
		return err
	}
	total, err := f.replay(ctx, prompts, s, late)
	if closed := prompts.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s: %d conversations, %d tokens on average, %d passes\n", name, total.conversations, total.tokens/total.conversations, total.passes); err != nil {
		return err
	}
	table, err := f.evaluate(ctx, w, "prefix", path, "-cached", "0.1")
	if err != nil {
		return err
	}
	if err := total.measure(table); err != nil {
		return err
	}
	if err := total.print(w); err != nil {
		return err
	}
	reuse, half := 0.95, 1.1
	if late {
		reuse, half = 0.88, 1.5
	}
	f.atLeast(reuse, name+": reuse", total.ours.Reuse)
	f.atMost(0.6, name+": billed, × full history", total.ours.Billed/total.billed(fullHistory))
	f.atMost(0.25, name+": billed, × dropping the oldest", total.ours.Billed/total.billed(dropOldest))
	f.atMost(half, name+": billed, × dropping half", total.ours.Billed/total.billed(dropHalf))
	f.atMost(0, name+": user's messages lost", float64(total.lost))
	return nil
}

// totals are the figures of all conversations of a set.
type totals struct {
	conversations, tokens, passes, lost, prompts int
	ways                                         []way // by simulate, ours first
	ours                                         way   // by the evaluator
}

// replay runs simulate on each conversation that is long enough, and collects the prompts.
func (f *fidelity) replay(ctx context.Context, prompts io.Writer, s set, late bool) (*totals, error) {
	t := &totals{}
	for i, c := range s.conversations {
		file := filepath.Join(f.dir, "conversation.jsonl")
		if err := os.WriteFile(file, c.lines, 0o600); err != nil {
			return nil, err
		}
		out := filepath.Join(f.dir, "conversation.prompts")
		args := []string{
			"simulate", file, "--window", fmt.Sprint(s.window), "--model", s.model, "--json", "--quiet",
			"--name", fmt.Sprint(i, "-", c.name), "--prompts", out, "--force",
		}
		if late {
			args = append(args, "--late")
		}
		cmd := exec.CommandContext(ctx, f.turnstone, args...)
		cmd.Stderr = os.Stderr
		printed, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("simulate %s: %w", c.name, err)
		}
		var got simulation
		if err := json.Unmarshal(printed, &got); err != nil {
			return nil, fmt.Errorf("simulate %s: %w", c.name, err)
		}
		if got.Tokens < s.least {
			continue
		}
		t.add(got)
		if err := appendFile(prompts, out); err != nil {
			return nil, err
		}
	}
	if t.conversations == 0 {
		return nil, fmt.Errorf("no conversation has %d tokens", s.least)
	}
	return t, nil
}

func appendFile(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

func (t *totals) add(s simulation) {
	t.conversations++
	t.tokens += s.Tokens
	t.passes += s.Passes
	t.prompts += s.Prompts
	t.lost += s.Said.Lost
	if t.ways == nil {
		t.ways = make([]way, len(s.Ways))
	}
	for i, w := range s.Ways {
		all := &t.ways[i]
		reused := all.Reuse*all.Tokens + w.Reuse*w.Tokens
		all.Name = w.Name
		all.Tokens += w.Tokens
		all.Billed += w.Billed
		all.Largest = max(all.Largest, w.Largest)
		all.Reuse = reused / all.Tokens
	}
}

// billed is what another way costs.
func (t *totals) billed(name string) float64 {
	for _, w := range t.ways {
		if w.Name == name {
			return w.Billed
		}
	}
	return math.NaN()
}

// measure takes our figures from the evaluator's table, and refuses figures that simulate does not agree with.
func (t *totals) measure(table string) error {
	const row, reuse, tokens, cost = "all", 2, 3, 5
	var got [3]float64
	for i, column := range []int{reuse, tokens, cost} {
		var err error
		if got[i], err = cell(table, row, column); err != nil {
			return err
		}
	}
	own := t.ways[0]
	t.ours = way{ours, got[1] * float64(t.prompts), got[0] / 100, got[2] * float64(t.prompts), own.Largest}
	for _, pair := range [][2]float64{{t.ours.Reuse, own.Reuse}, {t.ours.Tokens, own.Tokens}, {t.ours.Billed, own.Billed}} {
		if math.Abs(pair[0]-pair[1]) > agreement*pair[1] {
			return fmt.Errorf("the evaluator says %g and simulate %g: %+v, %+v", pair[0], pair[1], t.ours, own)
		}
	}
	return nil
}

// print writes all ways side by side, ours as the evaluator measured it.
func (t *totals) print(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "\ttokens/call\tlargest\treuse %\tbilled/call\tours is ×\t")
	for _, way := range append([]way{t.ours}, t.ways[1:]...) {
		n := float64(t.prompts)
		fmt.Fprintf(out, "%s\t%.0f\t%d\t%.1f\t%.0f\t%.2f\t\n", way.Name, way.Tokens/n, way.Largest, 100*way.Reuse, way.Billed/n, t.ours.Billed/way.Billed)
	}
	fmt.Fprintln(out)
	return out.Flush()
}
