package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/server"
)

type promptShown struct {
	SHA256   string
	Number   int64
	End      int64
	Recorded *bool
	Late     string
	Messages []struct{ Role string }
	Tools    []struct{ Name string }
	Account  struct{ Context, Tokens int }
}

// TestPromptsShowPictures: a model sees pictures if the profiles say so that the server was given.
func TestPromptsShowPictures(t *testing.T) {
	own, err := budget.Known().With(budget.Profile{Name: "seer", Context: 8192, Vision: true}, budget.Profile{Name: "llava", Context: 8192})
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, turnstone.Config{Profiles: own}, server.Config{})
	const picture = "iVBORw0KGgo="
	c.want(http.StatusCreated, nil, "POST", "/sessions/s/turns?create=true",
		`{"turns":[{"role":"user","form":"image","content":{"media_type":"image/png","alt":"a dot","data":"`+picture+`"}}]}`)
	for model, sees := range map[string]bool{"seer": true, "llava": false, "llama3.2": false} {
		got := c.want(http.StatusOK, nil, "POST", "/sessions/s/prompt?format=openai", `{"model":"`+model+`"}`)
		if strings.Contains(got.body, picture) != sees {
			t.Errorf("%s: %s", model, got.body)
		}
	}
}

func TestPrompts(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	c.say("s", "Hello.", "Good day.")
	var first, again, later promptShown
	made := c.want(http.StatusOK, &first, "POST", "/sessions/s/prompt", `{"model":"llama3.2","context":4096,"late":["It is Monday."],
		"settings":{"system":"Be brief.","tools":[{"name":"clock","schema":{"type" : "object"}},{"name":"bell"}],"sticky":[{"name":"a.txt","text":"x"}],"skills":[{"name":"b","text":"y"}]}}`)
	if first.Recorded != nil || first.End != 2 || first.Account.Context != 4096 || len(first.Messages) < 3 || len(first.Tools) != 2 ||
		!strings.Contains(first.Late, "It is Monday.") || !strings.Contains(made.body, `"schema":{"type":"object"}`) {
		t.Errorf("%s", made.body)
	}
	c.say("s", "And now?")
	c.want(http.StatusOK, &later, "POST", "/sessions/s/prompt", nil)
	if later.SHA256 == first.SHA256 || later.End != 3 || len(later.Tools) != 2 {
		t.Errorf("%+v", later)
	}
	for _, path := range []string{"?at=2", "?number=1"} {
		c.want(http.StatusOK, &again, "GET", "/sessions/s/prompt"+path, nil)
		if again.SHA256 != first.SHA256 || again.Recorded == nil || !*again.Recorded {
			t.Errorf("%s: %+v", path, again)
		}
	}
	c.want(http.StatusOK, &again, "GET", "/sessions/s/prompt?at=1", nil)
	if again.Recorded == nil || *again.Recorded || again.End != 1 {
		t.Errorf("%+v", again)
	}
	for query, says := range map[string]string{
		"?at=2&format=ollama": `"num_ctx"`, "?at=2&format=openai": `"model":"llama3.2"`, "?at=2&format=anthropic": `"system"`, "?at=2&format=text": "Be brief.",
	} {
		if got := c.want(http.StatusOK, nil, "GET", "/sessions/s/prompt"+query, nil); !strings.Contains(got.body, says) {
			t.Errorf("%s: %s", query, got.body)
		}
	}
	explained := c.want(http.StatusOK, nil, "POST", "/sessions/s/prompt?explain=true", `{}`)
	if strings.Contains(explained.body, "messages") || !strings.Contains(explained.body, `"parts":[`) {
		t.Errorf("%s", explained.body)
	}
	c.want(http.StatusOK, nil, "POST", "/sessions/s/prompt", `{"preview":true,"model":"other"}`)

	var list struct {
		Items []promptShown
		Next  string
	}
	c.want(http.StatusOK, &list, "GET", "/sessions/s/prompts?limit=1", nil)
	if len(list.Items) != 1 || list.Items[0].Number != 1 || list.Items[0].SHA256 != first.SHA256 {
		t.Errorf("%+v", list)
	}
	c.want(http.StatusOK, &list, "GET", "/sessions/s/prompts?limit=1&cursor="+list.Next, nil)
	if len(list.Items) != 1 || list.Items[0].Number != 2 {
		t.Errorf("%+v", list)
	}
}

// A prompt is for who would answer: the model that is named, the session's, or the server's.
func TestPromptIsForTheServersModel(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{ModelName: "common"})
	c.say("s", "Hello.")
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"own","model":"its"}`)
	for _, test := range []struct{ session, body, want string }{
		{"s", `{}`, "common"}, {"s", `{"model":"named"}`, "named"}, {"own", `{}`, "its"},
	} {
		var sent struct{ Model string }
		c.want(http.StatusOK, &sent, "POST", "/sessions/"+test.session+"/prompt?format=ollama", test.body)
		if sent.Model != test.want {
			t.Errorf("%s %s: for %q, want %q", test.session, test.body, sent.Model, test.want)
		}
	}
}

func TestPromptsThatAreRefused(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{Limits: server.Limits{Body: 1 << 20}})
	c.say("s", "Hello.")
	for _, test := range []struct {
		method, path, body string
		status             int
		kind, field        string
	}{
		{"GET", "/prompt?at=2", "", 404, "not-found", ""},
		{"GET", "/prompt?number=7", "", 404, "not-found", ""},
		{"GET", "/prompt?number=7&at=1", "", 400, "invalid", "number"},
		{"GET", "/prompt?format=openai", "", 400, "invalid", "model"},
		{"GET", "/prompt?format=morse", "", 400, "invalid", "format"},
		{"POST", "/prompt", `{"context":0}`, 400, "invalid", "context"},
		{"POST", "/prompt", `{"settings":{"tools":[{"name":"x","schema":[]}]}}`, 400, "invalid", "settings.tools[0].schema"},
		{"POST", "/prompt", `{"context":2048,"model":"llama3.2","settings":{"system":"` + strings.Repeat("word ", 5000) + `"}}`, 422, "over-budget", ""},
	} {
		var told server.Problem
		var body any
		if test.body != "" {
			body = test.body
		}
		c.want(test.status, &told, test.method, "/sessions/s"+test.path, body)
		if told.Type != "/api/v1/docs#"+test.kind || told.Field != test.field {
			t.Errorf("%s %.80s: %+v", test.path, test.body, told)
		}
		if test.kind == "over-budget" && !strings.Contains(told.Detail, " tokens; usable window: ") {
			t.Errorf("the lines of %q run together", told.Detail)
		}
		if (told.Account != nil) != (test.kind == "over-budget") {
			t.Errorf("%s: the account is %+v", test.path, told.Account)
		}
	}
}
