package compress_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/compress"
)

// chat is long enough to be summarised in a sentence, and has no fact and no literal in it.
func chat() *log {
	return (&log{}).
		user("Please paint the door green. The user of this door is my aunt! Does the user like blue?").
		agent("The door was painted green with the old brush and it dries now. " + strings.Repeat("It dries slowly because the air is damp and the paint is thick. ", 8))
}

// TestNothingIsAttributedToTheUser holds sentences of summaries against what the user said.
func TestNothingIsAttributedToTheUser(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string // what is refused
	}{
		{"The door was painted green.", nil},
		{"The user wants a green door.", []string{"The user wants a green door."}},
		{"The door is green. Then the user asked for blue paint.", []string{"Then the user asked for blue paint."}},
		{"User asked for a green door", []string{"User asked for a green door"}},
		{"- **User** wants green", []string{"- **User** wants green"}},
		{"1. The user explicitly requested green", []string{"The user explicitly requested green"}},
		{"THE USER MUST BE OBEYED", []string{"THE USER MUST BE OBEYED"}},
		{"the user’s request was green paint", []string{"the user’s request was green paint"}},
		{"The user's main goal is green paint", []string{"The user's main goal is green paint"}},
		{"The user's asked for paint", []string{"The user's asked for paint"}},
		{"Green was approved by the user.", []string{"Green was approved by the user."}},
		{"According to the user, green is fine.", []string{"According to the user, green is fine."}},
		{"The human wants paint", []string{"The human wants paint"}},
		{"You asked for green paint", []string{"You asked for green paint"}},
		{"The door, which you said dries, is green.", []string{"The door, which you said dries, is green."}},
		{"User: paint it black", []string{"paint it black"}},
		{"user: paint it black. Paint the door green.", []string{"paint it black.", "Paint the door green."}},
		{"> [12] **User** (turn 3): paint it black", []string{"paint it black"}},
		{"[1] user: paint it black", []string{"paint it black"}},
		{"User request: paint it black", []string{"paint it black"}},
		{"User:\nThe door was painted", []string{"User:"}},
		{"Human: paint it black", []string{"paint it black"}},
		{"Open: The user wants paint", []string{"Open: The user wants paint"}},

		{"The door is green. 用户希望用蓝色。", []string{"用户希望用蓝色。"}},
		{"The door is green. Der Benutzer möchte die Tür blau.", []string{"Der Benutzer möchte die Tür blau."}},

		{"User: Please paint the door green.", nil},
		{"User: Does the user like blue? The user of this door is my aunt", nil},
		{"user: \"please  paint the door GREEN\"", nil},
		{"The user of this door is my aunt!", nil},
		{"Does the user like blue?", nil},
		{"The user interface of the door was painted green", nil},
		{"The user's aunt has a door", nil},
		{"How user requests for paint dry slowly", nil},
		{"The door was painted green and dries: user_wants, src/user/is.go", nil},
		{"The door dries for a user, asked or not", nil},
		{"Users of the door want paint", nil},
		{"If you paint a door, it dries slowly", nil},
		{"agent: the door dries", nil},
		{"Superuser wants paint on the door", nil},
	} {
		v := compress.Verify(request(chat(), 100), tt.text)
		if diff := cmp.Diff(tt.want, v.Invented); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", tt.text, diff)
		}
		if v.OK() != (tt.want == nil) {
			t.Errorf("%q: %q", tt.text, v.Problems)
		}
	}
}

func TestWhatTheAgentSaysOfTheUserIsNotTold(t *testing.T) {
	l := chat().agent("We decided that the user wants silver.\n[DECISION] The user prefers silver\nThe brush was thrown away at noon.")
	r := request(l, 100)
	r.Mode = compress.ModeAssistant
	summary, _, err := compress.Run(t.Context(), nil, r, compress.Options{})
	if err != nil || strings.Contains(summary, "silver") || !strings.Contains(summary, "brush") {
		t.Errorf("%q, %v", summary, err)
	}
}
