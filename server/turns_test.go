package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/turn"
)

// say appends turns, of the user and the agent by turns, to a session that it makes where there is none.
func (c *client) say(session string, texts ...string) {
	c.t.Helper()
	for i, text := range texts {
		role := []string{"user", "agent"}[i%2]
		c.want(http.StatusCreated, nil, "POST", "/sessions/"+session+"/turns?create=true",
			fmt.Sprintf(`{"turns":[{"role":%q,"text":%q}]}`, role, text))
	}
}

type turnsShown struct {
	Items []struct {
		Seq     int64
		TurnID  string `json:"turn_id"`
		Role    string
		Form    string
		Key     string `json:"idempotency_key"`
		OffPath bool   `json:"off_path"`
		Content struct{ Text string }
	}
	Next string
}

func (p turnsShown) seqs() (list []int64) {
	for _, t := range p.Items {
		list = append(list, t.Seq)
	}
	return list
}

func TestTurnsAreKeptExactly(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	call := `{"text":"","tool_calls":[{"id":"c1","name":"search","arguments":{"q" : [1.0,  "\u00e9"]}}]}`
	body := `{"turns":[{"role":"user","text":"find"},{"role":"agent","content":` + call + `},` +
		`{"role":"system","form":"action","content":{"name":"search","call_id":"c1","status":"ok","result":{"n":  1e2}}},` +
		`{"role":"user","form":"image","content":{"media_type":"image/png","alt":"a dot","data":"iVBORw0KGgo="}}]}`
	got := c.want(http.StatusCreated, nil, "POST", "/sessions/s/turns?create=true", body)
	for _, exact := range []string{`{"q" : [1.0,  "\u00e9"]}`, `{"n":  1e2}`, `"form":"image"`, `"sha256":"`} {
		if !strings.Contains(got.body, exact) {
			t.Errorf("%s is not in %s", exact, got.body)
		}
	}
	again := c.want(http.StatusOK, nil, "GET", "/sessions/s/turns", nil)
	if again.body != got.body {
		t.Errorf("%s\nis not\n%s", again.body, got.body)
	}
}

func TestAppendingAgainUnderTheSameKey(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	two := `{"turns":[{"role":"user","text":"a"},{"role":"agent","text":"b"}]}`
	first := c.want(http.StatusCreated, nil, "POST", "/sessions/s/turns?create=true", two, "Idempotency-Key", "k")
	second := c.want(http.StatusCreated, nil, "POST", "/sessions/s/turns", two, "Idempotency-Key", "k")
	if first.body != second.body {
		t.Errorf("%s\nis not\n%s", second.body, first.body)
	}
	one := `{"turns":[{"role":"user","text":"c"}]}`
	var shown turnsShown
	c.want(http.StatusCreated, &shown, "POST", "/sessions/s/turns", one, "Idempotency-Key", "one")
	if shown.Items[0].Seq != 3 || shown.Items[0].Key != "one" {
		t.Errorf("%+v", shown)
	}
	c.want(http.StatusConflict, nil, "POST", "/sessions/s/turns", `{"turns":[{"role":"user","text":"d"}]}`, "Idempotency-Key", "one")
}

// A key stands for all turns of its request: with more of them, or fewer, it is another one, and nothing is appended.
func TestMoreOrFewerTurnsUnderTheSameKey(t *testing.T) {
	turns := func(texts ...string) string {
		var list []string
		for _, text := range texts {
			list = append(list, `{"role":"user","text":"`+text+`"}`)
		}
		return `{"turns":[` + strings.Join(list, ",") + `]}`
	}
	for _, test := range []struct{ first, again []string }{
		{[]string{"a"}, []string{"a", "b"}},
		{[]string{"a"}, []string{"a", "a"}},
		{[]string{"a", "b"}, []string{"a", "b", "c"}},
		{[]string{"a", "b", "c"}, []string{"a", "b"}},
		{[]string{"a", "a", "a"}, []string{"a"}},
		{[]string{"a", "b"}, []string{"b"}},
	} {
		c := start(t, turnstone.Config{}, server.Config{})
		c.want(http.StatusCreated, nil, "POST", "/sessions/s/turns?create=true", turns(test.first...), "Idempotency-Key", "k")
		var told server.Problem
		c.want(http.StatusConflict, &told, "POST", "/sessions/s/turns", turns(test.again...), "Idempotency-Key", "k")
		if !strings.Contains(told.Detail, `"k"`) {
			t.Errorf("%v, then %v: %s", test.first, test.again, told.Detail)
		}
		var shown turnsShown
		if c.want(http.StatusOK, &shown, "GET", "/sessions/s/turns", nil); len(shown.Items) != len(test.first) {
			t.Errorf("%v, then %v: %d turns", test.first, test.again, len(shown.Items))
		}
		c.want(http.StatusCreated, nil, "POST", "/sessions/s/turns", turns(test.first...), "Idempotency-Key", "k")
	}
}

