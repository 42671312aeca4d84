package ollama_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/budget/bpe"
	"github.com/turnstone-dev/turnstone/llm/ollama"
)

const (
	show = "POST /api/show"
	tags = "GET /api/tags"
)

func TestVocabulary(t *testing.T) {
	s := newServer(t)
	client := ollama.NewClient(s.URL, ollama.Config{})
	gemma := bpe.Vocabulary{
		Model: "llama", Pre: "default", Tokens: []string{"<unk>", "▁", "a", "▁a"}, Types: []int32{2, 1, 1, 1},
		Scores: []float32{0, -1.5, -2, -1000},
	}
	for _, tt := range []struct {
		model, digest string
		want          bpe.Vocabulary
	}{
		{"llama3.2", llamaDigest, byteVocabulary()},
		{"LLAMA3.2:latest", llamaDigest, byteVocabulary()},
		{"gemma3:4b", otherDigest, gemma},
	} {
		s.info["LLAMA3.2:latest"] = llamaInfo()
		got, digest, err := client.Vocabulary(t.Context(), tt.model)
		if err != nil || digest != tt.digest {
			t.Fatalf("%s: %s, %v", tt.model, digest, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.model, diff)
		}
	}
}

func TestVocabularyCounts(t *testing.T) {
	s := newServer(t)
	v, _, err := ollama.NewClient(s.URL, ollama.Config{}).Vocabulary(t.Context(), llama)
	if err != nil {
		t.Fatal(err)
	}
	encoding, err := bpe.New(v)
	if err != nil {
		t.Fatal(err)
	}
	if got := encoding.Count("hello"); got != 3 {
		t.Errorf("he ll o is %d tokens", got)
	}
}

func TestASpaceGoesBeforeTextUnlessTheFileSaysOtherwise(t *testing.T) {
	s := newServer(t)
	delete(s.info["gemma3:4b"], "tokenizer.ggml.add_space_prefix")
	v, _, err := ollama.NewClient(s.URL, ollama.Config{}).Vocabulary(t.Context(), "gemma3:4b")
	if err != nil || !v.AddSpacePrefix {
		t.Errorf("%v, %v", v.AddSpacePrefix, err)
	}
}

// reports collects what a client reports.
type reports struct {
	mu  sync.Mutex
	all []string
}

func (r *reports) add(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, err.Error())
}

func TestCache(t *testing.T) {
	s := newServer(t)
	var told reports
	folder := filepath.Join(t.TempDir(), "a", "b")
	read := func() bpe.Vocabulary {
		t.Helper()
		v, digest, err := ollama.NewClient(s.URL, ollama.Config{Cache: folder, Report: told.add}).Vocabulary(t.Context(), llama)
		if err != nil || digest == "" {
			t.Fatal(err)
		}
		return v
	}
	first := read()
	if again := read(); !cmp.Equal(first, again) || s.count(show) != 1 {
		t.Errorf("asked %d times: %s", s.count(show), cmp.Diff(first, again))
	}
	s.models[llama] = otherDigest
	read()
	if s.count(show) != 2 {
		t.Error("a new model has the vocabulary of the old one")
	}
	entries, err := filepath.Glob(filepath.Join(folder, "*", "*"))
	if err != nil || len(entries) != 2 || len(told.all) != 0 {
		t.Errorf("%v, %v, %v", entries, told.all, err)
	}
}

// TestCacheOfEachServer: two servers that share a folder and say that they have the same model are not taken at each other's word.
func TestCacheOfEachServer(t *testing.T) {
	folder := t.TempDir()
	first, second := newServer(t), newServer(t)
	second.info[llama] = gemmaInfo()
	for _, s := range []*server{first, second, first, second} {
		v, digest, err := ollama.NewClient(s.URL, ollama.Config{Cache: folder}).Vocabulary(t.Context(), llama)
		if err != nil || digest != llamaDigest || (v.Model == "gpt2") != (s == first) {
			t.Errorf("%s, %s, %v", v.Model, digest, err)
		}
	}
	if first.count(show) != 1 || second.count(show) != 1 {
		t.Errorf("asked %d and %d times", first.count(show), second.count(show))
	}
}

