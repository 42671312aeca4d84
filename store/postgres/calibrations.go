package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/budget"
)

// budgetRows is the transaction as budgets see it.
type budgetRows struct{ *tx }

// PutCalibration implements [budget.Rows].
func (r budgetRows) PutCalibration(ctx context.Context, tenant string, c budget.CalibrationRow) error {
	if err := r.lockCalibration(ctx, tenant, c.Model); err != nil {
		return err
	}
	return r.write(ctx, "calibration of model "+c.Model,
		`INSERT INTO calibrations (tenant, model, doc, changed_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (tenant, model) DO UPDATE SET doc = excluded.doc, changed_at = excluded.changed_at`,
		tenant, c.Model, c.Doc, c.At.UnixMicro())
}

// lockCalibration queues the lock of a model: one on its name, since there may be no row to lock. The
// statement after it reads what the last holder left.
func (r budgetRows) lockCalibration(ctx context.Context, tenant, model string) error {
	return r.write(ctx, "calibration of model "+model,
		`SELECT pg_advisory_xact_lock(hashtext('turnstone calibrations of ' || current_schema()), hashtext($1 || '/' || $2))`, tenant, model)
}

const calibrationColumns = `model, doc, changed_at`

func scanCalibration(row pgx.Row) (c budget.CalibrationRow, err error) {
	err = row.Scan(&c.Model, &c.Doc, (*stamp)(&c.At))
	return c, err
}

// Calibration implements [budget.Rows].
func (r budgetRows) Calibration(ctx context.Context, tenant, model string) (budget.CalibrationRow, bool, error) {
	if r.writable {
		if err := r.lockCalibration(ctx, tenant, model); err != nil {
			return budget.CalibrationRow{}, false, err
		}
	}
	return one(ctx, r.tx, scanCalibration, `SELECT `+calibrationColumns+` FROM calibrations WHERE tenant = $1 AND model = $2`, tenant, model)
}

// Calibrations implements [budget.Rows].
func (r budgetRows) Calibrations(ctx context.Context, tenant string) ([]budget.CalibrationRow, error) {
	return list(ctx, r.tx, scanCalibration, `SELECT `+calibrationColumns+` FROM calibrations WHERE tenant = $1 ORDER BY model`, tenant)
}
