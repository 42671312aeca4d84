package budget_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/budget"
)

func TestKnownProfilesAreLegal(t *testing.T) {
	seen := map[string]string{}
	for _, p := range budget.Known().All() {
		if err := p.Check(); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if _, err := budget.WindowOf(p.Context); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if p.Vision != (p.Template.Image > 0) {
			t.Errorf("%s: pictures cost %d, vision is %v", p.Name, p.Template.Image, p.Vision)
		}
		if p.Provider == budget.Ollama && (p.Size == 0 || p.Tokenizer != budget.AskOllama || !slices.Contains(p.Contexts, p.Context)) {
			t.Errorf("%s: %+v", p.Name, p)
		}
		for _, name := range append([]string{p.Name}, p.Aliases...) {
			if other, twice := seen[name]; twice {
				t.Errorf("%s is a name of %s and %s", name, other, p.Name)
			}
			seen[name] = p.Name
			if found, ok := budget.Known().Find(name); !ok || found.Context != p.Context || found.Name != name {
				t.Errorf("%s: found %+v", name, found)
			}
		}
		again, err := budget.DecodeProfiles("[" + string(p.AppendJSON(nil)) + "]")
		if diff := cmp.Diff([]budget.Profile{p}, again); diff != "" || err != nil {
			t.Errorf("%s: %v %s", p.Name, err, diff)
		}
	}
	if len(seen) < 90 {
		t.Errorf("only %d names", len(seen))
	}
}

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		model     string
		context   int
		size      float64
		tokenizer string
		known     bool
	}{
		{"llama3.2", 131072, 3, "ollama", true},
		{"llama3.2:latest", 131072, 3, "ollama", true},
		{"llama3.2:1b", 131072, 1, "ollama", true},
		{"Llama3.2:1B-instruct-q4_K_M", 131072, 1, "ollama", true},
		{" llama3.1:70b ", 131072, 70, "ollama", true},
		{"library/llama3.1:405b", 131072, 405, "ollama", true},
		{"llama3:70b-instruct", 8192, 70, "ollama", true},
		{"llama3.2-vision:90b", 131072, 90, "ollama", true},
		{"llama4:maverick", 1048576, 400, "ollama", true},
		{"qwen2.5:0.5b", 32768, 0.5, "ollama", true},
		{"qwen2.5-coder:32b", 32768, 32, "ollama", true},
		{"gemma3:27b", 131072, 27, "ollama", true},
		{"gemma3:270m", 32768, 1, "ollama", true},
		{"gemma3n:e4b", 32768, 4, "ollama", true},
		{"mixtral", 32768, 46.7, "ollama", true},
		{"mixtral:8x22b", 65536, 141, "ollama", true},
		{"mixtral:8x7b-instruct", 32768, 56, "ollama", true},
		{"deepseek-r1:14b", 131072, 14, "ollama", true},
		{"gpt-oss:120b", 131072, 116.8, "ollama", true},
		{"codellama-34b", 16384, 34, "ollama", true},
		{"gpt-4o-2024-08-06", 128000, 0, "o200k", true},
		{"openai/gpt-4o-mini", 128000, 0, "o200k", true},
		{"gpt-4.1-mini-2025-04-14", 1047576, 0, "o200k", true},
		{"gpt-5.1-codex", 400000, 0, "o200k", true},
		{"gpt-4-0613", 8192, 0, "cl100k", true},
		{"gpt-3.5-turbo-0125", 16385, 0, "cl100k", true},
		{"o3-mini-2025-01-31", 200000, 0, "o200k", true},
		{"claude-sonnet-4-5-20250929", 200000, 0, "", true},
		{"claude-3-5-sonnet-20241022", 200000, 0, "", true},
		{"anthropic/claude-opus-4.1", 200000, 0, "", true},
		{"gemini-2.5-flash-lite", 1048576, 0, "", true},
		{"gemini-1.5-pro-002", 2097152, 0, "", true},

		{"nobody-heard-of-it", 8192, 0, "", false},
		{"nobody:34b", 8192, 34, "", false},
		{"hf.co/somebody/Something-8B-GGUF:Q4_K_M", 8192, 8, "", false},
		{"llama33", 8192, 0, "", false},
		{"o30-large", 8192, 0, "", false},
		{"", 8192, 0, "", false},
		{":", 8192, 0, "", false},
		{"x:1e9b", 8192, 0, "", false},
		{"x:0x7b", 8192, 0, "", false},
		{"x:99999999b", 8192, 0, "", false},
		{"x:.5b", 8192, 0, "", false},
		{"x:1.2.3b", 8192, 0, "", false},
	} {
		got, known := budget.Known().Find(tt.model)
		if known != tt.known || got.Context != tt.context || math.Abs(got.Size-tt.size) > 1e-9 || got.Tokenizer != tt.tokenizer {
			t.Errorf("%s: %v, %+v", tt.model, known, got)
		}
		if got.Name != strings.TrimSpace(tt.model) || got.Template == (budget.Template{}) {
			t.Errorf("%q: %+v", tt.model, got)
		}
	}
}

