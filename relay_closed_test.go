package turnstone_test

import (
	"errors"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// Who brings results of calls that were closed meanwhile has to go on elsewhere, and so has who knows of no reply where there is
// one since; who brings something else, or goes on from a reply, does not.
func TestRelayBehindWhatNobodySaid(t *testing.T) {
	result := turn.Draft{Role: turn.System, Content: turn.Result{Name: "look", CallID: "c", Status: turn.CallOK, Result: `"seen"`}}
	said := turn.Draft{Role: turn.User, Content: turn.Text{Text: "Never mind."}}
	for name, test := range map[string]struct {
		reply      string // since
		unanswered bool
		input      []turn.Draft
		moved      bool
	}{
		"a result":                           {input: []turn.Draft{result}, moved: true},
		"a result and more":                  {input: []turn.Draft{result, said}, moved: true},
		"something else":                     {input: []turn.Draft{said}},
		"something else, without a reply":    {input: []turn.Draft{said}, unanswered: true},
		"what a responder said since":        {input: []turn.Draft{said}, reply: "One."},
		"a reply since that is not known of": {input: []turn.Draft{said}, reply: "One.", unanswered: true, moved: true},
	} {
		t.Run(name, func(t *testing.T) {
			eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
			s, err := eng.Create(t.Context(), turn.SessionInfo{Model: "llama3.2"})
			if err != nil {
				t.Fatal(err)
			}
			say(t, s, turn.User, "One?")
			called := turn.Text{ToolCalls: []turn.ToolCall{{ID: "c", Name: "look", Arguments: "{}"}}}
			if _, err := s.Append(t.Context(), turn.Draft{Role: turn.Agent, Content: called}); err != nil {
				t.Fatal(err)
			}
			l, err := s.Acquire(t.Context()) // which closes the call
			if err == nil {
				err = l.Release(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			if test.reply != "" {
				say(t, s, turn.Agent, test.reply)
			}
			r := s.Relay(turnstone.RelayOptions{Model: "llama3.2", After: 2, Unanswered: test.unanswered})
			if err = r.Begin(t.Context(), test.input...); err == nil {
				_, err = r.Begun(t.Context())
			}
			if errors.Is(err, turnstone.ErrMoved) != test.moved || err != nil && !test.moved {
				t.Fatal(err)
			}
			if err != nil {
				return
			}
			if err := r.End(t.Context(), errNoModel); err != nil {
				t.Error(err)
			}
		})
	}
}
