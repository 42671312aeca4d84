package transcripts_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/internal/transcripts"
)

// TestTortureAndSoakPromptsKeepTheirPromises plays 500 transcripts, with TURNSTONE_TORTURE=1 2,000, and with
// TURNSTONE_SOAK=1 a million; with TURNSTONE_SEED=n it begins at another one. TURNSTONE_SOAK_STATE names a file in
// which it is kept how far it is: a soak that was stopped goes on there.
func TestTortureAndSoakPromptsKeepTheirPromises(t *testing.T) {
	s := transcripts.Series{Count: 500, Workers: 2}
	if os.Getenv("TURNSTONE_TORTURE") != "" {
		s.Count = 2000
	}
	if os.Getenv("TURNSTONE_SOAK") != "" {
		s.Count, s.State = 1_000_000, os.Getenv("TURNSTONE_SOAK_STATE")
	}
	if seed, err := strconv.ParseUint(os.Getenv("TURNSTONE_SEED"), 10, 64); err == nil {
		s.First = seed
	}
	s.Reached = func(next uint64, all transcripts.Stats) {
		if next%6400 == 0 {
			t.Logf("through seed %d: %+v", next, all)
		}
	}
	all, err := s.Play(t.Context())
	t.Logf("%+v", all)
	if err != nil {
		t.Fatal(err)
	}
	for what, n := range map[string]int{
		"epochs": all.Epochs - all.Transcripts, "refused": all.Refused, "rebuilt": all.Rebuilt - all.Transcripts, "passes": all.Passes - all.Transcripts,
		"tier 1": all.Tiers[0], "tier 2": all.Tiers[1], "tier 3": all.Tiers[2], "tier 4": all.Tiers[3], "tier 5": all.Tiers[4],
		"drafted": all.Drafted, "stood": all.Stood, "fallbacks": all.Fallbacks, "forced": all.Forced, "useless": all.Useless,
		"undone": all.Undone, "undone later": all.UndoneLater, "restored": all.Restored, "restores undone": all.Unrestored,
		"modes": all.Modes, "strategies": all.Strategies,
		"said": all.Said, "named": all.Named, "pinned": all.Pinned, "quoted": all.Quoted, "unquoted": all.Unquoted, "decisions": all.Decisions,
	} {
		if n <= 0 {
			t.Errorf("the transcripts do not go through enough: %s %d", what, n)
		}
	}
	if all.Transcripts != int(s.Count) {
		t.Errorf("%d transcripts, want %d", all.Transcripts, s.Count)
	}
}

// TestASeriesGoesOnWhereItWasStopped stops a series in its middle: what it went through in the end is the same.
func TestASeriesGoesOnWhereItWasStopped(t *testing.T) {
	whole := transcripts.Series{First: 7, Count: 80, Workers: 2}
	want, err := whole.Play(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	parts := whole
	parts.State = filepath.Join(t.TempDir(), "state")
	ctx, stop := context.WithCancel(t.Context())
	parts.Reached = func(uint64, transcripts.Stats) { stop() }
	first, err := parts.Play(ctx)
	if !errors.Is(err, context.Canceled) || first.Transcripts == 0 || first.Transcripts == want.Transcripts {
		t.Fatalf("it was stopped after %d: %v", first.Transcripts, err)
	}
	var from []uint64
	parts.Reached = func(next uint64, _ transcripts.Stats) { from = append(from, next) }
	got, err := parts.Play(t.Context())
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, without a stop:\n%s", err, diff)
	}
	if len(from) == 0 || from[0] <= 7+uint64(first.Transcripts) {
		t.Errorf("it went on at %v after %d", from, first.Transcripts)
	}
	if again, err := parts.Play(t.Context()); err != nil || again != want {
		t.Errorf("a series that is at its end: %+v, %v", again, err)
	}

	parts.First = 8
	if _, err := parts.Play(t.Context()); err == nil || !strings.Contains(err.Error(), "from seed 7, not 8") {
		t.Errorf("the state of another series: %v", err)
	}
	if err := os.WriteFile(parts.State, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := parts.Play(t.Context()); err == nil || !strings.Contains(err.Error(), "delete it") {
		t.Errorf("a state that is damaged: %v", err)
	}
}
