package server_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/turn"
)

// committed is an exchange of a session that is in the log, and what is remembered of it.
func committed(t *testing.T, eng *turnstone.Engine, session, question, answer string, facts ...string) commit.Result {
	t.Helper()
	s, err := eng.Session(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Describe(t.Context(), turn.SessionInfo{User: "user-" + session}); err != nil {
		t.Fatal(err)
	}
	var candidates []memory.Candidate
	for _, fact := range facts {
		candidates = append(candidates, memory.Candidate{Type: memory.UserData, Text: fact, Source: memory.FromUser})
	}
	done, err := s.Commit(t.Context(), commit.Exchange{
		Turns: []turn.Draft{
			{Role: turn.User, Content: turn.Text{Text: question}},
			{Role: turn.Agent, Content: turn.Text{Text: answer}},
		},
		Candidates: candidates,
	})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

type memoryPage struct {
	Items []struct {
		ID      string `json:"id"`
		Type    string `json:"type"`
		Text    string `json:"text"`
		Session string `json:"session_id"`
		User    string `json:"user_id"`
	} `json:"items"`
	Next string `json:"next"`
}

func (p memoryPage) texts() string {
	var list []string
	for _, item := range p.Items {
		list = append(list, item.Text)
	}
	return strings.Join(list, "|")
}

func TestMemory(t *testing.T) {
	eng := opened(t, turnstone.Config{})
	c := serve(t, eng, server.Config{})
	committed(t, eng, "a", "I like window seats.", "Noted.", "likes window seats", "lives in Bern")
	committed(t, eng, "b", "I like trains.", "Noted.", "likes trains")
	for _, test := range []struct{ path, want string }{
		{"/memory?text=window", "likes window seats"},
		{"/memory?text=seat+like", "likes window seats"},
		{"/memory?text=trains", "likes trains"},
		{"/sessions/a/memory?text=trains", ""},
		{"/sessions/b/memory?type=user_data", "likes trains"},
		{"/memory?user=user-b&type=user_data", "likes trains"},
		{"/memory?text=Bern&min_importance=0.01&order=importance&since=2001-01-01T00:00:00Z", "lives in Bern"},
		{"/memory?text=Bern&until=2001-01-01T00:00:00Z", ""},
		{"/memory?tag=none", ""},
	} {
		var got memoryPage
		c.want(http.StatusOK, &got, "GET", test.path, nil)
		if got.texts() != test.want {
			t.Errorf("%s: %s", test.path, got.texts())
		}
	}
	var first, second memoryPage
	c.want(http.StatusOK, &first, "GET", "/sessions/a/memory?type=user_data&limit=1", nil)
	c.want(http.StatusOK, &second, "GET", "/sessions/a/memory?type=user_data&limit=1&cursor="+first.Next, nil)
	if first.Next == "" || len(second.Items) != 1 || first.Items[0].ID == second.Items[0].ID || second.Items[0].User != "user-a" {
		t.Errorf("%+v, %+v", first, second)
	}
	item := "/memory/" + first.Items[0].ID
	c.want(http.StatusNoContent, nil, "DELETE", item, nil)
	c.want(http.StatusNotFound, nil, "DELETE", item, nil)
	c.want(http.StatusBadRequest, nil, "GET", "/memory?cursor=none", nil)
	c.want(http.StatusBadRequest, nil, "GET", "/memory?order=best", nil)
	c.want(http.StatusBadRequest, nil, "GET", "/memory?since=yesterday", nil)
	c.want(http.StatusOK, nil, "GET", "/sessions/a/digest", nil)

	var hits struct {
		Items []struct {
			Session  string  `json:"session_id"`
			Seqs     []int64 `json:"seqs"`
			Text     string  `json:"text"`
			Citation string  `json:"citation"`
			Tokens   int     `json:"tokens"`
		} `json:"items"`
	}
	c.want(http.StatusOK, &hits, "GET", "/sessions/a/recall?query=which+seats&limit=1", nil)
	if len(hits.Items) != 1 || hits.Items[0].Session != "a" || !strings.Contains(hits.Items[0].Text, "window seats") || hits.Items[0].Citation == "" || hits.Items[0].Tokens == 0 {
		t.Errorf("%+v", hits)
	}
	c.want(http.StatusOK, &hits, "GET", "/sessions/a/recall?query=trains&scope=tenant&tokens=500&unseen=true&all=true", nil)
	if len(hits.Items) == 0 || hits.Items[0].Session != "b" {
		t.Errorf("%+v", hits)
	}
	c.want(http.StatusBadRequest, nil, "GET", "/sessions/a/recall", nil)
	c.want(http.StatusBadRequest, nil, "GET", "/sessions/a/recall?query=x&scope=world", nil)
}

// embedderless is a model for embeddings that is not there.
type embedderless struct{}

func (embedderless) Embed(context.Context, []string) ([][]float32, error) {
	return nil, &llm.Error{Kind: llm.ErrModelMissing, Model: "nomic"}
}

func TestRecallWithoutItsEmbedder(t *testing.T) {
	c := start(t, turnstone.Config{Embedder: embedderless{}}, server.Config{})
	c.want(http.StatusCreated, nil, "POST", "/sessions/a/turns?create=true", `{"turns":[{"role":"user","text":"The port is 5433."}]}`)
	var found struct {
		Items []struct {
			Text string `json:"text"`
		} `json:"items"`
		Warnings []string `json:"warnings"`
	}
	c.want(http.StatusOK, &found, "GET", "/sessions/a/recall?query=which+port", nil)
	if len(found.Items) != 1 || found.Items[0].Text != "The port is 5433." || len(found.Warnings) != 1 || !strings.Contains(found.Warnings[0], "nomic") {
		t.Errorf("%+v", found)
	}
}

func TestExports(t *testing.T) {
	eng := opened(t, turnstone.Config{})
	c := serve(t, eng, server.Config{})
	done := committed(t, eng, "a", "Hello.", "Hello, Ann.")
	other, err := eng.ForTenant("other")
	if err != nil {
		t.Fatal(err)
	}
	committed(t, other, "theirs", "Nobody knows.", "Indeed.")
	if err := eng.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	type export struct {
		ID     string `json:"export_id"`
		TurnID string `json:"turn_id"`
	}
	var page, rest struct {
		Items []export `json:"items"`
		Next  string   `json:"next"`
	}
	c.want(http.StatusOK, &page, "GET", "/exports", nil)
	if len(page.Items) != 1 || page.Items[0].ID != done.ExportID {
		t.Errorf("%+v", page)
	}
	c.want(http.StatusOK, &rest, "GET", "/exports?after="+page.Next, nil)
	if len(rest.Items) != 0 || rest.Next != page.Next {
		t.Errorf("%+v", rest)
	}
	c.want(http.StatusBadRequest, nil, "GET", "/exports?cursor=x", nil)
	// What others do shows in no cursor, and theirs lead to nothing of theirs.
	theirs := committed(t, other, "theirs", "Still nobody.", "Indeed.")
	if err := eng.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"", "?cursor=" + page.Next} {
		c.want(http.StatusOK, &rest, "GET", "/exports"+query, nil)
		if rest.Next != page.Next || rest.Next != base64.RawURLEncoding.EncodeToString([]byte("exports:"+done.ExportID)) {
			t.Errorf("%q: %+v", query, rest)
		}
	}
	c.want(http.StatusOK, &rest, "GET", "/exports?cursor="+base64.RawURLEncoding.EncodeToString([]byte("exports:"+theirs.ExportID)), nil)
	if len(rest.Items) != 1 || rest.Items[0].ID != done.ExportID {
		t.Errorf("after another tenant's: %+v", rest)
	}
	var byID, byTurn export
	c.want(http.StatusOK, &byID, "GET", "/exports/"+done.ExportID, nil)
	c.want(http.StatusOK, &byTurn, "GET", "/exports/"+byID.TurnID, nil)
	if byID != byTurn || byID.ID != done.ExportID {
		t.Errorf("%+v, %+v", byID, byTurn)
	}
	var trace struct {
		TurnID string `json:"turn_id"`
	}
	c.want(http.StatusOK, &trace, "GET", "/traces/"+byID.TurnID, nil)
	if trace.TurnID != byID.TurnID {
		t.Errorf("%+v", trace)
	}
	c.want(http.StatusNotFound, nil, "GET", "/exports/none", nil)
	c.want(http.StatusNotFound, nil, "GET", "/traces/none", nil)
}

// What is said of files to a client is their names, not where they are.
func TestForgetNamesFiles(t *testing.T) {
	eng := opened(t, turnstone.Config{BundleDir: t.TempDir()})
	c := serve(t, eng, server.Config{})
	committed(t, eng, "a", "My number is 5551234.", "Noted.", "number 5551234")
	c.want(http.StatusOK, nil, "POST", "/sessions/a/end", nil)
	var got struct {
		Files []string `json:"files"`
	}
	said := c.want(http.StatusOK, &got, "POST", "/sessions/a/forget", map[string]any{"seqs": []int{1}})
	if !slices.Equal(got.Files, []string{"a.bundle"}) {
		t.Error(said.body)
	}
}

func TestForget(t *testing.T) {
	eng := opened(t, turnstone.Config{})
	c := serve(t, eng, server.Config{})
	committed(t, eng, "a", "My number is 5551234.", "Noted: 5551234.", "number 5551234")
	committed(t, eng, "b", "My number is 5559876.", "Noted.", "number 5559876")
	type receipt struct {
		What     string   `json:"what"`
		Sessions []string `json:"sessions"`
		Turns    int      `json:"turns"`
		Preview  bool     `json:"preview"`
		Repeats  []struct {
			Seq   int64    `json:"seq"`
			Texts []string `json:"texts"`
		} `json:"repeats"`
	}
	var preview, got receipt
	c.want(http.StatusOK, &preview, "POST", "/sessions/a/forget", map[string]any{"seqs": []int{1}, "preview": true})
	if !preview.Preview || preview.Turns == 0 || preview.What != "turns" || len(preview.Repeats) != 1 || preview.Repeats[0].Seq != 2 ||
		!slices.Equal(preview.Repeats[0].Texts, []string{"5551234"}) {
		t.Errorf("%+v", preview)
	}
	for _, body := range []any{map[string]any{}, map[string]any{"preview": true}, map[string]any{"all": true, "seqs": []int{1}}, map[string]any{"sequence": 1}} {
		c.want(http.StatusBadRequest, nil, "POST", "/sessions/a/forget", body)
	}
	c.want(http.StatusNotFound, nil, "POST", "/sessions/a/forget", map[string]any{"turn_ids": []string{"none"}})
	if said := c.want(http.StatusOK, nil, "GET", "/sessions/a/turns", nil); !strings.Contains(said.body, "5551234") {
		t.Error("forgotten though nobody asked for it")
	}
	c.want(http.StatusOK, &got, "POST", "/sessions/a/forget", map[string]any{"all": true})
	if got.Preview || got.What != "session" || got.Turns == 0 {
		t.Errorf("%+v", got)
	}
	c.want(http.StatusOK, &got, "POST", "/forget", map[string]any{"user": "user-b"})
	if got.What != "user" {
		t.Errorf("%+v", got)
	}
	c.want(http.StatusNotFound, nil, "POST", "/forget", map[string]any{"user": "nobody"})
	c.want(http.StatusBadRequest, nil, "POST", "/forget", map[string]any{})
	numbers := regexp.MustCompile("5551234|5559876") // an id may hold 555
	for _, path := range []string{"/sessions/a/turns", "/sessions/b/turns", "/memory", "/events"} {
		if said := c.want(http.StatusOK, nil, "GET", path, nil); numbers.MatchString(said.body) {
			t.Errorf("%s: %s", path, said.body)
		}
	}
}
