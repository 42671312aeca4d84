package server_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/server"
)

// A server that is to end finishes the exchange that is under way, and what takes longer than its grace is kept as far as
// it came.
func TestServeFinishesExchanges(t *testing.T) {
	for name, test := range map[string]struct {
		reply       llmtest.Reply
		grace       time.Duration
		interrupted bool
	}{
		"in time":    {llmtest.Reply{Text: "Yes."}, time.Minute, false},
		"too slowly": {llmtest.Reply{Text: "Yes.", Endless: true}, time.Millisecond, true},
	} {
		t.Run(name, func(t *testing.T) {
			asked, answer := make(chan struct{}), make(chan struct{})
			eng := opened(t, turnstone.Config{Model: llmtest.Respond(func(llm.Request) llmtest.Reply {
				close(asked)
				<-answer
				return test.reply
			})})
			chat, err := eng.Session(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			s, err := server.New(server.Config{Engine: eng, Limits: server.Limits{Grace: test.grace}})
			if err != nil {
				t.Fatal(err)
			}
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			served, told := make(chan error, 1), make(chan string, 1)
			go func() { served <- s.Serve(ctx, listener) }()
			go func() { told <- saying("http://" + listener.Addr().String() + "/api/v1/sessions/s/say") }()
			<-asked
			stop()
			<-s.Closing()
			close(answer)
			if err := <-served; err != nil {
				t.Error(err)
			}
			if text := <-told; strings.Contains(text, `"text":"Yes."`) == test.interrupted {
				t.Errorf("the client is told %q", text)
			}
			turns, err := chat.Since(t.Context(), 0, 10)
			if err != nil || len(turns) != 2 || turns[1].Meta.Interrupted != test.interrupted {
				t.Errorf("%+v, %v", turns, err)
			}
		})
	}
}

// saying is what is answered, or why nothing is.
func saying(url string) string {
	answer, err := http.Post(url, "application/json", strings.NewReader(`{"text":"Are you there?"}`))
	if err != nil {
		return err.Error()
	}
	text, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return err.Error()
	}
	return string(text)
}

// A server that is to end goes on as before for a while, and says that it should not be asked. Told again it ends.
func TestServeDrains(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	s, err := server.New(server.Config{Engine: opened(t, turnstone.Config{}), Limits: server.Limits{Drain: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, listener) }()
	stop()
	fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for range 20 {
		answer, err := fresh.Get("http://" + listener.Addr().String() + "/api/v1/sessions")
		if err != nil {
			t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("%s, %v", answer.Status, err)
		}
	}
	select {
	case <-s.Closing():
		t.Error("streams end already")
	default:
	}
	s.Interrupt()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if _, err := fresh.Get("http://" + listener.Addr().String() + "/api/v1/sessions"); err == nil {
		t.Error("it still answers")
	}
}