func TestRatedSize(t *testing.T) {
	for model, want := range map[string]float64{"llama3.2": 3, "gpt-5": 70, "nobody": 0, "nobody:8b": 8} {
		p, _ := budget.Known().Find(model)
		if got := p.RatedSize(); got != want {
			t.Errorf("%s: %g", model, got)
		}
	}
}

func TestWith(t *testing.T) {
	mine := budget.Profile{Name: "Mine", Aliases: []string{"gpt-4o", "my-model"}, Context: 4096}
	other := budget.Profile{Name: "LLAMA3.2", Context: 16384}
	table, err := budget.Known().With(mine, other)
	if err != nil {
		t.Fatal(err)
	}
	for model, context := range map[string]int{"mine:7b": 4096, "my-model": 4096, "llama3.2": 16384, "gpt-4o": 128000} {
		if p, ok := table.Find(model); !ok || p.Context != context {
			t.Errorf("%s: %+v", model, p)
		}
	}
	if p, _ := budget.Known().Find("llama3.2"); p.Context != 131072 {
		t.Error("the built-in table was changed")
	}
	if got, want := len(table.All()), len(budget.Known().All())+1; got != want {
		t.Errorf("%d profiles, want %d", got, want)
	}
	_, err = table.With(mine, budget.Profile{Name: "x", Context: -1})
	var field *budget.FieldError
	if !errors.As(err, &field) || field.Name != "profiles[1].context" {
		t.Error(err)
	}
}

func TestAllIsTheCallers(t *testing.T) {
	table := budget.Known()
	table.All()[0].Context = 1
	if table.All()[0].Context == 1 {
		t.Error("the table was changed")
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(*budget.Profile)
		field string
	}{
		{"nothing", func(*budget.Profile) {}, ""},
		{"no name", func(p *budget.Profile) { p.Name = " " }, "name"},
		{"a long name", func(p *budget.Profile) { p.Name = strings.Repeat("x", 201) }, "name"},
		{"a name with a line break", func(p *budget.Profile) { p.Name = "a\nb" }, "name"},
		{"a name that is no text", func(p *budget.Profile) { p.Name = "a\xff" }, "name"},
		{"an empty alias", func(p *budget.Profile) { p.Aliases = []string{"a", ""} }, "aliases[1]"},
		{"many aliases", func(p *budget.Profile) { p.Aliases = make([]string, 101) }, "aliases"},
		{"a provider that does not show", func(p *budget.Profile) { p.Provider = "a\x00" }, "provider"},
		{"no context", func(p *budget.Profile) { p.Context = 0 }, "context"},
		{"a negative context", func(p *budget.Profile) { p.Context = -8192 }, "context"},
		{"a small context", func(p *budget.Profile) { p.Context = 512 }, "context"},
		{"an absurd context", func(p *budget.Profile) { p.Context = 1_000_000_000_000 }, "context"},
		{"contexts", func(p *budget.Profile) { p.Contexts = []int{4096, 8192} }, ""},
		{"a context of one", func(p *budget.Profile) { p.Contexts = []int{4096, 1} }, "contexts[1]"},
		{"a context above the largest", func(p *budget.Profile) { p.Contexts = []int{4096, 16384} }, "contexts[1]"},
		{"contexts in disorder", func(p *budget.Profile) { p.Contexts = []int{8192, 4096} }, "contexts"},
		{"many contexts", func(p *budget.Profile) { p.Contexts = make([]int, 101) }, "contexts"},
		{"no size", func(p *budget.Profile) { p.Size = 0 }, ""},
		{"a negative size", func(p *budget.Profile) { p.Size = -7 }, "size"},
		{"a size that is no number", func(p *budget.Profile) { p.Size = math.NaN() }, "size"},
		{"an endless size", func(p *budget.Profile) { p.Size = math.Inf(1) }, "size"},
		{"a tokenizer", func(p *budget.Profile) { p.Tokenizer = budget.Cl100k }, ""},
		{"an unknown tokenizer", func(p *budget.Profile) { p.Tokenizer = "abacus" }, "tokenizer"},
		{"a negative template", func(p *budget.Profile) { p.Template.Prompt = -1 }, "template.prompt"},
		{"a large template", func(p *budget.Profile) { p.Template.Message = 1 << 20 }, "template.message"},
		{"negative calls", func(p *budget.Profile) { p.Template.Call = -1 }, "template.call"},
		{"negative tools", func(p *budget.Profile) { p.Template.Tool = -1 }, "template.tool"},
		{"negative pictures", func(p *budget.Profile) { p.Template.Image = -1 }, "template.image"},
	} {
		p := budget.Profile{Name: "mine", Context: 8192, Size: 7}
		tt.spoil(&p)
		err := p.Check()
		var field *budget.FieldError
		switch errors.As(err, &field) {
		case true:
			if field.Name != tt.field || field.Fix == "" {
				t.Errorf("%s: %v, want %q", tt.name, err, tt.field)
			}
		default:
			if tt.field != "" || err != nil {
				t.Errorf("%s: %v, want %q", tt.name, err, tt.field)
			}
		}
	}
}

