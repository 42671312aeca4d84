package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/server"
)

// What a request of several turns is stored under is no key that a client could send.
func TestTheKeysOfSeveralTurnsAreNobodyElses(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	c.want(http.StatusCreated, nil, "POST", "/sessions/s/turns?create=true",
		`{"turns":[{"role":"user","text":"Shall I delete it?"},{"role":"user","text":"yes"}]}`, "Idempotency-Key", "chat")
	var shown turnsShown
	c.want(http.StatusOK, &shown, "GET", "/sessions/s/turns", nil)
	keys := []string{"chat:1", "chat:2"}
	for _, stored := range shown.Items[1:] {
		var told server.Problem
		c.want(http.StatusBadRequest, &told, "POST", "/sessions/s/turns", map[string]any{
			"turns": []any{map[string]string{"role": "user", "text": "yes", "idempotency_key": stored.Key}},
		})
		if told.Field != "turns[0].idempotency_key" {
			t.Errorf("key %q: %+v", stored.Key, told)
		}
		c.want(http.StatusBadRequest, &told, "POST", "/sessions/s/commit", map[string]any{
			"turns": []any{map[string]string{"role": "user", "text": "yes", "idempotency_key": stored.Key}},
		})
		if told.Field != "turns[0].idempotency_key" {
			t.Errorf("key %q: %+v", stored.Key, told)
		}
	}
	for i, key := range keys {
		var added turnsShown
		c.want(http.StatusCreated, &added, "POST", "/sessions/s/turns", `{"turns":[{"role":"user","text":"yes"}]}`, "Idempotency-Key", key)
		if seq := added.Items[0].Seq; seq != int64(3+i) {
			t.Errorf("key %s: turn %d", key, seq)
		}
	}
}

// One key names one request of a session, whatever it asks for. Another session has keys of its own.
func TestOneKeyNamesOneRequest(t *testing.T) {
	requests := map[string]struct {
		path, body string
		done       int
	}{
		"turns":  {"/turns?create=true", `{"turns":[{"role":"user","text":"Hello."}]}`, http.StatusCreated},
		"two":    {"/turns?create=true", `{"turns":[{"role":"user","text":"Hello."},{"role":"agent","text":"Good day."}]}`, http.StatusCreated},
		"commit": {"/commit?create=true", `{"turns":[{"role":"user","text":"Hello."},{"role":"agent","text":"Good day."}]}`, http.StatusOK},
		"say":    {"/say?create=true", `{"text":"Hello."}`, http.StatusOK},
		"parts":  {"/say?create=true", `{"text":"Hello.","parts":[{"content":{"text":"You."}}]}`, http.StatusOK},
	}
	for first, a := range requests {
		for second, b := range requests {
			if first == second {
				continue
			}
			for _, key := range []string{"k", "01ARZ3NDEKTSV4RRFFQ69G5FAV"} {
				t.Run(first+" and "+second+" "+key, func(t *testing.T) {
					c := start(t, turnstone.Config{Model: llmtest.NewScript("Good day.", "Good day.")}, server.Config{})
					c.want(a.done, nil, "POST", "/sessions/s"+a.path, a.body, "Idempotency-Key", key)
					before := c.want(http.StatusOK, nil, "GET", "/sessions/s/turns", nil)
					var told server.Problem
					c.want(http.StatusConflict, &told, "POST", "/sessions/s"+b.path, b.body, "Idempotency-Key", key)
					if !strings.Contains(told.Detail, key) || !strings.Contains(told.Detail, "was used for") && !strings.Contains(told.Detail, "was said before") {
						t.Errorf("it is told %q", told.Detail)
					}
					if after := c.want(http.StatusOK, nil, "GET", "/sessions/s/turns", nil); after.body != before.body {
						t.Errorf("%s\nwas\n%s", after.body, before.body)
					}
					if a.path[:4] != "/say" {
						c.want(a.done, nil, "POST", "/sessions/s"+a.path, a.body, "Idempotency-Key", key)
					}
					c.want(b.done, nil, "POST", "/sessions/other"+b.path, b.body, "Idempotency-Key", key)
				})
			}
		}
	}
}
