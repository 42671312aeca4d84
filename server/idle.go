package server

import (
	"context"
	"errors"
	"sync"
	"time"
)

// endIdle ends sessions that have rested, of all tenants, now and then until ctx ends. Whoever calls stop waits for it.
// Several servers on one store do it beside each other: a session ends once.
func (s *Server) endIdle(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		every := time.NewTicker(s.config.EndIdle)
		defer every.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-every.C:
			}
			if err := s.endAllIdle(ctx); err != nil && ctx.Err() == nil {
				s.log.WarnContext(ctx, "sessions that rest wait to be ended", "error", err)
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

func (s *Server) endAllIdle(ctx context.Context) error {
	tenants, err := s.config.Engine.Tenants(ctx)
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		eng, failed := s.config.Engine.ForTenant(tenant)
		if failed == nil {
			_, failed = eng.EndIdle(ctx)
		}
		err = errors.Join(err, failed)
	}
	return err
}
