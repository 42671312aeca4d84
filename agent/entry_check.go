package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/turn"
)

// follows is which messages may stand after which. After a message from the user's side that is unanswered there
// is only the prompt.
var follows = map[kind][]kind{
	kindNone:      {kindPrompt},
	kindPrompt:    {kindResponse, kindToolUse},
	kindResults:   {kindResponse, kindToolUse},
	kindCancelled: {kindResponse, kindToolUse},
	kindResponse:  {kindPrompt},
	kindToolUse:   {kindResults, kindCancelled},
}

// checkNext says why m may not stand after the last entry, which is nil for the first; with a *[FieldError].
func checkNext(last *Entry, m Message) error {
	before, legal := kindNone, follows[kindNone]
	if last != nil {
		before = last.Message.kind()
		legal = follows[before]
		if last.Unanswered {
			legal = follows[kindNone]
		}
	}
	if !slices.Contains(legal, m.kind()) {
		names := make([]string, len(legal))
		for i, k := range legal {
			names[i] = string(k)
		}
		where := "first"
		if before != kindNone {
			where = "after " + string(before)
		}
		return invalid.New("entry", fmt.Sprintf("%s may not stand %s", m.kind(), where), "push "+strings.Join(names, " or "))
	}
	switch m := m.(type) {
	case Prompt:
		return m.check()
	case Response:
		if m.Text == "" {
			return invalid.New("text", "is empty", "push what the agent said")
		}
	case ToolUse:
		return m.check()
	case ToolResults:
		return checkResults(last, m.Results, false)
	case CancelledTools:
		return checkResults(last, m.Results, true)
	}
	return nil
}

func (m Prompt) check() error {
	if len(m.Parts) == 0 {
		return invalid.New("parts", "there are none", "push at least one")
	}
	for i, d := range m.Parts {
		field := fmt.Sprintf("parts[%d]", i)
		if d.Content == nil {
			return invalid.New(field+".content", "is missing", "give the content of the turn")
		}
		if _, result := d.Content.(turn.Result); result || d.Role != turn.User && d.Role != turn.System {
			return invalid.New(field+".role", fmt.Sprintf("%q is no input", d.Role), "push what the user or the system said or did")
		}
	}
	return nil
}

func (m ToolUse) check() error {
	if len(m.Calls) == 0 {
		return invalid.New("calls", "there are none", "push a response instead")
	}
	seen := make(map[string]bool, len(m.Calls))
	for i, c := range m.Calls {
		field := fmt.Sprintf("calls[%d]", i)
		switch {
		case c.ID == "" || seen[c.ID]:
			return invalid.New(field+".id", fmt.Sprintf("%.80q is empty or another call's", c.ID), "give each call an id of its own")
		case c.Name == "":
			return invalid.New(field+".name", "is empty", "name the tool")
		}
		if err := strictjson.Check(c.Arguments); err != nil {
			return invalid.New(field+".arguments", err.Error(), "give one JSON value, {} for none")
		}
		seen[c.ID] = true
	}
	return nil
}

// checkResults holds results against the calls of the entry before.
func checkResults(last *Entry, results []turn.Result, cancelled bool) error {
	calls := last.Message.(ToolUse).Calls
	if len(results) != len(calls) {
		return invalid.New("results", fmt.Sprintf("%d for %d calls", len(results), len(calls)), "give one for each call, in the order of the calls")
	}
	for i, r := range results {
		field := fmt.Sprintf("results[%d]", i)
		switch {
		case r.CallID != calls[i].ID || r.Name != calls[i].Name:
			return invalid.New(field+".call_id", fmt.Sprintf("%.80q of %.80q is not the call %.80q of %.80q", r.CallID, r.Name, calls[i].ID, calls[i].Name),
				"give one for each call, in the order of the calls")
		case r.Status != turn.CallOK && r.Status != turn.CallError && r.Status != turn.CallCancelled:
			return invalid.New(field+".status", fmt.Sprintf("%q is not a status", r.Status), "use ok, error or cancelled")
		case cancelled && r.Status != turn.CallCancelled:
			return invalid.New(field+".status", fmt.Sprintf("%q stands among cancelled calls", r.Status), "push tool results instead")
		case r.Result != "" && strictjson.Check(r.Result) != nil:
			return invalid.New(field+".result", "is not JSON", "give one JSON value, or nothing")
		}
	}
	return nil
}
