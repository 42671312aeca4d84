package mem

import (
	"context"
	"time"

	"github.com/turnstone-dev/turnstone/turn"
)

// PutExchange implements [turn.ExchangeRows].
func (r logRows) PutExchange(ctx context.Context, key turn.Key, e turn.OpenExchange) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	put(r.tx, r.data.drafts, key, e)
	return nil
}

// Exchange implements [turn.ExchangeRows].
func (r logRows) Exchange(ctx context.Context, key turn.Key) (turn.OpenExchange, bool, error) {
	if err := r.reading(ctx); err != nil {
		return turn.OpenExchange{}, false, err
	}
	e, ok := r.data.drafts[key]
	return e, ok, nil
}

// DeleteExchange implements [turn.ExchangeRows].
func (r logRows) DeleteExchange(ctx context.Context, key turn.Key) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	remove(r.tx, r.data.drafts, key)
	return nil
}

// LeftExchanges implements [turn.ExchangeRows].
func (r logRows) LeftExchanges(ctx context.Context, after turn.Key, now time.Time, limit int) ([]turn.Key, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var left []turn.Key
	for _, key := range inOrder(r.data.drafts, compareKeys) {
		if len(left) < limit && compareKeys(key, after) > 0 && !r.data.leases[key].Until.After(now) {
			left = append(left, key)
		}
	}
	return left, nil
}

func dumpDrafts(s *state, row func(...any) error) error {
	return each(inOrder(s.drafts, compareKeys), func(k turn.Key) error {
		e := s.drafts[k]
		return row(k.Tenant, k.Session, e.ExportID, e.Opened, e.Reply, e.Content, e.Model, e.Started.UnixMicro(), e.Changed.UnixMicro())
	})
}

func (l *loader) draft(_ context.Context, v *values) error {
	return once(l.tx.data.drafts, turn.Key{Tenant: v.text(), Session: v.text()}, turn.OpenExchange{
		ExportID: v.text(), Opened: v.text(), Reply: v.text(), Content: v.text(), Model: v.text(),
		Started: micros(v.int()), Changed: micros(v.int()),
	})
}