// Keys that look like those of a request of several turns are other keys.
func TestKeysWithNumbers(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	for _, key := range []string{"k", "k:1", "k:2", "k", "k:1"} {
		c.want(http.StatusCreated, nil, "POST", "/sessions/s/turns?create=true", `{"turns":[{"role":"user","text":"`+key+`"}]}`, "Idempotency-Key", key)
	}
	var shown turnsShown
	if c.want(http.StatusOK, &shown, "GET", "/sessions/s/turns", nil); len(shown.Items) != 3 {
		t.Errorf("%d turns", len(shown.Items))
	}
}

// A request of very many turns takes hundreds of times the memory of its bytes, and all who write wait for it.
func TestTooManyTurnsAtOnce(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	const one = `{"role":"user","text":"{"}`
	many := func(n int) string { return `{"turns":[` + strings.Repeat(one+",", n-1) + one + "]}" }
	var told server.Problem
	if c.want(http.StatusBadRequest, &told, "POST", "/sessions/s/turns?create=true", many(10_001)); told.Field != "turns" {
		t.Errorf("field %q: %s", told.Field, told.Detail)
	}
	c.want(http.StatusNotFound, nil, "GET", "/sessions/s", nil)
	c.want(http.StatusCreated, nil, "POST", "/sessions/s/turns?create=true", many(5_001))
}

func TestTurnsThatAreRefused(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{Limits: server.Limits{Turns: 1000}})
	c.say("s", "hello")
	for _, test := range []struct {
		path, body string
		status     int
		field      string
	}{
		{"/sessions/none/turns", `{"turns":[{"role":"user","text":"x"}]}`, 404, ""},
		{"/sessions/s/turns", `{}`, 400, "turns"},
		{"/sessions/s/turns", `{"turns":[]}`, 400, "turns"},
		{"/sessions/s/turns", `{"turns":[{"role":"robot","text":"x"}]}`, 400, "turns[0].role"},
		{"/sessions/s/turns", `{"turns":[{"role":"user","text":"x"},{"role":"user","text":7}]}`, 400, "turns[1].content.text"},
		{"/sessions/s/turns", `{"turns":[{"role":"user","text":"x"},{"role":"user","text":""}]}`, 400, "turns[1].content.text"},
		{"/sessions/s/turns", `{"turns":[{"role":"user","text":"x"},{"role":"user","text":"x","turn_id":"y"}]}`, 400, "turns[1].turn_id"},
		{"/sessions/s/turns", `{"turns":[{"role":"user","text":"x"},{"role":"system","form":"action","content":{"name":"x","call_id":"none","status":"ok"}}]}`, 400, "turns[1].content.call_id"},
		{"/sessions/s/turns", `{"turns":[{"role":"user","words":"x"}]}`, 400, "turns[0].words"},
		{"/sessions/s/turns", `{"turns":[{"role":"user","text":"x"}]`, 400, ""},
		{"/sessions/s/turns", `{"turns":[{"role":"user","text":"x","idempotency_key":"a"}]}`, 400, "turns[0].idempotency_key"},
		{"/sessions/s/turns", `{"turns":[{"role":"user","text":"` + strings.Repeat("x", 1000) + `"}]}`, 413, ""},
	} {
		var told server.Problem
		c.want(test.status, &told, "POST", test.path, test.body, "Idempotency-Key", "k")
		if told.Field != test.field {
			t.Errorf("%s: field %q, want %q: %s", test.body, told.Field, test.field, told.Detail)
		}
	}
	var shown turnsShown
	if c.want(http.StatusOK, &shown, "GET", "/sessions/s/turns", nil); len(shown.Items) != 1 {
		t.Errorf("there are %v", shown.seqs())
	}
}