func TestDamagedCacheEntriesAreFetchedAnew(t *testing.T) {
	s := newServer(t)
	folder := t.TempDir()
	var told reports
	client := ollama.NewClient(s.URL, ollama.Config{Cache: folder, Report: told.add})
	if _, _, err := client.Vocabulary(t.Context(), llama); err != nil {
		t.Fatal(err)
	}
	entry := onlyEntry(t, folder)
	whole, err := os.ReadFile(entry)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	sum := bytes.Clone(whole)
	sum[len("turnstone vocabulary 1\n")+3] ^= 1
	for i, damaged := range [][]byte{nil, whole[:10], whole[:40], whole[:len(whole)-1], flipped, sum, append(bytes.Clone(whole), 0), []byte(strings.Repeat("x", 100))} {
		if err := os.WriteFile(entry, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		v, _, err := client.Vocabulary(t.Context(), llama)
		if err != nil || !cmp.Equal(v, byteVocabulary()) {
			t.Errorf("%d: %v", i, err)
		}
		if s.count(show) != i+2 || len(told.all) != i+1 || !strings.Contains(told.all[i], "damaged") {
			t.Errorf("%d: asked %d times, reports %q", i, s.count(show), told.all)
		}
		if mended, err := os.ReadFile(entry); err != nil || !bytes.Equal(mended, whole) {
			t.Errorf("%d: the entry was not mended: %v", i, err)
		}
	}
}

func TestACacheThatCannotBeWrittenStopsNothing(t *testing.T) {
	s := newServer(t)
	folder := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var told reports
	v, _, err := ollama.NewClient(s.URL, ollama.Config{Cache: folder, Report: told.add}).Vocabulary(t.Context(), llama)
	if err != nil || len(v.Tokens) == 0 || len(told.all) == 0 {
		t.Errorf("%v, %q", err, told.all)
	}
}

// onlyEntry is the one vocabulary that a cache has.
func onlyEntry(t *testing.T, folder string) string {
	t.Helper()
	entries, err := filepath.Glob(filepath.Join(folder, "*", "*.vocabulary"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v", entries, err)
	}
	return entries[0]
}

func TestAModelThatIsPulledMeanwhileIsNotKept(t *testing.T) {
	s := newServer(t)
	s.answer = func(w http.ResponseWriter, r *http.Request) {
		s.models[llama] = otherDigest
		s.show(w, r)
	}
	folder := t.TempDir()
	if _, _, err := ollama.NewClient(s.URL, ollama.Config{Cache: folder}).Vocabulary(t.Context(), llama); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestVocabularyOfALiar(t *testing.T) {
	const head = `{"model_info":{"tokenizer.ggml.model":"gpt2","tokenizer.ggml.tokens":["a","b"],`
	for _, tt := range []struct{ name, body, complain string }{
		{"HTML", "<!doctype html><html><body>Hello</body></html>", "it is not JSON"},
		{"nothing", "", "it ends in the middle"},
		{"truncated", head + `"tokenizer.ggml.merges":["a b`, "it ends in the middle"},
		{"truncated between values", head + `"tokenizer.ggml.merges":["a b"`, "it ends in the middle"},
		{"another value", `[1,2]`, "the answer: is an array, not an object"},
		{"no info", `{}`, "tokenizer.ggml.model: is missing"},
		{"null info", `{"model_info":null}`, "model_info: is null, not an object"},
		{"no tokens", `{"model_info":{"tokenizer.ggml.model":"gpt2"}}`, "tokens: are missing"},
		{"null tokens", `{"model_info":{"tokenizer.ggml.model":"gpt2","tokenizer.ggml.tokens":null}}`, "tokens: are missing"},
		{"null merges", head + `"tokenizer.ggml.merges":null}}`, "merges: are missing"},
		{"tokens are numbers", `{"model_info":{"tokenizer.ggml.tokens":[1,2]}}`, "tokens: is a number, not a string"},
		{"tokens are a string", `{"model_info":{"tokenizer.ggml.tokens":"abc"}}`, "tokens: is a string, not an array"},
		{"tokens are nested", `{"model_info":{"tokenizer.ggml.tokens":[["a"]]}}`, "tokens: is an array, not a string"},
		{"merges are pairs", head + `"tokenizer.ggml.merges":[{"a":"b"}]}}`, "merges: is an object, not a string"},
		{"types are words", head + `"tokenizer.ggml.token_type":["normal"]}}`, "token_type: is a string, not a number"},
		{"types are large", head + `"tokenizer.ggml.token_type":[1e10]}}`, "token_type: 1e10 is no whole number of 32 bits"},
		{"types are few", head + `"tokenizer.ggml.merges":["a b"],"tokenizer.ggml.token_type":[1]}}`, "token_type: there are 1 of 2 tokens"},
		{"scores are words", head + `"tokenizer.ggml.scores":[true]}}`, "scores: is true or false, not a number"},
		{"scores are endless", head + `"tokenizer.ggml.scores":[-inf]}}`, "scores: -inf is no number"},
		{"scores are hexadecimal", head + `"tokenizer.ggml.scores":[0x1]}}`, "scores: 0x1 is no number"},
		{"tokens are not text", head + "\"tokenizer.ggml.merges\":[\"a\xff\"]}}", "merges: has a text that is not UTF-8"},
		{"scores are large", head + `"tokenizer.ggml.scores":[1e999]}}`, "scores: has a score that is no number"},
		{"scores are few", head + `"tokenizer.ggml.merges":["a b"],"tokenizer.ggml.scores":[1]}}`, "scores: there are 1 of 2 tokens"},
		{"no scores", `{"model_info":{"tokenizer.ggml.model":"llama","tokenizer.ggml.tokens":["a"]}}`, "scores: are missing"},
		{"a space in words", head + `"tokenizer.ggml.add_space_prefix":"yes"}}`, "add_space_prefix: is a string"},
		{"the model is a number", `{"model_info":{"tokenizer.ggml.model":7}}`, "tokenizer.ggml.model: is a number, not a string"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t)
			s.answer = func(w http.ResponseWriter, _ *http.Request) {
				if _, err := io.WriteString(w, tt.body); err != nil {
					t.Error(err)
				}
			}
			folder := t.TempDir()
			_, _, err := ollama.NewClient(s.URL, ollama.Config{Cache: folder}).Vocabulary(t.Context(), llama)
			var answer *ollama.AnswerError
			if !errors.As(err, &answer) || !strings.Contains(err.Error(), tt.complain) {
				t.Fatalf("got %v, want %s", err, tt.complain)
			}
			if answer.Endpoint != "/api/show" || answer.Model != llama || answer.Fix == "" {
				t.Errorf("%+v", answer)
			}
			if entries, err := os.ReadDir(folder); err != nil || len(entries) != 0 {
				t.Errorf("a lie was kept: %v, %v", entries, err)
			}
		})
	}
}

// TestAnswersWithoutAnEnd sends bodies that would be endless: the client must hang up.
func TestAnswersWithoutAnEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of megabytes")
	}
	for _, tt := range []struct{ name, begin, more, complain string }{
		{"unwanted values", `{"tensors":[`, `[[{"a":"b"}]],`, "does not end"},
		{"tokens", `{"model_info":{"tokenizer.ggml.tokens":[`, `"a",`, "has more than 1048576 elements"},
		{"one token", `{"model_info":{"tokenizer.ggml.tokens":["`, `aaaa`, "has a text of more than 65536 bytes"},
		{"types", `{"model_info":{"tokenizer.ggml.token_type":[`, `1,`, "has more than 1048576 elements"},
		{"spaces", ``, `    `, "does not end"},
		{"depth", `{"x":`, `[[[[`, "does not end"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t)
			hungUp := make(chan struct{})
			s.answer = func(w http.ResponseWriter, _ *http.Request) {
				defer close(hungUp)
				more := []byte(strings.Repeat(tt.more, 16<<10))
				_, err := io.WriteString(w, tt.begin)
				for err == nil {
					_, err = w.Write(more)
				}
			}
			_, _, err := ollama.NewClient(s.URL, ollama.Config{}).Vocabulary(t.Context(), llama)
			var answer *ollama.AnswerError
			if !errors.As(err, &answer) || !strings.Contains(err.Error(), tt.complain) {
				t.Errorf("got %v, want %s", err, tt.complain)
			}
			<-hungUp
		})
	}
}

