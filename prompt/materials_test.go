package prompt_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/prompt"
)

func TestMaterialsOfNamesAllThatIsStored(t *testing.T) {
	tool := prompt.Definition{Name: "look", Schema: `{"type":"object"}`}
	for name, s := range map[string]prompt.Settings{
		"nothing": {},
		"system":  {System: "Be brief."},
		"all": {
			System: "Be “brief”.", Mandates: []string{"never lie"}, Checks: []string{"is it true?"}, Tools: []prompt.Definition{tool},
			Skills: []prompt.Material{{Name: "maths", Text: "1+1"}, {Name: "none"}},
			Sticky: []prompt.Material{{Name: "a.txt", Text: "a"}, {Name: "empty.txt"}, {Name: "b.txt", Text: "1+1"}},
		},
	} {
		sealed := seal(t, s)
		named, err := prompt.MaterialsOf(sealed.Materials[sealed.SHA256])
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := append(slices.Clone(named.Texts), sealed.SHA256)
		if len(s.Tools) > 0 {
			got = append(got, named.Tools)
			if err := prompt.CheckTools(sealed.Materials[named.Tools]); err != nil {
				t.Errorf("%s: tools: %v", name, err)
			}
		} else if named.Tools != "" {
			t.Errorf("%s: tools %s", name, named.Tools)
		}
		slices.Sort(got)
		if diff := cmp.Diff(slices.Sorted(maps.Keys(sealed.Materials)), slices.Compact(got)); diff != "" {
			t.Errorf("%s (-stored +named):\n%s", name, diff)
		}
	}
}

func TestMaterialsOfRefusesWhatNoPromptCouldBeginWith(t *testing.T) {
	for doc, want := range map[string]string{
		``:                        "expected an object",
		`{"mood":"good"}`:         "mood: is not a field",
		`{ }`:                     "is not written as it would be today",
		`{"system":""}`:           "is not written as it would be today",
		`{"mandates":[" "]}`:      "mandates[0]: is empty",
		`{"skills":[{}]}`:         "skills[0].name: is empty",
		`{"checks":["a","a"]}`:    `checks[1]: "a" stands twice`,
		`{"sticky":[{"name":7}]}`: "sticky[0].name: ",
	} {
		if _, err := prompt.MaterialsOf(doc); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", doc, err, want)
		}
	}
}

func TestCheckToolsRefusesOtherTexts(t *testing.T) {
	for text, want := range map[string]string{
		"Be brief.": "expected an object",
		`{}`:        "is not written as it would be today",
		`{"tools":[{"name":"look", "schema":"{}"}]}`:    "is not written as it would be today",
		`{"tools":[{"name":"look","schema":"[]"}]}`:     "tools[0].schema: is not a JSON object",
		`{"tools":[{"name":"look","mood":"{}"}]}`:       "mood: is not a field",
		`{"tools":[{"name":"a\nb","schema":"{}"}]}`:     "tools[0].name: has line breaks",
		`{"tools":[{"description":"d","schema":"{}"}]}`: "tools[0].name: is empty",
	} {
		if err := prompt.CheckTools(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
