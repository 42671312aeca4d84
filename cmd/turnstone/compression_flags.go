package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/snapshot"
)

// compressionFlags say how turns leave the prompt.
type compressionFlags struct {
	strategy           string
	threshold          float64
	recent, summaryMax int
	noAuto             bool
	snapshotAt         float64
	off, noSnapshots   bool
}

func (f *compressionFlags) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.strategy, "strategy", string(budget.Summarize), "what becomes of turns that leave the prompt: summarize or truncate")
	flags.Float64Var(&f.threshold, "threshold", 0, "`share` of its room that the conversation fills before turns leave (0 for the default: 0.80)")
	flags.IntVar(&f.recent, "preserve-recent", 0, "`tokens` of the newest turns that stay at least when turns leave, at most 30 % of the usable window (0 for the default: 2,048, or three tenths of what the conversation may grow to where that is less)")
	flags.IntVar(&f.summaryMax, "summary-max", 0, "`tokens` that one summary may have (0 for the default: 1,024)")
	flags.BoolVar(&f.noAuto, "no-auto-snapshots", false, "take no snapshot before turns leave")
	flags.Float64Var(&f.snapshotAt, "snapshot-threshold", 0, "`share` of its room that the conversation fills when a snapshot is taken, besides those before turns leave (0 for the default: 0.80)")
	choices(cmd, "strategy", string(budget.Summarize), string(budget.Truncate))
}

// addOffFlags adds what turns all of it off.
func (f *compressionFlags) addOffFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.off, "no-compression", false, "let nothing leave the prompt; one that does not fit is refused")
	cmd.Flags().BoolVar(&f.noSnapshots, "no-snapshots", false, "take no snapshots at all, also none that is asked for")
}

// compressionNames are the flags by the fields that they fill.
var compressionNames = map[string]string{
	"compression.strategy": "strategy", "compression.threshold": "threshold",
	"compression.preserveRecent": "preserve-recent", "compression.summaryMaxTokens": "summary-max",
	"snapshots.autoThreshold": "snapshot-threshold",
}

func (f *compressionFlags) compression() budget.Compression {
	return budget.Compression{
		Off: f.off, Strategy: budget.Strategy(f.strategy), Threshold: f.threshold, PreserveRecent: f.recent, SummaryMaxTokens: f.summaryMax,
	}
}

func (f *compressionFlags) snapshots() snapshot.Config {
	return snapshot.Config{Off: f.noSnapshots, NoAuto: f.noAuto, AutoThreshold: f.snapshotAt}
}

// check refuses nonsense in the words of the command line.
func (f *compressionFlags) check() error {
	_, err := f.compression().WithDefaults()
	if err == nil {
		_, err = f.snapshots().WithDefaults()
	}
	var bad *budget.FieldError
	if errors.As(err, &bad) {
		return usage(bad.Fix, "--%s: %s", compressionNames[bad.Name], bad.Problem)
	}
	return err
}

// configure puts the flags into an engine's configuration.
func (f *compressionFlags) configure(c *turnstone.Config) {
	c.Compression, c.Snapshots = f.compression(), f.snapshots()
}
