package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server"
)

type goal struct {
	ID         string   `json:"id"`
	Title      string   `json:"title"`
	Status     string   `json:"status"`
	Progress   float64  `json:"progress"`
	NextSteps  []string `json:"next_steps"`
	Version    int64    `json:"version"`
	Milestones []struct {
		Description string `json:"description"`
		Status      string `json:"status"`
	} `json:"milestones"`
}

// withSession starts a server that has a session.
func withSession(t *testing.T, id string) *client {
	t.Helper()
	c := start(t, turnstone.Config{}, server.Config{})
	c.want(http.StatusCreated, nil, "POST", "/sessions", map[string]string{"session_id": id, "user": "ann"})
	return c
}

func TestGoals(t *testing.T) {
	c := withSession(t, "a")
	var made, changed, shown goal
	c.want(http.StatusOK, &made, "POST", "/sessions/a/goals", `{"title":"Ship it","by":"user","add_milestones":[{"description":"API"},{"description":"Docs"}],
		"add_decisions":[{"description":"Use SQLite","locked":true}],"add_artifacts":[{"path":"main.go","action":"created"}]}`)
	if made.ID == "" || made.Version != 1 || made.Status != "active" {
		t.Errorf("%+v", made)
	}
	path := "/sessions/a/goals/" + made.ID
	got := c.want(http.StatusOK, &changed, "PATCH", path, `{"set_milestones":[{"description":"API","status":"completed"}],"next_steps":["Docs"]}`, "If-Match", `"1"`)
	if changed.Version != 2 || changed.Progress != 0.5 || got.header.Get("ETag") != `"2"` {
		t.Errorf("%+v, tag %s", changed, got.header.Get("ETag"))
	}
	c.want(http.StatusOK, &shown, "GET", path, nil)
	if d := cmp.Diff(changed, shown); d != "" {
		t.Error(d)
	}
	c.want(http.StatusNotModified, nil, "GET", path, nil, "If-None-Match", `"2"`)
	c.want(http.StatusPreconditionFailed, nil, "PATCH", path, `{"title":"Ship"}`, "If-Match", `"1"`)
	same := c.want(http.StatusOK, nil, "PATCH", path, `{"next_steps":["Docs"]}`)
	if same.header.Get("ETag") != `"2"` {
		t.Errorf("a change of nothing made it %s", same.header.Get("ETag"))
	}
	c.want(http.StatusOK, &shown, "POST", "/sessions/a/goals", `{"title":"Ship it"}`)
	if shown.ID != made.ID || shown.Version != 2 {
		t.Errorf("the goal of that title is %+v", shown)
	}
	for _, test := range []struct {
		path, want string
	}{
		{"milestones", `{"items":[{"goal_id":"ID","description":"API","status":"completed"},{"goal_id":"ID","description":"Docs","status":"pending"}]}`},
		{"decisions", `{"items":[{"goal_id":"ID","description":"Use SQLite","locked":true}]}`},
		{"artifacts", `{"items":[{"goal_id":"ID","path":"main.go","type":"file","action":"created"}]}`},
	} {
		if got := c.want(http.StatusOK, nil, "GET", "/sessions/a/"+test.path, nil); got.body != replaced(test.want, "ID", made.ID)+"\n" {
			t.Errorf("%s: %s", test.path, got.body)
		}
	}
	var versions struct {
		Items []struct {
			Version int64 `json:"version"`
			Doc     goal  `json:"doc"`
			Changes []struct {
				By string `json:"by"`
			} `json:"changes"`
		} `json:"items"`
	}
	c.want(http.StatusOK, &versions, "GET", path+"/history", nil)
	if len(versions.Items) != 2 || versions.Items[0].Changes[0].By != "user" || versions.Items[1].Doc.Version != 2 {
		t.Errorf("%+v", versions)
	}
	c.want(http.StatusOK, nil, "PATCH", path, `{"status":"completed","by":"user"}`)
	if got := c.want(http.StatusOK, nil, "GET", "/sessions/a/goals", nil); got.body != "{\"items\":[]}\n" {
		t.Errorf("live goals: %s", got.body)
	}
	var all struct{ Items []goal }
	c.want(http.StatusOK, &all, "GET", "/sessions/a/goals?all=true", nil)
	if len(all.Items) != 1 || all.Items[0].Status != "completed" {
		t.Errorf("%+v", all)
	}
}

