package server_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

type sessionPage struct {
	Items []struct {
		Session string `json:"session_id"`
		User    string `json:"user"`
		Status  string `json:"status"`
	} `json:"items"`
	Next string `json:"next"`
}

func (p sessionPage) ids() (list []string) {
	for _, s := range p.Items {
		list = append(list, s.Session)
	}
	return list
}

func TestSessionsAreListedInPages(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	for _, id := range []string{"a", "b", "c"} {
		c.want(http.StatusCreated, nil, "POST", "/sessions", map[string]string{"session_id": id, "user": "user-" + id})
	}
	var first, second, of sessionPage
	c.want(http.StatusOK, &first, "GET", "/sessions?limit=2", nil)
	if diff := cmp.Diff([]string{"c", "b"}, first.ids()); diff != "" || first.Next == "" {
		t.Errorf("first page, next %q: %s", first.Next, diff)
	}
	c.want(http.StatusOK, &second, "GET", "/sessions?limit=2&cursor="+first.Next, nil)
	if diff := cmp.Diff([]string{"a"}, second.ids()); diff != "" || second.Next != "" {
		t.Errorf("second page, next %q: %s", second.Next, diff)
	}
	if want := base64.RawURLEncoding.EncodeToString([]byte("sessions:b")); first.Next != want {
		t.Errorf("the cursor says more than where it is: %s, want %s", first.Next, want)
	}
	for _, place := range []string{"sessions:none", "sessions:no/id", "exports:b"} {
		c.want(http.StatusBadRequest, nil, "GET", "/sessions?cursor="+base64.RawURLEncoding.EncodeToString([]byte(place)), nil)
	}
	c.want(http.StatusOK, &of, "GET", "/sessions?user=user-b&status=active", nil)
	if diff := cmp.Diff([]string{"b"}, of.ids()); diff != "" {
		t.Error(diff)
	}
	empty := c.want(http.StatusOK, nil, "GET", "/sessions?status=ended", nil)
	if empty.body != "{\"items\":[]}\n" {
		t.Errorf("no sessions are %s", empty.body)
	}
}

func TestSessionIsDescribed(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"s","user":"u","title":"first"}`)
	seen := c.want(http.StatusOK, nil, "GET", "/sessions/s", nil).header.Get("ETag")
	c.want(http.StatusNotModified, nil, "GET", "/sessions/s", nil, "If-None-Match", `"x", W/`+seen)
	c.want(http.StatusOK, nil, "GET", "/sessions/s", nil, "If-None-Match", `"x"`)

	var shown struct{ User, Title string }
	now := c.want(http.StatusOK, &shown, "PATCH", "/sessions/s", `{"title":"second"}`, "If-Match", seen)
	if shown.Title != "second" || shown.User != "u" {
		t.Errorf("%+v", shown)
	}
	c.want(http.StatusPreconditionFailed, nil, "PATCH", "/sessions/s", `{"title":"third"}`, "If-Match", seen)
	c.want(http.StatusOK, &shown, "GET", "/sessions/s", nil)
	if shown.Title != "second" {
		t.Errorf("%+v", shown)
	}
	c.want(http.StatusNotModified, nil, "GET", "/sessions/s", nil, "If-None-Match", now.header.Get("ETag"))
	c.want(http.StatusBadRequest, nil, "PATCH", "/sessions/s", `{}`)
	for _, make := range [][2]string{{"PATCH", "/sessions/s"}, {"POST", "/sessions"}, {"POST", "/sessions/s/fork"}} {
		refused := c.want(http.StatusBadRequest, nil, make[0], make[1], `{"mode":"nonsense"}`)
		if !strings.Contains(refused.body, `\"nonsense\" is not a mode`) || !strings.Contains(refused.body, "developer, planning, assistant, debugger") {
			t.Errorf("%s %s: %s", make[0], make[1], refused.body)
		}
	}
}

