package server_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server"
)

const history = `{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hello."},{"role":"assistant","content":"Hi."}]}`

func TestHistoriesBecomeSessions(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	c := start(t, turnstone.Config{}, server.Config{})
	packed, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for media, file := range map[string]string{"application/x-ndjson": history, octets: history, "application/zstd": string(packed.EncodeAll([]byte(history), nil))} {
		var made struct {
			Session string `json:"session_id"`
			User    string
			Format  string
			Turns   int
			Pinned  []int
			Losses  []struct{ Kind string }
		}
		id := strings.ReplaceAll(media, "/", ".")
		c.want(http.StatusCreated, &made, "POST", "/histories?user=ann&as="+id, file, "Content-Type", media)
		if made.Session != id || made.User != "ann" || made.Format != "openai" || made.Turns != 3 || len(made.Pinned) != 1 || made.Losses == nil {
			t.Errorf("%+v", made)
		}
		got := c.want(http.StatusConflict, nil, "POST", "/histories?as="+id, file, "Content-Type", media)
		if !strings.Contains(got.body, "give it another id with ?as=") {
			t.Error(got.body)
		}
		c.want(http.StatusCreated, nil, "POST", "/sessions/"+id+"/turns", `{"turns":[{"role":"user","text":"Go on."}]}`)
	}
	for _, test := range []struct{ query, file, says string }{
		{"?as=new", history[:len(history)-20], "the input ends inside"},
		{"?as=new", `{"messages":[]}`, "input: has no turns"},
		{"?as=new&index=2", history, "index: only a tau file"},
		{"?as=new&format=markdown", history, "format"},
		{"?as=new&format=tau&index=7", `[{"traj":[{"role":"user","content":"x"}]}]`, "trajector"},
		{"?as=..", history, "session"},
	} {
		if got := c.want(http.StatusBadRequest, nil, "POST", "/histories"+test.query, test.file, "Content-Type", octets); !strings.Contains(got.body, test.says) {
			t.Errorf("%s %s: %s", test.query, test.file, got.body)
		}
	}
	c.want(http.StatusNotFound, nil, "GET", "/sessions/new", nil)
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}

func TestHistoriesAreBounded(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{Limits: server.Limits{Bundle: 1 << 16}})
	packed, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	bomb := packed.EncodeAll([]byte(`{"messages":[{"role":"user","content":"`+strings.Repeat("x", 1<<20)+`"}]}`), nil)
	for _, file := range []string{strings.Repeat("x", 1<<16+1), string(bomb)} {
		var told server.Problem
		if c.want(http.StatusRequestEntityTooLarge, &told, "POST", "/histories", file, "Content-Type", octets); !strings.Contains(told.Detail, "--max-bundle") {
			t.Errorf("%+v", told)
		}
	}
	c.want(http.StatusUnprocessableEntity, nil, "POST", "/histories", string(bomb[:20]), "Content-Type", octets)
}

// A few packed bytes do not become millions of turns.
func TestFewBytesAreNotManyTurns(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{Limits: server.Limits{ImportTurns: 100}})
	packed, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	line := `{"role":"user","content":"a"}` + "\n"
	c.want(http.StatusCreated, nil, "POST", "/histories?as=many", strings.Repeat(line, 100), "Content-Type", octets)
	for _, file := range []string{strings.Repeat(line, 101), string(packed.EncodeAll([]byte(strings.Repeat(line, 101)), nil))} {
		var told server.Problem
		c.want(http.StatusBadRequest, &told, "POST", "/histories?as=more", file, "Content-Type", octets)
		if told.Field != "turns" || !strings.Contains(told.Detail, "more than 100; serve with a larger --max-turns") {
			t.Errorf("%+v", told)
		}
	}
	bundle := c.want(http.StatusOK, nil, "GET", "/sessions/many/bundle", nil).body
	c.want(http.StatusCreated, nil, "POST", "/bundles?as=copy", bundle, "Content-Type", octets)
	c.want(http.StatusCreated, nil, "POST", "/sessions/many/turns", `{"turns":[{"role":"user","text":"one more"}]}`)
	bundle = c.want(http.StatusOK, nil, "GET", "/sessions/many/bundle", nil).body
	var told server.Problem
	c.want(http.StatusBadRequest, &told, "POST", "/bundles?as=more", bundle, "Content-Type", octets)
	if told.Field != "turns" || !strings.Contains(told.Detail, "--max-turns") {
		t.Errorf("%+v", told)
	}
	bomb := string(packed.EncodeAll([]byte(`{"role":"user","content":"`+strings.Repeat("a", 3<<20)+`"}`), nil))
	if c.want(http.StatusRequestEntityTooLarge, &told, "POST", "/histories?as=more", bomb, "Content-Type", octets); !strings.Contains(told.Detail, "unpacks to more than") || strings.Contains(told.Detail, "--max-bundle") {
		t.Errorf("%+v", told)
	}
	c.want(http.StatusNotFound, nil, "GET", "/sessions/more", nil)
}
