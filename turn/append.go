package turn

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/turnstone-dev/turnstone/internal/ids"
)

// Draft is a turn that is not in the log yet. The zero Kind is [KindTurn]; a zero ID is not allowed:
// ids come from the caller, as time does.
type Draft struct {
	ID             string
	Role           Role
	Kind           Kind
	Content        Content
	Covers         Range // required for a summary, none otherwise
	MessageID      string
	IdempotencyKey string
	Meta           Meta
}

// Sealed is a checked and encoded draft: all work that can be done before the transaction is done.
type Sealed struct {
	turn    Turn
	content Encoded
	blob    *Blob // with Data where the bytes come along
}

// Seal checks the draft against the rules and limits and encodes it. Errors are *[FieldError] and
// name the field. The draft's Content must not be changed afterwards.
func (d Draft) Seal(l Limits) (Sealed, error) {
	more, err := d.check(l)
	if err != nil {
		return Sealed{}, err
	}
	content, blob, err := hashBlob(trimRaw(d.Content))
	if err != nil {
		return Sealed{}, err
	}
	if d.Kind == "" {
		d.Kind = KindTurn
	}
	return Sealed{
		turn: Turn{
			ID: d.ID, Role: d.Role, Form: content.form(), Kind: d.Kind, Content: content,
			MessageID: d.MessageID, IdempotencyKey: d.IdempotencyKey, Covers: d.Covers,
			Meta: d.Meta.rounded(),
		},
		content: encode(content, more),
		blob:    blob,
	}, nil
}

// Check is what [Draft.Seal] refuses a draft for, without the work of encoding it. Only whether bytes are those of the hash
// that is given with them is left to Seal.
func (d Draft) Check(l Limits) error {
	_, err := d.check(l)
	return err
}

// check also returns by how many bytes JSON makes longer what is said in a text.
func (d *Draft) check(l Limits) (more int, err error) {
	if d.Content == nil {
		return 0, fieldErrorf("content", "give the content of the turn", "is missing")
	}
	switch d.Content.(type) {
	case Text, Speech, Image, Action, Result:
	default:
		// A pointer has the methods too, but no rule below would know what it is.
		return 0, fieldErrorf("content", "give a Text, Speech, Image, Action or Result by value", "%T is no content", d.Content)
	}
	if err := Check(d.Role, d.Content.form()); err != nil {
		return 0, err
	}
	if err := d.Content.check(d.Role, l); err != nil {
		return 0, err
	}
	if t, ok := d.Content.(Text); ok {
		if more, err = measureText("content.text", t.Text); err != nil {
			return 0, err
		}
	}
	return more, d.checkEnvelope()
}

func (d *Draft) checkEnvelope() error {
	if !ids.Valid(d.ID) {
		return fieldErrorf("turn_id", "give a ULID", "%q is not a ULID", d.ID)
	}
	switch d.Kind {
	case KindTurn, "":
		if d.Covers != (Range{}) {
			return fieldErrorf("covers", "leave it out", "only a summary covers turns")
		}
	case KindSummary:
		if d.Role != System || d.Content.form() != FormText {
			return fieldErrorf("kind", "append it with role system and form text", "a summary is a system text")
		}
		if d.Covers.From < 1 || d.Covers.To < d.Covers.From {
			return fieldErrorf("covers", "give the first and last seq it stands for", "%d–%d is no range of turns", d.Covers.From, d.Covers.To)
		}
	default:
		return fieldErrorf("kind", "use turn or summary", "%q is not a kind", d.Kind)
	}
	for _, f := range []struct{ name, value string }{
		{"message_id", d.MessageID}, {"idempotency_key", d.IdempotencyKey}, {"meta.model", d.Meta.Model},
	} {
		if err := checkShort(f.name, f.value, false); err != nil {
			return err
		}
	}
	if d.Meta.Tokens < 0 || d.Meta.Latency < 0 {
		return fieldErrorf("meta", "give tokens and latency as positive numbers", "is negative")
	}
	return nil
}

