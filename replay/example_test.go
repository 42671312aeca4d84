package replay_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// A bundle file is played by importing it into a store in memory.
func ExamplePlay() {
	ctx := context.Background()
	st := mem.New(mem.Config{})
	open := func() (io.ReadCloser, error) { return os.Open("testdata/v1-trip.bundle.zst") }
	info, err := replay.Import(ctx, st, open, replay.ImportOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	player, err := replay.Play(ctx, st, info.Key, turn.HistoryOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, seq := range []int64{2, 8} {
		step, err := player.Seek(ctx, seq)
		if err != nil {
			fmt.Println(err)
			return
		}
		flow, _ := step.State.State.Active()
		nights, _ := flow.Slot("nights")
		fmt.Printf("turn %d of %d: %q, nights %q, %d utterances before\n", seq, player.Len(), flow.Name, nights.Value, len(step.Window)-1)
	}
	// Output:
	// turn 2 of 19: "book trip", nights "", 1 utterances before
	// turn 8 of 19: "book trip", nights "2", 4 utterances before
}

func ExampleDecoder() {
	file, err := os.ReadFile("testdata/v1-detour.bundle")
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := replay.NewDecoder(bytes.NewReader(file), turn.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	fmt.Println(d.Bundle().Session.Session, "was forked from", d.Bundle().Session.Parent, "after turn", d.Bundle().Session.ForkSeq)
	for r, err := range d.Records() {
		if err != nil {
			fmt.Println(err)
			return
		}
		if r.Turn != nil && r.Turn.Role == turn.Agent && r.Turn.CreatedAt.After(time.Date(2026, 11, 14, 9, 30, 15, 0, time.UTC)) {
			fmt.Println("turn", r.Turn.Seq, "calls", r.Turn.Calls()[0].Name)
		}
	}
	// Output:
	// detour was forked from trip after turn 14
	// turn 16 calls trains
	// turn 18 calls trains
}
