package sqlite

import (
	"context"

	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// busName is the bus that publishes the exports.
const busName = `coalesce((SELECT name FROM buses WHERE tenant = ''), '')`

// Bus implements [event.BusRows].
func (r outboxRows) Bus(ctx context.Context) (string, error) {
	if err := r.reading(ctx); err != nil {
		return "", err
	}
	name, _, err := one(r.tx, r.c.Prepare(`SELECT `+busName), (*lite.Stmt).ReadText)
	return name, err
}

// SetBus implements [event.BusRows]. Who publishes for another bus loses the lease, without which it notes nothing.
func (r outboxRows) SetBus(ctx context.Context, name string) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	q := r.c.Prepare(`DELETE FROM buses WHERE tenant = ''`)
	if name != "" {
		q = r.c.Prepare(`INSERT INTO buses (tenant, name) VALUES ('', ?)
			ON CONFLICT DO UPDATE SET name = excluded.name WHERE name <> excluded.name`).Text(name)
	}
	if err := q.Run(); err != nil || r.c.Changes() == 0 {
		return r.fail(err)
	}
	return r.fail(r.c.Prepare(`UPDATE relay SET holder = '', until = 0`).Run())
}

// CountWaiting implements [event.BusRows].
func (r outboxRows) CountWaiting(ctx context.Context) (int64, error) {
	if err := r.reading(ctx); err != nil {
		return 0, err
	}
	n, _, err := one(r.tx, r.c.Prepare(`SELECT count(*) FROM exports WHERE sent_number > (SELECT position FROM relay)`), readInt)
	return n, err
}
