package commit_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/memory"
)

// judgedByModels is what comes of an exchange that models judge with these answers.
func judgedByModels(t *testing.T, verdict, learned string) (problems []string, export commit.StateExport, items []string) {
	model := llmtest.NewScript(verdict, learned)
	w := newWorldOnMem(t, commit.Config{
		Deadlines: patient, Evaluator: commit.ModelEvaluator{Model: model}, Reflector: commit.ModelReflector{Model: model},
		Selection: memory.Selection{Policies: memory.Policies{{Type: memory.Event, Always: true}}},
	})
	res := w.commit(talk("hello", "hi"))
	return res.Problems, w.export(res.ExportID), w.items()
}

// A model that judges says success, or the rules stand in for it. What it says besides is as good as it gets.
func TestVerdictsOfModels(t *testing.T) {
	slow := []commit.Issue{{Kind: "issue", Text: "was slow"}}
	for _, test := range []struct {
		says    string
		problem string // empty: it counts
		success bool
		issues  []commit.Issue
	}{
		{says: `{"success": true, "reasoning": "fine"}`, success: true},
		{says: `{"success": false, "issues": ["was slow", " ", {"text": "was slow "}, {}, null]}`, issues: slow},
		{says: `{"success": false, "issues": [{"text": "was slow", "severity": 2}]}`, issues: slow},
		{says: `{"success": true, "follow_up_needed": null, "issues": null}`, success: true},
		{says: "<think>maybe {\"success\": false}?</think>\n<think>No.</think>```json\n{\"success\": true}\n```", success: true},
		{says: `maybe {"success": false}?</think>{"success": true}`, success: true},
		{says: `{"success": false, "issues": ["It said </think>."]}`, issues: []commit.Issue{{Kind: "issue", Text: "It said </think>."}}},
		{says: `{}`, problem: "does not say success", success: true},
		{says: `{"issues": ["was slow"]}`, problem: "does not say success", success: true},
		{says: `{"success": null}`, problem: "does not say success", success: true},
		{says: `{"success": "false"}`, problem: "a string as success", success: true},
		{says: `{"success": false, "issues": [1]}`, problem: "issues: expected an object or a string, found 1", success: true},
		{says: `<think>maybe {"success": false}?`, problem: "is no JSON object", success: true},
		{says: `{"success": false,}`, problem: "is no JSON object: invalid character", success: true},
	} {
		problems, export, _ := judgedByModels(t, test.says, `{}`)
		if told := strings.Join(problems, "\n"); (told != "") != (test.problem != "") || !strings.Contains(told, test.problem) {
			t.Errorf("%s: problems %q, want %q", test.says, problems, test.problem)
		}
		if export.Turn.Success != test.success || !slices.Equal(export.Evaluation.Issues, test.issues) {
			t.Errorf("%s: success %v, issues %+v", test.says, export.Turn.Success, export.Evaluation.Issues)
		}
	}
}

// What a model learned is taken without what says nothing, says it again or was not asked for.
func TestWhatModelsLearn(t *testing.T) {
	for _, test := range []struct {
		says                     string
		problem                  string
		lessons, patterns, items []string
	}{
		{says: `{"lessons": ["L"], "facts": ["F"], "confidence": 0.5}`, lessons: []string{"L"}, items: []string{"F", "L"}},
		{says: `{"lessons": null, "facts": ["F"]}`, items: []string{"F"}},
		{says: `{"facts": ["dup", "dup", " dup\n", null]}`, items: []string{"dup"}},
		{says: `{"lessons": ["", "L", "L"], "patterns": [" ", "P", "P"], "facts": [""]}`, lessons: []string{"L"}, patterns: []string{"P"}, items: []string{"L"}},
		{says: `<think>{"facts": ["none"]}</think>{"facts": ["F"]}`, items: []string{"F"}},
		{says: `{"lessons": "none", "facts": ["F"]}`, problem: "a string as lessons"},
	} {
		problems, export, items := judgedByModels(t, `{"success": true}`, test.says)
		if told := strings.Join(problems, "\n"); (told != "") != (test.problem != "") || !strings.Contains(told, test.problem) {
			t.Errorf("%s: problems %q, want %q", test.says, problems, test.problem)
		}
		slices.Sort(items)
		if !slices.Equal(export.Evaluation.Lessons, test.lessons) || !slices.Equal(export.Evaluation.Patterns, test.patterns) || !slices.Equal(items, test.items) {
			t.Errorf("%s: lessons %q, patterns %q, remembered %q", test.says, export.Evaluation.Lessons, export.Evaluation.Patterns, items)
		}
	}
}
