package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/prompt/wire"
	service "github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/turn"
)

// reasons say why an epoch was opened.
var reasons = map[prompt.Reason]string{
	prompt.ReasonStart:    "it is the session's first prompt",
	prompt.ReasonSettings: "it begins otherwise than the one before",
	prompt.ReasonGoal:     "the goal is another, or much of it changed",
	prompt.ReasonPin:      "a turn is pinned that was not shown",
	prompt.ReasonFull:     "the conversation reached its threshold, and older turns left the prompt",
	prompt.ReasonWindow:   "the window became larger, and turns came back",
	prompt.ReasonUndo:     "a pass or a restore was undone",
	prompt.ReasonRestore:  "the session went back to a snapshot",
	prompt.ReasonDamaged:  "a checkpoint was damaged and was made again",
	prompt.ReasonForgot:   "something was forgotten",
}

// notePrompt tells people what is special about a prompt.
func (a *app) notePrompt(of *prompting, p shownPrompt) {
	switch {
	case p.recorded && p.number > 0:
		a.note("this is prompt %d, compiled after turn %d, byte for byte: sha256 %s", p.number, p.End, p.SHA256)
	case p.recorded:
		a.note("this was compiled after turn %d, byte for byte: sha256 %s", p.End, p.SHA256)
	case p.past:
		a.note("no prompt was compiled after turn %d; this is what it would have been", p.End)
	case p.Opened != "" && p.preview:
		a.note("this would open epoch %d: %s", p.Epoch, reasonOf(p.Opened))
	case p.Opened != "":
		a.note("opened epoch %d: %s", p.Epoch, reasonOf(p.Opened))
	}
	if p.several {
		a.note("it is the last of several after that turn; see all with: %s", a.line("prompt --list --session "+quoted(p.session)))
	}
	if line := of.undrawn(p.Prompt); line != "" {
		a.note("%s", line)
	}
	for _, item := range p.LeftOut {
		a.note("left out, since the late block is full: %s", terminal.CleanLine(short(item, 60)))
	}
	for _, warning := range p.Account.Warnings {
		a.note("warning: %s", warning)
	}
}

// noteUnused says of a prompt that was compiled earlier that it is not for whom the command line names.
func (a *app) noteUnused(p *prompting, given addressee) {
	if p.call == nil || (given.model == "" || given.model == p.to.model) && (given.context == 0 || given.context == p.to.context) {
		return
	}
	model := p.to.model
	if model == "" {
		model = "no model"
	}
	a.note("--model and --context are not used: it was compiled for %s with a context of %s tokens", terminal.CleanLine(model), tokensOf(p.to.context))
}

func reasonOf(r prompt.Reason) string {
	if text := reasons[r]; text != "" {
		return text
	}
	return string(r)
}

func (a *app) printPrompt(ctx context.Context, of *prompting, p shownPrompt, o promptOptions) error {
	format := wire.Format(o.format)
	switch {
	case a.json && o.ownObject():
		return a.printPromptJSON(p, !o.explain)
	case o.explain:
		for _, line := range accountLines(p.Account, a.style()) {
			if err := a.printf("%s", line); err != nil {
				return err
			}
		}
		return nil
	}
	var blobs wire.Blobs // without them pictures are described
	if profile, _ := of.profiles.Find(p.Model); profile.Vision {
		blobs = func(ctx context.Context, sha256 string) ([]byte, error) {
			b, err := of.engine.Blob(ctx, sha256)
			return b.Data, err
		}
	}
	request := wire.Request{Messages: p.Messages, Tools: p.Tools, Model: p.Model, Context: p.Window.Usable, MaxTokens: p.Window.Reserve}
	body, err := wire.Append(ctx, nil, format, request, blobs)
	if err != nil {
		return fmt.Errorf("prompt of %s: %w", p.session, err)
	}
	if format != wire.Text {
		body = append(body, '\n')
	}
	return a.print(body)
}

