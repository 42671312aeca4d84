package replay

import (
	"context"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/scratch"
)

// decodeObservation reads an observation; its row is made of it.
func decodeObservation(value string) (*scratch.Row, error) {
	r, err := observationRow(value)
	return &r, err
}

// observationRow makes the row of a document, which it returns as scratch writes it.
func observationRow(doc string) (scratch.Row, error) {
	o, err := scratch.DecodeObservation(doc)
	if err != nil {
		return scratch.Row{}, err
	}
	return scratch.Row{
		ID: o.ID, Type: o.Type, Status: o.Status, Doc: string(o.AppendJSON(nil)), At: o.UpdatedAt, Expires: o.ExpiresAt,
	}, nil
}

// observation checks the next observation, and that the page has room for it.
func (c *checker) observation(r *scratch.Row) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("observation %q: %w", r.ID, fmt.Errorf(format, args...))
	}
	switch {
	case r.ID <= c.note:
		return wrong("id: stands after %q", c.note)
	case r.At.IsZero():
		return wrong("%w", missing("updated_at"))
	case r.Expires.IsZero():
		return wrong("%w", missing("expires_at"))
	}
	if !c.trusted {
		if err := soundObservation(r); err != nil {
			return wrong("%w", err)
		}
	}
	if r.Status != scratch.Archived {
		if c.live++; c.live > scratch.MaxLive {
			return wrong("status: is %s; at most %d observations may be live", r.Status, scratch.MaxLive)
		}
	}
	c.note = strings.Clone(r.ID)
	return nil
}

// soundObservation holds a row against its document.
func soundObservation(r *scratch.Row) error {
	doc, err := observationRow(r.Doc)
	switch {
	case err != nil:
		return err
	case doc.ID != r.ID || doc.Type != r.Type || doc.Status != r.Status || !doc.At.Equal(r.At) || !doc.Expires.Equal(r.Expires):
		return fmt.Errorf("its row says otherwise than %s", doc.Doc)
	case doc.Doc != r.Doc:
		return fmt.Errorf("is written otherwise than %s", doc.Doc)
	}
	return nil
}

func (e *export) observations(ctx context.Context) error {
	rows, err := e.tx.Scratch().Observations(ctx, e.info.Tenant, e.info.Segment, e.tx.Now(), false)
	if err != nil {
		return fmt.Errorf("observations: %w", err)
	}
	for _, r := range rows {
		r, kept, err := r.AsOf(e.tx.Now())
		if err == nil && kept {
			err = e.enc.Encode(Record{Observation: &r})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (i *imported) observation(ctx context.Context, r *scratch.Row) error {
	if err := i.tx.Scratch().PutObservation(ctx, i.session.Tenant, i.session.Segment, *r); err != nil {
		return fmt.Errorf("observation %s: %w", r.ID, err)
	}
	return nil
}
