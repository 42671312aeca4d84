package turn

import "errors"

// ErrForgotten: what was asked for, or made use of, was forgotten. Its place is still there.
var ErrForgotten = errors.New("something was forgotten")

// Forgotten is the content of a turn that was forgotten: a tombstone. The turn keeps its seq, id, role, form and
// unit, so that the log has no gap and a call stands beside its results; nothing of what it said is left. It is
// only ever read: nobody appends one.
type Forgotten struct{}

// tombstone is its JSON, under every role and form.
const tombstone = `{"forgotten":true}`

// ForgottenText is what is shown in the place of a turn that was forgotten.
const ForgottenText = "[forgotten]"

// Gone reports whether the turn was forgotten.
func (t *Turn) Gone() bool {
	_, gone := t.Content.(Forgotten)
	return gone
}

// Searchable is nothing.
func (Forgotten) Searchable() string { return "" }

func (Forgotten) form() Form                   { return "" }
func (Forgotten) size() int64                  { return 0 }
func (Forgotten) blob() *Blob                  { return nil }
func (Forgotten) appendJSON(dst []byte) []byte { return append(dst, tombstone...) }

func (Forgotten) check(Role, Limits) error {
	return fieldErrorf("content", "append what was said", "a tombstone cannot be appended")
}

// Tombstone returns the turn as forgetting leaves it. Its idempotency key goes too: many callers make it of what
// they send.
func (t Turn) Tombstone() Turn {
	t.Content, t.IdempotencyKey, t.Meta = Forgotten{}, "", Meta{}
	return t
}

// CheckTombstone refuses a tombstone that no forgetting leaves; the error is a *[FieldError].
func (t *Turn) CheckTombstone() error {
	if err := Check(t.Role, t.Form); err != nil {
		return err
	}
	if t.IdempotencyKey != "" || t.Meta != (Meta{}) {
		return fieldErrorf("content", "leave out idempotency_key and meta", "a forgotten turn has neither")
	}
	d := Draft{ID: t.ID, Role: t.Role, Kind: t.Kind, Content: Text{}, Covers: t.Covers, MessageID: t.MessageID}
	return d.checkEnvelope()
}
