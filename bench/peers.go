package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
)

// peerResult is one line of what the program in bench/peers prints.
type peerResult struct {
	System string  `json:"system"`
	Tuned  bool    `json:"tuned"`     // set up better than it comes: shown, but no bound
	Append float64 `json:"append_ms"` // 2,000 events into one session
	Read   float64 `json:"read_us"`   // the last 50 of them
}

// benchPeers: other libraries at the same work, in a module of their own so that nothing of theirs
// enters ours.
func benchPeers(ctx context.Context, b *bench) error {
	cmd := exec.CommandContext(ctx, "go", "run", ".", "-rounds", fmt.Sprint(b.rounds))
	cmd.Dir = "bench/peers"
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("bench/peers: %w", err)
	}
	var ours peerResult
	for line := range bytes.Lines(out) {
		var r peerResult
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("bench/peers: %w", err)
		}
		if ours.System == "" {
			ours = r // the first line is ours
			continue
		}
		add := func(l Line) { b.atMost(1, l) }
		if r.Tuned {
			add = b.show
		}
		add(Line{Name: "append 2,000 events", Ours: ours.Append, Baseline: r.Append, Unit: "ms", Against: r.System})
		add(Line{Name: "read the last 50", Ours: ours.Read, Baseline: r.Read, Unit: "µs", Against: r.System})
	}
	if ours.System == "" {
		return fmt.Errorf("bench/peers printed nothing")
	}
	return nil
}