func TestGoalsRefuse(t *testing.T) {
	c := withSession(t, "a")
	var made goal
	c.want(http.StatusOK, &made, "POST", "/sessions/a/goals", `{"id":"g","title":"Ship it","add_decisions":[{"description":"Use SQLite","locked":true}]}`)
	for _, test := range []struct {
		name, method, path, body string
		status                   int
		field                    string
	}{
		{"no title", "POST", "/sessions/a/goals", `{}`, 422, "title"},
		{"unknown field", "POST", "/sessions/a/goals", `{"tilte":"x"}`, 400, "tilte"},
		{"of another type", "POST", "/sessions/a/goals", `{"title":1}`, 400, "title"},
		{"no JSON", "POST", "/sessions/a/goals", `{"title":`, 400, ""},
		{"a list", "POST", "/sessions/a/goals", `[]`, 400, ""},
		{"a locked decision", "PATCH", "/sessions/a/goals/g", `{"remove_decisions":["Use SQLite"]}`, 422, "remove_decisions[0]"},
		{"another id", "PATCH", "/sessions/a/goals/g", `{"id":"h"}`, 400, "id"},
		{"no such goal", "PATCH", "/sessions/a/goals/h", `{}`, 404, ""},
		{"no such goal to see", "GET", "/sessions/a/goals/h", ``, 404, ""},
		{"no history", "GET", "/sessions/a/goals/h/history", ``, 404, ""},
		{"no such session", "GET", "/sessions/b/goals", ``, 404, ""},
		{"an old version", "POST", "/sessions/a/goals", `{"id":"g","version":7,"title":"x"}`, 422, "version"},
		{"several", "POST", "/sessions/a/intentions", `{"goals":[{"id":"g","title":"y"},{"id":"n"}]}`, 422, "goals[1].title"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := c.in(t)
			var body any
			if test.body != "" {
				body = test.body
			}
			var told struct {
				Field string `json:"field"`
			}
			c.want(test.status, &told, test.method, test.path, body)
			if told.Field != test.field {
				t.Errorf("field %q, want %q", told.Field, test.field)
			}
		})
	}
	c.want(http.StatusOK, &made, "GET", "/sessions/a/goals/g", nil)
	if made.Version != 1 || made.Title != "Ship it" {
		t.Errorf("something was written: %+v", made)
	}
}

func TestActions(t *testing.T) {
	c := withSession(t, "a")
	var made struct {
		ID, Type, Status string
		Version          int64
	}
	c.want(http.StatusOK, &made, "POST", "/sessions/a/actions", `{"title":"Ask Bob","type":"agent_task"}`)
	path := "/sessions/a/actions/" + made.ID
	got := c.want(http.StatusOK, &made, "PATCH", path, `{"status":"in_progress","add_evidence":["mail"]}`, "If-Match", `"1"`)
	if made.Status != "in_progress" || made.Version != 2 || got.header.Get("ETag") != `"2"` {
		t.Errorf("%+v, tag %s", made, got.header.Get("ETag"))
	}
	c.want(http.StatusOK, &made, "GET", path, nil)
	c.want(http.StatusNotModified, nil, "GET", path, nil, "If-None-Match", `"2"`)
	c.want(http.StatusPreconditionFailed, nil, "PATCH", path, `{"status":"done"}`, "If-Match", `"1"`)
	c.want(http.StatusOK, &made, "PATCH", path, `{"add_evidence":["mail"]}`)
	if made.Version != 2 {
		t.Errorf("a change of nothing made it %d", made.Version)
	}
	c.want(http.StatusOK, &made, "POST", "/sessions/a/actions", `{"id":"`+made.ID+`","title":"Ask Bob"}`)
	var refused struct{ Field string }
	if c.want(http.StatusUnprocessableEntity, &refused, "PATCH", path, `{"status":"escalated"}`); refused.Field != "status" {
		t.Errorf("field %q", refused.Field)
	}
	c.want(http.StatusBadRequest, nil, "PATCH", path, `{"stat":"done"}`)
	c.want(http.StatusBadRequest, nil, "PATCH", path, `{"id":"other"}`)
	c.want(http.StatusNotFound, nil, "PATCH", "/sessions/a/actions/none", `{}`)
	c.want(http.StatusNotFound, nil, "GET", "/sessions/a/actions/none", nil)
	var versions struct{ Items []struct{ Version int64 } }
	c.want(http.StatusOK, &versions, "GET", path+"/history", nil)
	if len(versions.Items) != 2 {
		t.Errorf("%+v", versions)
	}
	var both struct{ Goals, Actions []struct{ ID, Status string } }
	c.want(http.StatusOK, &both, "POST", "/sessions/a/intentions", `{"goals":[{"id":"g","title":"Ship"}],"actions":[{"id":"`+made.ID+`","status":"done"}]}`)
	if len(both.Goals) != 1 || len(both.Actions) != 1 || both.Actions[0].Status != "done" {
		t.Errorf("%+v", both)
	}
	var live, all struct{ Items []struct{ ID string } }
	c.want(http.StatusOK, &live, "GET", "/sessions/a/actions", nil)
	c.want(http.StatusOK, &all, "GET", "/sessions/a/actions?all=true", nil)
	if len(live.Items) != 0 || len(all.Items) != 1 {
		t.Errorf("%d live of %d", len(live.Items), len(all.Items))
	}
}