func TestDecodeProfiles(t *testing.T) {
	got, err := budget.DecodeProfiles(`[
		{"name": "mine", "context": 8192, "contexts": [4096, 8192], "size": 7.5, "tokenizer": "o200k", "vision": true,
		 "provider": "home", "aliases": ["m"], "template": {"prompt": 1, "message": 2, "call": 3, "tool": 4, "image": 5}},
		{"name": "plain", "context": 4096}
	]`)
	usual, _ := budget.Known().Find("nobody")
	want := []budget.Profile{
		{
			Name: "mine", Aliases: []string{"m"}, Provider: "home", Context: 8192, Contexts: []int{4096, 8192}, Size: 7.5,
			Tokenizer: "o200k", Template: budget.Template{Prompt: 1, Message: 2, Call: 3, Tool: 4, Image: 5}, Vision: true,
		},
		{Name: "plain", Context: 4096, Template: usual.Template},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	for text, field := range map[string]string{
		``:   "",
		`{}`: "",
		`[{"name":"a","context":4096},{"name":"b"}]`:                 "[1].context",
		`[{"name":"a","context":"large"}]`:                           "[0].context",
		`[{"name":"a","context":4096.5}]`:                            "[0].context",
		`[{"name":"a","context":1000000000000}]`:                     "[0].context",
		`[{"name":"a","context":4096,"size":"NaN"}]`:                 "[0].size",
		`[{"name":"a","context":4096,"colour":"red"}]`:               "[0].colour",
		`[{"name":"a","context":4096,"template":{"message":-4}}]`:    "[0].template.message",
		`[{"name":"a","context":4096,"template":{"message":"few"}}]`: "[0].template.message",
		`[{"name":"a","name":"b","context":4096}]`:                   "[0]",
		`[{"name":"a","context":4096`:                                "",
		`[null]`:                                                     "[0]",
		`[{"name":"a","context":99999999999999999999}]`:              "[0].context",
	} {
		_, err := budget.DecodeProfiles(text)
		var fieldError *budget.FieldError
		if !errors.As(err, &fieldError) || fieldError.Name != field {
			t.Errorf("%s: %v, want an error of %q", text, err, field)
		}
	}
}

func FuzzDecodeProfiles(f *testing.F) {
	f.Add(`[{"name":"a","context":4096,"template":{"message":4}}]`)
	f.Fuzz(func(t *testing.T, text string) {
		profiles, err := budget.DecodeProfiles(text)
		if err != nil {
			return
		}
		if _, err := budget.Known().With(profiles...); err != nil {
			t.Fatal(err)
		}
	})
}
