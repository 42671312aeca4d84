// Package faulty is a store that fails where it is told to: with an error, a panic, or by ending the
// process as kill -9 would. It is for tests.
package faulty

import (
	"context"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Points are the places where a commit can fail in its update, in the order it comes by them: before
// the update, before each kind of write, before the update is made durable and after it is.
var Points = []string{
	"begin", "InsertTurns", "Advance", "PutDigest", "InsertItems", "InsertVersion", "PutObservation",
	"InsertExport", "end", "durable",
}

// RarePoints are the places of writes that not every commit makes: to make room, for a target that is put off, for changes
// that are refused, and, made by each that has an input, of the follow-up context.
var RarePoints = []string{"ArchiveItems", "PutDeferral", "InsertEvent", "HearLight"}

// PassPoints are the places where a pass of compression can fail in its updates: those around an update
// and before each kind of write that passes, their snapshots and their failures make.
var PassPoints = []string{
	"begin", "InsertSnapshot", "InsertCheckpoint", "InsertEpoch", "PutBreaker", "InsertTurns", "Advance", "InsertEvent",
	"end", "durable",
}

// Store is a store with faults.
type Store struct {
	store.Store

	mu    sync.Mutex // guards fault
	fault func(point string) error
}

// New returns the store without faults.
func New(st store.Store) *Store { return &Store{Store: st} }

// Set has fault decide at every point that is passed what happens there: nothing if it returns nil,
// otherwise the write fails with its error. It may also panic. Nil for no more faults.
func (s *Store) Set(fault func(point string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

func (s *Store) at(point string) error {
	s.mu.Lock()
	fault := s.fault
	s.mu.Unlock()
	if fault == nil {
		return nil
	}
	return fault(point)
}

// Update implements [store.Store].
func (s *Store) Update(ctx context.Context, fn func(store.Tx) error) error {
	if err := s.at("begin"); err != nil {
		return err
	}
	err := s.Store.Update(ctx, func(inner store.Tx) error {
		if err := fn(&tx{inner, s}); err != nil {
			return err
		}
		return s.at("end")
	})
	if err != nil {
		return err
	}
	return s.at("durable")
}

type tx struct {
	store.Tx
	s *Store
}

// Log implements [store.Tx].
func (t *tx) Log() turn.Rows { return logRows{t.Tx.Log(), t.s} }

// Memory implements [store.Tx].
func (t *tx) Memory() memory.Rows { return memoryRows{t.Tx.Memory(), t.s} }

// Cortex implements [store.Tx].
func (t *tx) Cortex() cortex.Rows { return cortexRows{t.Tx.Cortex(), t.s} }

// Scratch implements [store.Tx].
func (t *tx) Scratch() scratch.Rows { return scratchRows{t.Tx.Scratch(), t.s} }

// Light implements [store.Tx].
func (t *tx) Light() dialogue.LightRows { return lightRows{t.Tx.Light(), t.s} }

// Outbox implements [store.Tx].
func (t *tx) Outbox() event.Rows { return outboxRows{t.Tx.Outbox(), t.s} }

type logRows struct {
	turn.Rows
	s *Store
}

func (r logRows) InsertTurns(ctx context.Context, tenant string, segment int64, rows ...turn.Row) error {
	if err := r.s.at("InsertTurns"); err != nil {
		return err
	}
	return r.Rows.InsertTurns(ctx, tenant, segment, rows...)
}

func (r logRows) Advance(ctx context.Context, key turn.Key, head int64, at time.Time) error {
	if err := r.s.at("Advance"); err != nil {
		return err
	}
	return r.Rows.Advance(ctx, key, head, at)
}

type memoryRows struct {
	memory.Rows
	s *Store
}

func (r memoryRows) InsertItems(ctx context.Context, items []memory.Row) (int, error) {
	if err := r.s.at("InsertItems"); err != nil {
		return 0, err
	}
	return r.Rows.InsertItems(ctx, items)
}

func (r memoryRows) PutDigest(ctx context.Context, tenant string, segment int64, d memory.DigestRow) error {
	if err := r.s.at("PutDigest"); err != nil {
		return err
	}
	return r.Rows.PutDigest(ctx, tenant, segment, d)
}

func (r memoryRows) ArchiveItems(ctx context.Context, tenant string, ids []string, at time.Time) error {
	if err := r.s.at("ArchiveItems"); err != nil {
		return err
	}
	return r.Rows.ArchiveItems(ctx, tenant, ids, at)
}

type lightRows struct {
	dialogue.LightRows
	s *Store
}

func (r lightRows) HearLight(ctx context.Context, key dialogue.LightKey, message string) error {
	if err := r.s.at("HearLight"); err != nil {
		return err
	}
	return r.LightRows.HearLight(ctx, key, message)
}

type cortexRows struct {
	cortex.Rows
	s *Store
}

func (r cortexRows) InsertVersion(ctx context.Context, tenant string, segment int64, row cortex.Row) error {
	if err := r.s.at("InsertVersion"); err != nil {
		return err
	}
	return r.Rows.InsertVersion(ctx, tenant, segment, row)
}

type scratchRows struct {
	scratch.Rows
	s *Store
}

func (r scratchRows) PutObservation(ctx context.Context, tenant string, segment int64, row scratch.Row) error {
	if err := r.s.at("PutObservation"); err != nil {
		return err
	}
	return r.Rows.PutObservation(ctx, tenant, segment, row)
}

type outboxRows struct {
	event.Rows
	s *Store
}

func (r outboxRows) InsertExport(ctx context.Context, e event.Export) error {
	if err := r.s.at("InsertExport"); err != nil {
		return err
	}
	return r.Rows.InsertExport(ctx, e)
}

func (r outboxRows) InsertEvent(ctx context.Context, e event.Event) error {
	if err := r.s.at("InsertEvent"); err != nil {
		return err
	}
	return r.Rows.InsertEvent(ctx, e)
}

func (r outboxRows) PutDeferral(ctx context.Context, d event.Deferral) error {
	if err := r.s.at("PutDeferral"); err != nil {
		return err
	}
	return r.Rows.PutDeferral(ctx, d)
}