// A reference that names no goal is refused under its field, wherever it stands; one of the same request may be made behind it.
func TestReferencesThatNameNoGoal(t *testing.T) {
	c := withSession(t, "a")
	c.want(http.StatusOK, nil, "POST", "/sessions/a/goals", `{"id":"g","title":"Ship it"}`)
	for _, test := range []struct{ method, path, body, field string }{
		{"POST", "goals", `{"title":"Part","parent":"nobody"}`, "parent"},
		{"PATCH", "goals/g", `{"parent":"nobody"}`, "parent"},
		{"PATCH", "goals/g", `{"parent":"g"}`, "parent"},
		{"POST", "actions", `{"title":"Do it","goal_id":"nobody"}`, "goal_id"},
		{"POST", "intentions", `{"actions":[{"title":"Do it","goal_id":"nobody"}]}`, "actions[0].goal_id"},
	} {
		var told server.Problem
		c.want(http.StatusUnprocessableEntity, &told, test.method, "/sessions/a/"+test.path, test.body)
		if told.Field != test.field || !strings.Contains(told.Detail, test.field[strings.LastIndex(test.field, ".")+1:]+": ") || !strings.Contains(told.Detail, "; ") {
			t.Errorf("%s %s %s: the field is %q and %q is told, want %s and what to do", test.method, test.path, test.body, told.Field, told.Detail, test.field)
		}
	}
	c.want(http.StatusOK, nil, "POST", "/sessions/a/intentions", `{"goals":[{"id":"p","title":"Part","parent":"w"},{"id":"w","title":"Whole","parent":"g"}],
		"actions":[{"title":"Do it","goal_id":"p"}]}`)
	c.want(http.StatusOK, nil, "PATCH", "/sessions/a/goals/p", `{"progress":0.5}`)
}

func TestScratch(t *testing.T) {
	c := withSession(t, "a")
	var notes struct {
		Items []struct{ ID, Type, Content, Status string }
	}
	c.want(http.StatusOK, &notes, "POST", "/sessions/a/scratch", `{"put":[{"id":"n","type":"note","content":"slow on Mondays"},
		{"type":"flow_insight","content":"early train","context_refs":["flow:f"]}]}`)
	if len(notes.Items) != 2 {
		t.Fatalf("%+v", notes)
	}
	c.want(http.StatusOK, &notes, "GET", "/sessions/a/scratch?insights=true", nil)
	if len(notes.Items) != 1 || notes.Items[0].Content != "early train" {
		t.Errorf("%+v", notes)
	}
	c.want(http.StatusOK, &notes, "GET", "/sessions/a/scratch?flow=g", nil)
	if len(notes.Items) != 0 {
		t.Errorf("%+v", notes)
	}
	c.want(http.StatusUnprocessableEntity, nil, "POST", "/sessions/a/scratch", `{"clear":["n"]}`)
	c.want(http.StatusBadRequest, nil, "POST", "/sessions/a/scratch", `{"remove":["n"]}`)
	c.want(http.StatusOK, &notes, "POST", "/sessions/a/scratch", `{"archive":["n"]}`)
	c.want(http.StatusOK, &notes, "GET", "/sessions/a/scratch", nil)
	if len(notes.Items) != 1 {
		t.Errorf("%+v", notes)
	}
	c.want(http.StatusOK, &notes, "GET", "/sessions/a/scratch?all=true", nil)
	if statuses := statusesOf(notes.Items); len(statuses) != 2 || statuses["slow on Mondays"] != "archived" || statuses["early train"] != "active" {
		t.Errorf("all notes are %+v, want the archived one among them", notes.Items)
	}
	c.want(http.StatusOK, &notes, "POST", "/sessions/a/scratch", `{"put":[{"id":"i","type":"flow_insight","content":"late train","context_refs":["flow:f"]}],"archive":["i"]}`)
	for query, want := range map[string]int{"insights=true": 1, "insights=true&all=true": 2, "flow=f&all=true": 2, "flow=g&all=true": 0} {
		if c.want(http.StatusOK, &notes, "GET", "/sessions/a/scratch?"+query, nil); len(notes.Items) != want {
			t.Errorf("%s: %+v, want %d", query, notes.Items, want)
		}
	}
}