// rounded drops what no store keeps, so that a turn reads back as it was returned.
func (m Meta) rounded() Meta {
	m.Latency = m.Latency.Truncate(time.Microsecond)
	return m
}

// hashBlob replaces bytes by their hash and hands them out separately.
func hashBlob(c Content) (Content, *Blob, error) {
	if c.blob() == nil {
		return c, nil, nil
	}
	b := *c.blob()
	if b.Data == nil {
		return c, &b, nil
	}
	sum := sha256.Sum256(b.Data)
	hash := hex.EncodeToString(sum[:])
	if b.SHA256 != "" && b.SHA256 != hash {
		return nil, nil, fieldErrorf(blobField(c)+".sha256", "leave it out, or send the bytes it names", "the data's hash is %s", hash)
	}
	b.SHA256, b.Size = hash, int64(len(b.Data))
	return withBlob(c, Blob{SHA256: b.SHA256, Size: b.Size}), &b, nil
}

// Appender is the part of a transaction that an append writes to.
type Appender interface {
	SessionRows
	TurnRows
	BlobRows
}

// Append writes sealed turns to the end of a session, in order, and returns them as they now stand
// in the log. It takes the session's lock, so that seq stays gapless.
//
// A turn whose idempotency key was used before in this session is not written again: with the same
// body the first turn is returned in its place, with another body the error is ErrConflict. The keys
// of turns that a fork inherited are its parent's: they were sent to the parent.
// ErrNotFound if there is no such session; a *[DraftError] names a draft that does not go with the log.
func Append(ctx context.Context, rows Appender, key Key, now time.Time, drafts ...Sealed) ([]Turn, error) {
	s, err := rows.LockSession(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", key.Session, err)
	}
	return Extend(ctx, rows, s, now, drafts...)
}

// Extend is [Append] to a session that the transaction has locked already, as LockSession returned it.
func Extend(ctx context.Context, rows Appender, s SessionInfo, now time.Time, drafts ...Sealed) ([]Turn, error) {
	turns := make([]Turn, len(drafts))
	head := s.Head
	added := make([]Row, 0, len(drafts)) // inserted at once, as far as nothing has to be found in between
	insert := func() error {
		if len(added) == 0 {
			return nil
		}
		err := rows.InsertTurns(ctx, s.Tenant, s.Segment, added...)
		added = added[:0]
		return err
	}
	for i, d := range drafts {
		if d.turn.IdempotencyKey != "" {
			if err := insert(); err != nil {
				return nil, err
			}
			first, found, err := written(ctx, rows, s, d)
			if err != nil {
				return nil, err
			}
			if found {
				turns[i] = first
				continue
			}
		}
		head++
		t := d.turn
		t.Session, t.Seq, t.CreatedAt = s.Session, head, now
		if err := admit(ctx, rows, s, &t); err != nil {
			return nil, ofDraft(i, err)
		}
		turns[i], added = t, append(added, Row{Turn: t, Encoded: d.content})
		if d.blob != nil {
			if err := storeBlob(ctx, rows, s, &t, *d.blob); err != nil {
				return nil, ofDraft(i, err)
			}
		}
	}
	if head == s.Head {
		return turns, nil
	}
	if err := insert(); err != nil {
		return nil, err
	}
	if err := rows.Advance(ctx, s.Key, head, now); err != nil {
		return nil, fmt.Errorf("advance session %s to %d: %w", s.Session, head, err)
	}
	return turns, nil
}

// written looks for an earlier turn with the draft's idempotency key.
func written(ctx context.Context, rows TurnRows, s SessionInfo, d Sealed) (Turn, bool, error) {
	first, found, err := rows.TurnByKey(ctx, s.Tenant, s.Segment, d.turn.IdempotencyKey)
	if err != nil || !found {
		return Turn{}, false, err
	}
	if err := d.Repeats(&first); err != nil {
		return Turn{}, false, err
	}
	first.Session = s.Session
	return first, true, nil
}

