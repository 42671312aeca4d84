package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone/llm"
)

// Exchanges plays every file of a folder to a model and compares what the model makes of it with what the file
// says. The files are written after what real servers were measured to do. Their lines are, by the first two
// characters:
//
//	"# " what it shows
//	"> " the path of a request and then, on lines of their own, objects whose members the request must have
//	"< " the status of the answer and then headers
//	"= " what the model makes of it, one line each; the last part of the file, written anew with update
//
// All other lines are the answer's body, each sent by itself. In a body "!hang" keeps the connection open
// and says nothing more, "!die" breaks it, and "!wait 3s" is a pause. Each request gets the next answer. Time is
// the one of a bubble of testing/synctest.
func Exchanges(t *testing.T, folder string, update bool, newModel func(*Server) llm.Model) {
	files, err := filepath.Glob(filepath.Join(folder, "*.http"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no exchanges in %s: %v", folder, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".http"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := read(t, file)
				server := &speaker{t: t, exchanges: rec.exchanges}
				got := Transcript(t.Context(), newModel(Serve(t, server)), played)
				if n := int(server.next.Load()); n != len(rec.exchanges) {
					t.Errorf("%d requests were made, want %d", n, len(rec.exchanges))
				}
				if update {
					if err := os.WriteFile(file, []byte(rec.before+got), 0o644); err != nil {
						t.Fatal(err)
					}
				} else if got != rec.want {
					t.Errorf("got\n%swant\n%s", got, rec.want)
				}
			})
		})
	}
}

// played is the request that every file answers.
var played = llm.Request{
	Messages: []llm.Message{
		{Role: llm.System, Text: "Be brief."},
		{Role: llm.User, Text: "What is the weather in Oslo?"},
	},
	Tools:     []llm.Tool{{Name: "weather", Description: "Looks outside.", Schema: `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`}},
	Context:   512,
	MaxTokens: 64,
}

type exchangeFile struct {
	before    string // all but what the model makes of it
	exchanges []exchange
	want      string
}

type exchange struct {
	path   string
	must   []string // JSON objects
	status int
	header http.Header
	body   []string
}

func read(t *testing.T, file string) exchangeFile {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rec exchangeFile
	for line := range strings.Lines(string(text)) {
		said := strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "= ") {
			rec.want += line
			continue
		}
		rec.before += line
		kind, rest, _ := strings.Cut(said, " ")
		if kind == "#" {
			continue
		}
		if kind == ">" && !strings.HasPrefix(rest, "{") {
			rec.exchanges = append(rec.exchanges, exchange{path: rest, header: http.Header{}})
			continue
		}
		if len(rec.exchanges) == 0 {
			t.Fatalf("%s: %q stands before any request", file, said)
		}
		e := &rec.exchanges[len(rec.exchanges)-1]
		name, value, isHeader := strings.Cut(rest, ": ")
		switch {
		case kind == ">":
			e.must = append(e.must, rest)
		case kind == "<" && isHeader:
			e.header.Set(name, value)
		case kind == "<":
			if e.status, err = strconv.Atoi(rest); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
		default:
			e.body = append(e.body, said)
		}
	}
	return rec
}

// speaker answers requests one after the other.
type speaker struct {
	t         *testing.T
	exchanges []exchange
	next      atomic.Int32
}

// ServeHTTP implements [http.Handler].
func (p *speaker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := int(p.next.Add(1))
	if n > len(p.exchanges) {
		p.t.Errorf("a request too many: %s", r.URL.Path)
		http.NotFound(w, r)
		return
	}
	e := &p.exchanges[n-1]
	body, err := io.ReadAll(r.Body)
	if err != nil {
		p.t.Error(err)
	}
	if at := r.Method + " " + r.URL.Path; at != "POST "+e.path {
		p.t.Errorf("%s, want POST %s", at, e.path)
	}
	for _, must := range e.must {
		if err := holds(string(body), must); err != nil {
			p.t.Errorf("%v in the request %s", err, body)
		}
	}
	for name, values := range e.header {
		w.Header()[name] = values
	}
	w.WriteHeader(e.status)
	Speak(w, r, e.body...)
}

// Speak sends lines one by one, as a server does that streams. "!hang", "!die" and "!wait 3s" are as in
// [Exchanges].
func Speak(w http.ResponseWriter, r *http.Request, lines ...string) {
	flusher := http.NewResponseController(w)
	for _, line := range lines {
		switch wait, is := strings.CutPrefix(line, "!wait "); {
		case line == "!hang":
			<-r.Context().Done()
			return
		case line == "!die":
			panic(http.ErrAbortHandler)
		case is:
			d, err := time.ParseDuration(wait)
			if err != nil {
				panic(err)
			}
			select {
			case <-r.Context().Done():
				return
			case <-time.After(d):
			}
			continue
		}
		// A client that is gone is part of many tests.
		if _, err := io.WriteString(w, line+"\n"); err != nil {
			return
		}
		if err := flusher.Flush(); err != nil {
			return
		}
	}
}

// holds says which member of want, a JSON object, is missing in body or other. A member that is null in want must
// not be there.
func holds(body, want string) error {
	var has, must map[string]any
	if err := errors.Join(json.Unmarshal([]byte(body), &has), json.Unmarshal([]byte(want), &must)); err != nil {
		return err
	}
	for name, value := range must {
		if !reflect.DeepEqual(has[name], value) {
			return fmt.Errorf("%s is %v, want %v", name, has[name], value)
		}
	}
	return nil
}
