package prompt

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/turn"
)

// Renderer is the version of how turns become messages that new epochs and calls use. Older versions stay, so that
// old prompts can be made again: what the first one made of an epoch is what the second makes of one that
// quotes nothing, and the second does not know of [behind].
const Renderer = 3

// quotingRenderer is the first whose epochs quote what may not be rewritten.
const quotingRenderer = 2

// Reason is why an epoch was opened.
type Reason string

// The reasons.
const (
	ReasonStart    Reason = "start"    // the session's first prompt
	ReasonSettings Reason = "settings" // the caller set another beginning
	ReasonGoal     Reason = "goal"     // another goal is active, or too much changed about it for the late block
	ReasonPin      Reason = "pin"      // a turn was pinned that the prompt did not show
	ReasonFull     Reason = "full"     // the conversation reached its threshold
	ReasonWindow   Reason = "window"   // the window became larger, and turns that had left may come back
	ReasonUndo     Reason = "undo"     // a pass or a restore was undone
	ReasonRestore  Reason = "restore"  // the session went back to a snapshot
	ReasonDamaged  Reason = "damaged"  // a checkpoint could not be read and was made again
	ReasonForgot   Reason = "forgot"   // something that the prompts showed was forgotten
)

// Epoch is a time in which the beginning of a session's prompts stays the same, byte for byte. It is never
// changed.
type Epoch struct {
	Number   int64
	AfterSeq int64 // the session's last turn when it was opened
	Renderer int64
	Reason   Reason
	// Path are the turns that the prompt may show: inclusive ranges of seqs, ascending. The last one goes
	// on for ever if its To is 0.
	Path []turn.Range
	// From is where the recent turns begin: what was completed at From or later is shown in full.
	From int64
	// Kept is what is shown in full of the turns before From, ascending.
	Kept []Kept
	// Checkpoints stand for turns before From, oldest first. Turns that none of them covers are only named.
	Checkpoints []Ref
	// Paged are messages of the user before From that are named and not shown, ascending.
	Paged []Handle
	// Quotes are what was said before From that may not be rewritten, but for the user's own words, in the order
	// of the log. Unquoted are the turns, ascending, that have more of it, which is only named.
	Quotes   []Quote
	Unquoted []turn.Range
	// Hold says that it was opened to show what had left the prompt, and goes on until the window is full.
	Hold bool
	// Before is the number of the epoch that an undo goes back to, 0 where nothing can be undone: the one
	// that was in force before the last pass or restore that still holds.
	Before int64
	// Restored is the number of the epoch that a restore went back to, 0 for what was before the first and in epochs
	// that no restore opened.
	Restored int64
	// Began is where the recent turns began before the passes that it was opened with took some of them out, 0 where none
	// did.
	Began int64
	// Model is who it was opened for, by the name that the caller used, and Context the size of the context.
	Model   string
	Context int64
	// Passes is how many times turns have left the prompts of the session.
	Passes int64
	// Settings is the hash of the settings.
	Settings string
	// Goal is the goal that was active, as it was then; nil where there was none.
	Goal *cortex.Goal
}

// Kept is a unit, or a message, that stays in the prompt when the turns around it do not.
type Kept struct {
	turn.Range // from its first turn to its last; others may stand in between
	Why        Why
}

// Why is why something is kept.
type Why string

// Why something is kept.
const (
	Pinned Why = "pinned"
	Said   Why = "said"   // by the user
	Undone Why = "undone" // the pass that took it out was undone
)

// Ref names a version of a checkpoint, and proves that it is still the same.
type Ref struct {
	turn.Range // what it covers
	Number     int64
	Version    int64
	SHA256     string // of the document that the store keeps of it
}

// Handle names messages of the user that the prompt does not show: one, or all of a range.
type Handle struct {
	turn.Range
	// Messages is how many there are, 0 where nobody counted, and Tokens what they take.
	Messages, Tokens int64
}

// Quote is a part of a turn that the prompt shows word for word, though not the turn.
type Quote struct {
	Turn int64
	// From and To are bytes of its [compress.Wording].
	From, To int64
	// Tokens is 0. Where it is not only the first words are shown, and it is what all that would be quoted of the
	// turn takes.
	Tokens int64
}

var quoteFields = record.Fields[Quote]{
	record.Value("turn", func(q *Quote) *int64 { return &q.Turn }, record.Int()),
	record.Value("from", func(q *Quote) *int64 { return &q.From }, record.Int()),
	record.Value("to", func(q *Quote) *int64 { return &q.To }, record.Int()),
	record.Value("tokens", func(q *Quote) *int64 { return &q.Tokens }, record.Int()),
}

var refFields = record.Fields[Ref]{
	record.Value("from", func(r *Ref) *int64 { return &r.From }, record.Int()),
	record.Value("to", func(r *Ref) *int64 { return &r.To }, record.Int()),
	record.Value("number", func(r *Ref) *int64 { return &r.Number }, record.Int()),
	record.Value("version", func(r *Ref) *int64 { return &r.Version }, record.Int()),
	record.Value("sha256", func(r *Ref) *string { return &r.SHA256 }, record.Text[string]()),
}

var handleFields = record.Fields[Handle]{
	record.Value("from", func(h *Handle) *int64 { return &h.From }, record.Int()),
	record.Value("to", func(h *Handle) *int64 { return &h.To }, record.Int()),
	record.Value("messages", func(h *Handle) *int64 { return &h.Messages }, record.Int()),
	record.Value("tokens", func(h *Handle) *int64 { return &h.Tokens }, record.Int()),
}

