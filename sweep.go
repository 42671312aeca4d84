package turnstone

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// Swept is how much of what had to go is gone.
type Swept struct {
	Items        int64 // of memory, expired
	Archived     int64 // of memory, past the age at which their policy archives them
	Notes        int64 // of scratch pages, archived as their day is over
	Observations int64 // of scratch pages, archived more than a week ago
	TraceParts   int64 // older than 90 days
	Exports      int64 // whose bodies were sent more than 7 days ago
	Deferrals    int64 // given up more than 7 days ago
	Letters      int64 // that daemons could not handle, older than 90 days
	Events       int64 // older than 90 days, but for receipts of what was forgotten
	Blobs        int64 // that nothing referred to for [Config.BlobGrace]
	Snapshots    int64 // taken automatically, beyond the newest 20 of their session
	Reminders    int64 // sent a day ago and not answered: they were escalated
	Imports      int64 // broken off: nobody saw what was written of them
	Exchanges    int64 // left by a process that died: they were committed as interrupted
}

func (s Swept) any() bool { return s != Swept{} }

const (
	// keepSent is how long the bodies of published exports, and deferrals that were given up, are kept.
	keepSent = 7 * 24 * time.Hour
	// sweepAtOnce bounds what one update deletes, so that nobody waits long behind it.
	sweepAtOnce = 500
	// tenantsAtOnce bounds how many tenants one update looks at for the same reason.
	tenantsAtOnce = 64
	// blobsAtOnce bounds how many images and recordings one update deletes: they are large.
	blobsAtOnce = 16
)

// Sweep deletes what has expired, and escalates reminders that nobody answered, of all tenants. Nobody needs to call it: it is done in the
// background every now and then, and what has expired is not found before it is swept either.
func (e *Engine) Sweep(ctx context.Context) (Swept, error) { return e.shared.sweep(ctx) }

func (s *shared) sweep(ctx context.Context) (all Swept, err error) {
	var failed error // one session that cannot be recovered or read keeps nothing else from being swept
	all.Exchanges, failed = s.recoverLeft(ctx)
	reminders, err := s.escalate(ctx)
	all.Reminders, failed = reminders, errors.Join(failed, err)
	err = s.sweepRounds(ctx, &all, sweepOnce)
	if err != nil {
		return all, errors.Join(failed, err)
	}
	blobs, err := s.sweepBlobs(ctx)
	all.Blobs = blobs
	if err != nil {
		return all, errors.Join(failed, err)
	}
	var tenants []string
	err = s.store.View(ctx, func(tx store.Tx) (err error) {
		tenants, err = tx.Log().Tenants(ctx)
		return err
	})
	if err != nil {
		return all, errors.Join(failed, err)
	}
	for _, tenant := range tenants {
		n, err := replay.SweepImports(ctx, s.store, tenant)
		all.Imports, failed = all.Imports+n, errors.Join(failed, err)
	}
	for some := range slices.Chunk(tenants, tenantsAtOnce) {
		err := s.sweepRounds(ctx, &all, func(ctx context.Context, tx store.Tx) (Swept, error) { return s.sweepTenants(ctx, tx, some) })
		if err != nil {
			return all, errors.Join(failed, err)
		}
	}
	return all, failed
}

// sweepRounds sweeps until nothing is left, each time in an update of its own, and adds to all what it swept.
func (s *shared) sweepRounds(ctx context.Context, all *Swept, once func(context.Context, store.Tx) (Swept, error)) error {
	for {
		var round Swept
		err := s.store.Update(ctx, func(tx store.Tx) (err error) {
			if round, err = once(ctx, tx); round.Items+round.Archived+round.Notes > 0 {
				s.pipeline.Forgot(tx)
			}
			return err
		})
		if err != nil || !round.any() {
			return err
		}
		all.add(round)
	}
}

// sweepBlobs deletes bytes that nothing has referred to for the grace period. They are looked for in views, since that
// may take a while where there are many.
func (s *shared) sweepBlobs(ctx context.Context) (swept int64, err error) {
	for {
		var loose []turn.BlobKey
		err := s.store.View(ctx, func(tx store.Tx) (err error) {
			loose, err = tx.Log().LooseBlobs(ctx, tx.Now().Add(-s.blobGrace), sweepAtOnce)
			return err
		})
		if err != nil {
			return swept, err
		}
		before := swept
		for some := range slices.Chunk(loose, blobsAtOnce) {
			var n int64
			err := s.store.Update(ctx, func(tx store.Tx) (err error) {
				n, err = tx.Log().SweepBlobs(ctx, tx.Now().Add(-s.blobGrace), some)
				return err
			})
			if err != nil {
				return swept, err
			}
			swept += n
		}
		if swept == before { // also where somebody else swept them, or wants them again
			return swept, nil
		}
	}
}

