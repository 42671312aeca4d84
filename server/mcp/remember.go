package mcp

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/turn"
)

type rememberInput struct {
	Session string   `json:"session,omitempty" jsonschema:"id of the session it belongs to; the default session where it is left out"`
	Text    string   `json:"text" jsonschema:"what to remember, in words that can be understood alone"`
	Tags    []string `json:"tags,omitempty" jsonschema:"words to file it under, such as preference"`
}

type rememberOutput struct {
	Session string     `json:"session_id"`
	TurnID  string     `json:"turn_id" jsonschema:"the turn of the log that says so; also the id of its trace"`
	Items   []itemJSON `json:"items" jsonschema:"what was remembered"`
}

type itemJSON struct {
	ID         string   `json:"id"`
	Type       string   `json:"type"`
	Text       string   `json:"text"`
	Tags       []string `json:"tags,omitempty"`
	Importance float64  `json:"importance"`
	CreatedAt  string   `json:"created_at"`
}

// remember commits an exchange of one turn. It is an action of the user's, who acts through the client: a turn of the
// system's would lend the words an authority that whoever calls a tool does not have.
func (s *Server) remember(ctx context.Context, c caller, in rememberInput) (rememberOutput, error) {
	var out rememberOutput
	if err := named("text", in.Text); err != nil {
		return out, err
	}
	text := strings.TrimSpace(in.Text)
	payload, err := json.Marshal(struct {
		Text string   `json:"text"`
		Tags []string `json:"tags,omitempty"`
	}{text, in.Tags})
	if err != nil {
		return out, err
	}
	candidate := memory.Candidate{Type: memory.UserData, Text: text, Tags: in.Tags, Source: memory.FromAgent}
	if err := candidate.CheckNew(); err != nil {
		return out, err
	}
	session, err := c.engine.Session(ctx, s.session(in.Session))
	if err != nil {
		return out, err
	}
	result, err := session.Commit(ctx, commit.Exchange{
		AgentID:    "mcp",
		Turns:      []turn.Draft{{Role: turn.User, Content: turn.Action{Name: "remember", Payload: string(payload)}}},
		Candidates: []memory.Candidate{candidate},
	})
	if err != nil {
		return out, err
	}
	out = rememberOutput{Session: session.ID(), TurnID: result.TurnID, Items: []itemJSON{}}
	for _, e := range result.Episodes {
		out.Items = append(out.Items, itemJSON{e.ID, string(e.Type), e.Text, e.Tags, e.Importance, timeJSON(e.Created)})
	}
	return out, nil
}
