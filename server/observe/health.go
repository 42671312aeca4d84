package observe

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/store"
)

// checkTime is how long one check of readiness may take.
const checkTime = 2 * time.Second

// Check says whether something that the server needs can be reached.
type Check struct {
	Name string
	Run  func(context.Context) error
}

// Alive answers 200 as long as the process answers at all: a store that is away is no reason to start it anew.
func Alive() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeStanding(w, http.StatusOK, standingJSON{Status: "ok"})
	})
}

// Ready answers 200 if requests should be sent here: every check passes and the server is not about to end, which a
// closed draining says. Otherwise it answers 503 and names what is wrong: the condition of a store, or that something is
// unreachable, without the words of errors, which may hold addresses.
func Ready(draining <-chan struct{}, checks ...Check) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-draining:
			writeStanding(w, http.StatusServiceUnavailable, standingJSON{Status: "draining"})
			return
		default:
		}
		ctx, cancel := context.WithTimeout(r.Context(), checkTime)
		defer cancel()
		answer, status := standingJSON{Status: "ok", Checks: make(map[string]string, len(checks))}, http.StatusOK
		failed := make([]error, len(checks))
		var running sync.WaitGroup
		for i, check := range checks {
			running.Go(func() { failed[i] = check.Run(ctx) })
		}
		running.Wait()
		for i, check := range checks {
			answer.Checks[check.Name] = "ok"
			if failed[i] != nil {
				answer.Checks[check.Name] = cmp.Or(store.Condition(failed[i]), "unreachable")
				answer.Status, status = "unready", http.StatusServiceUnavailable
			}
		}
		writeStanding(w, status, answer)
	})
}

type standingJSON struct {
	Status string            `json:"status"`
	Checks map[string]string `json:"checks,omitempty"`
}

func writeStanding(w http.ResponseWriter, status int, s standingJSON) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(s); err != nil {
		// Whoever asked has hung up.
		return
	}
}
