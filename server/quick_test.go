package server_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server"
)

// own is what two answers to the same request do not have in common.
var own = regexp.MustCompile(`"(turn_id|created_at|request_id)":"[^"]*"`)

// What is appended quickly is answered as everything else is. A list of types that are accepted has it go the other way.
func TestAppendingQuicklyIsAppending(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{Limits: server.Limits{Turns: 4000}})
	long := strings.Repeat("word \u00e9 ", 300)
	for name, test := range map[string]struct {
		query, body, key string
	}{
		"a text":             {"?create=true", `{"turns":[{"role":"user","text":"hello"}]}`, ""},
		"a long text":        {"?create=true", fmt.Sprintf(`{"turns":[{"role":"user","text":%q}]}`, long), ""},
		"escapes":            {"?create=true", `{"turns":[{"role":"user","text":"\"\\\n\u00e9\ud83d\ude00"}]}`, ""},
		"several, and a key": {"?create=true", `{"turns":[{"role":"user","text":"a"},{"role":"agent","text":"b"}]}`, "k"},
		"over lines":         {"?create=true", `{"turns":[{"role":"agent","content":{"text":"","tool_calls":[{"id":"c","name":"f","arguments":{` + "\n" + `}}]}}]}`, ""},
		"speech":             {"?create=true", `{"turns":[{"role":"user","form":"speech","content":{"transcript":"hm"}}]}`, ""},
		"a text of speech":   {"?create=true", `{"turns":[{"role":"user","form":"speech","text":"hm"}]}`, ""},
		"no session":         {"", `{"turns":[{"role":"user","text":"hello"}]}`, ""},
		"none to be made":    {"?create=false", `{"turns":[{"role":"user","text":"hello"}]}`, ""},
		"no such query":      {"?create=perhaps", `{"turns":[{"role":"user","text":"hello"}]}`, ""},
		"an unknown query":   {"?make=true", `{"turns":[{"role":"user","text":"hello"}]}`, ""},
		"no turns":           {"?create=true", `{"turns":[]}`, ""},
		"an unknown field":   {"?create=true", `{"turns":[{"role":"user","words":"hello"}]}`, ""},
		"another role":       {"?create=true", `{"turns":[{"role":"robot","text":"hello"}]}`, ""},
		"a number":           {"?create=true", `{"turns":[{"role":"user","text":7}]}`, ""},
		"half a letter":      {"?create=true", `{"turns":[{"role":"user","text":"\ud83d"}]}`, ""},
		"twice":              {"?create=true", `{"turns":[{"role":"user","text":"a","content":{"text":"b"}}]}`, ""},
		"no JSON":            {"?create=true", `{"turns":[{"role":"user","text":"hello"}]`, ""},
		"too large":          {"?create=true", `{"turns":[{"role":"user","text":"` + strings.Repeat("x", 4000) + `"}]}`, ""},
		"too long a key":     {"?create=true", `{"turns":[{"role":"user","text":"hello"}]}`, strings.Repeat("k", 201)},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			var answers [2]reply
			for i, accept := range []string{"", "application/json, text/plain;q=0.5"} {
				session := fmt.Sprintf("%s %d", name, i)
				headers := []string{}
				for header, value := range map[string]string{"Accept": accept, "Idempotency-Key": test.key} {
					if value != "" {
						headers = append(headers, header, value)
					}
				}
				got := c.do("POST", "/sessions/"+strings.ReplaceAll(session, " ", "%20")+"/turns"+test.query, test.body, headers...)
				got.body = strings.ReplaceAll(own.ReplaceAllString(got.body, "$1"), session, "session")
				got.header = http.Header{"Content-Type": got.header["Content-Type"]}
				answers[i] = got
			}
			if diff := cmp.Diff(answers[1], answers[0], cmp.AllowUnexported(reply{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Both ways tell that a session was reopened.
func TestAppendingReopens(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	c.say("s", "Hello.")
	for _, accept := range []string{"*/*", "application/json, text/plain;q=0.5"} {
		c.want(http.StatusOK, nil, "POST", "/sessions/s/end", nil)
		for _, want := range []bool{true, false} {
			got := c.want(http.StatusCreated, nil, "POST", "/sessions/s/turns", `{"turns":[{"role":"user","text":"Again."}]}`, "Accept", accept)
			if strings.HasSuffix(strings.TrimSpace(got.body), `],"reopened":true}`) != want {
				t.Errorf("%s: %s", accept, got.body)
			}
		}
	}
}

// A body that breaks off is told as that, however much of it came.
func TestAppendingABodyThatBreaksOff(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	for _, body := range []string{"", `{"turns":[{"role":`, `{"turns":[{"role":"user","text":"x"}]}`} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(c.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		request := "POST /api/v1/sessions/s/turns?create=true HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n" + body
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn)
		if err != nil || !bytes.Contains(answer, []byte("400 Bad Request")) || !bytes.Contains(answer, []byte(`"detail":"the body broke off; send it again"`)) {
			t.Errorf("%q: %s, %v", body, answer, err)
		}
	}
	c.want(http.StatusNotFound, nil, "GET", "/sessions/s/turns", nil)
}
