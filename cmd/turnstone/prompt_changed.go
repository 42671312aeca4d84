package main

import (
	"fmt"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/prompt"
)

// noteChanged says what a prompt changed for those that come after it: turns that left, and who they are for.
func (a *app) noteChanged(p *prompting, made *prompt.Prompt, o promptOptions) {
	if n := made.Passes - p.before.passes; n > 0 {
		what := fmt.Sprintf("pass %d for %s; take it back", made.Passes, windowOf(made))
		if n > 1 {
			what = fmt.Sprintf("passes %d-%d for %s; take back the last one", made.Passes-n+1, made.Passes, windowOf(made))
		}
		a.note("made %s with: %s", what, a.line(undoLine(p.session.ID(), p.roomier(made), o.models)))
	}
	_, known := p.profiles.Find(made.Model)
	last := p.before.to.model
	if p.before.session != "" || o.to.model == "" || last == made.Model || last == "" && known {
		return
	}
	told := ""
	if last != "" {
		told = ", and no longer for " + terminal.CleanLine(last)
	}
	a.note("prompts of %s are for %s from now on%s; --preview only looks", p.session.ID(), terminal.CleanLine(made.Model), told)
}

// roomier is who a pass is undone for: whom the prompts were for before it, where they had more room.
func (p *prompting) roomier(made *prompt.Prompt) addressee {
	if p.before.to.context > made.Window.Context {
		return p.before.to
	}
	return addressee{made.Model, made.Window.Context}
}

// windowOf names who a prompt is for, and with how much room.
func windowOf(made *prompt.Prompt) string {
	size := fmt.Sprintf("a context of %s tokens", tokensOf(made.Window.Context))
	if made.Model == "" {
		return size
	}
	return terminal.CleanLine(made.Model) + " with " + size
}
