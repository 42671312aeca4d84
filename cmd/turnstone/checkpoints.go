package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/store"
)

func (a *app) checkpointsCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "checkpoints",
		Short: "Show the summaries that stand for turns which left the prompt",
		Long: `A checkpoint is a summary that the model sees in place of turns which left the prompt. It has the number of
the pass that made it. As it ages it is written anew from the same turns, shorter each time: from detailed over
moderate to compact, and at last it is merged with others to one that is ultra. All its versions are kept.`,
		Example: "  turnstone checkpoints list tidewatch\n  turnstone checkpoints show tidewatch 2",
	}, a.checkpointsListCommand(), a.checkpointsShowCommand(), a.checkpointsDiffCommand(), a.checkpointsReceiptCommand())
}

func (a *app) checkpointsListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list SESSION",
		Short: "List the checkpoints that stand in a session's prompt",
		Long: `List the checkpoints that stand in a session's prompt, oldest first: the pass that made each, its level, the
turns it stands for, the tokens that these took and that it takes now, how many versions of it there are, who
made it, and its age in passes. What turnstone prompt --explain counts as checkpoints is more: the quotes beside
them and what stands around them too.`,
		Example:           "  turnstone checkpoints list tidewatch\n  turnstone checkpoints list tidewatch --json",
		Args:              arguments("SESSION"),
		ValidArgsFunction: a.completeFirstSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSession(cmd.Context(), args[0], func(s *turnstone.Session) error {
				return a.listCheckpoints(cmd.Context(), s)
			})
		},
	}
}

// checkpointJSON is a checkpoint in a list. What a single one says too has the same name and form there, but for level, which
// is the name here and the number there.
type checkpointJSON struct {
	Session        string    `json:"session_id"`
	ID             string    `json:"id"`
	Number         int64     `json:"compression_number"`
	Version        int64     `json:"version"`
	Versions       int       `json:"versions"`
	Level          string    `json:"level"`
	Range          rangeJSON `json:"range"`
	From           int64     `json:"from"`
	To             int64     `json:"to"`
	OriginalTokens int64     `json:"original_tokens"`
	CurrentTokens  int64     `json:"current_tokens"`
	By             string    `json:"by"`
	Age            int64     `json:"age"`
	CreatedAt      string    `json:"created_at"`
	CompressedAt   string    `json:"compressed_at"`
}

type rangeJSON struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

func (a *app) listCheckpoints(ctx context.Context, s *turnstone.Session) error {
	list, err := s.Checkpoints(ctx)
	if err != nil {
		return err
	}
	epoch, err := s.Epoch(ctx, turnstone.Head)
	if err != nil {
		return err
	}
	var rows [][]string
	for i := range list {
		c := &list[i]
		versions, err := s.CheckpointVersions(ctx, c.Number)
		if err != nil {
			return err
		}
		if a.json {
			if err := a.printJSON(checkpointJSON{
				s.ID(), c.ID, c.Number, c.Version, len(versions), c.Level.String(), rangeJSON{c.Range.From, c.Range.To},
				c.Range.From, c.Range.To, c.OriginalTokens, c.CurrentTokens,
				c.Receipt.By, c.Age(epoch.Passes), timeJSON(c.CreatedAt), timeJSON(c.CompressedAt),
			}); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, []string{
			strconv.FormatInt(c.Number, 10), c.Level.String(), fmt.Sprintf("%d-%d", c.Range.From, c.Range.To), progress.Thousands(c.OriginalTokens),
			progress.Thousands(c.CurrentTokens), strconv.Itoa(len(versions)), c.Receipt.By, strconv.FormatInt(c.Age(epoch.Passes), 10),
		})
	}
	if lost := len(epoch.Checkpoints) - len(list); lost > 0 {
		a.note("emptied or damaged: %s, to be made again with the next prompt", progress.Count(int64(lost), "more checkpoint"))
	}
	if len(list) == 0 {
		a.note("no checkpoints: no summary stands in the prompt of %s", s.ID())
	}
	head := []string{"PASS", "LEVEL", "TURNS", "TOKENS", "NOW", "VERSIONS", "BY", "AGE"}
	alignRight(head, rows, 0, 3, 4, 5, 7)
	return a.table(head, rows)
}

// checkpointOf is a checkpoint with all its versions.
type checkpointOf struct {
	versions []compress.Checkpoint
	// stands is the version in the session's prompt, 0 where none is.
	stands int64
}

// aged finds a checkpoint by its number, as the command line gives it.
func (a *app) aged(ctx context.Context, s *turnstone.Session, number string) (checkpointOf, error) {
	return agedOf(ctx, s, number, a.line("checkpoints list "+quoted(s.ID())))
}

// agedOf is aged where another command lists them.
func agedOf(ctx context.Context, s *turnstone.Session, number, list string) (checkpointOf, error) {
	see := "see which there are with: " + list
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 {
		return checkpointOf{}, usage(see, "checkpoints: %q is no number of a checkpoint", number)
	}
	versions, err := s.CheckpointVersions(ctx, n)
	if err != nil {
		err = advise(advise(err, compress.ErrNotFound, see), compress.ErrEmptied, "it cannot be brought back; "+see)
		return checkpointOf{}, advise(err, store.ErrCorrupt, "the next prompt makes again what stands in it; "+see)
	}
	found := checkpointOf{versions: versions}
	epoch, err := s.Epoch(ctx, turnstone.Head)
	if err != nil {
		return checkpointOf{}, err
	}
	for _, ref := range epoch.Checkpoints {
		if ref.Number == n {
			found.stands = ref.Version
		}
	}
	return found, nil
}

// version returns that version, and for 0 the one that stands, or the last where none does.
func (c *checkpointOf) version(n int64) (*compress.Checkpoint, error) {
	if n == 0 {
		n = c.stands
	}
	if n == 0 {
		n = c.versions[len(c.versions)-1].Version
	}
	i := slices.IndexFunc(c.versions, func(v compress.Checkpoint) bool { return v.Version == n })
	if i >= 0 && !c.versions[i].Gone() {
		return &c.versions[i], nil
	}
	var there []string
	for _, v := range c.versions {
		if !v.Gone() {
			there = append(there, strconv.FormatInt(v.Version, 10))
		}
	}
	missing, has := compress.ErrNotFound, "it has "
	if i >= 0 {
		missing, has = compress.ErrEmptied, "what is left of it is "
	}
	return nil, &advised{err: fmt.Errorf("checkpoint %d, version %d: %w", c.versions[0].Number, n, missing), next: has + strings.Join(there, ", ")}
}
