package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/event"
)

// eventsPage is how many events are read at once.
const eventsPage = 500

func (a *app) eventsCommand() *cobra.Command {
	var kind, after string
	var limit int
	cmd := &cobra.Command{
		Use:   "events [SESSION]",
		Short: "List what was announced, such as compressions and snapshots",
		Long: `List what was announced of a session, or of all, oldest first: when, what kind of event it is, and what is to
be said about it, as JSON. The kinds are compressed, compression-skipped, compression-error, rollover-complete,
auto-summary-created, tier1-compressed to tier5-compressed, snapshot-created, auto-snapshot-created,
snapshot-restored, undone, snapshot-error, prompt-truncated, vocabulary-mismatch, stream-overflow-emergency, commit-escalated,
reminder-escalated, item-flagged, session-ended, session-reopened and forgotten. They are kept for 90 days, those of the last kind for good.

Where there are more than --limit, standard error says how to go on; with --json as {"next":"CURSOR"}.`,
		Example:           "  turnstone events tidewatch\n  turnstone events tidewatch --kind compressed --json\n  turnstone events --limit 0",
		Args:              arguments("[SESSION]"),
		ValidArgsFunction: a.completeFirstSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 0 {
				return usage("give how many, or 0 for all", "--limit: %d is negative", limit)
			}
			if kind != "" && !slices.Contains(eventKinds, kind) {
				return usage("use "+strings.Join(eventKinds, ", "), "--kind: %q is none", kind)
			}
			return a.withEngine(cmd.Context(), toFind, turnstone.Config{}, func(eng *turnstone.Engine) error {
				session := append(args, "")[0]
				if session != "" {
					if _, err := a.find(cmd.Context(), eng, session); err != nil {
						return err
					}
				}
				return a.listEvents(cmd.Context(), eng, session, event.Kind(kind), after, limit)
			})
		},
	}
	cmd.Flags().StringVar(&kind, "kind", "", "only events of this `kind`")
	choices(cmd, "kind", eventKinds...)
	cmd.Flags().StringVar(&after, "after", "", "go on behind this `cursor`")
	cmd.Flags().IntVar(&limit, "limit", 100, "how many at most, 0 for all")
	return cmd
}

// eventKinds are the kinds that there are, by their names.
var eventKinds = []string{
	string(event.Compressed), string(event.CompressionSkipped), string(event.CompressionError), string(event.RolloverComplete),
	string(event.AutoSummaryCreated), string(event.Tier1Compressed), string(event.Tier2Compressed), string(event.Tier3Compressed),
	string(event.Tier4Compressed), string(event.Tier5Compressed), string(event.SnapshotCreated), string(event.AutoSnapshotCreated),
	string(event.SnapshotRestored), string(event.Undone), string(event.SnapshotError), string(event.PromptTruncated), string(event.VocabularyMismatch), string(event.StreamOverflow),
	string(event.CommitEscalated), string(event.ReminderEscalated), string(event.ItemFlagged), string(event.SessionEnded), string(event.SessionReopened), string(event.Forgotten),
}

type eventJSON struct {
	ID      string          `json:"id"`
	Cursor  string          `json:"cursor,omitempty"`
	Session string          `json:"session_id"`
	Kind    event.Kind      `json:"kind"`
	TurnID  string          `json:"turn_id,omitempty"`
	At      string          `json:"at"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (a *app) listEvents(ctx context.Context, eng *turnstone.Engine, session string, kind event.Kind, after string, limit int) error {
	format := a.format()
	var rows [][]string
	shown, last, more := 0, after, false
	for full := true; full && !more; {
		page, err := eng.Events(ctx, session, after, eventsPage)
		if err != nil {
			return err
		}
		// What has no cursor, in a store that cannot be written to, is the end.
		full = len(page) == eventsPage && page[len(page)-1].Cursor() != ""
		for _, e := range page {
			after = e.Cursor()
			if kind != "" && e.Kind != kind {
				continue
			}
			if more = limit > 0 && shown == limit; more {
				break
			}
			shown, last = shown+1, e.Cursor()
			if a.json {
				if err := a.printJSON(eventJSON{e.ID, e.Cursor(), e.Session, e.Kind, e.TurnID, timeJSON(e.At), json.RawMessage(e.Data)}); err != nil {
					return err
				}
				continue
			}
			rows = append(rows, []string{format.Time(e.At), e.Session, string(e.Kind), e.Data})
		}
	}
	if err := a.table([]string{"AT", "SESSION", "KIND", "DATA"}, rows); err != nil {
		return err
	}
	switch {
	case more && a.json:
		a.note(`{"next":%q}`, last)
	case more:
		a.note("more: --after %s", last)
	case shown == 0:
		a.note("no events")
	}
	return nil
}
