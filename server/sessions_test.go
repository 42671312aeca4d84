package server_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server"
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
	c.want(http.StatusOK, &of, "GET", "/sessions?user=user-b&status=active", nil)
	if diff := cmp.Diff([]string{"b"}, of.ids()); diff != "" {
		t.Error(diff)
	}
	empty := c.want(http.StatusOK, nil, "GET", "/sessions?status=ended", nil)
	if empty.body != "{\"items\":[]}\n" {
		t.Errorf("no sessions are %s", empty.body)
	}
}
