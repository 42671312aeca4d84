package transcripts_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/transcripts"
	"github.com/turnstone-dev/turnstone/store/mem"
)

// TestSoakPromptsKeepTheirPromises plays 2,000 transcripts, and with TURNSTONE_SOAK=1 a million; with
// TURNSTONE_SEED=n it begins at another one.
func TestSoakPromptsKeepTheirPromises(t *testing.T) {
	first, count := uint64(0), uint64(2000)
	if testing.Short() {
		count = 200
	}
	if os.Getenv("TURNSTONE_SOAK") != "" {
		count = 1_000_000
	}
	if seed, err := strconv.ParseUint(os.Getenv("TURNSTONE_SEED"), 10, 64); err == nil {
		first = seed
	}
	var all transcripts.Stats
	for seed := first; seed < first+count; {
		eng, err := turnstone.Open(t.Context(), mem.New(mem.Config{}), transcripts.Config)
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			stats, err := transcripts.Run(t.Context(), eng, seed)
			if err != nil {
				t.Fatal(err)
			}
			all.Add(stats)
			seed++
		}
		if err := eng.Close(); err != nil {
			t.Fatal(err)
		}
		if seed%10_000 == 0 {
			t.Logf("through seed %d: %+v", seed, all)
		}
	}
	t.Logf("%+v", all)
	if all.Epochs < int(count) || all.Refused == 0 || all.Rebuilt == 0 {
		t.Errorf("the transcripts do not go through enough: %+v", all)
	}
}
