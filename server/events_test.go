package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/internal/sse"
	"github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/store/postgres"
)

// watching is a client that looks on.
type watching struct {
	*sse.Reader
	t    *testing.T
	hang context.CancelFunc
}

// watch begins a stream of events. Headers come in pairs.
func (c *client) watch(path string, headers ...string) *watching {
	c.t.Helper()
	ctx, cancel := context.WithCancel(c.t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/api/v1"+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Accept", sse.ContentType)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := c.http.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		cancel()
		if err := answer.Body.Close(); err != nil {
			c.t.Error(err)
		}
	})
	if answer.StatusCode != http.StatusOK {
		text, err := io.ReadAll(answer.Body)
		c.t.Fatalf("%s: %d %s, %v", path, answer.StatusCode, text, err)
	}
	return &watching{Reader: sse.NewReader(answer.Body, 0), t: c.t, hang: cancel}
}

// names are the names of the snapshots that the next events are about.
func (w *watching) names(n int) (list []string) {
	w.t.Helper()
	for range n {
		e, err := w.Next()
		if err != nil {
			w.t.Fatalf("after %v: %v", list, err)
		}
		list = append(list, e.Name+" "+snapshotOf(w.t, e.Data))
	}
	return list
}

func snapshotOf(t *testing.T, data string) string {
	t.Helper()
	var e struct {
		Session string `json:"session_id"`
		Data    struct {
			Name string `json:"name"`
		} `json:"data"`
	}
	unmarshal(t, data, &e)
	return e.Session + "/" + e.Data.Name
}