func TestTurnsAreFound(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	c.say("s", "the cat runs", "Cats!", "a dog", "Dogs?", "nothing")
	for _, test := range []struct {
		query string
		want  []int64
	}{
		{"", []int64{1, 2, 3, 4, 5}},
		{"role=agent", []int64{2, 4}},
		{"form=action", nil},
		{"text=cats", []int64{1, 2}},
		{"match=cat", []int64{1}},
		{"regexp=%5C%3F%24", []int64{4}},
		{"from=2&to=3", []int64{2, 3}},
		{"since=2100-01-01T00:00:00Z", nil},
		{"until=2100-01-01T00:00:00Z&limit=1000&form=text&kind=turn", []int64{1, 2, 3, 4, 5}},
		{"flow=none", nil},
		{"turn_id=01ARZ3NDEKTSV4RRFFQ69G5FAV", nil},
	} {
		var shown turnsShown
		c.want(http.StatusOK, &shown, "GET", "/sessions/s/turns?"+test.query, nil)
		if diff := cmp.Diff(test.want, shown.seqs()); diff != "" {
			t.Errorf("%s: %s", test.query, diff)
		}
	}
	var all []int64
	for path := "/sessions/s/turns?limit=2"; path != ""; {
		var shown turnsShown
		c.want(http.StatusOK, &shown, "GET", path, nil)
		all = append(all, shown.seqs()...)
		if path = ""; shown.Next != "" {
			path = "/sessions/s/turns?limit=2&cursor=" + shown.Next
		}
	}
	if diff := cmp.Diff([]int64{1, 2, 3, 4, 5}, all); diff != "" {
		t.Error(diff)
	}
	for _, query := range []string{"regexp=(", "role=robot", "from=0", "since=yesterday", "cursor=c2Vzc2lvbnM6Mg"} {
		c.want(http.StatusBadRequest, nil, "GET", "/sessions/s/turns?"+query, nil)
	}
}

func TestHistory(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	c.say("s", "1", "2", "3", "4", "5", "6", "7", "8")
	c.want(http.StatusCreated, nil, "POST", "/sessions/s/turns", `{"turns":[{"role":"system","text":"rules"}]}`)
	for _, test := range []struct {
		path string
		want []int64
	}{
		{"window", []int64{2, 3, 4, 5, 6, 7, 8}},
		{"history", []int64{2, 3, 4, 5, 6, 7, 8}},
		{"history?turns=2", []int64{7, 8}},
		{"history?turns=2&keep_system=true", []int64{8, 9}},
		{"history?turns=2&at=4", []int64{3, 4}},
		{"history?turns=100&all=true", []int64{1, 2, 3, 4, 5, 6, 7, 8}},
	} {
		var shown turnsShown
		c.want(http.StatusOK, &shown, "GET", "/sessions/s/"+test.path, nil)
		if diff := cmp.Diff(test.want, shown.seqs()); diff != "" {
			t.Errorf("%s: %s", test.path, diff)
		}
	}
	c.want(http.StatusNotFound, nil, "GET", "/sessions/s/history?at=10", nil)
	for format, says := range map[string]string{
		"session": `"sessionId"`, "lines": `"seq":1`, "openai": `"assistant"`, "anthropic": `"messages"`, "markdown": "rules",
	} {
		if got := c.want(http.StatusOK, nil, "GET", "/sessions/s/history/"+format, nil); !strings.Contains(got.body, says) {
			t.Errorf("%s: %s", format, got.body)
		}
	}
	c.want(http.StatusBadRequest, nil, "GET", "/sessions/s/history/tau", nil)
	c.want(http.StatusNotFound, nil, "GET", "/sessions/none/history/lines", nil)
}

// What is larger than a turn may be is refused with the flag that lets in more.
func TestATextThatIsTooLong(t *testing.T) {
	c := start(t, turnstone.Config{Limits: turn.Limits{Text: 10}}, server.Config{})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"s"}`)
	for _, path := range []string{"turns", "commit"} {
		var told server.Problem
		c.want(http.StatusBadRequest, &told, "POST", "/sessions/s/"+path, `{"turns":[{"role":"user","text":"longer than ten"}]}`)
		if told.Field != "turns[0].content" || !strings.HasSuffix(told.Detail, "15 bytes, at most 10; shorten it or serve with a larger --max-text, or --max-blob for pictures and recordings") {
			t.Errorf("%s: the field is %q and %q is told", path, told.Field, told.Detail)
		}
	}
}
