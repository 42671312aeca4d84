package server

import (
	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
)

// Advice is what can be done about a conversation that cannot be relied on because turns have left its prompt; nothing for
// others. Option is what a larger context is asked for with.
func Advice(s turnstone.Status, p budget.Profile, known bool, option string) []string {
	if path := s.Prompt.Path; s.Passes < 1 || len(path) == 0 || s.Prompt.From <= path[0].From {
		return nil
	}
	return s.Reliability.Advice(p, known, s.Prompt.Window.Context, option)
}
