package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/budget"
)

func TestParseModels(t *testing.T) {
	got, err := parseModels(`
models = [
  { name = "inline", context = 8192 },
]
`)
	if err != nil || len(got) != 1 || got[0].Name != "inline" || got[0].Context != 8192 {
		t.Errorf("inline: got %+v, %v", got, err)
	}
	got, err = parseModels(`
[[models]]
name = "a"
context = 8_192
size = 7
vision = true
template.image = 100
[[models]]
name = "b"
context = 4e3
`)
	want := []budget.Profile{
		{Name: "a", Context: 8192, Size: 7, Vision: true, Template: budget.Template{Image: 100}},
		{Name: "b", Context: 4000},
	}
	if err != nil {
		t.Fatal(err)
	}
	// One without a template gets the usual one, whatever that is.
	got[1].Template = budget.Template{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("profiles (-want +got):\n%s", diff)
	}
	for _, text := range []string{"", "# nothing yet\n", "models = []\n"} {
		if got, err := parseModels(text); err != nil || len(got) != 0 {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
}

func TestNonsenseHasItsLine(t *testing.T) {
	const head = "[[models]]\nname = \"a\"\ncontext = 8192\n"
	for _, test := range []struct {
		name, text string
		line       int
		problem    string
	}{
		{"syntax", "[[models]]\nname = \n", 2, "expected value"},
		{"key twice", "[[models]]\nname = \"a\"\nname = \"b\"\n", 3, "name"},
		{"string without end", "[[models]]\nname = \"a\n", 2, "models.name"},
		{"not UTF-8", "[[models]]\nname = \"\xff\"\n", 2, "UTF-8"},
		{"other table", head + "[settings]\nx = 1\n", 4, "settings: is not known here"},
		{"other key", "verbose = true\n" + head, 1, "verbose: is not known here"},
		{"no list", "models = 7\n", 1, "expected"},
		{"list of others", "x = 1\nmodels = 7\n", 1, "x: is not known"},
		{"no name", "\n[[models]]\ncontext = 8192\n", 2, "models[0].name: is empty"},
		{"no name after a while", "# models\n\n[[models]]\n\n# one\ncontext = 8192\n\n", 3, "models[0].name: is empty"},
		{"unknown field", head + "speed = 9\n", 4, "speed"},
		{"second model", head + "[[models]]\nname = \"b\"\n# a comment = 5\ncontext = 1\n", 7, "models[1].context: 1 is no context size"},
		{"element of a list", head + "contexts = [\n  4096,\n  1,\n]\n", 4, "models[0].contexts[1]: 1 is no context size"},
		{"table below", head + "[models.template]\ntool = 1\ncall = -1\n", 6, "models[0].template.call: -1"},
		{"dotted key", head + "template.call = -1\n", 4, "models[0].template.call: -1"},
		{"quoted key", head + "\"template\" . 'call' = -1\n", 4, "models[0].template.call: -1"},
		{"inline table", head + "template = { tool = 1, call = -1 }\n", 4, "models[0].template.call: -1"},
		{"inline model", "models = [\n  { name = \"a\", context = 1 },\n]\n", 1, "models[0].context: 1"},
		{"wrong type", head + "vision = \"yes\"\n", 4, "models[0].vision"},
		{"a date", head + "size = 2026-01-02\n", 4, "models[0].size"},
		{"no number", head + "size = nan\n", 4, "models[0].size: is no finite number"},
		{"no end", head + "[[models]]\nname = \"b\"\ncontexts = [4096, -inf]\n", 6, "models[1].contexts[1]: is no finite number"},
		{"no number below", head + "[models.template]\ntool = 1\ncall = inf\n", 6, "models[0].template.call: is no finite number"},
		{"no number inline", "models = [{ name = \"a\", context = nan }]\n", 1, "models[0].context: is no finite number"},
		{"no number at all", "models = nan\n", 1, "models: is no finite number"},
		{"name twice", head + "[[models]]\nname = \"b\"\ncontext = 4096\n\n[[models]]\ncontext = 4096\nname = \" A\"\n", 10, "models[2].name: \" A\" stands in line 2 already"},
		{"half a token", head + "contexts = [4096.5]\n", 4, "models[0].contexts[0]"},
	} {
		_, err := parseModels(test.text)
		var bad *fileError
		if !errors.As(err, &bad) {
			t.Errorf("%s: got %v", test.name, err)
			continue
		}
		if bad.line != test.line || !strings.Contains(bad.problem, test.problem) || bad.fix == "" {
			t.Errorf("%s: got line %d: %s; %s, want line %d: %s", test.name, bad.line, bad.problem, bad.fix, test.line, test.problem)
		}
	}
}

// TestModelsHelpHasAModel holds the example in the help to what is read, and the help to every field there is.
func TestModelsHelpHasAModel(t *testing.T) {
	help := (&app{}).modelsCommand().Long
	_, example, found := strings.Cut(help, "\n\n  [[models]]\n")
	got, err := parseModels("[[models]]\n" + example)
	if err != nil || !found || len(got) != 1 || got[0].Name != "my-model:7b" || len(got[0].Contexts) != 2 || got[0].Template.Tool != 14 {
		t.Errorf("the example is %+v, %v", got, err)
	}
	_, err = budget.DecodeProfiles(`[{"none":1}]`)
	_, fields, found := strings.Cut(err.Error(), "legal here: ")
	if !found {
		t.Fatal(err)
	}
	for field := range strings.SplitSeq(fields, ", ") {
		if !strings.Contains(example, field+" = ") && !strings.Contains("name", field) {
			t.Errorf("%s is not in the help", field)
		}
	}
}
