package mem

import (
	"context"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/snapshot"
)

func (l *loader) checkpoint(ctx context.Context, v *values) error {
	tenant, segment := v.text(), v.int()
	return compressRows{l.tx}.InsertCheckpoint(ctx, tenant, segment, compress.Row{
		Number: v.int(), Version: v.int(), AfterSeq: v.int(), Doc: v.text(), At: micros(v.int()),
	})
}

func (l *loader) breaker(_ context.Context, v *values) error {
	return once(l.tx.data.breakers, segmentKey{v.text(), v.int()}, breaker{v.text(), micros(v.int())})
}

func (l *loader) snapshot(ctx context.Context, v *values) error {
	tenant, id, segment := v.text(), v.text(), v.int()
	return snapshotRows{l.tx}.InsertSnapshot(ctx, tenant, segment, snapshot.Row{
		ID: id, AfterSeq: v.int(), Doc: v.text(), At: micros(v.int()), Auto: v.int() == 1,
	})
}
