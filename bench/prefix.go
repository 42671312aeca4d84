package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"github.com/turnstone-dev/turnstone/bench/talks"
	"github.com/turnstone-dev/turnstone/budget/bpe"
)

// simulated is what turnstone simulate --json prints, as far as it matters here.
type simulated struct {
	Ways []struct {
		Name          string
		Reuse, Billed float64
	}
	Said struct{ Lost float64 } `json:"user_messages"`
}

// billed is what a way to fit the conversation costs.
func (s *simulated) billed(name string) (float64, error) {
	for _, w := range s.Ways {
		if w.Name == name {
			return w.Billed, nil
		}
	}
	return 0, fmt.Errorf("simulate says nothing of %s", name)
}

// benchPrefix: made-up conversations of four windows, replayed turn by turn: how much of each prompt is that of
// the prompt before, and what all of them cost beside other ways to fit a conversation. make fidelity measures
// the same on public ones.
func benchPrefix(ctx context.Context, b *bench) error {
	command := b.file("turnstone")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", command, "./cmd/turnstone").CombinedOutput(); err != nil {
		return fmt.Errorf("cmd/turnstone: %w: %s", err, out)
	}
	count := bpe.Cl100k().Count
	for _, m := range []struct {
		name   string
		talk   []byte
		window int
	}{
		{"chat of 32k tokens at 8k", talks.Chat(1, 32_000, count), 8 << 10},
		{"tools, 128k tokens at 32k", talks.Tools(1, 128_000, count), 32 << 10},
	} {
		file := b.file("talk.jsonl")
		if err := os.WriteFile(file, m.talk, 0o600); err != nil {
			return err
		}
		for _, late := range []bool{false, true} {
			got, err := simulate(ctx, command, file, m.window, late)
			if err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			if err := b.prefix(m.name, got, late); err != nil {
				return err
			}
		}
	}
	return nil
}

func simulate(ctx context.Context, command, file string, window int, late bool) (got simulated, err error) {
	args := []string{"simulate", file, "--window", fmt.Sprint(window), "--model", "gpt-4-turbo", "--json", "--quiet"}
	if late {
		args = append(args, "--late")
	}
	cmd := exec.CommandContext(ctx, command, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return got, err
	}
	return got, json.Unmarshal(out, &got)
}

// prefix adds the lines of one replay.
func (b *bench) prefix(name string, got simulated, late bool) error {
	reuse, half := 0.95, 1.1
	if late {
		name, reuse, half = name+", late block", 0.88, 1.5
	}
	if len(got.Ways) == 0 {
		return fmt.Errorf("%s: simulate says nothing", name)
	}
	ours := got.Ways[0]
	b.atLeast(reuse, Line{Name: name + ": prompt reused", Ours: ours.Reuse, Unit: "of tokens", Against: "absolute"})
	for _, w := range []struct {
		name  string
		bound float64
	}{{"full history", 0.6}, {"drop oldest", 0.25}, {"drop half", half}} {
		theirs, err := got.billed(w.name)
		if err != nil {
			return err
		}
		b.atMost(w.bound, Line{Name: name + ": billed", Ours: ours.Billed, Baseline: theirs, Unit: "tokens", Against: w.name})
	}
	rolling, err := got.billed("rolling summary")
	if err != nil {
		return err
	}
	b.show(Line{Name: name + ": billed", Ours: ours.Billed, Baseline: rolling, Unit: "tokens", Against: "rolling summary"})
	b.atMost(0, Line{Name: name + ": user's messages lost", Ours: got.Said.Lost, Unit: "messages", Against: "absolute"})
	return nil
}