// checkNewID refuses the id of a turn that a fork inherited; among its own the store does.
func checkNewID(ctx context.Context, rows TurnRows, s SessionInfo, id string) error {
	if len(s.Inherited) == 0 {
		return nil
	}
	stored, err := rows.TurnsByID(ctx, s.Tenant, id)
	if err != nil {
		return err
	}
	for _, t := range stored {
		if inside(s.Inherited, t) {
			return fmt.Errorf("turn id %s is that of turn %d: %w", id, t.Seq, ErrConflict)
		}
	}
	return nil
}

// inside reports whether a stored turn lies in one of the spans.
func inside(spans []Span, t Stored) bool {
	return slices.ContainsFunc(spans, func(s Span) bool {
		return s.Segment == t.Segment && s.From <= t.Seq && t.Seq <= s.To
	})
}

// Repeats refuses the draft, with ErrConflict, if it is not the same as the first turn under its idempotency key.
func (d *Sealed) Repeats(first *Turn) error {
	if d.Says(first) && first.Kind == d.turn.Kind && first.Covers == d.turn.Covers && first.MessageID == d.turn.MessageID {
		return nil
	}
	at := "a turn that waits to be written"
	if first.Seq > 0 {
		at = fmt.Sprintf("turn %d", first.Seq)
	}
	return fmt.Errorf("idempotency_key %q was used for %s with another body: %w; use a new key", d.turn.IdempotencyKey, at, ErrConflict)
}

// CheckKey refuses an idempotency key that no client may use: control characters are left to the keys of [PartKey].
func CheckKey(key string) error {
	if strings.ContainsFunc(key, unicode.IsControl) {
		return fieldErrorf("idempotency_key", "use letters, digits and punctuation", "%q has a control character", key)
	}
	return nil
}

// PartKey is the idempotency key of the i-th of the turns that a client appended together under one key. No client can use it for
// anything else, but for the first: that is the client's key itself.
func PartKey(key string, i int) string {
	if i == 0 {
		return key
	}
	return fmt.Sprintf("%s\x1f%d", key, i)
}

// Turn is the draft as it will stand in the log, where its place and time are not known yet.
func (d *Sealed) Turn() Turn { return d.turn }

// Says reports whether a turn in the log says what the draft does.
func (d *Sealed) Says(t *Turn) bool {
	return t.Role == d.turn.Role && t.Form == d.turn.Form && string(t.Content.appendJSON(nil)) == d.content.String()
}

// admit checks a turn against the log and gives it its place in a unit.
func admit(ctx context.Context, rows TurnRows, s SessionInfo, t *Turn) error {
	if err := checkNewID(ctx, rows, s, t.ID); err != nil {
		return err
	}
	if err := joinUnit(ctx, rows, s, t); err != nil {
		return err
	}
	if t.Kind == KindSummary && t.Covers.To >= t.Seq {
		return fieldErrorf("covers", "cover turns that are in the log", "%d–%d goes past turn %d", t.Covers.From, t.Covers.To, t.Seq-1)
	}
	return nil
}

func storeBlob(ctx context.Context, rows BlobRows, s SessionInfo, t *Turn, b Blob) error {
	if b.Data == nil {
		size, err := rows.BlobSize(ctx, s.Tenant, b.SHA256)
		if errors.Is(err, ErrNotFound) {
			return fieldErrorf(blobField(t.Content)+".sha256", "send the bytes as data", "no bytes with this hash are stored")
		}
		if err != nil {
			return fmt.Errorf("blob %s: %w", b.SHA256, err)
		}
		if size != b.Size {
			return fieldErrorf(blobField(t.Content)+".size", "give the size of the stored bytes", "%d bytes are stored under this hash, not %d", size, b.Size)
		}
	}
	if err := rows.PutBlob(ctx, s.Tenant, b, t.CreatedAt, s.Segment, t.Seq); err != nil {
		return fmt.Errorf("blob %s: %w", b.SHA256, err)
	}
	return nil
}