func (s *Swept) add(round Swept) {
	s.Items += round.Items
	s.Archived += round.Archived
	s.Notes += round.Notes
	s.Observations += round.Observations
	s.TraceParts += round.TraceParts
	s.Exports += round.Exports
	s.Deferrals += round.Deferrals
	s.Letters += round.Letters
	s.Events += round.Events
	s.Snapshots += round.Snapshots
}

// sweepTenants archives what is past the age for it, and deletes old automatic snapshots, dead letters and events, of those tenants.
func (s *shared) sweepTenants(ctx context.Context, tx store.Tx, tenants []string) (swept Swept, err error) {
	for _, tenant := range tenants {
		for _, filter := range s.policies.ArchiveDue(tenant, tx.Now(), sweepAtOnce) {
			rows, err := tx.Memory().Items(ctx, filter)
			if err != nil {
				return swept, err
			}
			ids := make([]string, len(rows))
			for i, r := range rows {
				ids[i] = r.ID
			}
			if err := tx.Memory().ArchiveItems(ctx, tenant, ids, tx.Now()); err != nil {
				return swept, err
			}
			swept.Archived += int64(len(ids))
		}
		n, err := tx.Snapshot().SweepSnapshots(ctx, tenant, snapshot.Keep, sweepAtOnce)
		if err != nil {
			return swept, err
		}
		swept.Snapshots += n
		// As long as the traces of their exchanges are: by then nobody can be sent the exports any more.
		if n, err = tx.Outbox().SweepLetters(ctx, tenant, tx.Now().Add(-trace.Keep), sweepAtOnce); err != nil {
			return swept, err
		}
		swept.Letters += n
		if n, err = tx.Outbox().SweepEvents(ctx, tenant, tx.Now().Add(-trace.Keep), sweepAtOnce); err != nil {
			return swept, err
		}
		if swept.Events += n; swept.Archived+swept.Snapshots+swept.Letters+swept.Events >= sweepAtOnce {
			break
		}
	}
	return swept, nil
}

func sweepOnce(ctx context.Context, tx store.Tx) (s Swept, err error) {
	now := tx.Now()
	if s.Items, err = tx.Memory().SweepItems(ctx, now, sweepAtOnce); err != nil {
		return s, err
	}
	if s.Notes, s.Observations, err = scratch.Sweep(ctx, tx.Scratch(), now, sweepAtOnce); err != nil {
		return s, err
	}
	if s.TraceParts, err = tx.Trace().SweepParts(ctx, now.Add(-trace.Keep), sweepAtOnce); err != nil {
		return s, err
	}
	if s.Exports, err = tx.Outbox().SweepExports(ctx, now.Add(-keepSent), sweepAtOnce); err != nil {
		return s, err
	}
	s.Deferrals, err = tx.Outbox().SweepDeferrals(ctx, now.Add(-keepSent), sweepAtOnce)
	return s, err
}

// recoverEvery is how often exchanges are looked for that were left by another process: such a one ends soon after its
// lease did, also where nobody says anything to its session again.
const recoverEvery = turn.LeaseTime / 5

// sweepNowAndThen sweeps in the background. What fails is tried again the next time, and told once.
func (s *shared) sweepNowAndThen(ctx context.Context, every time.Duration, log slog.Handler) {
	tick, left := time.NewTicker(every), time.NewTicker(recoverEvery)
	defer tick.Stop()
	defer left.Stop()
	told := ""
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-left.C:
			_, err = s.recoverLeft(ctx)
		case <-tick.C:
			_, err = s.sweep(ctx)
		}
		switch {
		case err == nil:
			told = ""
		case ctx.Err() == nil && err.Error() != told:
			told = err.Error()
			bus.Logger(log).LogAttrs(ctx, slog.LevelWarn, "what has expired waits to be swept", slog.Any("error", err))
		}
	}
}
