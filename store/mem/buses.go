package mem

import "context"

// Bus implements [event.BusRows].
func (r outboxRows) Bus(ctx context.Context) (string, error) {
	if err := r.reading(ctx); err != nil {
		return "", err
	}
	return r.data.bus, nil
}

// SetBus implements [event.BusRows].
func (r outboxRows) SetBus(ctx context.Context, name string) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	set(r.tx, &r.data.bus, name)
	return nil
}

// CountWaiting implements [event.BusRows].
func (r outboxRows) CountWaiting(ctx context.Context) (int64, error) {
	if err := r.reading(ctx); err != nil {
		return 0, err
	}
	return int64(len(r.data.waiting)), nil
}
