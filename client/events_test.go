package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/client"
	"github.com/turnstone-dev/turnstone/server"
)

// snapshotOf is the name of the snapshot that an event is about.
func snapshotOf(t *testing.T, e client.Event) string {
	t.Helper()
	var about struct{ Name string }
	if err := json.Unmarshal(e.Data, &about); err != nil {
		t.Fatal(err)
	}
	return e.Session + "/" + about.Name
}

func take(t *testing.T, s *client.Session, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := s.Snapshot(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEventsGoOn cuts every connection after each event: none is missed and none comes twice.
func TestEventsGoOn(t *testing.T) {
	w := start(t, turnstone.Config{}, server.Config{})
	a, b := w.session(t, "a"), w.session(t, "b")
	take(t, a, "1", "2")
	take(t, b, "3")
	var got []string
	var cursor string
	for e, err := range w.Events(t.Context(), client.EventsFrom{Start: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, snapshotOf(t, e)); len(got) == 2 {
			cursor = e.Cursor
		}
		if len(got) == 5 {
			break
		}
		w.srv.CloseClientConnections()
		if len(got) == 3 {
			take(t, b, "4", "5")
		}
	}
	if d := cmp.Diff([]string{"a/1", "a/2", "b/3", "b/4", "b/5"}, got); d != "" {
		t.Error(d)
	}
	for e, err := range w.Events(t.Context(), client.EventsFrom{After: cursor}) {
		if err != nil || snapshotOf(t, e) != "b/3" || e.Kind != "snapshot-created" || e.At.IsZero() {
			t.Errorf("behind the second: %+v, %v", e, err)
		}
		break
	}
	for e, err := range b.Events(t.Context(), client.EventsFrom{Start: true}) {
		if err != nil || snapshotOf(t, e) != "b/3" {
			t.Errorf("of the other session: %+v, %v", e, err)
		}
		break
	}
}

func TestEventsEnd(t *testing.T) {
	w := start(t, turnstone.Config{}, server.Config{})
	s := w.session(t, "s")
	take(t, s, "1")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var end error
	for _, err := range w.Events(ctx, client.EventsFrom{Start: true}) {
		end = err
		cancel()
	}
	if !errors.Is(end, context.Canceled) {
		t.Errorf("its reader is gone: %v", end)
	}
	for _, err := range w.Events(t.Context(), client.EventsFrom{After: "nothing of the sort"}) {
		if !errors.Is(err, client.Invalid) {
			t.Errorf("no cursor: %v", err)
		}
	}
}

// feed answers with one stream after the other, and notes what each was asked for.
type feed struct {
	streams []string
	asked   []string
	at      []time.Duration
	begin   time.Time
}

func (f *feed) RoundTrip(r *http.Request) (*http.Response, error) {
	f.at = append(f.at, time.Since(f.begin))
	f.asked = append(f.asked, r.URL.RawQuery+" "+r.Header.Get("Last-Event-ID"))
	if len(f.streams) == 0 {
		return nil, io.EOF
	}
	next := f.streams[0]
	f.streams = f.streams[1:]
	answer := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(next))}
	answer.Header.Set("Content-Type", "text/event-stream; charset=utf-8")
	switch next {
	case "hung":
		<-r.Context().Done()
		return nil, context.Cause(r.Context())
	case "portal":
		answer.Header.Set("Content-Type", "text/html")
	case "down":
		answer.StatusCode = http.StatusBadGateway
	case "away":
		answer.StatusCode = http.StatusServiceUnavailable
		answer.Header.Set("Retry-After", "31536000")
	case "gone":
		answer.StatusCode = http.StatusUnauthorized
	case "silent":
		answer.Body = &silent{r.Context()}
	}
	return answer, nil
}

// silent is a connection whose other end has vanished.
type silent struct{ ctx context.Context }

func (s *silent) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, context.Cause(s.ctx)
}

func (s *silent) Close() error { return nil }

func TestEventsBeginAgain(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		name    string
		streams []string
		asked   []string
		at      []time.Duration
	}{
		{"behind the last", []string{"id: 1\nretry: 1000\ndata: {}\n\n", "id: 2\ndata: {}\n\n", "gone"}, []string{" ", " 1", " 2"}, []time.Duration{0, time.Second, 2 * time.Second}},
		{"behind one that says nothing", []string{"id: 7\n\n", "gone"}, []string{" ", " 7"}, []time.Duration{0, 125 * ms}},
		{"behind the last, after a stream that was cut off at once", []string{"id: 1\ndata: {}\n\n", "", ": alive\n\n", "gone"}, []string{" ", " 1", " 1", " 1"}, []time.Duration{0, 125 * ms, 375 * ms, 875 * ms}},
		{"from the start, where there was none", []string{"retry: 200\n\n", "gone"}, []string{" ", "from=start "}, []time.Duration{0, 200 * ms}},
		{"later and later", []string{"id: 1\n\n", "down", "down", "gone"}, []string{" ", " 1", " 1", " 1"}, []time.Duration{0, 125 * ms, 375 * ms, 875 * ms}},
		{"when nothing comes", []string{"silent", "gone"}, []string{" ", " "}, []time.Duration{0, 45*time.Second + 125*ms}},
		{"when no answer comes", []string{"id: 1\n\n", "hung", "gone"}, []string{" ", " 1", " 1"}, []time.Duration{0, 125 * ms, 45*time.Second + 375*ms}},
		{"when something else answers", []string{"id: 1\n\n", "portal", "gone"}, []string{" ", " 1", " 1"}, []time.Duration{0, 125 * ms, 375 * ms}},
		{"within a minute of a server that wants to be left alone", []string{"id: 1\n\n", "away", "gone"}, []string{" ", " 1", " 1"}, []time.Duration{0, 125 * ms, time.Minute + 125*ms}},
		{"within a minute of a stream that says so", []string{"id: 1\nretry: 3600000\n\n", "gone"}, []string{" ", " 1"}, []time.Duration{0, time.Minute}},
		{"not where something else answers first", []string{"portal"}, []string{" "}, []time.Duration{0}},
		{"not for what cannot be read", []string{"id: 1\ndata: x\n\n"}, []string{" "}, []time.Duration{0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &feed{streams: test.streams, begin: time.Now()}
				c, err := client.New("http://server.example", client.Options{HTTP: &http.Client{Transport: f}})
				if err != nil {
					t.Fatal(err)
				}
				var end error
				for _, err := range c.Events(t.Context(), client.EventsFrom{}) {
					end = err
				}
				if d := cmp.Diff(test.asked, f.asked) + cmp.Diff(test.at, f.at); d != "" || end == nil {
					t.Errorf("%v, %s", end, d)
				}
			})
		})
	}
}

func TestEventsEndWhileTheyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &feed{streams: []string{"id: 1\nretry: 60000\n\n"}, begin: time.Now()}
		c, err := client.New("http://server.example", client.Options{HTTP: &http.Client{Transport: f}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, err := range c.Events(ctx, client.EventsFrom{}) {
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(f.begin) != time.Second {
				t.Errorf("%v after %s", err, time.Since(f.begin))
			}
		}
	})
}

func TestEventsOfNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &feed{begin: time.Now()}
		c, err := client.New("http://server.example", client.Options{HTTP: &http.Client{Transport: f}})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range c.Events(t.Context(), client.EventsFrom{}) {
			if !errors.Is(err, io.EOF) || len(f.asked) != 5 {
				t.Errorf("%v after %d", err, len(f.asked))
			}
		}
	})
}
