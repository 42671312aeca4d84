package budget

import (
	"context"
	"time"
)

// CalibrationRow is what was learned about how a model counts, as a store keeps it.
type CalibrationRow struct {
	Model string
	Doc   string // the calibration, JSON
	At    time.Time
}

// Rows is what a store keeps of budgets, inside one of its transactions.
type Rows interface {
	// PutCalibration writes what was learned about a model in place of what was there.
	PutCalibration(ctx context.Context, tenant string, r CalibrationRow) error
	// Calibration returns what was learned about a model and keeps other writers of it out until the
	// transaction ends; in a View it is only read. ok is false where there is nothing.
	Calibration(ctx context.Context, tenant, model string) (r CalibrationRow, ok bool, err error)
	// Calibrations returns those of all models, by name.
	Calibrations(ctx context.Context, tenant string) ([]CalibrationRow, error)
}
