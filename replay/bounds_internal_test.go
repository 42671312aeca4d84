package replay

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestWhatIsRememberedIsBounded(t *testing.T) {
	c := newChecker(Bundle{Session: turn.SessionInfo{Head: 100}}, noLimits)
	c.bounds = bounds{openCalls: 2, blobs: 2, names: 3, items: 2, summaries: 1, materials: 2, checkpoints: 2, epochs: 2, snapshots: 2}

	call := func(seq int64, ids ...string) error {
		var content turn.Text
		for _, id := range ids {
			content.ToolCalls = append(content.ToolCalls, turn.ToolCall{ID: id, Name: "f", Arguments: "1"})
		}
		return c.calls.join(&turn.Turn{Seq: seq, Unit: seq, Content: content}, c.bounds.openCalls)
	}
	if err := call(1, "a", "b"); err != nil {
		t.Errorf("two calls: %v", err)
	}
	if err := call(2, "c"); err == nil || err.Error() != "content.tool_calls: more than 2 calls wait for a result" {
		t.Errorf("a third call: %v", err)
	}

	for i, want := range []string{"", "", "more than 2 blobs"} {
		data := []byte{byte(i)}
		err := c.blob(&turn.Blob{SHA256: fmt.Sprintf("%x", sha256.Sum256(data)), Size: 1, Data: data})
		if got := fmt.Sprint(err); err != nil && got != want || err == nil && want != "" {
			t.Errorf("blob %d: %v, want %q", i, err, want)
		}
	}

	for i, want := range []string{"<nil>", "<nil>", "version 3 of checkpoint 1: more than 2 versions of checkpoints"} {
		row := compress.Row{Number: 1, Version: int64(i + 1), At: time.Unix(1, 0)}
		if err := c.nextCheckpoint(&row); fmt.Sprint(err) != want {
			t.Errorf("checkpoint %d: %v, want %s", i, err, want)
		}
	}

	c.trusted = true
	for i, want := range []string{"<nil>", "<nil>", "snapshot 3: more than 2 snapshots"} {
		if err := c.nextSnapshot(&snapshot.Row{ID: fmt.Sprint(i + 1)}); fmt.Sprint(err) != want {
			t.Errorf("snapshot %d: %v, want %s", i, err, want)
		}
	}
	for i, want := range []string{"<nil>", "<nil>", "memory_item 7: more than 2 memory items"} {
		item := MemoryItem{Episode: memory.Episode{ID: fmt.Sprint(9 - i)}}
		if err := c.memoryItem(&item); fmt.Sprint(err) != want {
			t.Errorf("item %d: %v, want %s", i, err, want)
		}
	}

	for i, want := range []string{"<nil>", "<nil>", "material 2: more than 2 of its kind"} {
		if err := c.material(&Material{SHA256: fmt.Sprint(i)}); fmt.Sprint(err) != want {
			t.Errorf("material %d: %v, want %s", i, err, want)
		}
	}
	for i, want := range []string{"<nil>", "<nil>", "settings 2: more than 2 of its kind"} {
		if err := c.nextSettings(&Material{SHA256: fmt.Sprint(i)}); fmt.Sprint(err) != want {
			t.Errorf("settings %d: %v, want %s", i, err, want)
		}
	}
	for i, want := range []string{"<nil>", "<nil>", "epoch 3: more than 2 epochs"} {
		if err := c.epoch(&prompt.EpochRow{Number: int64(i + 1), At: time.Unix(1, 0)}); fmt.Sprint(err) != want {
			t.Errorf("epoch %d: %v, want %s", i, err, want)
		}
	}
	for i, tt := range []struct {
		kind  byte
		text  string
		fresh bool
	}{
		{'i', "1", true}, {'k', "1", true}, {'i', "2", true}, {'i', "1", false}, {'i', "2", false},
		// Past the bound the store's keys must do.
		{'i', "3", true}, {'i', "3", true}, {'k', "1", false},
	} {
		if got := c.remember(tt.kind, tt.text); got != tt.fresh {
			t.Errorf("%d: %c %s: fresh %v, want %v", i, tt.kind, tt.text, got, tt.fresh)
		}
	}
	// And the turn of a trace may be one that is not remembered.
	if !c.holds("4") {
		t.Error("turn 4 is missed")
	}
	if len(c.names) != 3 {
		t.Errorf("%d names kept", len(c.names))
	}
}

// Past the bound a pinned summary is found when a prompt is compiled.
func TestAsManySummariesAreRememberedAsMayBe(t *testing.T) {
	c := newChecker(Bundle{Session: turn.SessionInfo{Head: 100}}, noLimits)
	c.trusted, c.bounds.summaries = true, 2
	for seq := range int64(4) {
		kind := turn.KindSummary
		if seq == 0 {
			kind = turn.KindTurn
		}
		if err := c.turn(&turn.Turn{ID: fmt.Sprint(seq), Seq: seq + 1, Kind: kind, Content: turn.Text{Text: "x"}}); err != nil {
			t.Fatal(err)
		}
	}
	for i, summary := range []bool{false, true, true, false} {
		pin := prompt.PinRow{Number: c.pin.Number + 1, AfterSeq: 4, Seq: int64(i + 1), At: time.Unix(1, 0)}
		if err := c.nextPin(&pin); (err != nil) != summary {
			t.Errorf("pin of turn %d: %v", i+1, err)
		}
	}
}