func snap(t *testing.T, eng *turnstone.Engine, session string, names ...string) {
	t.Helper()
	s, err := eng.Session(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if _, err := s.Snapshot(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEventsInPages(t *testing.T) {
	eng := opened(t, turnstone.Config{})
	c := serve(t, eng, server.Config{})
	var empty, first, second, of, rest eventPage
	c.want(http.StatusOK, &empty, "GET", "/events", nil)
	snap(t, eng, "a", "1", "2")
	snap(t, eng, "b", "3")
	c.want(http.StatusOK, &first, "GET", "/events?limit=2", nil)
	c.want(http.StatusOK, &second, "GET", "/events?limit=2&cursor="+first.Next, nil)
	c.want(http.StatusOK, &rest, "GET", "/events?cursor="+second.Next, nil)
	c.want(http.StatusOK, &of, "GET", "/sessions/b/events", nil)
	if len(empty.Items) != 0 || len(rest.Items) != 0 || rest.Next != second.Next || len(first.Items) != 2 || len(second.Items) != 1 || len(of.Items) != 1 {
		t.Errorf("%+v, %+v, %+v, %+v, %+v", empty, first, second, rest, of)
	}
	if second.Items[0].Session != "b" || second.Items[0].Kind != "snapshot-created" || of.Items[0] != second.Items[0] {
		t.Errorf("%+v, %+v", second, of)
	}
	c.want(http.StatusNotFound, nil, "GET", "/sessions/none/events", nil)
	c.want(http.StatusNotFound, nil, "GET", "/sessions/none/events", nil, "Accept", sse.ContentType)
}

type eventPage struct {
	Items []struct {
		ID      string `json:"id"`
		Session string `json:"session_id"`
		Kind    string `json:"kind"`
	} `json:"items"`
	Next string `json:"next"`
}

func TestEventsStream(t *testing.T) {
	eng := opened(t, turnstone.Config{})
	c := serve(t, eng, server.Config{})
	snap(t, eng, "a", "before")
	all, of := c.watch("/events"), c.watch("/sessions/a/events")
	snap(t, eng, "b", "1")
	snap(t, eng, "a", "2", "3")
	if d := cmp.Diff([]string{"snapshot-created b/1", "snapshot-created a/2", "snapshot-created a/3"}, all.names(3)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"snapshot-created a/2"}, of.names(1)); d != "" {
		t.Error(d)
	}
	from := c.watch("/events?from=start")
	if d := cmp.Diff([]string{"snapshot-created a/before", "snapshot-created b/1"}, from.names(2)); d != "" {
		t.Error(d)
	}
	if from.Retry() == 0 {
		t.Error("nobody is told when to come again")
	}
}

// Wherever a client is cut off, it goes on after the last id it saw, without a gap and without anything twice.
func TestEventsResume(t *testing.T) {
	eng := opened(t, turnstone.Config{})
	c := serve(t, eng, server.Config{})
	var want, got []string
	watch, last := c.watch("/events"), ""
	for i := range 12 {
		name := fmt.Sprint(i)
		want = append(want, "snapshot-created a/"+name)
		if i%3 == 2 {
			// Nobody looks on while this one happens.
			watch.hang()
			snap(t, eng, "a", name)
			watch = c.watch("/events?cursor=unused", "Last-Event-ID", last)
		} else {
			snap(t, eng, "a", name)
		}
		got = append(got, watch.names(1)...)
		last = watch.LastID()
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	// One who saw nothing yet goes on where the stream began.
	watch = c.watch("/events")
	snap(t, eng, "a", "next")
	watch.names(1)
	again := c.watch("/events", "Last-Event-ID", last)
	if d := cmp.Diff([]string{"snapshot-created a/next"}, again.names(1)); d != "" {
		t.Error(d)
	}
}

// Who was cut off before anything was announced misses nothing either.
func TestEventsResumeFromNothing(t *testing.T) {
	eng := opened(t, turnstone.Config{})
	c := serve(t, eng, server.Config{})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.base+"/api/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", sse.ContentType)
	answer, err := c.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	const first = "retry: 1000\nid: 0\n\n"
	told := make([]byte, len(first))
	_, err = io.ReadFull(answer.Body, told)
	if err = errors.Join(err, answer.Body.Close()); err != nil || string(told) != first {
		t.Fatalf("%q, %v", told, err)
	}
	snap(t, eng, "a", "first")
	for _, path := range []string{"/events", "/sessions/a/events"} {
		again := c.watch(path, "Last-Event-ID", "0")
		if d := cmp.Diff([]string{"snapshot-created a/first"}, again.names(1)); d != "" {
			t.Error(d)
		}
	}
	var page eventPage
	if c.want(http.StatusOK, &page, "GET", "/events?cursor=0", nil); len(page.Items) != 1 {
		t.Errorf("%+v", page)
	}
}

// lock is a guard whose one key can be revoked.
type lock struct{ revoked atomic.Bool }

func (l *lock) Identify(context.Context, string) (access.Caller, error) {
	if l.revoked.Load() {
		return access.Caller{}, access.ErrUnknownKey
	}
	return access.Caller{Key: "k", Tenant: "one", Scopes: access.Everything()}, nil
}

func TestEventsEndWithTheKey(t *testing.T) {
	eng, guard := opened(t, turnstone.Config{}), &lock{}
	c := serve(t, eng, server.Config{Guard: guard})
	one, err := eng.ForTenant("one")
	if err != nil {
		t.Fatal(err)
	}
	watch := c.watch("/events")
	snap(t, one, "a", "1")
	watch.names(1)
	guard.revoked.Store(true)
	snap(t, one, "a", "2")
	if e, err := watch.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("a key that was revoked is told %+v, %v", e, err)
	}
}

// What one replica stores the subscribers of the other are told, and a client that was cut off goes on at either.
func TestEventsOfOtherReplicas(t *testing.T) {
	url := pgtest.URL(t)
	var engines []*turnstone.Engine
	var clients []*client
	for range 2 {
		st, err := postgres.Open(t.Context(), url, postgres.Config{})
		if err != nil {
			t.Fatal(err)
		}
		eng, err := turnstone.Open(t.Context(), st, turnstone.Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := eng.Close(); err != nil {
				t.Error(err)
			}
		})
		engines, clients = append(engines, eng), append(clients, serve(t, eng, server.Config{}))
	}
	both := []*watching{clients[0].watch("/events"), clients[1].watch("/events")}
	var want []string
	for i := range 6 {
		snap(t, engines[i%2], "a", fmt.Sprint(i))
		want = append(want, fmt.Sprint("snapshot-created a/", i))
	}
	for i, w := range both {
		if d := cmp.Diff(want, w.names(len(want))); d != "" {
			t.Errorf("replica %d: %s", i, d)
		}
	}
	snap(t, engines[0], "a", "more")
	elsewhere := clients[1].watch("/events", "Last-Event-ID", both[0].LastID())
	if d := cmp.Diff([]string{"snapshot-created a/more"}, elsewhere.names(1)); d != "" {
		t.Error(d)
	}
}

// A server that is to end sends its subscribers away and leaves nothing behind.
func TestEventsEndWithTheServer(t *testing.T) {
	eng := opened(t, turnstone.Config{})
	ctx, stop := context.WithCancel(t.Context())
	s, err := server.New(server.Config{Engine: eng})
	if err != nil {
		t.Fatal(err)
	}
	c, ended := listening(t, ctx, s)
	watch := c.watch("/events")
	stop()
	if _, err := watch.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// listening has a server serve on a port of its own until ctx ends.
func listening(t *testing.T, ctx context.Context, s *server.Server) (*client, <-chan error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	return &client{t: t, base: "http://" + l.Addr().String(), http: http.DefaultClient, doc: new(document)}, ended
}

func unmarshal(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}
