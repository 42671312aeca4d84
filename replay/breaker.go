package replay

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone/compress"
)

func appendBreaker(dst []byte, b *compress.Breaker) []byte {
	return b.AppendJSON(append(dst, `{"breaker":`...))
}

func decodeBreaker(value string) (*compress.Breaker, error) {
	b, err := compress.DecodeBreaker(value)
	return &b, err
}

func (c *checker) onlyBreaker(b *compress.Breaker) error {
	if c.breaker {
		return errors.New("breaker: there is one already")
	}
	c.breaker = true
	if _, err := decodeBreaker(string(b.AppendJSON(nil))); err != nil {
		return fmt.Errorf("breaker: %w", err)
	}
	if b.Range.To > c.head {
		return fmt.Errorf("breaker: range: %d–%d are no turns of %d", b.Range.From, b.Range.To, c.head)
	}
	return nil
}

// breaker writes what is known of the session's failed passes. What cannot be read any more is as good as nothing.
func (e *export) breaker(ctx context.Context) error {
	doc, ok, err := e.tx.Compress().Breaker(ctx, e.info.Tenant, e.info.Segment)
	if err != nil {
		return fmt.Errorf("breaker: %w", err)
	}
	b, err := decodeBreaker(doc)
	if !ok || err != nil || b.Range.To > e.info.Head {
		return nil
	}
	return e.enc.Encode(Record{Breaker: b})
}

func (i *imported) breaker(ctx context.Context, b *compress.Breaker) error {
	if err := i.tx.Compress().PutBreaker(ctx, i.session.Tenant, i.session.Segment, string(b.AppendJSON(nil)), i.tx.Now()); err != nil {
		return fmt.Errorf("breaker: %w", err)
	}
	return nil
}
