package turn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/turn"
)

// matrix is the table of the specification, word for word.
var matrix = map[turn.Role]map[turn.Form]bool{
	turn.Agent:  {turn.FormText: true, turn.FormSpeech: false, turn.FormImage: false, turn.FormAction: false},
	turn.User:   {turn.FormText: true, turn.FormSpeech: true, turn.FormImage: true, turn.FormAction: true},
	turn.System: {turn.FormText: true, turn.FormSpeech: false, turn.FormImage: false, turn.FormAction: true},
}

// each form with content that is legal by itself.
var contents = map[turn.Form]turn.Content{
	turn.FormText:   turn.Text{Text: "hello"},
	turn.FormSpeech: turn.Speech{Transcript: "hello"},
	turn.FormImage:  turn.Image{MediaType: "image/png", Blob: turn.Blob{Data: []byte("png")}},
	turn.FormAction: turn.Action{Name: "click"},
}

func TestEveryRoleMayUseTheFormsOfTheMatrixAndNoOthers(t *testing.T) {
	for role, forms := range matrix {
		for form, legal := range forms {
			what := fmt.Sprintf("%s/%s", role, form)
			json := string(turn.AppendContent(nil, contents[form]))
			check := turn.Check(role, form)
			_, seal := turn.Draft{ID: turngen.ID(1), Role: role, Content: contents[form]}.Seal(limits(t))
			_, decode := turn.DecodeContent(role, form, json)
			for by, err := range map[string]error{"check": check, "seal": seal, "decode": decode} {
				if legal {
					if err != nil {
						t.Errorf("%s by %s: %v", what, by, err)
					}
					continue
				}
				refused(t, what+" by "+by, err, "form", fmt.Sprintf("role %s may not use form %s", role, form))
				for other, ok := range forms {
					if named := strings.Contains(err.Error(), string(other)); ok && !named {
						t.Errorf("%s by %s: %q does not say that %s is legal", what, by, err, other)
					}
				}
			}
		}
	}
}

func TestUnknownRolesAndFormsAreRefusedByName(t *testing.T) {
	refused(t, "role", turn.Check("assistant", turn.FormText), "role", `"assistant" is not a role`)
	refused(t, "no role", turn.Check("", turn.FormText), "role", `"" is not a role`)
	refused(t, "case of a role", turn.Check("User", turn.FormText), "role", `"User" is not a role`)
	refused(t, "form", turn.Check(turn.User, "smell"), "form", `"smell" is not a form`)
	refused(t, "no form", turn.Check(turn.Agent, ""), "form", `"" is not a form`)
	_, err := turn.DecodeContent("robot", turn.FormText, `{"text":"x"}`)
	refused(t, "decode", err, "role", "robot")
}

func TestAnUtteranceIsTextOrSpeechOfAUserOrAgent(t *testing.T) {
	for role, forms := range matrix {
		for form := range forms {
			u := turn.Turn{Role: role, Form: form}
			if want := role != turn.System && (form == turn.FormText || form == turn.FormSpeech); u.Utterance() != want {
				t.Errorf("%s/%s: %v, want %v", role, form, u.Utterance(), want)
			}
		}
	}
}
