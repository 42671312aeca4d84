package turn

import (
	"context"
	"fmt"
	"time"
)

// LeaseTime is how long a lease holds without being renewed.
const LeaseTime = 15 * time.Second

// Acquire takes the session's lease under a token of the caller's making. A *[LeaseHeldError] says
// that another token holds it. A lease that ran out is free for the taking, and so is the caller's own.
func Acquire(ctx context.Context, rows SessionRows, key Key, token string, now time.Time) (Lease, error) {
	if err := checkShort("token", token, true); err != nil {
		return Lease{}, err
	}
	held, err := lockLease(ctx, rows, key)
	if err != nil {
		return Lease{}, err
	}
	if held.Token != "" && held.Token != token && held.Until.After(now) {
		return Lease{}, &LeaseHeldError{Session: key.Session, Until: held.Until}
	}
	return setLease(ctx, rows, key, Lease{Token: token, Until: now.Add(LeaseTime)})
}

// Renew holds on to a lease for another [LeaseTime], also where it ran out and nobody took it. ErrLeaseLost if somebody did.
func Renew(ctx context.Context, rows SessionRows, key Key, token string, now time.Time) (Lease, error) {
	if err := CheckLease(ctx, rows, key, token); err != nil {
		return Lease{}, err
	}
	return setLease(ctx, rows, key, Lease{Token: token, Until: now.Add(LeaseTime)})
}

// Release gives the lease back. ErrLeaseLost if it was not the token's any more.
func Release(ctx context.Context, rows SessionRows, key Key, token string) error {
	if err := CheckLease(ctx, rows, key, token); err != nil {
		return err
	}
	_, err := setLease(ctx, rows, key, Lease{})
	return err
}

// CheckLease refuses a token that is not, or no longer, the session's, and keeps the lease from
// changing until the transaction ends. Every write of a lease holder calls it in the transaction
// that writes. A lease that ran out is lost once another takes it, and not before: nobody else has written then, and
// a machine that slept in the middle of a reply goes on with it.
func CheckLease(ctx context.Context, rows SessionRows, key Key, token string) error {
	held, err := lockLease(ctx, rows, key)
	if err != nil {
		return err
	}
	if token == "" || held.Token != token {
		return fmt.Errorf("session %s: %w", key.Session, ErrLeaseLost)
	}
	return nil
}

func lockLease(ctx context.Context, rows SessionRows, key Key) (Lease, error) {
	held, err := rows.LockLease(ctx, key)
	if err != nil {
		return Lease{}, fmt.Errorf("lease of %s: %w", key.Session, err)
	}
	return held, nil
}

func setLease(ctx context.Context, rows SessionRows, key Key, l Lease) (Lease, error) {
	if err := rows.SetLease(ctx, key, l); err != nil {
		return Lease{}, fmt.Errorf("lease of %s: %w", key.Session, err)
	}
	return l, nil
}
