package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
)

// compressionFlags say how turns leave the prompt.
type compressionFlags struct {
	strategy           string
	threshold          float64
	recent, summaryMax int
	noAuto             bool
}

func (f *compressionFlags) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.strategy, "strategy", string(budget.Summarize), "what becomes of turns that leave the prompt: summarize or truncate")
	flags.Float64Var(&f.threshold, "threshold", 0, "`share` of its room that the conversation fills before turns leave (0 for the default: 0.80)")
	flags.IntVar(&f.recent, "preserve-recent", 0, "`tokens` of the newest turns that stay at least when turns leave, at most 30 % of the usable window (0 for the default: 2,048, or three tenths of what the conversation may grow to where that is less)")
	flags.IntVar(&f.summaryMax, "summary-max", 0, "`tokens` that one summary may have (0 for the default: 1,024)")
	flags.BoolVar(&f.noAuto, "no-auto-snapshots", false, "take no snapshot before turns leave")
	choices(cmd, "strategy", string(budget.Summarize), string(budget.Truncate))
}

// compressionNames are the flags by the fields that they fill.
var compressionNames = map[string]string{
	"compression.strategy": "strategy", "compression.threshold": "threshold",
	"compression.preserveRecent": "preserve-recent", "compression.summaryMaxTokens": "summary-max",
}

func (f *compressionFlags) compression() budget.Compression {
	return budget.Compression{
		Strategy: budget.Strategy(f.strategy), Threshold: f.threshold, PreserveRecent: f.recent, SummaryMaxTokens: f.summaryMax,
	}
}

// check refuses nonsense in the words of the command line.
func (f *compressionFlags) check() error {
	_, err := f.compression().WithDefaults()
	var bad *budget.FieldError
	if errors.As(err, &bad) {
		return usage(bad.Fix, "--%s: %s", compressionNames[bad.Name], bad.Problem)
	}
	return err
}

// configure puts the flags into an engine's configuration.
func (f *compressionFlags) configure(c *turnstone.Config) {
	c.Compression, c.Snapshots.NoAuto = f.compression(), f.noAuto
}
