package terminal

// Style marks text up for a stream. The zero value leaves it as it is.
type Style struct{ colour bool }

// Colours returns the style of a terminal that takes colours.
func Colours() Style { return Style{colour: true} }

// Dim is for what stands beside the matter: times, numbers, ids.
func (s Style) Dim(text string) string { return s.paint("2", text) }

// Strong is for headings and the thing a line is about.
func (s Style) Strong(text string) string { return s.paint("1", text) }

// Alarm is for what went wrong.
func (s Style) Alarm(text string) string { return s.paint("31", text) }

// Good is for what is as it should be, and for the agent.
func (s Style) Good(text string) string { return s.paint("32", text) }

// Notice is for what comes from neither user nor agent.
func (s Style) Notice(text string) string { return s.paint("33", text) }

// Accent is for the user.
func (s Style) Accent(text string) string { return s.paint("36", text) }

func (s Style) paint(code, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
