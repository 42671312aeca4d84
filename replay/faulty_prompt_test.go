package replay_test

import (
	"context"
	"errors"
	"time"

	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/prompt"
)

func (t faultyTx) Prompt() prompt.Rows { return faultyPrompt{t.Tx.Prompt(), t.f} }

type faultyPrompt struct {
	prompt.Rows
	f *faulty
}

func (p faultyPrompt) InsertEpoch(ctx context.Context, tenant string, segment int64, r prompt.EpochRow) error {
	return errors.Join(p.f.write(), p.Rows.InsertEpoch(ctx, tenant, segment, r))
}

func (p faultyPrompt) InsertCall(ctx context.Context, tenant string, segment int64, r prompt.CallRow) error {
	return errors.Join(p.f.write(), p.Rows.InsertCall(ctx, tenant, segment, r))
}

func (p faultyPrompt) InsertPin(ctx context.Context, tenant string, segment int64, r prompt.PinRow) error {
	return errors.Join(p.f.write(), p.Rows.InsertPin(ctx, tenant, segment, r))
}

func (p faultyPrompt) PutMaterial(ctx context.Context, tenant, sha256, text string, at time.Time) error {
	return errors.Join(p.f.write(), p.Rows.PutMaterial(ctx, tenant, sha256, text, at))
}

func (u unread) Prompt() prompt.Rows { return unreadPrompt{u.Tx.Prompt(), u} }

type unreadPrompt struct {
	prompt.Rows
	u unread
}

func (p unreadPrompt) Epochs(ctx context.Context, tenant string, spans []span.Span, after int64, limit int) ([]prompt.EpochRow, error) {
	rows, err := p.Rows.Epochs(ctx, tenant, spans, after, limit)
	return rows, errors.Join(err, p.u.read("Epochs"))
}

func (p unreadPrompt) Calls(ctx context.Context, tenant string, spans []span.Span, after int64, limit int) ([]prompt.CallRow, error) {
	rows, err := p.Rows.Calls(ctx, tenant, spans, after, limit)
	return rows, errors.Join(err, p.u.read("Calls"))
}

func (p unreadPrompt) Pins(ctx context.Context, tenant string, spans []span.Span) ([]prompt.PinRow, error) {
	rows, err := p.Rows.Pins(ctx, tenant, spans)
	return rows, errors.Join(err, p.u.read("Pins"))
}

func (p unreadPrompt) Material(ctx context.Context, tenant, sha256 string) (string, error) {
	text, err := p.Rows.Material(ctx, tenant, sha256)
	return text, errors.Join(err, p.u.read("Material"))
}
