package main

import (
	"context"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/turn"
)

var sha256Hex = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (a *app) blobGetCommand() *cobra.Command {
	var out string
	var force bool
	cmd := &cobra.Command{
		Use:   "get SHA256",
		Short: "Write the bytes of an image or a recording",
		Long: `Write the bytes of an image or a recording, given by their SHA-256, to standard output or with
--out to a file. The file is there whole or not at all; one that is there already is kept unless
--force is given.`,
		Example: "  turnstone blob get SHA256 --out cat.png\n  turnstone blob get SHA256 | file -",
		Args:    arguments("SHA256"),
		RunE: func(cmd *cobra.Command, args []string) error {
			sum := strings.ToLower(args[0])
			if !sha256Hex.MatchString(sum) {
				return usage("give the sha256 that a turn shows, 64 hexadecimal digits", "blob: %q is no SHA-256", args[0])
			}
			out = outputPath(out)
			if (out == "" || out == stdio) && terminal.Is(a.stdout) {
				return usage("name a file with --out", "blob get: an image or a recording is nothing for a terminal")
			}
			return a.withEngine(cmd.Context(), toUse, turnstone.Config{}, func(eng *turnstone.Engine) error {
				return a.getBlob(cmd.Context(), eng, sum, out, force)
			})
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "the `file` to write (default standard output)")
	cmd.Flags().BoolVar(&force, "force", false, "replace a file that is there")
	return cmd
}

type blobJSON struct {
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	File   string `json:"file"`
}

func (a *app) getBlob(ctx context.Context, eng *turnstone.Engine, sum, out string, force bool) error {
	b, err := eng.Blob(ctx, sum)
	if err != nil {
		return advise(err, turn.ErrNotFound, "query --form image --json and query --form speech --json show which there are")
	}
	if out == "" || out == stdio {
		return a.print(b.Data)
	}
	err = writeWhole(out, force, func(w io.Writer) error {
		_, err := w.Write(b.Data)
		return err
	})
	size := int64(len(b.Data))
	switch {
	case err != nil:
		return err
	case a.json:
		return a.printJSON(blobJSON{SHA256: sum, Size: size, File: out})
	}
	return a.printf("wrote %s: %s", out, progress.Count(size, "byte"))
}
