package commit

import (
	"context"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/turn"
)

// historyPart is what the conversation history gains: the turns that are not in the log yet, the turn
// summary, and with it the digest.
type historyPart struct {
	drafts    []turn.Draft
	sealed    []turn.Sealed // of the drafts
	opened    int64         // seq of the opening turn, 0 if it is among the drafts
	openedBy  string
	summaryID string
	summary   memory.Summary
	believe   func(*dialogue.State) error
}

func (h *historyPart) target() Target { return History }

var historyPartFields = record.Fields[historyPart]{
	record.List("turns", func(h *historyPart) *[]turn.Draft { return &h.drafts }, draftCodec),
	record.Value("opened", func(h *historyPart) *int64 { return &h.opened }, record.Int()),
	record.Value("opened_by", func(h *historyPart) *string { return &h.openedBy }, word),
	record.Value("summary_id", func(h *historyPart) *string { return &h.summaryID }, word),
	record.Inside("summary", func(h *historyPart) *memory.Summary { return &h.summary }, summaryCodec),
}

func (h *historyPart) payload() []byte { return historyPartFields.Append(nil, h) }

func (h *historyPart) apply(ctx context.Context, p *Pipeline, at *place) error {
	opened := h.opened
	if opened == 0 {
		opened = at.info.Head + 1
	}
	sealed := h.sealed
	last := at.info.Head + int64(len(sealed))
	if h.summary.Line != "" && opened <= last {
		d := turn.Draft{
			ID: h.summaryID, Role: turn.System, Kind: turn.KindSummary, Content: turn.Text{Text: h.summary.String()},
			Covers: turn.Range{From: opened, To: last},
		}
		s, err := d.Seal(p.config.Limits)
		if err != nil {
			return err
		}
		sealed = append(sealed[:len(sealed):len(sealed)], s)
	}
	turns, err := turn.Extend(ctx, at.tx.Log(), at.info, at.now, sealed...)
	if err != nil {
		return err
	}
	at.turns = turns
	if err := h.fold(ctx, at, last); err != nil {
		return err
	}
	if h.believe == nil {
		return nil
	}
	info := at.info
	info.Head = at.head()
	_, err = Believe(ctx, at.tx, info, h.believe)
	return err
}

// fold brings the digest up to the exchange.
func (h *historyPart) fold(ctx context.Context, at *place, last int64) error {
	if h.summary.Line == "" {
		return nil
	}
	at.next.digest = at.before.digest.FoldSummary(last, h.openedBy, h.summary)
	return at.tx.Memory().PutDigest(ctx, at.info.Tenant, at.info.Segment, at.next.digest.Row(at.now))
}

// head is the session's last turn as it is now in the update.
func (at *place) head() int64 {
	if n := len(at.turns); n > 0 {
		return max(at.info.Head, at.turns[n-1].Seq)
	}
	return at.info.Head
}

var summaryCodec = record.Codec[memory.Summary]{
	Append: func(dst []byte, s memory.Summary) []byte { return word.Append(dst, s.String()) },
	Decode: func(v strictjson.Raw) (memory.Summary, error) {
		text, err := v.String()
		return memory.ParseSummary(text), err
	},
}
