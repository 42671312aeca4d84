package client_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/client"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/server"
)

func TestSessions(t *testing.T) {
	w := start(t, turnstone.Config{}, server.Config{})
	ctx := t.Context()
	if _, err := w.Find(ctx, "trip"); !errors.Is(err, client.NotFound) {
		t.Errorf("a session that is not there: %v", err)
	}
	trip := w.session(t, "trip")
	w.session(t, "trip")
	if _, err := w.Create(ctx, "trip", client.About{}); !errors.Is(err, client.Conflict) {
		t.Errorf("made twice: %v", err)
	}
	made, err := w.Create(ctx, "", client.About{User: "alice", Title: "Another"})
	if err != nil || made.ID() == "" {
		t.Fatalf("%q, %v", made.ID(), err)
	}
	info, err := trip.Describe(ctx, client.About{Title: "To Lisbon", User: "alice"})
	if err != nil || info.Title != "To Lisbon" || info.Status != "active" {
		t.Errorf("%+v, %v", info, err)
	}
	if err := trip.End(ctx); err != nil {
		t.Error(err)
	}
	for _, test := range []struct {
		filter client.SessionFilter
		want   []string
	}{
		{client.SessionFilter{}, []string{made.ID(), "trip"}},
		{client.SessionFilter{User: "alice", Status: "ended"}, []string{"trip"}},
		{client.SessionFilter{IdleMinutes: 60}, nil},
	} {
		var got []string
		for s, err := range w.Sessions(ctx, test.filter) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, s.ID)
		}
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%+v: %s", test.filter, d)
		}
	}
}

