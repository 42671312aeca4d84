package mem

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/event"
)

// PutDeferral implements [event.DeferralRows].
func (r outboxRows) PutDeferral(ctx context.Context, d event.Deferral) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	put(r.tx, r.data.deferrals, deferralKey{d.Tenant, d.ExportID, d.Target}, d)
	return nil
}

// Deferral implements [event.DeferralRows].
func (r outboxRows) Deferral(ctx context.Context, tenant, exportID, target string) (event.Deferral, bool, error) {
	if err := r.reading(ctx); err != nil {
		return event.Deferral{}, false, err
	}
	d, ok := r.data.deferrals[deferralKey{tenant, exportID, target}]
	return d, ok, nil
}

// Deferrals implements [event.DeferralRows].
func (r outboxRows) Deferrals(ctx context.Context, tenant string) ([]event.Deferral, error) {
	return r.deferred(ctx, func(d event.Deferral) bool { return d.Tenant == tenant },
		func(d event.Deferral) time.Time { return d.At })
}

// WaitingDeferrals implements [event.DeferralRows].
func (r outboxRows) WaitingDeferrals(ctx context.Context, tenant, session string) ([]event.Deferral, error) {
	return r.deferred(ctx, func(d event.Deferral) bool { return d.Tenant == tenant && d.Session == session && d.Escalated.IsZero() },
		func(d event.Deferral) time.Time { return d.At })
}

// WaitingTargets implements [event.DeferralRows].
func (r outboxRows) WaitingTargets(ctx context.Context, tenant, session string) ([]string, error) {
	waiting, err := r.WaitingDeferrals(ctx, tenant, session)
	var targets []string
	for _, d := range waiting {
		targets = append(targets, d.Target)
	}
	slices.Sort(targets)
	return slices.Compact(targets), err
}

// CountDeferrals implements [event.DeferralRows].
func (r outboxRows) CountDeferrals(ctx context.Context) (int64, error) {
	if err := r.reading(ctx); err != nil {
		return 0, err
	}
	return int64(len(r.data.deferrals)), nil
}

// DueDeferrals implements [event.DeferralRows].
func (r outboxRows) DueDeferrals(ctx context.Context, now time.Time, limit int) ([]event.Deferral, error) {
	due, err := r.deferred(ctx, func(d event.Deferral) bool { return d.Escalated.IsZero() && !d.Next.After(now) },
		func(d event.Deferral) time.Time { return d.Next })
	return due[:max(0, min(limit, len(due)))], err
}

// deferred returns the deferrals that are wanted by one of their times, then by key.
func (r outboxRows) deferred(ctx context.Context, wanted func(event.Deferral) bool, by func(event.Deferral) time.Time) ([]event.Deferral, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var found []event.Deferral
	for _, key := range inOrder(r.data.deferrals, compareDeferrals) {
		if d := r.data.deferrals[key]; wanted(d) {
			found = append(found, d)
		}
	}
	slices.SortStableFunc(found, func(a, b event.Deferral) int { return by(a).Compare(by(b)) })
	return found, nil
}

// DeleteDeferral implements [event.DeferralRows].
func (r outboxRows) DeleteDeferral(ctx context.Context, tenant, exportID, target string) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	remove(r.tx, r.data.deferrals, deferralKey{tenant, exportID, target})
	return nil
}

// SweepDeferrals implements [event.DeferralRows].
func (r outboxRows) SweepDeferrals(ctx context.Context, before time.Time, limit int) (int64, error) {
	if err := r.writing(ctx); err != nil {
		return 0, err
	}
	return sweep(r.tx, r.data.deferrals, limit, func(d event.Deferral) bool {
		return !d.Escalated.IsZero() && d.Escalated.Before(before)
	}), nil
}

// Mark implements [event.DaemonRows]. The store's own lock keeps other writers out.
func (r outboxRows) Mark(ctx context.Context, daemon string) (event.Mark, bool, error) {
	if err := r.reading(ctx); err != nil {
		return event.Mark{}, false, err
	}
	m, ok := r.data.marks[daemon]
	return m, ok, nil
}

// Marks implements [event.DaemonRows].
func (r outboxRows) Marks(ctx context.Context) ([]event.Mark, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var found []event.Mark
	for _, name := range inOrder(r.data.marks, cmp.Compare[string]) {
		found = append(found, r.data.marks[name])
	}
	return found, nil
}

// PutMark implements [event.DaemonRows].
func (r outboxRows) PutMark(ctx context.Context, m event.Mark) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	put(r.tx, r.data.marks, m.Daemon, m)
	return nil
}

// DeleteMark implements [event.DaemonRows].
func (r outboxRows) DeleteMark(ctx context.Context, daemon string) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	remove(r.tx, r.data.marks, daemon)
	return nil
}

// InsertLetter implements [event.DaemonRows].
func (r outboxRows) InsertLetter(ctx context.Context, l event.Letter) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	key := letterKey{l.Tenant, l.Daemon, l.ExportID}
	if _, there := r.data.letters[key]; !there {
		put(r.tx, r.data.letters, key, l)
	}
	return nil
}

// Letters implements [event.DaemonRows].
func (r outboxRows) Letters(ctx context.Context, tenant, daemon string, limit int) ([]event.Letter, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var found []event.Letter
	for _, l := range r.data.letters {
		if l.Tenant == tenant && (daemon == "" || l.Daemon == daemon) {
			found = append(found, l)
		}
	}
	slices.SortFunc(found, func(a, b event.Letter) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ExportID, b.ExportID), cmp.Compare(a.Daemon, b.Daemon))
	})
	return found[:max(0, min(limit, len(found)))], nil
}

// SweepLetters implements [event.DaemonRows].
func (r outboxRows) SweepLetters(ctx context.Context, tenant string, before time.Time, limit int) (int64, error) {
	if err := r.writing(ctx); err != nil {
		return 0, err
	}
	letters, err := r.Letters(ctx, tenant, "", len(r.data.letters))
	if err != nil {
		return 0, err
	}
	swept := 0
	for _, l := range slices.Backward(letters) {
		if swept >= limit || !l.At.Before(before) {
			break
		}
		remove(r.tx, r.data.letters, letterKey{l.Tenant, l.Daemon, l.ExportID})
		swept++
	}
	return int64(swept), nil
}