var keptFields = record.Fields[Kept]{
	record.Value("from", func(k *Kept) *int64 { return &k.From }, record.Int()),
	record.Value("to", func(k *Kept) *int64 { return &k.To }, record.Int()),
	record.Value("why", func(k *Kept) *Why { return &k.Why }, record.Text[Why]()),
}

var rangeFields = record.Fields[turn.Range]{
	record.Value("from", func(r *turn.Range) *int64 { return &r.From }, record.Int()),
	record.Value("to", func(r *turn.Range) *int64 { return &r.To }, record.Int()),
}

var goalCodec = record.Codec[cortex.Goal]{
	Append: func(dst []byte, g cortex.Goal) []byte { return g.AppendJSON(dst) },
	Decode: func(v strictjson.Raw) (cortex.Goal, error) { return cortex.DecodeGoal(string(v)) },
}

var epochFields = record.Fields[Epoch]{
	record.Value("renderer", func(e *Epoch) *int64 { return &e.Renderer }, record.Int()),
	record.Value("reason", func(e *Epoch) *Reason { return &e.Reason }, record.Text[Reason]()),
	record.List("path", func(e *Epoch) *[]turn.Range { return &e.Path }, record.Of(rangeFields)),
	record.Value("from", func(e *Epoch) *int64 { return &e.From }, record.Int()),
	record.List("kept", func(e *Epoch) *[]Kept { return &e.Kept }, record.Of(keptFields)),
	record.List("checkpoints", func(e *Epoch) *[]Ref { return &e.Checkpoints }, record.Of(refFields)),
	record.List("paged", func(e *Epoch) *[]Handle { return &e.Paged }, record.Of(handleFields)),
	record.List("quotes", func(e *Epoch) *[]Quote { return &e.Quotes }, record.Of(quoteFields)),
	record.List("unquoted", func(e *Epoch) *[]turn.Range { return &e.Unquoted }, record.Of(rangeFields)),
	record.Value("hold", func(e *Epoch) *bool { return &e.Hold }, record.Bool()),
	record.Value("before", func(e *Epoch) *int64 { return &e.Before }, record.Int()),
	record.Value("restored", func(e *Epoch) *int64 { return &e.Restored }, record.Int()),
	record.Value("began", func(e *Epoch) *int64 { return &e.Began }, record.Int()),
	record.Value("model", func(e *Epoch) *string { return &e.Model }, record.Text[string]()),
	record.Value("context", func(e *Epoch) *int64 { return &e.Context }, record.Int()),
	record.Value("passes", func(e *Epoch) *int64 { return &e.Passes }, record.Int()),
	record.Value("settings", func(e *Epoch) *string { return &e.Settings }, record.Text[string]()),
	record.Optional("goal", func(e *Epoch) **cortex.Goal { return &e.Goal }, goalCodec),
}

// begin is the first turn of the path.
func (e *Epoch) begin() int64 {
	if len(e.Path) == 0 {
		return 1
	}
	return e.Path[0].From
}

// unseen reports whether no prompt was ever compiled in the epoch or before it: something was forgotten first.
func (e *Epoch) unseen() bool { return e.Reason == ReasonForgot && e.Context == 0 }

// Row returns the epoch as a store keeps it, but for its time.
func (e *Epoch) Row() EpochRow {
	return EpochRow{Number: e.Number, AfterSeq: e.AfterSeq, Doc: string(epochFields.Append(nil, e))}
}

// DecodeEpoch reads what [Epoch.Row] wrote.
func DecodeEpoch(r EpochRow) (Epoch, error) {
	e, err := epochFields.Decode(r.Doc)
	if err != nil {
		return Epoch{}, fmt.Errorf("epoch %d: %w", r.Number, err)
	}
	if e.Renderer < 1 || e.Renderer > Renderer {
		return Epoch{}, fmt.Errorf("epoch %d was made by renderer %d, which this version does not have: use a newer one", r.Number, e.Renderer)
	}
	e.Number, e.AfterSeq = r.Number, r.AfterSeq
	return e, nil
}

// InForce returns the epoch that was in force after the turn of that seq. Before the first prompt it is one without a
// number, whose path is the whole session.
func InForce(ctx context.Context, rows Rows, session turn.SessionInfo, seq int64) (Epoch, error) {
	row, err := rows.LastEpoch(ctx, session.Tenant, session.Lineage(seq))
	if errors.Is(err, ErrNotFound) {
		return Epoch{Path: []turn.Range{{From: 1}}, From: 1}, nil
	}
	if err != nil {
		return Epoch{}, err
	}
	return DecodeEpoch(row)
}

// Since is the epoch as if its recent turns began at seq from, or where they do if that is earlier: without what stands
// for those that come back.
func (e Epoch) Since(from int64) Epoch {
	e.From = min(e.From, from)
	e.Checkpoints = slices.DeleteFunc(slices.Clone(e.Checkpoints), func(r Ref) bool { return r.To >= e.From })
	e.Kept = slices.DeleteFunc(slices.Clone(e.Kept), func(k Kept) bool { return k.To >= e.From })
	var paged []Handle
	for _, h := range e.Paged {
		if left, ok := h.before(e.From); ok {
			paged = append(paged, left)
		}
	}
	e.Paged = paged
	e.Quotes = slices.DeleteFunc(slices.Clone(e.Quotes), func(q Quote) bool { return q.Turn >= e.From })
	e.Unquoted = slices.DeleteFunc(slices.Clone(e.Unquoted), func(r turn.Range) bool { return r.From >= e.From })
	for i := range e.Unquoted {
		e.Unquoted[i].To = min(e.Unquoted[i].To, e.From-1)
	}
	return e
}
