package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/turn"
)

// limits are the bounds of a turn that the command line may raise.
type limits struct{ text, blob int64 }

func (l *limits) addFlags(cmd *cobra.Command) {
	cmd.Flags().Int64Var(&l.text, "max-text", 4<<20, "how many `bytes` of text a turn may have")
	cmd.Flags().Int64Var(&l.blob, "max-blob", 20<<20, "how many `bytes` an image or a recording may have")
}

// flagged names the flag in an error about something larger than the limits.
func flagged(err error) error {
	var over *turn.FieldError
	if !errors.As(err, &over) || !strings.HasSuffix(over.Fix, "raise the limit") {
		return err
	}
	flag := "--max-text"
	if strings.HasPrefix(over.Name, "blob") || strings.HasSuffix(over.Name, "data") {
		flag = "--max-blob"
	}
	return &reworded{err: err, text: strings.TrimSuffix(err.Error(), "the limit") + flag}
}

// turnLimits refuses bounds that nothing fits into.
func (l *limits) turnLimits() (turn.Limits, error) {
	for _, f := range []struct {
		flag  string
		bytes int64
	}{{"max-text", l.text}, {"max-blob", l.blob}} {
		if f.bytes < 1 {
			return turn.Limits{}, usage("give at least 1 byte", "--%s: %d is no bound", f.flag, f.bytes)
		}
	}
	return turn.Limits{Text: l.text, Blob: l.blob}.WithDefaults()
}