func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"an error of the server", 500, `{"error":"out of memory"}`, `500 Internal Server Error: "out of memory"`},
		{"another server", 404, "404 page not found", `404 Not Found: "404 page not found"`},
		{"something else is missing", 500, `{"error":"file not found"}`, `500 Internal Server Error: "file not found"`},
		{"a path that is missing", 404, `{"error":"no route"}`, `404 Not Found: "no route"; check that an Ollama server`},
		{"a gate", 502, strings.Repeat("<html>", 10000), "502 Bad Gateway"},
		{"a lock", 401, `{"error":"unauthorized"}`, `401 Unauthorized: "unauthorized"; check the key that the server is sent`},
		{"nothing at all", 403, "", `403 Forbidden: ""`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t)
			s.answer = func(w http.ResponseWriter, _ *http.Request) { http.Error(w, tt.body, tt.status) }
			_, _, err := ollama.NewClient(s.URL, ollama.Config{}).Vocabulary(t.Context(), llama)
			var answer *ollama.AnswerError
			if !errors.As(err, &answer) || !strings.Contains(err.Error(), `answer of /api/show about "`+llama+`": `+tt.want) || len(err.Error()) > 1000 {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if answer != nil && answer.Status != tt.status {
				t.Errorf("its status is %d, not %d", answer.Status, tt.status)
			}
			if errors.Is(err, ollama.ErrNotFound) {
				t.Error("it is not the model that is missing")
			}
		})
	}
}

