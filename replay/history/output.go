package history

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/turn"
)

// write writes pieces; how it failed, if it did, is said when the output is flushed.
func (e *exporter) write(pieces ...string) {
	for _, piece := range pieces {
		// A bufio.Writer keeps its first error and returns it from Flush.
		if _, err := e.out.WriteString(piece); err != nil {
			return
		}
	}
}

// each ranges over the turns and counts them, without summaries where only the talk is wanted.
func (e *exporter) each(ctx context.Context, f func(turn.Turn) error) error {
	for t, err := range e.turns {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.talk && t.Kind == turn.KindSummary {
			e.lose(t, "summaries", "left out, since nobody said them")
			continue
		}
		e.report.Turns++
		if err := f(t); err != nil {
			return fmt.Errorf("turn %d: %w", t.Seq, err)
		}
	}
	return nil
}

func turnPlace(t turn.Turn) place { return place{unit: "turn", number: t.Seq} }

// hydrate returns the content with the bytes behind its hash. Where they are not at hand the content
// is returned as it is, without Data, and that is reported.
func (e *exporter) hydrate(ctx context.Context, t turn.Turn) (turn.Content, error) {
	b, ok := turn.BlobOf(t.Content)
	if !ok || b.Data != nil {
		return t.Content, nil
	}
	if e.blobs != nil {
		stored, err := e.blobs(ctx, b.SHA256)
		if err == nil {
			return withBlob(t.Content, turn.Blob{Data: stored.Data}), nil
		}
		if !errors.Is(err, turn.ErrNotFound) {
			return nil, fmt.Errorf("blob %s: %w", b.SHA256, err)
		}
	}
	e.lose(t, "images and recordings whose bytes are not at hand", "named by their hash")
	return t.Content, nil
}

func (e *exporter) lose(t turn.Turn, kind, done string) { e.report.lose(kind, turnPlace(t), done) }

// headerLost reports which of the header's fields, given as names and values, the format has no
// place for.
func (e *exporter) headerLost(fields ...string) {
	var lost []string
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i+1] != "" {
			lost = append(lost, fields[i])
		}
	}
	if len(lost) > 0 {
		e.report.lose("what is known of the conversation", nil, "left out: "+strings.Join(lost, ", "))
	}
}

// anonymous reports that no turn kept its id and time.
func (e *exporter) anonymous() {
	if n := e.report.Turns; n > 0 {
		e.report.Losses = append(e.report.Losses, Loss{Kind: "ids and times of turns", Count: n, Done: "left out"})
	}
}

// times reports which times the format has no place for.
func (h *Header) times() string {
	if h.Started.IsZero() && h.LastActivity.IsZero() {
		return ""
	}
	return h.Started.UTC().Format(time.RFC3339)
}

// actionText is an action for formats that have texts only.
func actionText(a turn.Action) string {
	text := "[action " + a.Name
	if a.Target != "" {
		text += " " + a.Target
	}
	if a.Payload != "" {
		text += " " + a.Payload
	}
	return text + "]"
}
