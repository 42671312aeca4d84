package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/pause"
	"github.com/turnstone-dev/turnstone/internal/resident"
	"github.com/turnstone-dev/turnstone/server/front"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// speakingServer is an Ollama server that reads for a while and says as many words as it was told to, as fast as they
// are taken.
type speakingServer struct {
	reading time.Duration
	words   int
}

const spoken = `{"model":"llama3.2","created_at":"2026-01-02T03:04:05.6Z","message":{"role":"assistant","content":"Something follows. "},"done":false}` + "\n"

const spokenEnd = `{"model":"llama3.2","created_at":"2026-01-02T03:04:05.6Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":1000,"prompt_eval_count":10,"eval_count":10}` + "\n"

// ServeHTTP implements [http.Handler].
func (s speakingServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	if !pause.For(r.Context(), s.reading) {
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	flusher, ok := w.(http.Flusher)
	for range s.words {
		if _, err := io.WriteString(w, spoken); err != nil {
			return
		}
		if ok {
			flusher.Flush()
		}
	}
	if _, err := io.WriteString(w, spokenEnd); err != nil {
		return // who asked has gone
	}
}

// onLoopback serves until the function returned is called.
func onLoopback(h http.Handler) (url string, stop func() error, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: h}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	return "http://" + listener.Addr().String(), func() error {
		err := server.Close()
		if s := <-served; !errors.Is(s, http.ErrServerClosed) {
			err = errors.Join(err, s)
		}
		return err
	}, nil
}

// withFront runs a benchmark with a server that speaks and a front before it.
func withFront(ctx context.Context, b *bench, upstream speakingServer, window int, run func(bare, through string) error) (err error) {
	bare, stop, err := onLoopback(upstream)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	config := turnstone.Config{Context: window}
	return onSQLite(ctx, b.file("front.db"), config, func(eng *turnstone.Engine, _ *sqlite.Store) (err error) {
		f, err := front.New(front.Config{
			Engine:   func(*http.Request) (*turnstone.Engine, error) { return eng, nil },
			Upstream: front.Upstream{URL: bare, Kind: front.Ollama},
		})
		if err != nil {
			return err
		}
		through, stop, err := onLoopback(f.Handler())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
		return run(bare, through)
	})
}

// repeater is a client of Ollama that repeats the whole conversation with every call.
type repeater struct {
	http    *http.Client
	url     string
	history bytes.Buffer // messages, with commas between them
}

func (r *repeater) add(role, text string) {
	if r.history.Len() > 0 {
		r.history.WriteByte(',')
	}
	said, err := json.Marshal(map[string]string{"role": role, "content": text})
	if err != nil {
		panic(err)
	}
	r.history.Write(said)
}

type spokenLine struct {
	Message struct{ Content string }
	Done    bool
	Error   string
}

// say sends the conversation with one message more and returns how long the first word took.
func (r *repeater) say(ctx context.Context, text string) (first time.Duration, pieces int, err error) {
	r.add("user", text)
	body := slices.Concat([]byte(`{"model":"llama3.2","messages":[`), r.history.Bytes(), []byte(`]}`))
	start := time.Now()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/api/chat", bytes.NewReader(body))
	if err != nil {
		return 0, 0, err
	}
	response, err := r.http.Do(request)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	var reply strings.Builder
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if first == 0 {
			first = time.Since(start)
		}
		if bytes.Equal(lines.Bytes(), []byte(spoken[:len(spoken)-1])) {
			pieces++
			reply.WriteString("Something follows. ")
			continue
		}
		var l spokenLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil || !l.Done {
			return first, pieces, fmt.Errorf("answer %s: %w", lines.Text(), err)
		}
	}
	r.add("assistant", reply.String())
	return first, pieces, lines.Err()
}

// benchFront: what a front adds before the first token of a conversation of 10,000 messages that the client repeats in
// each call, against the same call to the model server itself, which takes as long to read as a fast one does: the front
// writes meanwhile; and how much of the server's throughput 64 streams get through it. Calls with and without the front
// take turns, and their slowest are held against each other: both send a megabyte and a half through a machine that
// stalls now and then, with a front or without.
func benchFront(ctx context.Context, b *bench) error {
	defer resident.Spread(resident.Room())() // as the command has it
	if err := benchFrontFirst(ctx, b); err != nil {
		return err
	}
	return benchFrontStreams(ctx, b)
}

func benchFrontFirst(ctx context.Context, b *bench) error {
	const messages, exchanges, reading = 10_000, 200, 20 * time.Millisecond
	return withFront(ctx, b, speakingServer{reading: 30 * time.Millisecond, words: 8}, 8<<10, func(bare, through string) error {
		alone, relayed := &repeater{http: &http.Client{}, url: bare}, &repeater{http: &http.Client{}, url: through}
		p := newProse(messages)
		for i := range messages {
			role, text := []string{"user", "assistant"}[i%2], p.text(120)
			alone.add(role, text)
			relayed.add(role, text)
		}
		// The first call moves the conversation in; the others go on from there.
		if _, _, err := relayed.say(ctx, "Where were we?"); err != nil {
			return err
		}
		if _, _, err := alone.say(ctx, "Where were we?"); err != nil {
			return err
		}
		var with, without []float64
		for i := range b.rounds * exchanges {
			text := fmt.Sprintf("And what follows from part %d of the plan?", i)
			first, _, err := alone.say(ctx, text)
			if err != nil {
				return err
			}
			without = append(without, float64(first.Microseconds())/1000)
			if !pause.For(ctx, reading) {
				return ctx.Err()
			}
			if first, _, err = relayed.say(ctx, text); err != nil {
				return err
			}
			with = append(with, float64(first.Microseconds())/1000)
		}
		added := percentile(with, 0.99) - percentile(without, 0.99)
		b.show(Line{Name: "front, first token at 10,000 messages, p50", Ours: percentile(with, 0.50), Baseline: percentile(without, 0.50), Unit: "ms", Against: "the server alone"})
		b.atMost(3, Line{Name: "front, added to the first token at 10,000 messages, p99", Ours: added, Unit: "ms", Against: "p99 of the server alone"})
		return nil
	})
}

func benchFrontStreams(ctx context.Context, b *bench) error {
	const streams, words, calls = 64, 4000, 1
	// Replies of 16,000 tokens are those of models with a large window.
	return withFront(ctx, b, speakingServer{words: words}, 128<<10, func(bare, through string) error {
		pool := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: streams}}
		round := 0 // no conversation begins as another did: that is rare, and has the front look at the other
		rate := func(url string) (float64, error) {
			round++
			var wg sync.WaitGroup
			failed := make(chan error, streams)
			start := time.Now()
			for i := range streams {
				wg.Go(func() {
					r := &repeater{http: pool, url: url}
					for n := range calls {
						if _, pieces, err := r.say(ctx, fmt.Sprintf("Round %d, stream %d, part %d.", round, i, n)); err != nil || pieces != words {
							failed <- fmt.Errorf("stream %d has %d pieces: %w", i, pieces, err)
							return
						}
					}
				})
			}
			wg.Wait()
			took := time.Since(start)
			select {
			case err := <-failed:
				return 0, err
			default:
				return streams * words * calls / took.Seconds(), nil
			}
		}
		medians, err := b.interleave(func() (float64, error) { return rate(through) }, func() (float64, error) { return rate(bare) })
		if err != nil {
			return err
		}
		b.atLeast(0.7, Line{Name: "front, 64 streams at once", Ours: medians[0], Baseline: medians[1], Unit: "pieces/s", Against: "the server alone"})
		return nil
	})
}
