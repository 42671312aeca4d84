package turn

import "strings"

// Role says who contributed a turn. "assistant" is the wire name of [Agent] in other systems and is
// translated where those are spoken to, never here.
type Role string

// The three roles.
const (
	User   Role = "user"
	Agent  Role = "agent"
	System Role = "system"
)

// Form says what kind of contribution a turn is.
type Form string

// The four forms.
const (
	FormText   Form = "text"
	FormSpeech Form = "speech"
	FormImage  Form = "image"
	FormAction Form = "action"
)

// legal is the role–form matrix: the one table that says which role may contribute in which form.
var legal = map[Role][]Form{
	Agent:  {FormText},
	User:   {FormText, FormSpeech, FormImage, FormAction},
	System: {FormText, FormAction},
}

// Check refuses a role and form that do not go together. The error is a *[FieldError] that names
// the role, the form and what is legal.
func Check(role Role, form Form) error {
	forms, ok := legal[role]
	if !ok {
		return fieldErrorf("role", "use user, agent or system", "%q is not a role", role)
	}
	switch form {
	case FormText, FormSpeech, FormImage, FormAction:
	default:
		return fieldErrorf("form", "use text, speech, image or action", "%q is not a form", form)
	}
	for _, f := range forms {
		if f == form {
			return nil
		}
	}
	names := make([]string, len(forms))
	for i, f := range forms {
		names[i] = string(f)
	}
	return fieldErrorf("form", "legal for "+string(role)+": "+strings.Join(names, ", "),
		"role %s may not use form %s", role, form)
}
