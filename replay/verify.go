package replay

import (
	"context"
	"io"

	"github.com/turnstone-dev/turnstone/turn"
)

// VerifyOptions says what a bundle is held against.
type VerifyOptions struct {
	// Limits are those of the store that the bundle is meant for. Defaults to those of
	// [turn.Limits].
	Limits turn.Limits
	// Progress is told now and then how many turns are done, of how many. Nil: nobody is.
	Progress func(done, total int64)
}

// Verify reads a whole bundle and checks everything that an import would check. It writes nothing.
// See [NewDecoder] for the errors.
//
// Turn ids and idempotency keys that stand twice are found among the first four million; past
// them an import finds them, and leaves nothing behind.
func Verify(ctx context.Context, r io.Reader, o VerifyOptions) (Bundle, error) {
	d, err := NewDecoder(r, o.Limits)
	if err != nil {
		return Bundle{}, err
	}
	defer d.Close()
	p := newProgress(o.Progress, d.bundle.Session.Head)
	if err := d.each(ctx, p, func(Record) error { return nil }); err != nil {
		return Bundle{}, err
	}
	p.finish()
	return d.bundle, nil
}

// each calls f with every record until the end of a whole bundle.
func (d *Decoder) each(ctx context.Context, p *progress, f func(Record) error) error {
	for r, err := range d.Records() {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = f(r)
		}
		if err != nil {
			return err
		}
		if r.Turn != nil {
			p.step()
		}
	}
	return nil
}
