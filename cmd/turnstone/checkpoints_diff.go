package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/internal/diff"
)

func (a *app) checkpointsDiffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff SESSION NUMBER [A] [B]",
		Short: "Show what a checkpoint lost and gained from one version to another",
		Long: `Show line by line what the summary of a checkpoint lost and gained from version A to version B. Without B
it is the last one, and without A the last two are compared.`,
		Example:           "  turnstone checkpoints diff tidewatch 2\n  turnstone checkpoints diff tidewatch 2 1 2",
		Args:              arguments("SESSION", "NUMBER", "[A]", "[B]"),
		ValidArgsFunction: a.completeFirstSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSession(cmd.Context(), args[0], func(s *turnstone.Session) error {
				found, err := a.aged(cmd.Context(), s, args[1])
				if err != nil {
					return err
				}
				return a.diffCheckpoint(s.ID(), found, args[2:])
			})
		},
	}
}

func (a *app) diffCheckpoint(session string, found checkpointOf, which []string) error {
	last := found.versions[len(found.versions)-1].Version
	if len(found.versions) < 2 {
		a.note("checkpoint %d has one version only: there is nothing to compare it with", found.versions[0].Number)
		if !a.json {
			return nil
		}
	}
	asked := []int64{found.versions[max(len(found.versions)-2, 0)].Version, last}
	for i, text := range which {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			return usage("they are counted from 1", "checkpoints diff: %q is no version", text)
		}
		asked[i] = n
	}
	from, err := found.version(asked[0])
	if err != nil {
		return err
	}
	to, err := found.version(asked[1])
	if err != nil {
		return err
	}
	lines := diff.Lines(from.Summary, to.Summary)
	if a.json {
		return a.printJSON(newDiffJSON(session, from, to, lines))
	}
	return a.printDiff(from, to, lines)
}

func (a *app) printDiff(from, to *compress.Checkpoint, lines []diff.Line) error {
	style := a.style()
	describe := func(mark string, c *compress.Checkpoint) string {
		return fmt.Sprintf("%s version %d, %s, %s", mark, c.Version, c.Level, progress.Count(c.CurrentTokens, "token"))
	}
	text := []string{style.Alarm(describe("---", from)), style.Good(describe("+++", to))}
	for _, l := range diff.Shorten(lines, 1) {
		line := terminal.CleanLine(l.Text)
		switch l.Op {
		case diff.Removed:
			text = append(text, style.Alarm("- "+line))
		case diff.Added:
			text = append(text, style.Good("+ "+line))
		case diff.Skipped:
			text = append(text, style.Dim("  ... "+progress.Count(int64(l.Lines), "line")+" the same"))
		default:
			text = append(text, strings.TrimRight("  "+line, " "))
		}
	}
	if !diff.Differ(lines) {
		a.note("versions %d and %d say the same", from.Version, to.Version)
	}
	return a.printf("%s", strings.Join(text, "\n"))
}

type diffJSON struct {
	Session string         `json:"session_id"`
	Number  int64          `json:"compression_number"`
	From    diffedJSON     `json:"from"`
	To      diffedJSON     `json:"to"`
	Lines   []diffLineJSON `json:"lines"`
}

type diffedJSON struct {
	Version int64  `json:"version"`
	Level   string `json:"level"`
	Tokens  int64  `json:"tokens"`
}

type diffLineJSON struct {
	Op   string `json:"op"` // " ", "-" or "+"
	Text string `json:"text"`
}

func newDiffJSON(session string, from, to *compress.Checkpoint, lines []diff.Line) diffJSON {
	of := func(c *compress.Checkpoint) diffedJSON {
		return diffedJSON{c.Version, c.Level.String(), c.CurrentTokens}
	}
	out := diffJSON{Session: session, Number: from.Number, From: of(from), To: of(to), Lines: []diffLineJSON{}}
	for _, l := range lines {
		out.Lines = append(out.Lines, diffLineJSON{string(l.Op), l.Text})
	}
	return out
}
