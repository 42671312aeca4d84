package mem

import (
	"cmp"
	"context"
	"slices"

	"github.com/turnstone-dev/turnstone/budget"
)

// budgetRows is the transaction as budgets see it.
type budgetRows struct{ *tx }

// PutCalibration implements [budget.Rows].
func (r budgetRows) PutCalibration(ctx context.Context, tenant string, c budget.CalibrationRow) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	put(r.tx, r.data.calibrations, rowKey{tenant, c.Model}, c)
	return nil
}

// Calibration implements [budget.Rows]. There is one writer: its transaction keeps others out.
func (r budgetRows) Calibration(ctx context.Context, tenant, model string) (budget.CalibrationRow, bool, error) {
	if err := r.reading(ctx); err != nil {
		return budget.CalibrationRow{}, false, err
	}
	c, ok := r.data.calibrations[rowKey{tenant, model}]
	return c, ok, nil
}

// Calibrations implements [budget.Rows].
func (r budgetRows) Calibrations(ctx context.Context, tenant string) ([]budget.CalibrationRow, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var found []budget.CalibrationRow
	for key, c := range r.data.calibrations {
		if key.tenant == tenant {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b budget.CalibrationRow) int { return cmp.Compare(a.Model, b.Model) })
	return found, nil
}
