package main

import (
	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/turn"
)

// limits are the bounds of a turn that the command line may raise.
type limits struct{ text, blob int64 }

func (l *limits) addFlags(cmd *cobra.Command) {
	cmd.Flags().Int64Var(&l.text, "max-text", 4<<20, "how many `bytes` of text a turn may have")
	cmd.Flags().Int64Var(&l.blob, "max-blob", 20<<20, "how many `bytes` an image or a recording may have")
}

// turnLimits refuses bounds that nothing fits into.
func (l *limits) turnLimits() (turn.Limits, error) {
	if l.text < 1 || l.blob < 1 {
		return turn.Limits{}, usage("give at least 1", "max-text and max-blob: %d and %d are no bounds", l.text, l.blob)
	}
	return turn.Limits{Text: l.text, Blob: l.blob}.WithDefaults()
}
