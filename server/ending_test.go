package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/server"
)

// What a server that is to end does not wait for is committed as interrupted, and its client is told.
func TestEndingInterruptsReplies(t *testing.T) {
	for name, grace := range map[string]time.Duration{"when told so": time.Hour, "after its grace": time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			eng := opened(t, turnstone.Config{Model: llmtest.Replies(llmtest.Reply{Text: "One ", Endless: true})})
			chat, err := eng.Session(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			ending := make(chan int, 1)
			s, err := server.New(server.Config{Engine: eng, Ending: func(n int) { ending <- n }, Limits: server.Limits{Grace: grace}})
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			c, ended := listening(t, ctx, s)
			answer, events := c.hear(t.Context(), "s", "Count.")
			defer answer.Body.Close()
			if e, err := events.Next(); err != nil || e.Name != "text" {
				t.Fatalf("%+v %v", e, err)
			}
			stop()
			if n := <-ending; n != 1 {
				t.Errorf("%d requests are under way", n)
			}
			if grace == time.Hour {
				s.Interrupt()
				s.Interrupt()
			}
			var told server.Problem
			for _, e := range c.rest(events) {
				if e.Name == "problem" {
					if err := json.Unmarshal([]byte(e.Data), &told); err != nil {
						t.Fatal(err)
					}
				}
			}
			if told.Status != http.StatusServiceUnavailable || !strings.Contains(told.Detail, "the server is ending") {
				t.Errorf("%+v", told)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
			turns, err := chat.Window(t.Context())
			if err != nil || len(turns) != 2 || !turns[1].Meta.Interrupted {
				t.Errorf("%v %+v", err, turns)
			}
		})
	}
}
