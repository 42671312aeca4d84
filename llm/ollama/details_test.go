package ollama_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/llm/ollama"
)

func TestDetails(t *testing.T) {
	s := newServer(t)
	got, err := ollama.NewClient(s.URL+"/", ollama.Config{}).Details(t.Context(), "llama3.2")
	want := ollama.Details{
		Family: "llama", Quantization: "Q4_K_M", Context: 131072, Size: 3.21,
		Capabilities: []string{"completion", "tools"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestDetailsOfAModelThatIsNotThere(t *testing.T) {
	s := newServer(t)
	_, err := ollama.NewClient(s.URL, ollama.Config{}).Details(t.Context(), "nobody")
	if !errors.Is(err, ollama.ErrNotFound) || !strings.Contains(err.Error(), "ollama pull nobody") {
		t.Error(err)
	}
}

func TestComplete(t *testing.T) {
	s := newServer(t)
	s.info["tiny"] = map[string]any{"general.architecture": "bert", "bert.context_length": 512}
	s.info["silent"] = map[string]any{"general.architecture": "llama"}
	client := ollama.NewClient(s.URL, ollama.Config{})
	find := func(model string) budget.Profile {
		p, _ := budget.Known().Find(model)
		return p
	}
	template := find("llama3.2").Template
	usual := find("no such model").Template

	for _, tt := range []struct {
		name     string
		give     budget.Profile
		want     budget.Profile
		complain string
	}{
		{
			"a model nobody has heard of",
			budget.Profile{Name: llama, Context: 8192, Contexts: []int{4096}, Template: usual},
			budget.Profile{
				Name: llama, Provider: "ollama", Context: 131072, Contexts: []int{4096}, Size: 3.21,
				Tokenizer: "ollama", Template: usual,
			}, "",
		},
		{
			"a size near the server's is kept, a larger context is not",
			budget.Profile{Name: llama, Context: 262144, Contexts: []int{4096, 262144}, Size: 3, Vision: true, Template: template},
			budget.Profile{
				Name: llama, Provider: "ollama", Context: 131072, Contexts: []int{4096}, Size: 3,
				Tokenizer: "ollama", Template: template,
			}, "",
		},
		{
			"a server that says nothing",
			budget.Profile{Name: "silent", Context: 8192, Size: 7, Template: template},
			budget.Profile{Name: "silent", Provider: "ollama", Context: 8192, Size: 7, Tokenizer: "ollama", Template: template}, "",
		},
		{
			"a context that is too small",
			budget.Profile{Name: "tiny", Context: 8192},
			budget.Profile{Name: "tiny", Context: 8192}, "512 is no context size",
		},
		{
			"a model that is not there",
			budget.Profile{Name: "nobody", Context: 8192},
			budget.Profile{Name: "nobody", Context: 8192}, "no such model",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := client.Complete(t.Context(), tt.give)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if (err == nil) != (tt.complain == "") || err != nil && !strings.Contains(err.Error(), tt.complain) {
				t.Errorf("got error %v, want %s", err, tt.complain)
			}
		})
	}
}

func TestCompleteKnowsWhoSeesPictures(t *testing.T) {
	s := newServer(t)
	s.answer = func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]any{"capabilities": []string{"completion", "vision"}})
	}
	got, err := ollama.NewClient(s.URL, ollama.Config{}).Complete(t.Context(), budget.Profile{Name: llama, Context: 8192})
	if err != nil || !got.Vision || got.Template.Image == 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestDetailsOfALiar(t *testing.T) {
	for _, tt := range []struct{ name, body, complain string }{
		{"context", `{"model_info":{"general.architecture":"x","x.context_length":1000000000000}}`, "x.context_length: 1000000000000 is no context size"},
		{"negative context", `{"model_info":{"general.architecture":"x","x.context_length":-1}}`, "x.context_length: -1"},
		{"fractional context", `{"model_info":{"x.context_length":1.5}}`, "x.context_length: 1.5 is no whole number"},
		{"context in words", `{"model_info":{"x.context_length":"large"}}`, "x.context_length: is a string, not a number"},
		{"parameters", `{"model_info":{"general.parameter_count":-7}}`, "general.parameter_count: -7 is no number of parameters"},
		{"architecture", `{"model_info":{"general.architecture":["x"]}}`, "general.architecture: is an array, not a string"},
		{"details", `{"details":true}`, "details: is true or false, not an object"},
		{"family", `{"details":{"family":{}}}`, "details.family: is an object, not a string"},
		{"capabilities", `{"capabilities":"all"}`, "capabilities: is a string, not an array"},
		{"capability", `{"capabilities":["a",null]}`, "capabilities: is null, not a string"},
		{"info", `{"model_info":7}`, "model_info: is a number, not an object"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t)
			s.answer = func(w http.ResponseWriter, _ *http.Request) {
				if _, err := w.Write([]byte(tt.body)); err != nil {
					t.Error(err)
				}
			}
			_, err := ollama.NewClient(s.URL, ollama.Config{}).Details(t.Context(), llama)
			var answer *ollama.AnswerError
			if !errors.As(err, &answer) || !strings.Contains(err.Error(), tt.complain) {
				t.Fatalf("got %v, want %s", err, tt.complain)
			}
			if answer.Endpoint != "/api/show" || answer.Model != llama || answer.Fix == "" {
				t.Errorf("%+v", answer)
			}
		})
	}
}
