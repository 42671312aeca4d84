package sqlite

import (
	"context"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// PutCalibration implements [budget.Rows].
func (r budgetRows) PutCalibration(ctx context.Context, tenant string, c budget.CalibrationRow) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	return r.fail(r.c.Prepare(`INSERT INTO calibrations (tenant, model, changed_at, doc) VALUES (?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET changed_at = excluded.changed_at, doc = excluded.doc`).
		Text(tenant).Text(c.Model).Int(micros(c.At)).Text(c.Doc).Run())
}

const calibrationColumns = `model, changed_at, doc`

func readCalibration(q *lite.Stmt) budget.CalibrationRow {
	return budget.CalibrationRow{Model: q.ReadText(), At: fromMicros(q.ReadInt()), Doc: q.ReadText()}
}

// Calibration implements [budget.Rows]. There is one writer: its transaction keeps others out.
func (r budgetRows) Calibration(ctx context.Context, tenant, model string) (budget.CalibrationRow, bool, error) {
	if err := r.reading(ctx); err != nil {
		return budget.CalibrationRow{}, false, err
	}
	return one(r.tx, r.c.Prepare(`SELECT `+calibrationColumns+` FROM calibrations WHERE tenant = ? AND model = ?`).
		Text(tenant).Text(model), readCalibration)
}

// Calibrations implements [budget.Rows].
func (r budgetRows) Calibrations(ctx context.Context, tenant string) ([]budget.CalibrationRow, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	return all(r.tx, r.c.Prepare(`SELECT `+calibrationColumns+` FROM calibrations WHERE tenant = ? ORDER BY model`).Text(tenant), readCalibration)
}
