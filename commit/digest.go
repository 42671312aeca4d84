package commit

import (
	"context"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// rebuildFrom is how many summaries a fork's digest is made of: more than the digest holds lines.
const rebuildFrom = 64

// LoadDigest reads a session's digest. A fork that has none of its own yet gets one made of the turn
// summaries that it inherited.
func LoadDigest(ctx context.Context, tx store.Tx, info turn.SessionInfo) (memory.Digest, error) {
	row, ok, err := tx.Memory().Digest(ctx, info.Tenant, info.Segment)
	if err != nil {
		return memory.Digest{}, fmt.Errorf("digest: %w", err)
	}
	if ok {
		return memory.DecodeDigest(row.Doc)
	}
	var d memory.Digest
	if len(info.Inherited) == 0 {
		return d, nil
	}
	summaries, err := lastSummaries(ctx, tx, info, 1)
	if err != nil {
		return d, fmt.Errorf("inherited summaries: %w", err)
	}
	for i, s := range summaries {
		if text, ok := s.Content.(turn.Text); ok {
			cite, err := citing(ctx, tx, info, &s, text.Text)
			if err != nil {
				return d, fmt.Errorf("decisions of turns %d to %d: %w", s.Covers.From, s.Covers.To, err)
			}
			d = d.Without(triesIn(summaries[:i], s.Covers.From)...).FoldText(s.Covers.To, text.Text, cite)
		}
	}
	return d, nil
}

// citing cites the turns that a summary covers.
func citing(ctx context.Context, tx store.Tx, info turn.SessionInfo, summary *turn.Turn, text string) (memory.Cite, error) {
	if len(memory.ParseSummary(text).Decided) == 0 {
		return nil, nil // nobody asks
	}
	q, err := turn.Query{From: summary.Covers.From, To: summary.Covers.To, Limit: MaxTurns}.Compile()
	if err != nil {
		return nil, err
	}
	page, err := q.Run(ctx, tx.Log(), info)
	if err != nil {
		return nil, err
	}
	said := saidIn(page.Turns)
	return func(decided string) (int64, string) {
		if len(said) == 0 {
			return summary.Seq, summary.ID
		}
		t := said[whose(said, decided)]
		return t.Seq, t.ID
	}, nil
}

// tries are those that the exchange that the turn of that seq opened had before: without a reply, if it is tried again.
func tries(ctx context.Context, tx store.Tx, info turn.SessionInfo, opened int64) ([]memory.Try, error) {
	summaries, err := lastSummaries(ctx, tx, info, opened)
	return triesIn(summaries, opened), err
}

func triesIn(summaries []turn.Turn, opened int64) (found []memory.Try) {
	for i := range summaries {
		if covers := summaries[i].Covers; covers.From == opened {
			try := memory.Try{Seq: covers.To, Since: len(summaries) - 1 - i}
			if text, ok := summaries[i].Content.(turn.Text); ok {
				try.Topics = memory.ParseSummary(text.Text).Topics
			}
			found = append(found, try)
		}
	}
	return found
}

// lastSummaries returns the session's last turn summaries from seq from on, oldest first.
func lastSummaries(ctx context.Context, tx store.Tx, info turn.SessionInfo, from int64) ([]turn.Turn, error) {
	var found []turn.Turn
	spans := info.Spans(info.Head)
	for i := len(spans) - 1; i >= 0 && len(found) < rebuildFrom; i-- {
		span := spans[i]
		if span.From = max(span.From, from); span.Empty() {
			continue
		}
		page, err := tx.Log().Scan(ctx, info.Tenant, span, turn.RowFilter{Kind: turn.KindSummary, Newest: true}, rebuildFrom-len(found))
		if err != nil {
			return nil, err
		}
		found = append(found, page...)
	}
	slices.Reverse(found)
	// The summary of a checkpoint names it, and is none of an exchange.
	return slices.DeleteFunc(found, func(t turn.Turn) bool { return t.MessageID != "" }), nil
}
