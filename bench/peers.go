package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
)

// peerLine is one line of what the program in bench/peers prints: a log or a talk.
type peerLine struct {
	Log  *peerLog  `json:"log"`
	Talk *peerTalk `json:"talk"`
}

type peerLog struct {
	System string  `json:"system"`
	Tuned  bool    `json:"tuned"`     // set up better than it comes: shown, but no bound
	Append float64 `json:"append_ms"` // 2,000 events into one session
	Read   float64 `json:"read_us"`   // the last 50 of them
}

// peerTalk is a conversation of 200 exchanges with a tool.
type peerTalk struct {
	System string  `json:"system"`
	Beside string  `json:"beside"` // which of ours does the same; empty for ours
	Note   string  `json:"note"`
	Tuned  bool    `json:"tuned"`
	Keeps  bool    `json:"keeps"` // on disk
	Grows  bool    `json:"grows"` // nothing ever leaves its prompts
	Wall   float64 `json:"wall_ms"`
	Allocs float64 `json:"allocs"`
	Bytes  float64 `json:"alloc_bytes"`
	Disk   float64 `json:"disk_bytes"`
	Window float64 `json:"window"` // the context of the model
	Tokens float64 `json:"prompt_tokens"`
	Most   float64 `json:"largest_prompt"`
	Reuse  float64 `json:"reuse"`
}

// benchPeers: other libraries at the same work, in a module of their own so that nothing of theirs
// enters ours.
func benchPeers(ctx context.Context, b *bench) error {
	command := b.file("peers")
	left, err := buildPeers(ctx, command)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, command, "-rounds", fmt.Sprint(b.rounds))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("bench/peers: %w", err)
	}
	var logs []peerLog
	var talks []peerTalk
	for line := range bytes.Lines(out) {
		var l peerLine
		switch err := json.Unmarshal(line, &l); {
		case err != nil:
			return fmt.Errorf("bench/peers: %w", err)
		case l.Log != nil:
			logs = append(logs, *l.Log)
		case l.Talk != nil:
			talks = append(talks, *l.Talk)
		}
	}
	if len(logs) == 0 || len(talks) == 0 {
		return fmt.Errorf("bench/peers printed %d logs and %d talks", len(logs), len(talks))
	}
	b.peerLogs(logs)
	if err := b.peerTalks(talks); err != nil {
		return err
	}
	return printTalks(os.Stdout, talks, left)
}

// buildPeers builds the program and says which libraries were left out of it, and why.
func buildPeers(ctx context.Context, command string) (left []string, err error) {
	build := func(without []string) error {
		cmd := exec.CommandContext(ctx, "go", "build", "-o", command, "-tags", strings.Join(without, ","), ".")
		cmd.Dir = "bench/peers"
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
		}
		return nil
	}
	if build(nil) == nil {
		return nil, nil
	}
	all := []string{"without_adk", "without_langchain", "without_trpc"}
	if err := build(all); err != nil {
		return nil, fmt.Errorf("bench/peers, without any other library: %w", err)
	}
	var without []string
	for i, tag := range all {
		if err := build(slices.Concat(all[:i], all[i+1:])); err != nil {
			without = append(without, tag)
			left = append(left, fmt.Sprintf("%s: %v", strings.TrimPrefix(tag, "without_"), err))
		}
	}
	return left, build(without)
}

// peerLogs adds the lines of the logs. The first is ours.
func (b *bench) peerLogs(logs []peerLog) {
	ours := logs[0]
	for _, r := range logs[1:] {
		add := func(l Line) { b.atMost(1, l) }
		if r.Tuned {
			add = b.show
		}
		add(Line{Name: "append 2,000 events", Ours: ours.Append, Baseline: r.Append, Unit: "ms", Against: r.System})
		add(Line{Name: "read the last 50", Ours: ours.Read, Baseline: r.Read, Unit: "µs", Against: r.System})
	}
}

// peerTalks adds the lines of the talks: each beside ours that is as durable and shrinks as soon. The first is ours on disk.
func (b *bench) peerTalks(talks []peerTalk) error {
	for _, r := range talks {
		if r.Beside == "" {
			continue
		}
		ours, err := talkNamed(talks, r.Beside)
		if err != nil {
			return err
		}
		atMost, atLeast := func(l Line) { b.atMost(1, l) }, func(l Line) { b.atLeast(1, l) }
		if r.Tuned {
			atMost, atLeast = b.show, b.show
		}
		// Prompts that only grow share everything, as long as there is a model that takes them.
		if r.Grows {
			atLeast = b.show
		}
		line := func(what string, ours, theirs float64, unit string) Line {
			return Line{Name: "200 exchanges with a tool: " + what, Ours: ours, Baseline: theirs, Unit: unit, Against: r.System}
		}
		atMost(line("time", ours.Wall, r.Wall, "ms"))
		atMost(line("allocations", ours.Allocs, r.Allocs, ""))
		atMost(line("allocated", ours.Bytes/1e6, r.Bytes/1e6, "MB"))
		if r.Keeps {
			atMost(line("on disk", ours.Disk/1e3, r.Disk/1e3, "kB"))
		} else {
			b.show(line("time, ours on disk", talks[0].Wall, r.Wall, "ms"))
		}
		atMost(line("prompt tokens", ours.Tokens, r.Tokens, "tokens"))
		atLeast(line("prompt reused", ours.Reuse, r.Reuse, "of tokens"))
	}
	return nil
}

func talkNamed(talks []peerTalk, name string) (peerTalk, error) {
	for _, t := range talks {
		if t.System == name {
			return t, nil
		}
	}
	return peerTalk{}, fmt.Errorf("bench/peers: no talk of %q", name)
}

// printTalks prints the talks side by side, how each is set up, and what was left out.
func printTalks(w io.Writer, talks []peerTalk, left []string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "200 exchanges with a tool\ttime ms\tallocations\tMB allocated\tkB on disk\tprompt tokens\tlargest prompt\tprompt reused")
	for _, r := range talks {
		disk := "–"
		if r.Keeps {
			disk = fmt.Sprintf("%.0f", r.Disk/1e3)
		}
		fmt.Fprintf(t, "%s\t%.0f\t%.0f\t%.0f\t%s\t%.0f\t%.0f\t%.3f\n", r.System, r.Wall, r.Allocs, r.Bytes/1e6, disk, r.Tokens, r.Most, r.Reuse)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range talks {
		fits := ""
		if r.Most > r.Window {
			fits = fmt.Sprintf("; its largest prompt is over the window of %.0f", r.Window)
		}
		if r.Grows {
			fits += ", and since none ever shrinks, what they share has no bound"
		}
		fmt.Fprintf(w, "%s: %s%s.\n", r.System, r.Note, fits)
	}
	for _, l := range left {
		fmt.Fprintf(w, "left out: %s\n", l)
	}
	_, err := fmt.Fprintln(w)
	return err
}
