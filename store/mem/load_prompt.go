package mem

import (
	"context"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/prompt"
)

func (l *loader) epoch(ctx context.Context, v *values) error {
	tenant, segment := v.text(), v.int()
	return promptRows{l.tx}.InsertEpoch(ctx, tenant, segment, prompt.EpochRow{
		Number: v.int(), AfterSeq: v.int(), Doc: v.text(), At: micros(v.int()),
	})
}

func (l *loader) prompt(ctx context.Context, v *values) error {
	tenant, segment := v.text(), v.int()
	return promptRows{l.tx}.InsertCall(ctx, tenant, segment, prompt.CallRow{
		Number: v.int(), End: v.int(), Epoch: v.int(), Doc: v.text(), SHA256: v.text(), At: micros(v.int()),
	})
}

func (l *loader) pin(ctx context.Context, v *values) error {
	tenant, segment := v.text(), v.int()
	return promptRows{l.tx}.InsertPin(ctx, tenant, segment, prompt.PinRow{
		Number: v.int(), AfterSeq: v.int(), Seq: v.int(), Pinned: v.int() != 0, At: micros(v.int()),
	})
}

func (l *loader) material(_ context.Context, v *values) error {
	return once(l.tx.data.materials, rowKey{v.text(), v.text()}, material{v.text(), micros(v.int())})
}

func (l *loader) calibration(_ context.Context, v *values) error {
	tenant := v.text()
	c := budget.CalibrationRow{Model: v.text(), Doc: v.text(), At: micros(v.int())}
	return once(l.tx.data.calibrations, rowKey{tenant, c.Model}, c)
}