// promptJSON is a prompt on the command line, but for its messages and tools.
type promptJSON struct {
	Session  string          `json:"session_id"`
	Model    string          `json:"model,omitempty"`
	Epoch    int64           `json:"epoch"`
	Opened   string          `json:"opened,omitempty"`
	End      int64           `json:"end"`
	Recorded *bool           `json:"recorded,omitempty"`
	Number   int64           `json:"number,omitempty"`
	Shown    int64           `json:"turns_shown"`
	Passes   int64           `json:"compressions"`
	SHA256   string          `json:"sha256"`
	Settings string          `json:"settings_sha256,omitempty"`
	Late     string          `json:"late,omitempty"`
	LeftOut  []string        `json:"left_out,omitempty"`
	Account  service.Account `json:"account"`
}

func newPromptJSON(p shownPrompt) promptJSON {
	j := promptJSON{
		Session: p.session, Model: p.Model, Epoch: p.Epoch, Opened: string(p.Opened), End: p.End, Shown: p.Shown, Passes: p.Passes,
		Number: p.number, SHA256: p.SHA256, Settings: p.Settings, Late: p.Late, LeftOut: p.LeftOut, Account: service.NewAccount(p.Account),
	}
	if p.past {
		j.Recorded = &p.recorded
	}
	return j
}

// printPromptJSON writes the object, with the messages as they are if whole is set.
func (a *app) printPromptJSON(p shownPrompt, whole bool) error {
	if !whole {
		return a.printJSON(newPromptJSON(p))
	}
	line, err := encodeJSON(newPromptJSON(p))
	if err != nil {
		return err
	}
	line = append(line[:len(line)-1], `,"messages":[`...)
	for i := range p.Messages {
		if i > 0 {
			line = append(line, ',')
		}
		line = p.Messages[i].AppendJSON(line)
	}
	line = append(line, `],"tools":[`...)
	for i, d := range p.Tools {
		if i > 0 {
			line = append(line, ',')
		}
		text, err := encodeJSON(struct {
			Name        string          `json:"name"`
			Description string          `json:"description,omitempty"`
			Schema      json.RawMessage `json:"schema"`
		}{d.Name, d.Description, json.RawMessage(d.Schema)})
		if err != nil {
			return fmt.Errorf("tool %s: %w", d.Name, err)
		}
		line = append(line, text...)
	}
	return a.print(append(line, "]}\n"...))
}

// unprompted explains why there is no prompt. Of one that does not fit it shows where every token goes: on
// standard error or, where object says so and --json is given, as JSON.
func (a *app) unprompted(p *prompting, err error, object bool) error {
	if errors.Is(err, turn.ErrForgotten) {
		return &advised{err: err, next: "it cannot be brought back"}
	}
	if errors.Is(err, prompt.ErrChanged) {
		return &advised{err: err, next: "turns or files that it was made from were deleted or damaged; see what with: " + a.line("doctor")}
	}
	var over *budget.OverBudgetError
	if !errors.As(err, &over) {
		return inFile(err)
	}
	if a.json && object {
		if err := a.printJSON(unfitJSON{p.session.ID(), p.to.model, service.NewAccount(over.Account)}); err != nil {
			return err
		}
	} else {
		for _, line := range accountLines(over.Account, terminal.StyleOf(a.stderr, a.plain())) {
			a.note("%s", line)
		}
	}
	// The lines of the error are those of the table.
	text := err.Error()
	first, _, _ := strings.Cut(text, "\n")
	_, next, _ := strings.Cut(text, "what to do: ")
	return &reworded{err: err, text: first + "; " + next}
}

// unfitJSON is what is left of promptJSON where a prompt does not fit.
type unfitJSON struct {
	Session string          `json:"session_id"`
	Model   string          `json:"model,omitempty"`
	Account service.Account `json:"account"`
}

// inFile says where the profile of a model is corrected.
func inFile(err error) error {
	if text, found := strings.CutSuffix(err.Error(), "or a profile that says otherwise"); found {
		return &reworded{err: err, text: text + "or correct the model in a models file; see turnstone models --help"}
	}
	return err
}
