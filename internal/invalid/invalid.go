// Package invalid is the error for input that breaks a rule: which field, what
// is wrong with it and what to do about it.
package invalid

// Field says that one field of the input was refused. It is always handled as
// *Field, so that errors.As finds it; packages that refuse input export it
// under a name of their own as an alias.
type Field struct {
	// Name is the field as the caller wrote or must write it: "role",
	// "tool_calls[2].name".
	Name string
	// Problem says what is wrong, with the offending value where it is short:
	// `"robot" is not a role`.
	Problem string
	// Fix says what to do: "use user, agent or system". It may be empty where
	// the problem says it all.
	Fix string
}

// New returns a *Field with the given parts.
func New(name, problem, fix string) error {
	return &Field{Name: name, Problem: problem, Fix: fix}
}

// Error is one line, "name: problem; fix", without the parts that are empty.
func (f *Field) Error() string {
	text := f.Problem
	if f.Name != "" {
		text = f.Name + ": " + text
	}
	if f.Fix != "" {
		text += "; " + f.Fix
	}
	return text
}
