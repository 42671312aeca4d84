package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/turnstone-dev/turnstone/internal/sse"
)

// load starts the clients. They end with ctx, but for those who look on, who end with the test.
func (w *replicated) load(ctx context.Context, clients *sync.WaitGroup, long bool) {
	w.Helper()
	for n := range talks {
		w.must(http.StatusCreated, http.MethodPost, w.next()+"/sessions", fmt.Sprintf(`{"session_id":"talk-%d"}`, n))
	}
	for n := range logs {
		w.must(http.StatusCreated, http.MethodPost, w.next()+"/sessions", fmt.Sprintf(`{"session_id":"log-%d"}`, n))
	}
	for _, r := range w.replicas {
		w.watching = append(w.watching, watch(w.T, r))
	}
	for n := range speakers {
		patience := 3 * time.Second
		if long && n%2 == 0 {
			patience = 30 * time.Second // longer than a lease
		}
		clients.Go(func() { w.speak(ctx, n, patience) })
	}
	for n := range writers {
		clients.Go(func() { w.write(ctx, n) })
	}
	for n := range enders {
		clients.Go(func() { w.end(ctx, n) })
	}
}

// next is the API of the next server.
func (w *replicated) next() string {
	return w.replicas[w.turn.Add(1)%replicaCount].base + "/api/v1"
}

// went tells of progress, to whoever waits for it.
func (w *replicated) went(ctx context.Context) {
	select {
	case w.progress <- struct{}{}:
	case <-ctx.Done():
	}
}

// speak asks one question after the other, each of a session of its choice and once, and notes which are answered.
func (w *replicated) speak(ctx context.Context, id int, patience time.Duration) {
	for n := 0; ctx.Err() == nil; n++ {
		question := fmt.Sprintf("question %d-%d", id, n)
		session := fmt.Sprint("talk-", rand.IntN(talks))
		trying, cancel := context.WithTimeout(ctx, patience)
		told, err := w.ask(trying, w.next(), session, question, n%2 == 0)
		for errors.Is(err, syscall.ECONNREFUSED) && trying.Err() == nil {
			told, err = w.ask(trying, w.next(), session, question, n%2 == 0) // nobody was asked
		}
		cancel()
		w.mu.Lock()
		if err == nil {
			w.spoken[question] = told
		} else {
			w.unknown++
		}
		w.mu.Unlock()
		w.went(ctx)
	}
}

// ask says something and returns what is answered. An error says nothing about what became of it.
func (w *replicated) ask(ctx context.Context, api, session, text string, streamed bool) (told reply, err error) {
	s, err := w.say(ctx, api, session, text, streamed)
	if err != nil {
		return told, err
	}
	defer s.close()
	if !streamed {
		err := json.NewDecoder(s.body).Decode(&told)
		return told, err
	}
	for {
		e, err := s.events.Next()
		if err != nil {
			return told, err
		}
		switch e.Name {
		case "reply":
			return told, json.Unmarshal([]byte(e.Data), &told)
		case "problem":
			return told, errors.New(e.Data)
		}
	}
}

// said is the answer to what was said, which is still coming.
type said struct {
	body   io.ReadCloser
	events *sse.Reader
}

// close ends it. What was not read of it is of no interest, and neither is what is wrong with its connection.
func (s *said) close() {
	if err := s.body.Close(); err != nil && !errors.Is(err, context.Canceled) {
		s.events = nil
	}
}

func (w *replicated) say(ctx context.Context, api, session, text string, streamed bool) (*said, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, api+"/sessions/"+session+"/say", strings.NewReader(encoded(map[string]string{"text": text})))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if streamed {
		r.Header.Set("Accept", sse.ContentType)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		text, err := io.ReadAll(answer.Body)
		return nil, errors.Join(fmt.Errorf("%d %s", answer.StatusCode, text), err, answer.Body.Close())
	}
	return &said{body: answer.Body, events: sse.NewReader(answer.Body, 0)}, nil
}

// write appends one turn after the other, each under a key of its own and again and again until it is there.
func (w *replicated) write(ctx context.Context, id int) {
	for n := 0; ctx.Err() == nil; n++ {
		key := fmt.Sprintf("turn-%d-%d", id, n)
		body := fmt.Sprintf(`{"turns":[{"role":"user","text":%q}]}`, key)
		path := fmt.Sprintf("/sessions/log-%d/turns", rand.IntN(logs))
		for status := 0; status != http.StatusCreated; {
			var text string
			var err error
			status, text, err = w.request(ctx, http.MethodPost, w.next()+path, body, "Idempotency-Key", key)
			if err == nil && status != http.StatusCreated && status < http.StatusInternalServerError {
				w.Errorf("%s: %d %s", key, status, text)
				return
			}
			if ctx.Err() != nil {
				return
			}
		}
		w.mu.Lock()
		w.written[key] = true
		w.mu.Unlock()
		w.went(ctx)
	}
}

// end begins one session after the other and ends it, which is announced.
func (w *replicated) end(ctx context.Context, id int) {
	for n := 0; ctx.Err() == nil; n++ {
		session := fmt.Sprintf("short-%d-%d", id, n)
		append := "/sessions/" + session + "/turns?create=true"
		status, _, err := w.request(ctx, http.MethodPost, w.next()+append, `{"turns":[{"role":"user","text":"Bye."}]}`)
		if err == nil && status == http.StatusCreated {
			status, _, err = w.request(ctx, http.MethodPost, w.next()+"/sessions/"+session+"/end", "")
			if err == nil && status == http.StatusOK {
				w.mu.Lock()
				w.ended[session] = true
				w.mu.Unlock()
			}
		}
		w.went(ctx)
	}
}

// request sends something and returns what is answered. Headers come in pairs.
func (w *replicated) request(ctx context.Context, method, url, body string, headers ...string) (status int, text string, err error) {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(read), err
}

// must is request for what has to be answered so.
func (w *replicated) must(want int, method, url, body string) string {
	w.Helper()
	status, text, err := w.request(w.Context(), method, url, body)
	if err != nil || status != want {
		w.Fatalf("%s %s: %d %s, %v", method, url, status, text, err)
	}
	return text
}
