package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/internal/natstest"
	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/turn"
)

const (
	replicaCount = 3
	talks        = 36 // sessions that are spoken to
	logs         = 3  // sessions that are appended to
	speakers     = 6
	writers      = 3
	enders       = 2
)

// TestTortureReplicas has clients of every kind talk to three servers on one PostgreSQL and one NATS, each request to
// the next server, while servers are killed and started again. What was acknowledged is there once, what was under way
// ends as interrupted, every exchange is exported under one id, and who looks on at whichever server sees every event
// once.
func TestTortureReplicas(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("what is killed there cannot be told from what ended by itself")
	}
	t.Parallel()
	w := newReplicated(t)
	kills, pace, long := 4, 20, os.Getenv("TURNSTONE_TORTURE") != ""
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	if long {
		kills, pace = 1<<20, 200
		ctx, stop = context.WithTimeout(t.Context(), time.Minute)
		defer stop()
	}
	var clients sync.WaitGroup
	w.load(ctx, &clients, long)
	w.torment(ctx, kills, pace)
	w.somethingOfEach(ctx)
	stop()
	clients.Wait()
	for _, r := range w.replicas {
		if err := r.start(); err != nil {
			t.Fatal(err)
		}
	}
	w.dieInTheMiddle()
	w.settle(long)
	if err := w.replicas[0].start(); err != nil {
		t.Fatal(err)
	}
	w.check()
	t.Logf("%d kills, %d exchanges and %d turns acknowledged, %d exchanges not", w.kills, len(w.spoken), len(w.written), w.unknown)
}

// replicated are three servers, and what their clients were told.
type replicated struct {
	*testing.T
	url      string // of the database
	store    store.Store
	nats     *natstest.Server
	replicas []*replica
	turn     atomic.Int64 // whose it is to be asked
	progress chan struct{}
	kills    int
	watching []*watcher

	mu      sync.Mutex       // guards what follows
	spoken  map[string]reply // by question: acknowledged
	unknown int              // questions that were not
	written map[string]bool  // keys of turns that were acknowledged
	ended   map[string]bool  // sessions
}

// reply is what a client is told of an exchange.
type reply struct {
	Text     string `json:"text"`
	Status   string `json:"status"`
	TurnID   string `json:"turn_id"`
	ExportID string `json:"export_id"`
}

func newReplicated(t *testing.T) *replicated {
	t.Helper()
	w := &replicated{
		T: t, url: pgtest.URL(t), progress: make(chan struct{}),
		spoken: make(map[string]reply), written: make(map[string]bool), ended: make(map[string]bool),
	}
	var err error
	if w.store, err = postgres.Open(t.Context(), w.url, postgres.Config{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
	})
	w.nats = natstest.Start(t)
	upstream := httptest.NewServer(answering())
	t.Cleanup(upstream.Close)
	for range replicaCount {
		w.replicas = append(w.replicas, newReplica(t, "--store", w.url, "--bus", w.nats.URL(),
			"--url", upstream.URL, "--model", "small", "--no-bundle"))
	}
	return w
}

var asked = regexp.MustCompile(`question [\w-]+`)

// answering is a model server that answers each question with its name, in pieces that take a while. A question that
// ends in "hang" is not answered to the end.
func answering() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", (&talker{}).handler())
	mux.HandleFunc("POST /api/chat", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		questions := asked.FindAllString(string(body), -1)
		if err != nil || len(questions) == 0 {
			panic(http.ErrAbortHandler)
		}
		question := questions[len(questions)-1]
		pieces := strings.SplitAfter(answerTo(question), " ")
		if strings.HasSuffix(question, "hang") {
			pieces = append(pieces[:3], "!hang")
		}
		var lines []string
		for _, line := range ollamaLines(pieces) {
			lines = append(lines, line, fmt.Sprintf("!wait %dms", rand.IntN(30)))
		}
		llmtest.Speak(w, r, lines...)
	})
	return mux
}

func answerTo(question string) string {
	return "This answers " + question + ", and that is all there is."
}

// torment kills so many replicas, one after the other or two at a time, and starts them again, each after some progress
// of the clients: a random amount of it, up to pace.
func (w *replicated) torment(ctx context.Context, kills, pace int) {
	for w.kills < kills {
		down, also := w.replicas[rand.IntN(replicaCount)], w.replicas[rand.IntN(replicaCount)]
		for _, do := range []func() error{down.kill, also.kill, down.start, also.start} {
			for range 1 + rand.IntN(pace) {
				select {
				case <-ctx.Done():
					return
				case <-w.progress:
				}
			}
			if err := do(); err != nil {
				w.Error(err)
				return
			}
		}
		w.kills += 2
	}
}

// somethingOfEach waits until clients of every kind were told that it is done: a busy machine has killed all servers as
// often as it should before a single reply has come.
func (w *replicated) somethingOfEach(ctx context.Context) {
	for {
		w.mu.Lock()
		done := len(w.spoken) > 0 && len(w.written) > 0 && len(w.ended) > 0
		w.mu.Unlock()
		if done {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-w.progress:
		}
	}
}

// dieInTheMiddle kills a replica in the middle of a reply.
func (w *replicated) dieInTheMiddle() {
	w.Helper()
	r := w.replicas[0]
	stream, err := w.say(w.Context(), r.base+"/api/v1", "talk-0", "question hang", true)
	if err != nil {
		w.Fatal(err)
	}
	if e, err := stream.events.Next(); err != nil || e.Name != "text" {
		w.Errorf("%+v, %v", e, err)
	}
	if err := r.kill(); err != nil {
		w.Error(err)
	}
	stream.close()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unknown++
}

// settle waits until every exchange has ended, which nobody asks for. Only the long form has the time to wait for
// leases too.
func (w *replicated) settle(long bool) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 5*time.Minute)
	defer cancel()
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for n := range talks {
		key := turn.Key{Tenant: turn.DefaultTenant, Session: fmt.Sprint("talk-", n)}
		if !long {
			if err := w.store.Update(ctx, func(tx store.Tx) error { return tx.Log().SetLease(ctx, key, turn.Lease{}) }); err != nil {
				w.Fatal(err)
			}
		}
		for open := true; ; <-look.C {
			err := w.store.View(ctx, func(tx store.Tx) (err error) {
				_, open, err = tx.Log().Exchange(ctx, key)
				return err
			})
			if err != nil {
				w.Fatalf("the exchange of %s does not end: %v", key.Session, err)
			}
			if !open {
				break
			}
		}
	}
}
