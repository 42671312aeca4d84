package server_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/sse"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/store/doctor"
	"github.com/turnstone-dev/turnstone/store/mem"
)

// hangUp reads so many bytes of what comes and closes the connection: orderly, or with a reset as one that broke.
func hangUp(t *testing.T, conn *net.TCPConn, after int, reset bool) []byte {
	t.Helper()
	read := make([]byte, after)
	n, err := io.ReadFull(conn, read)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if reset {
		if err := conn.SetLinger(0); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	return read[:n]
}

// A client hangs up after each byte of a reply. However much of it was sent, the exchange is in the log whole or marked
// as interrupted, it is committed once, and the next one begins.
func TestHangingUpAtEachByteOfAReply(t *testing.T) {
	st := mem.New(mem.Config{})
	eng, err := turnstone.Open(t.Context(), st, turnstone.Config{Model: llmtest.Respond(func(llm.Request) llmtest.Reply {
		return llmtest.Reply{Thinking: "Hm.", Text: "One two three."}
	})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	c, _ := exposed(t, eng, server.Limits{})
	say := post("/sessions/%s/say", "Accept: text/event-stream\r\nConnection: close\r\nContent-Length: 17\r\n", `{"text":"Count."}`)
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"whole"}`)
	whole, err := io.ReadAll(c.dial(fmt.Sprintf(say, "whole")))
	if err != nil || !bytes.Contains(whole, []byte("event: reply")) {
		t.Fatalf("%s, %v", whole, err)
	}
	states := make(map[string]int)
	for after := range len(whole) + 1 {
		session := fmt.Sprint("s", after)
		c.want(http.StatusCreated, nil, "POST", "/sessions", fmt.Sprintf(`{"session_id":%q}`, session))
		hangUp(t, c.dial(fmt.Sprintf(say, session)), after, after%2 == 1)
		// It begins when the first is over.
		var got replied
		c.want(http.StatusOK, &got, "POST", "/sessions/"+session+"/say", `{"text":"And now?"}`)
		var shown struct {
			Items []struct {
				TurnID  string `json:"turn_id"`
				Role    string
				Content struct{ Text string }
				Meta    struct{ Interrupted bool }
			}
		}
		c.want(http.StatusOK, &shown, "GET", "/sessions/"+session+"/turns?kind=turn", nil)
		var log []string
		for _, i := range shown.Items {
			log = append(log, i.Role+" "+i.Content.Text)
		}
		if len(log) == 2 && after == 0 {
			continue // it hung up before it was heard
		}
		var export struct{ Status string }
		c.want(http.StatusOK, &export, "GET", "/exports/"+shown.Items[0].TurnID, nil)
		states[export.Status]++
		answer := ""
		if len(log) == 4 {
			answer = strings.TrimPrefix(log[1], "agent ")
			if cut := shown.Items[1].Meta.Interrupted; cut != (export.Status == "interrupted") || !cut && answer != "One two three." {
				t.Errorf("after %d bytes: %s, %q", after, export.Status, log)
			}
		}
		if log[0] != "user Count." || log[len(log)-2] != "user And now?" || !strings.HasPrefix("One two three.", answer) || len(log) < 3 {
			t.Errorf("after %d bytes: %s, %q", after, export.Status, log)
		}
	}
	if states["complete"] == 0 || states["interrupted"] == 0 {
		t.Errorf("%v", states)
	}
	if _, err := doctor.Examine(t.Context(), st, func(f doctor.Finding) { t.Error(f) }, nil); err != nil {
		t.Error(err)
	}
}

// A client hangs up after each byte of a stream of events and goes on after the last id that it read. It sees every
// event once.
func TestHangingUpAtEachByteOfEvents(t *testing.T) {
	eng := opened(t, turnstone.Config{})
	c, _ := exposed(t, eng, server.Limits{})
	snap(t, eng, "a", "1", "2", "3")
	want := []string{"snapshot-created a/1", "snapshot-created a/2", "snapshot-created a/3"}
	const watch = "GET /api/v1/events?from=start HTTP/1.0\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
	whole := c.dial(watch + "\r\n")
	length := &counted{r: whole}
	got, _ := eventsOf(t, length, len(want))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	for after := range length.n + 1 {
		read := hangUp(t, c.dial(watch+"\r\n"), after, after%2 == 1)
		seen, last := eventsOf(t, bytes.NewReader(read), len(want))
		if len(seen) < len(want) {
			more := watch + "\r\n"
			if last != "" {
				more = watch + "Last-Event-ID: " + last + "\r\n\r\n"
			}
			conn := c.dial(more)
			rest, _ := eventsOf(t, conn, len(want)-len(seen))
			seen = append(seen, rest...)
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
		}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("after %d bytes: %s", after, diff)
		}
	}
}

type counted struct {
	r io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

// eventsOf reads the answer that is a stream until there are so many events or it breaks off, and returns what they are
// about and the id to go on after.
func eventsOf(t *testing.T, from io.Reader, n int) (seen []string, last string) {
	t.Helper()
	answer, err := http.ReadResponse(bufio.NewReader(from), nil)
	if err != nil {
		return nil, ""
	}
	if answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status)
	}
	events := sse.NewReader(answer.Body, 0)
	for len(seen) < n {
		e, err := events.Next()
		if err != nil {
			break
		}
		seen = append(seen, e.Name+" "+snapshotOf(t, e.Data))
	}
	return seen, events.LastID()
}