func TestDigest(t *testing.T) {
	for _, tt := range []struct{ name, digest, want, complain string }{
		{"plain", llamaDigest, llamaDigest, ""},
		{"with its algorithm", "sha256:" + llamaDigest, llamaDigest, ""},
		{"a path", "../../../../etc/passwd", "", "digest: \"../../../../etc/passwd\" is none"},
		{"a path as long as a digest", strings.Repeat("../", 21) + "x", "", "is none"},
		{"short", "abc", "", "is none"},
		{"none", "", "", "is none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t)
			s.models[llama] = tt.digest
			got, err := ollama.NewClient(s.URL, ollama.Config{}).Digest(t.Context(), "llama3.2")
			if got != tt.want || (err == nil) != (tt.complain == "") || err != nil && !strings.Contains(err.Error(), tt.complain) {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
	s := newServer(t)
	for _, missing := range []string{"nobody", "llama3.2:1b", "library/llama3.2", ""} {
		if _, err := ollama.NewClient(s.URL, ollama.Config{}).Digest(t.Context(), missing); !errors.Is(err, ollama.ErrNotFound) {
			t.Errorf("%q: %v", missing, err)
		}
	}
	if s.count(show) != 0 || s.count(tags) != 4 {
		t.Error("asked for more than the list")
	}
}

func TestAServerThatIsNotThere(t *testing.T) {
	s := newServer(t)
	s.Close()
	for _, address := range []string{s.URL, "not an address", "http://[::1"} {
		_, _, err := ollama.NewClient(address, ollama.Config{}).Vocabulary(t.Context(), llama)
		var answer *ollama.AnswerError
		if err == nil || errors.As(err, &answer) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// carrier lets a test look at requests and answers on their way.
type carrier func(*http.Request) (*http.Response, error)

func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

// firstRead calls a function before a body is read for the first time.
type firstRead struct {
	io.ReadCloser
	once sync.Once
	call func()
}

func (f *firstRead) Read(p []byte) (int, error) {
	f.once.Do(f.call)
	return f.ReadCloser.Read(p)
}

func TestCancel(t *testing.T) {
	for _, endpoint := range []string{"/api/tags", "/api/show"} {
		s := newServer(t)
		s.answer = func(w http.ResponseWriter, r *http.Request) {
			if _, err := fmt.Fprint(w, `{"model_info":{"tokenizer.ggml.tokens":["a",`); err != nil {
				t.Error(err)
			}
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
		ctx, cancel := context.WithCancel(t.Context())
		carry := carrier(func(r *http.Request) (*http.Response, error) {
			response, err := http.DefaultTransport.RoundTrip(r)
			if err == nil && r.URL.Path == endpoint {
				response.Body = &firstRead{ReadCloser: response.Body, call: cancel}
			}
			return response, err
		})
		_, _, err := ollama.NewClient(s.URL, ollama.Config{HTTP: &http.Client{Transport: carry}}).Vocabulary(ctx, llama)
		var answer *ollama.AnswerError
		if !errors.Is(err, context.Canceled) || errors.As(err, &answer) {
			t.Errorf("%s: %v", endpoint, err)
		}
		cancel()
	}
}

func TestTheUsualAddress(t *testing.T) {
	asked := ""
	carry := carrier(func(r *http.Request) (*http.Response, error) {
		asked = r.URL.String()
		return nil, errors.New("nobody is asked")
	})
	client := ollama.NewClient("", ollama.Config{HTTP: &http.Client{Transport: carry}})
	if _, err := client.Digest(t.Context(), llama); err == nil || asked != ollama.DefaultURL+"/api/tags" {
		t.Errorf("%s, %v", asked, err)
	}
}

func TestAnEntryThatIsAFolder(t *testing.T) {
	s := newServer(t)
	folder := t.TempDir()
	var told reports
	client := ollama.NewClient(s.URL, ollama.Config{Cache: folder, Report: told.add})
	if _, _, err := client.Vocabulary(t.Context(), llama); err != nil {
		t.Fatal(err)
	}
	entry := onlyEntry(t, folder)
	if err := os.Remove(entry); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(entry, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	v, _, err := client.Vocabulary(t.Context(), llama)
	if err != nil || len(v.Tokens) == 0 || len(told.all) != 2 {
		t.Errorf("%v, %q", err, told.all)
	}
	if entries, err := os.ReadDir(filepath.Dir(entry)); err != nil || len(entries) != 1 {
		t.Errorf("what could not be kept was left behind: %v, %v", entries, err)
	}
}

// Many clients may share one folder.
func TestCacheIsShared(t *testing.T) {
	s := newServer(t)
	folder := t.TempDir()
	var told reports
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			v, _, err := ollama.NewClient(s.URL, ollama.Config{Cache: folder, Report: told.add}).Vocabulary(t.Context(), llama)
			if err != nil || !cmp.Equal(v, byteVocabulary()) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if entries, err := filepath.Glob(filepath.Join(folder, "*", "*")); err != nil || len(entries) != 1 || len(told.all) != 0 {
		t.Errorf("%v, %v, %q", entries, err, told.all)
	}
}
