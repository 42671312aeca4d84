package commit

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/event"
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
	decided   []citation // of the summary's decisions
	believe   func(*dialogue.State) error
	foreseen  *foreseen // nil: nothing was
}

func (h *historyPart) target() Target { return History }

func (h *historyPart) empty() bool {
	return len(h.drafts) == 0 && h.summary.Line == "" && h.believe == nil
}

var historyPartFields = record.Fields[historyPart]{
	record.List("turns", func(h *historyPart) *[]turn.Draft { return &h.drafts }, draftCodec),
	record.Value("opened", func(h *historyPart) *int64 { return &h.opened }, record.Int()),
	record.Value("opened_by", func(h *historyPart) *string { return &h.openedBy }, word),
	record.Value("summary_id", func(h *historyPart) *string { return &h.summaryID }, word),
	record.Inside("summary", func(h *historyPart) *memory.Summary { return &h.summary }, summaryCodec),
	record.List("decided", func(h *historyPart) *[]citation { return &h.decided }, record.Of(citationFields)),
}

// storable has nothing to refuse: what the log would not take fails the commit.
func (h *historyPart) storable() (part, []Refusal) { return h, nil }

func (h *historyPart) payload() []byte { return historyPartFields.Append(nil, h) }

func (h *historyPart) apply(ctx context.Context, p *Pipeline, at *place) error {
	turns, err := h.extend(ctx, p, at)
	if err != nil {
		return err
	}
	at.turns = turns
	if err := h.fold(ctx, p, at); err != nil {
		return err
	}
	if h.believe != nil {
		info := at.info
		info.Head = at.said()
		if _, err = Believe(ctx, at.tx, info, h.believe); err != nil {
			return err
		}
	}
	return p.reopened(ctx, at)
}

// reopened announces that a session goes on that had ended, and notes it.
func (p *Pipeline) reopened(ctx context.Context, at *place) error {
	if at.info.Status != turn.Ended || !slices.ContainsFunc(at.turns, func(t turn.Turn) bool { return t.Seq > at.info.Head }) {
		return nil
	}
	at.reopened = true
	return p.announce(ctx, at.tx, event.Event{Tenant: at.info.Tenant, Session: at.info.Session, Kind: event.SessionReopened, Data: "{}"})
}

// extend appends the turns and the summary of all of them: at once, unless a turn may be in the log already
// under its idempotency key, since nobody knows then where the exchange ends.
func (h *historyPart) extend(ctx context.Context, p *Pipeline, at *place) ([]turn.Turn, error) {
	if !keyed(h.drafts) {
		summary, err := h.sealSummary(h.covers(at.info.Head))
		if err != nil {
			return nil, err
		}
		turns, err := turn.Extend(ctx, at.tx.Log(), at.info, at.now, append(h.sealed[:len(h.sealed):len(h.sealed)], summary...)...)
		return turns, ofTurns(err)
	}
	turns, err := turn.Extend(ctx, at.tx.Log(), at.info, at.now, h.sealed...)
	if err != nil {
		return nil, ofTurns(err)
	}
	covers, info := turn.Range{From: cmp.Or(h.opened, turns[0].Seq)}, at.info
	for _, t := range turns {
		covers.To, info.Head = max(covers.To, t.Seq), max(info.Head, t.Seq)
	}
	summary, err := h.sealSummary(covers)
	if err != nil {
		return nil, err
	}
	last, err := turn.Extend(ctx, at.tx.Log(), info, at.now, summary...)
	return append(turns, last...), err
}

// sealSummary seals the turn that holds the summary; none where there is nothing to summarise.
func (h *historyPart) sealSummary(covers turn.Range) ([]turn.Sealed, error) {
	if h.summary.Line == "" || covers.From > covers.To {
		return nil, nil
	}
	if h.foreseen != nil && h.foreseen.covers == covers {
		return h.foreseen.summary, nil
	}
	// Whoever commits can do nothing about its length.
	s, err := turn.Draft{
		ID: h.summaryID, Role: turn.System, Kind: turn.KindSummary, Content: turn.Text{Text: h.summary.String()}, Covers: covers,
	}.Seal(boundless)
	return []turn.Sealed{s}, err
}

// boundless are the limits of what the commit itself writes, and of what was taken before.
var boundless = turn.Limits{Text: math.MaxInt64, Blob: math.MaxInt64, Calls: math.MaxInt}

// fold brings the digest up to the exchange.
func (h *historyPart) fold(ctx context.Context, p *Pipeline, at *place) error {
	n := len(at.turns)
	if n == 0 || at.turns[n-1].Kind != turn.KindSummary {
		return nil
	}
	digest, row, err := h.digestAfter(ctx, p, at)
	if err != nil {
		return err
	}
	at.next.digest = digest
	return at.tx.Memory().PutDigest(ctx, at.info.Tenant, at.info.Segment, row)
}

// said is the last turn of the exchange that somebody said: what hangs on it is there for a fork that
// begins after the reply, before the summary.
func (at *place) said() int64 {
	if n := len(at.turns); n > 0 && at.turns[n-1].Kind == turn.KindSummary {
		return max(at.info.Head, at.turns[n-1].Covers.To)
	}
	return at.head()
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
