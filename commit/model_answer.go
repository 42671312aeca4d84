package commit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// answerJSON reads the object in a model's answer. Models like to think aloud before it, to put it into a fence and to say more than
// they were asked for; that much is forgiven. What is null is empty.
func answerJSON(answer string, into any) error {
	answer = unthought(answer)
	from, to := strings.IndexByte(answer, '{'), strings.LastIndexByte(answer, '}')
	if from < 0 || to < from {
		return fmt.Errorf("the model's answer is no JSON object: %s", firstLine(answer))
	}
	err := json.Unmarshal([]byte(answer[from:to+1]), into)
	var other *json.UnmarshalTypeError
	if errors.As(err, &other) {
		return fmt.Errorf("the model's answer has a %s as %s: %s", other.Value, other.Field, firstLine(answer[from:]))
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("the model's answer is no JSON object: %w", err)
	}
	if err != nil {
		return fmt.Errorf("the model's answer: %w", err)
	}
	return nil
}

// unthought is what a model said after its thoughts, of which a server may leave out the beginning. Thoughts without an end are all
// there is.
func unthought(answer string) string {
	for {
		answer = strings.TrimSpace(answer)
		if strings.HasPrefix(answer, "{") || strings.HasPrefix(answer, "```") {
			return answer
		}
		_, rest, ended := strings.Cut(answer, "</think>")
		switch {
		case ended:
			answer = rest
		case strings.HasPrefix(answer, "<think>"):
			return ""
		default:
			return answer
		}
	}
}

// verdict is what a model answers that judges.
type verdict struct {
	Success        *bool         `json:"success"`
	FollowUpNeeded bool          `json:"follow_up_needed"`
	Issues         []answerIssue `json:"issues"`
}

func (v *verdict) assessment() (Assessment, error) {
	if v.Success == nil {
		return Assessment{}, errors.New("the model's answer does not say success")
	}
	a := Assessment{Success: *v.Success, FollowUpNeeded: v.FollowUpNeeded}
	for _, issue := range v.Issues {
		said := Issue{Kind: IssueKind(strings.TrimSpace(issue.Kind)), Text: strings.TrimSpace(issue.Text)}
		if said != (Issue{}) && !slices.Contains(a.Issues, said) {
			a.Issues = append(a.Issues, said)
		}
	}
	return a, nil
}

// answerIssue is an issue, or its text alone.
type answerIssue struct{ Kind, Text string }

// UnmarshalJSON implements [json.Unmarshaler].
func (i *answerIssue) UnmarshalJSON(from []byte) error {
	switch from[0] {
	case '"':
		return json.Unmarshal(from, &i.Text)
	case '{', 'n':
		type object answerIssue
		return json.Unmarshal(from, (*object)(i))
	}
	return fmt.Errorf("issues: expected an object or a string, found %s", firstLine(string(from)))
}

// learned is what a model answers that learns.
type learned struct {
	Lessons  []string `json:"lessons"`
	Patterns []string `json:"patterns"`
	Facts    []string `json:"facts"`
}

// untold are the texts that say something, each once, but for those that are told already.
func untold(texts, told []string) (kept []string) {
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" && !slices.Contains(kept, text) && !slices.Contains(told, text) {
			kept = append(kept, text)
		}
	}
	return kept
}
