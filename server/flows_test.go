package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server"
)

func TestFlows(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	c.say("s", "book a table")
	for _, step := range []struct {
		method, path, body string
		status             int
		says               []string
	}{
		{"POST", "/flows", `{"name":"book","flow_id":"f1","slots":[{"name":"city","type":"string"},{"name":"n","value":[1, 2]}]}`, 200,
			[]string{`{"revision":1,"after_seq":1,`, `"flow":{"flow_id":"f1","name":"book","status":"active"`, `{"name":"n","type":"list","value":[1, 2],"filled_by":"`}},
		{"POST", "/flows", `{"name":"book"}`, 200, []string{`"flow_id":"f1"`, `"revision":1,`}},
		{"PUT", "/flows/slots/city", `{"value":"Rome"}`, 200, []string{`"value":"Rome"`}},
		{"PUT", "/flows/slots/city", `{"value":7}`, 400, []string{`"field":"value"`}},
		{"PUT", "/flows/slots/time", `{"type":"number"}`, 200, []string{`{"name":"time","type":"number"}`}},
		{"PUT", "/flows/slots/city", `{}`, 200, []string{`{"name":"city","type":"string"}`}},
		{"POST", "/flows/stage", `{"stage":"asking"}`, 200, []string{`"stage":"asking"`}},
		{"POST", "/flows/attach", `{"turn":"1"}`, 200, []string{`"flow_id":"f1"`}},
		{"POST", "/flows/attach", `{"turn":"9"}`, 404, nil},
		{"POST", "/flows", `{"name":"pay","flow_id":"f2","plan_id":"f1"}`, 200, []string{`"plan_id":"f1"`}},
		{"POST", "/flows/fallback", `{"name":"ask","flow_id":"f3"}`, 200, []string{`"flow_id":"f3"`}},
		{"POST", "/flows/complete", `{"result":{"ok" : true}}`, 200, []string{`"result":{"ok" : true}`, `"status":"completed"`}},
		{"POST", "/flows/complete", `{}`, 422, []string{"not-legal"}},
		{"POST", "/flows/pop", `{"turn":"1"}`, 200, []string{`"finished":[{"flow_id":"f2"`, `"promoted":{"flow_id":"f1"`}},
		{"POST", "/flows/f1/invalidate", ``, 200, []string{`"invalidated":[{"flow_id":"f1"`}},
		{"POST", "/flows/nothing/invalidate", ``, 404, nil},
		{"POST", "/flows/pop", `{}`, 200, []string{`"finished":[{"flow_id":"f1"`}},
		{"POST", "/flows", `{"title":"x"}`, 400, []string{`"field":"title"`}},
		{"POST", "/flows", `{"name":""}`, 400, []string{`"field":"name"`}},
		{"GET", "/flows/completed", ``, 200, []string{`{"items":[{"flow_id":"f3"}]}`}},
		{"GET", "/state?at=2", ``, 404, nil},
	} {
		var body any
		if step.body != "" {
			body = step.body
		}
		got := c.want(step.status, nil, step.method, "/sessions/s"+step.path, body)
		for _, says := range step.says {
			if !strings.Contains(got.body, says) {
				t.Errorf("%s %s: %s is not in %s", step.path, step.body, says, got.body)
			}
		}
	}
}

func TestStateIsChangedAsItWasSeen(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	c.say("s", "book a table")
	empty := c.want(http.StatusOK, nil, "GET", "/sessions/s/state", nil)
	if !strings.Contains(empty.body, `"state":{"stack":[]}`) {
		t.Error(empty.body)
	}
	seen := empty.header.Get("ETag")
	c.want(http.StatusNotModified, nil, "GET", "/sessions/s/state", nil, "If-None-Match", seen)
	after := c.want(http.StatusOK, nil, "POST", "/sessions/s/flows", `{"name":"book"}`, "If-Match", seen)
	c.want(http.StatusPreconditionFailed, nil, "POST", "/sessions/s/flows", `{"name":"other"}`, "If-Match", seen)
	now := c.want(http.StatusOK, nil, "GET", "/sessions/s/state", nil)
	if now.header.Get("ETag") != after.header.Get("ETag") || strings.Contains(now.body, "other") || !strings.Contains(now.body, `"book"`) {
		t.Errorf("%v %s", now.header, now.body)
	}
	attached := c.want(http.StatusOK, nil, "POST", "/sessions/s/flows/attach", `{}`, "If-Match", after.header.Get("ETag"))
	if attached.header.Get("ETag") == after.header.Get("ETag") {
		t.Error("a flow points at another turn under the same tag")
	}
}
