package observe_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/server/observe"
	"github.com/turnstone-dev/turnstone/store"
)

func TestHealth(t *testing.T) {
	closed := make(chan struct{})
	close(closed)
	fine := observe.Check{Name: "store", Run: func(context.Context) error { return nil }}
	away := observe.Check{Name: "bus", Run: func(context.Context) error { return errors.New("dial secret-host: refused") }}
	full := observe.Check{Name: "store", Run: func(context.Context) error { return fmt.Errorf("secret-path: %w", store.ErrFull) }}
	waiting := observe.Check{Name: "slow", Run: func(ctx context.Context) error {
		if _, bounded := ctx.Deadline(); !bounded {
			return nil
		}
		return context.DeadlineExceeded
	}}
	for _, test := range []struct {
		name    string
		handler http.Handler
		status  int
		body    string
	}{
		{"alive", observe.Alive(), 200, `{"status":"ok"}`},
		{"ready", observe.Ready(nil, fine), 200, `{"status":"ok","checks":{"store":"ok"}}`},
		{"nothing to check", observe.Ready(make(chan struct{})), 200, `{"status":"ok"}`},
		{"bus away", observe.Ready(nil, fine, away), 503, `{"status":"unready","checks":{"bus":"unreachable","store":"ok"}}`},
		{"disk full", observe.Ready(nil, full), 503, `{"status":"unready","checks":{"store":"no space left for the store; make room on its disk"}}`},
		{"bounded", observe.Ready(nil, waiting), 503, `{"status":"unready","checks":{"slow":"unreachable"}}`},
		{"draining", observe.Ready(closed, fine), 503, `{"status":"draining"}`},
	} {
		answer := httptest.NewRecorder()
		test.handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", nil))
		if answer.Code != test.status || strings.TrimSpace(answer.Body.String()) != test.body || answer.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %s", test.name, answer.Code, answer.Body)
		}
	}
}

func TestProfiles(t *testing.T) {
	for path, status := range map[string]int{"/debug/pprof/": 200, "/debug/pprof/goroutine?debug=1": 200, "/debug/pprof/cmdline": 200, "/debug/pprof/symbol": 200, "/other": 404} {
		answer := httptest.NewRecorder()
		observe.Profiles().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		if answer.Code != status {
			t.Errorf("%s: %d", path, answer.Code)
		}
	}
}
