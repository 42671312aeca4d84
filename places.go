package turnstone

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
)

// maxPlaces bounds how many readers of exports are kept in mind.
const maxPlaces = 10_000

// places are how far those have looked who read exports of one tenant among those of all: behind its own last one there
// may be any number of others', which are not looked at again. It is safe for concurrent use.
type places struct {
	mu   sync.Mutex // guards what follows
	seen map[[2]string]int64
}

// of is the number of the last export of all tenants that is not looked at any more after one of a tenant's. One that is
// not kept any more was published before all that are.
func (p *places) of(ctx context.Context, tx store.Tx, tenant, export string) (int64, error) {
	p.mu.Lock()
	number, ok := p.seen[[2]string{tenant, export}]
	p.mu.Unlock()
	if ok || export == "" {
		return number, nil
	}
	row, err := tx.Outbox().Export(ctx, tenant, export)
	if err != nil && !errors.Is(err, event.ErrNotFound) {
		return 0, fmt.Errorf("published export %s: %w", export, err)
	}
	return row.Sent, nil
}

func (p *places) note(tenant, export string, number int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen == nil || len(p.seen) >= maxPlaces {
		p.seen = make(map[[2]string]int64)
	}
	p.seen[[2]string{tenant, export}] = number
}