// TestReopening: a session that ended goes on, which is told whoever reopened it, and nobody who sent the same again.
func TestReopening(t *testing.T) {
	w := start(t, turnstone.Config{Model: llmtest.NewScript("Good day.", "Good day.")}, server.Config{})
	s, ctx := w.session(t, "trip"), t.Context()
	again := client.Draft{Role: "user", Text: "Again."}
	for i, want := range []bool{true, false, false} {
		if i != 1 {
			if err := s.End(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if done, err := s.Extend(ctx, "k", again); err != nil || done.Reopened != want || len(done.Turns) != 1 || done.Turns[0].Seq != 1 {
			t.Errorf("append %d: %+v, %v", i, done, err)
		}
	}
	for _, want := range []bool{true, false} {
		if reply, err := s.Say(ctx, client.Say{Text: "Hello."}); err != nil || reply.Reopened != want {
			t.Errorf("%+v, %v", reply, err)
		}
	}
}

func TestTurns(t *testing.T) {
	w := start(t, turnstone.Config{}, server.Config{})
	ctx := t.Context()
	s := w.session(t, "odd:id.1")
	const many = 205 // more than two pages
	var drafts []client.Draft
	for i := range many {
		drafts = append(drafts, client.Draft{Role: "user", Text: fmt.Sprintf("a < b & %d", i+1)})
	}
	if turns, err := s.Append(ctx, drafts...); err != nil || len(turns) != many {
		t.Fatalf("%d, %v", len(turns), err)
	}
	var seqs []int64
	for turn, err := range s.Query(ctx, client.TurnQuery{Role: "user", Since: time.Now().Add(-time.Hour)}) {
		if err != nil {
			t.Fatal(err)
		}
		if seqs = append(seqs, turn.Seq); turn.Text() != fmt.Sprintf("a < b & %d", turn.Seq) {
			t.Fatalf("turn %d says %q", turn.Seq, turn.Text())
		}
	}
	for turn, err := range s.Query(ctx, client.TurnQuery{Since: time.Now().Add(time.Hour)}) {
		t.Errorf("%+v of the future, %v", turn, err)
	}
	if len(seqs) != many || !slices.IsSorted(seqs) {
		t.Errorf("%d turns: %v", len(seqs), seqs)
	}
	for range s.Query(ctx, client.TurnQuery{}) {
		break // whoever has enough stops
	}
	for _, err := range s.Query(ctx, client.TurnQuery{Regexp: "("}) {
		if !errors.Is(err, client.Invalid) {
			t.Errorf("an expression that is none: %v", err)
		}
	}
	last, err := s.History(ctx, client.HistoryOptions{Turns: 2, At: 7})
	if err != nil || len(last) != 2 || last[1].Text() != "a < b & 7" {
		t.Errorf("%+v, %v", last, err)
	}
	fork, err := s.Fork(ctx, "what-if", 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Fork(ctx, "what-if", 3); !errors.Is(err, client.Conflict) {
		t.Errorf("forked twice under one name: %v", err)
	}
	info, err := fork.Info(ctx)
	if err != nil || info.Parent != "odd:id.1" || info.ForkSeq != 3 || info.Turns != 3 {
		t.Errorf("%+v, %v", info, err)
	}
}

func TestAppendOnce(t *testing.T) {
	s := start(t, turnstone.Config{}, server.Config{}).session(t, "s")
	hello := client.Draft{Role: "user", Text: "Hello."}
	first, err := s.AppendOnce(t.Context(), "k", hello)
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.AppendOnce(t.Context(), "k", hello)
	if err != nil || len(second) != 1 || second[0].ID != first[0].ID || second[0].IdempotencyKey != "k" {
		t.Errorf("%+v and %+v, %v", first, second, err)
	}
	if _, err := s.AppendOnce(t.Context(), "k", client.Draft{Role: "user", Text: "Something else."}); !errors.Is(err, client.Conflict) {
		t.Errorf("another turn under the same key: %v", err)
	}
	for range 2 {
		if _, err := s.Append(t.Context(), hello); err != nil {
			t.Error(err)
		}
	}
	if info, err := s.Info(t.Context()); err != nil || info.Turns != 3 {
		t.Errorf("%+v, %v", info, err)
	}
}

func TestTextOfTurns(t *testing.T) {
	for _, test := range []struct {
		turn client.Turn
		want string
	}{
		{client.Turn{Content: json.RawMessage(`{"text":"said"}`)}, "said"},
		{client.Turn{Content: json.RawMessage(`{"transcript":"spoken"}`)}, "spoken"},
		{client.Turn{ContentText: "{\n \"text\": \"said\"}"}, "said"},
		{client.Turn{Content: json.RawMessage(`{"media_type":"image/png"}`)}, ""},
		{client.Turn{}, ""},
	} {
		if got := test.turn.Text(); got != test.want {
			t.Errorf("%+v: %q", test.turn, got)
		}
	}
}

func TestProblems(t *testing.T) {
	w := start(t, turnstone.Config{}, server.Config{})
	_, err := w.session(t, "s").Append(t.Context(), client.Draft{Role: "nobody", Text: "x"})
	var p *client.Problem
	if !errors.As(err, &p) || p.Kind() != client.Invalid || p.Field != "turns[0].role" || p.Status != 400 || p.RequestID == "" || p.Title == "" ||
		p.Instance != "/api/v1/sessions/s/turns" || !strings.Contains(err.Error(), p.Detail) {
		t.Errorf("%+v", err)
	}
	if errors.Is(err, client.NotFound) || !errors.Is(err, client.Invalid) {
		t.Errorf("%v is of another kind", err)
	}
	for _, url := range []string{"", "localhost:7411", "ftp://x", "http://", "::"} {
		if _, err := client.New(url, client.Options{}); err == nil {
			t.Errorf("%q is taken for a server", url)
		}
	}
}

func TestKeys(t *testing.T) {
	eng := opened(t, turnstone.Config{})
	reading, err := access.ScopesOf(access.Read)
	if err != nil {
		t.Fatal(err)
	}
	secret, _, err := eng.CreateKey(t.Context(), "reader", reading)
	if err != nil {
		t.Fatal(err)
	}
	w := serve(t, eng, server.Config{Guard: eng})
	for _, test := range []struct {
		key  string
		want client.Kind
	}{{"", client.Unauthorized}, {"ts_wrong", client.Unauthorized}, {secret, client.Forbidden}} {
		c, err := client.New(w.srv.URL, client.Options{Key: test.key, HTTP: w.srv.Client()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Create(t.Context(), "s", client.About{}); !errors.Is(err, test.want) {
			t.Errorf("%q: %v", test.key, err)
		}
	}
}

func TestDo(t *testing.T) {
	w := start(t, turnstone.Config{}, server.Config{})
	ctx := t.Context()
	s := w.session(t, "s")
	if _, err := s.Append(ctx, client.Draft{Role: "user", Text: "Hello."}); err != nil {
		t.Fatal(err)
	}
	var made struct{ Name string }
	if err := w.Do(ctx, "POST", "/sessions/s/bookmarks", map[string]any{"name": "here"}, &made); err != nil || made.Name != "here" {
		t.Errorf("%+v, %v", made, err)
	}
	var text bytes.Buffer
	if err := w.Do(ctx, "GET", "/sessions/s/history/markdown", nil, &text); err != nil || !strings.Contains(text.String(), "Hello.") {
		t.Errorf("%s, %v", text.String(), err)
	}
	if err := w.Do(ctx, "POST", "/sessions/s/end", nil, nil); err != nil {
		t.Error(err)
	}
	if err := w.Do(ctx, "GET", "/nowhere", nil, nil); !errors.Is(err, client.NotFound) {
		t.Errorf("no such path: %v", err)
	}
	if err := w.Do(ctx, "POST", "/sessions", make(chan int), nil); err == nil || !strings.Contains(err.Error(), "body of POST /sessions") {
		t.Errorf("what is no JSON: %v", err)
	}
	var number int
	if err := w.Do(ctx, "GET", "/sessions?limit=3", nil, &number); err == nil || !strings.Contains(err.Error(), "answer to GET /sessions: ") {
		t.Errorf("an answer that is no number: %v", err)
	}
}

func TestBundles(t *testing.T) {
	w := start(t, turnstone.Config{}, server.Config{})
	ctx := t.Context()
	s := w.session(t, "s")
	if _, err := s.Append(ctx, client.Draft{Role: "user", Text: "Hello."}); err != nil {
		t.Fatal(err)
	}
	bundle, err := s.Bundle(ctx)
	if err != nil {
		t.Fatal(err)
	}
	copied, err := w.Import(ctx, bundle, "copy")
	if err := errors.Join(err, bundle.Close()); err != nil {
		t.Fatal(err)
	}
	turns, err := copied.History(ctx, client.HistoryOptions{})
	if err != nil || len(turns) != 1 || turns[0].Text() != "Hello." {
		t.Errorf("%+v, %v", turns, err)
	}
	if _, err := s.Forget(ctx, client.Forget{All: true}); err != nil {
		t.Fatal(err)
	}
	if turns, err := copied.History(ctx, client.HistoryOptions{}); err != nil || len(turns) != 1 || turns[0].Text() == "Hello." {
		t.Errorf("what was forgotten stands in the copy: %+v, %v", turns, err)
	}
	if _, err := w.Import(ctx, strings.NewReader("no bundle"), ""); !errors.Is(err, client.Damaged) {
		t.Errorf("what is no bundle: %v", err)
	}
	if _, err := w.Import(ctx, io.MultiReader(strings.NewReader("x"), broken{}), ""); !errors.Is(err, errBroken) {
		t.Errorf("a file that cannot be read: %v", err)
	}
}

// Who gives a file to be imported closes it: it may want to read on, or once more.
func TestImportLeavesTheFileOpen(t *testing.T) {
	w := start(t, turnstone.Config{}, server.Config{})
	file := &closing{Reader: strings.NewReader("no bundle")}
	if _, err := w.Import(t.Context(), file, ""); !errors.Is(err, client.Damaged) {
		t.Errorf("what is no bundle: %v", err)
	}
	if file.closed.Load() {
		t.Error("it is closed")
	}
}

// closing is a file that knows whether it was closed.
type closing struct {
	io.Reader
	closed atomic.Bool
}

func (c *closing) Close() error {
	c.closed.Store(true)
	return nil
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errBroken }