// Of two who have seen the same, one changes it, however close they come.
func TestIfMatchHoldsUntilTheChange(t *testing.T) {
	db := &holding{Store: newStore(t, t.TempDir(), sqlite.Config{}), id: "held", entered: make(chan struct{}), leave: make(chan struct{})}
	c := serve(t, openedOn(t, db, turnstone.Config{}), server.Config{})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"s"}`)
	seen := c.want(http.StatusOK, nil, "GET", "/sessions/s", nil).header.Get("ETag")
	answered := make(chan reply, 1)
	go func() {
		// It has looked, and is about to write.
		answered <- c.do("PATCH", "/sessions/s", `{"title":"late"}`, "If-Match", seen, "X-Request-Id", db.id)
	}()
	<-db.entered
	c.want(http.StatusOK, nil, "PATCH", "/sessions/s", `{"title":"first"}`, "If-Match", seen)
	close(db.leave)
	if got := <-answered; got.status != http.StatusPreconditionFailed || !strings.Contains(got.body, `"field":"if-match"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	var shown struct{ Title string }
	c.want(http.StatusOK, &shown, "GET", "/sessions/s", nil)
	if shown.Title != "first" {
		t.Errorf("it is called %s", shown.Title)
	}
}

// Who has seen anything at all, as a star says, makes his change however it was changed meanwhile, and it is not lost.
func TestIfMatchOfAnything(t *testing.T) {
	for _, test := range []struct{ name, method, path, meanwhile, body, says string }{
		{"a session", "PATCH", "/sessions/s", `{"title":"first"}`, `{"title":"late"}`, `"title":"late"`},
		{"the dialogue state", "POST", "/sessions/s/flows", `{"name":"first"}`, `{"name":"late"}`, `"name":"late"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := &holding{Store: newStore(t, t.TempDir(), sqlite.Config{}), id: "held", entered: make(chan struct{}), leave: make(chan struct{})}
			c := serve(t, openedOn(t, db, turnstone.Config{}), server.Config{})
			c.say("s", "hello")
			answered := make(chan reply, 1)
			go func() { answered <- c.do(test.method, test.path, test.body, "If-Match", "*", "X-Request-Id", db.id) }()
			<-db.entered
			c.want(http.StatusOK, nil, test.method, test.path, test.meanwhile)
			close(db.leave)
			if got := <-answered; got.status != http.StatusOK || !strings.Contains(got.body, test.says) {
				t.Errorf("%d %s", got.status, got.body)
			}
			shown := c.want(http.StatusOK, nil, "GET", "/sessions/s", nil).body + c.want(http.StatusOK, nil, "GET", "/sessions/s/state", nil).body
			if !strings.Contains(shown, test.says) {
				t.Errorf("%s", shown)
			}
		})
	}
}

func TestSessionIsEndedAndForked(t *testing.T) {
	c := start(t, turnstone.Config{BundleDir: t.TempDir()}, server.Config{})
	c.say("s", "one", "two", "three")
	var mark struct {
		Name string
		Seq  int64
	}
	c.want(http.StatusCreated, &mark, "POST", "/sessions/s/bookmarks", `{"name":"here","at":2}`)
	if mark.Name != "here" || mark.Seq != 2 {
		t.Errorf("%+v", mark)
	}
	var marks struct{ Items []struct{ Name string } }
	if c.want(http.StatusOK, &marks, "GET", "/sessions/s/bookmarks", nil); len(marks.Items) != 1 {
		t.Errorf("%+v", marks)
	}
	c.want(http.StatusNotFound, nil, "POST", "/sessions/s/bookmarks", `{"name":"there","at":4}`)

	for _, test := range []struct {
		body   string
		status int
		turns  int64
	}{
		{`{"session_id":"f1"}`, 201, 3},
		{`{"session_id":"f2","at":1}`, 201, 1},
		{`{"session_id":"f3","bookmark":"here"}`, 201, 2},
		{`{"session_id":"f4","bookmark":"nowhere"}`, 404, 0},
		{`{"session_id":"f4","bookmark":"here","at":1}`, 400, 0},
		{`{"session_id":"f4","at":9}`, 404, 0},
	} {
		var fork struct {
			Parent string
			Turns  int64
		}
		c.want(test.status, &fork, "POST", "/sessions/s/fork", test.body)
		if test.status == 201 && (fork.Parent != "s" || fork.Turns != test.turns) {
			t.Errorf("%s: %+v", test.body, fork)
		}
	}

	var ended struct{ Bundle string }
	c.want(http.StatusOK, &ended, "POST", "/sessions/s/end", nil)
	if ended.Bundle == "" || strings.ContainsAny(ended.Bundle, `/\`) {
		t.Errorf("bundle %q", ended.Bundle)
	}
	var shown struct {
		Status    string
		Bookmarks []struct{ Name string }
	}
	c.want(http.StatusOK, &shown, "GET", "/sessions/s", nil)
	if shown.Status != "ended" || len(shown.Bookmarks) != 1 {
		t.Errorf("%+v", shown)
	}
}