// statusesOf are the statuses of notes by their contents.
func statusesOf(notes []struct{ ID, Type, Content, Status string }) map[string]string {
	of := make(map[string]string)
	for _, n := range notes {
		of[n.Content] = n.Status
	}
	return of
}

// What has nothing in it to change is refused, as other bodies are that have not what they are sent for.
func TestNothingToChange(t *testing.T) {
	c := withSession(t, "a")
	for _, test := range []struct{ path, body, field, detail string }{
		{"scratch", `{}`, "put", "put: is missing; give put, archive or clear"},
		{"scratch", `{"put":[],"archive":[],"clear":[]}`, "put", "put: is missing; give put, archive or clear"},
		{"intentions", `{}`, "goals", "goals: are missing; give goals or actions"},
		{"intentions", `{"actions":[]}`, "goals", "goals: are missing; give goals or actions"},
	} {
		var told server.Problem
		c.want(http.StatusBadRequest, &told, "POST", "/sessions/a/"+test.path, test.body)
		if told.Field != test.field || told.Detail != test.detail {
			t.Errorf("%s %s: the field is %q and %q is told, want %q and %q", test.path, test.body, told.Field, told.Detail, test.field, test.detail)
		}
	}
}

// Of several changes it is told which is not legal, and of one that came alone what it was about.
func TestWhichChangeIsNotLegal(t *testing.T) {
	c := withSession(t, "a")
	for _, test := range []struct{ method, path, body, field, detail string }{
		{"POST", "scratch", `{"put":[{"type":"note","content":"x"},{"type":"note"}]}`, "put[1].content", "put[1].content: is missing; give some to add it"},
		{"POST", "scratch", `{"put":[{"type":"note","content":"x"},{"id":"n","type":"note"}]}`, "put[1].content",
			`observation n: content: is missing, and there is no observation "n" to change; give some to add it`},
		{"POST", "scratch", `{"put":[{"type":"note"}]}`, "put[0].content", "observation: content: is missing; give some to add it"},
		{"POST", "scratch", `{"put":[{"type":"note","content":"x"}],"archive":["n"]}`, "archive",
			`observation n: archive: there is no observation "n" on the page; use an id that is`},
		{"POST", "intentions", `{"goals":[{"title":"a"},{"status":"active"}],"actions":[{"status":"open"}]}`, "goals[1].title",
			"goals[1].title: is missing; give one to create it, or the id of a goal there is; actions[0].title: is missing"},
		{"POST", "intentions", `{"actions":[{"status":"open"}]}`, "actions[0].title", "action: title: "},
		{"POST", "goals", `{"status":"active"}`, "title", "goal: title: "},
		{"POST", "actions", `{"status":"open"}`, "title", "action: title: "},
	} {
		var told server.Problem
		c.want(http.StatusUnprocessableEntity, &told, test.method, "/sessions/a/"+test.path, test.body)
		if told.Field != test.field || !strings.HasPrefix(told.Detail, test.detail) {
			t.Errorf("%s %s: the field is %q and %q is told, want %q and %q", test.path, test.body, told.Field, told.Detail, test.field, test.detail)
		}
	}
}

func replaced(text, old, by string) string { return strings.ReplaceAll(text, old, by) }
