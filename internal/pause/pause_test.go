package pause_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone/internal/pause"
)

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		if !pause.For(t.Context(), time.Second) || time.Since(begin) != time.Second {
			t.Errorf("waited %s", time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin = time.Now()
		if pause.For(ctx, time.Hour) || time.Since(begin) != time.Second {
			t.Errorf("waited %s for a context that ended", time.Since(begin))
		}
	})
}
