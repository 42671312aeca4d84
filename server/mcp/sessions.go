package mcp

import (
	"context"
	"errors"
	"strconv"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/turn"
)

const (
	usualSessions = 20
	mostSessions  = 100
)

type listInput struct {
	User   string `json:"user,omitempty" jsonschema:"only sessions of this user"`
	Status string `json:"status,omitempty" jsonschema:"only active or ended sessions"`
	Limit  int    `json:"limit,omitempty" jsonschema:"how many at most, 1 to 100; 20 where it is left out"`
	Cursor string `json:"cursor,omitempty" jsonschema:"go on where the answer before ended: its next"`
}

type listOutput struct {
	Sessions []sessionJSON `json:"sessions"`
	Next     string        `json:"next,omitempty" jsonschema:"there are more: call again with cursor set to it"`
}

type sessionJSON struct {
	Session      string `json:"session_id"`
	User         string `json:"user,omitempty"`
	Title        string `json:"title,omitempty"`
	Model        string `json:"model,omitempty"`
	Mode         string `json:"mode,omitempty"`
	Status       string `json:"status"`
	Parent       string `json:"parent,omitempty"`
	ForkSeq      int64  `json:"fork_seq,omitempty"`
	Turns        int64  `json:"turns"`
	CreatedAt    string `json:"created_at"`
	LastActivity string `json:"last_activity"`
}

func newSessionJSON(i turn.SessionInfo) sessionJSON {
	return sessionJSON{
		i.Session, i.User, i.Title, i.Model, i.Mode, string(i.Status), i.Parent, i.ForkSeq, i.Head, timeJSON(i.CreatedAt), timeJSON(i.LastActivity),
	}
}

func (s *Server) listSessions(ctx context.Context, c caller, in listInput) (listOutput, error) {
	filter := turn.SessionFilter{User: in.User, Status: turn.Status(in.Status), Limit: in.Limit}
	switch filter.Status {
	case "", turn.Active, turn.Ended:
	default:
		return listOutput{}, invalid.New("status", quoted(in.Status)+" is no status", "use active or ended")
	}
	if filter.Limit == 0 {
		filter.Limit = usualSessions
	}
	if filter.Limit < 1 || filter.Limit > mostSessions {
		return listOutput{}, invalid.New("limit", strconv.Itoa(in.Limit)+" is out of range", "give 1 to "+strconv.Itoa(mostSessions))
	}
	if in.Cursor != "" {
		last, err := c.engine.Find(ctx, in.Cursor)
		if errors.Is(err, turn.ErrNotFound) || errors.As(err, new(*invalid.Field)) {
			return listOutput{}, invalid.New("cursor", quoted(in.Cursor)+" is no cursor", "give the next of an answer, as it is")
		}
		if err != nil {
			return listOutput{}, err
		}
		info, err := last.Info(ctx)
		if err != nil {
			return listOutput{}, err
		}
		filter.Before = info.Segment
	}
	want := filter.Limit
	filter.Limit++ // one more, to know whether there is more
	list, err := c.engine.Sessions(ctx, filter)
	if err != nil {
		return listOutput{}, err
	}
	out := listOutput{Sessions: []sessionJSON{}}
	for _, info := range list[:min(want, len(list))] {
		out.Sessions = append(out.Sessions, newSessionJSON(info))
	}
	if len(list) > want {
		// The numbers of all tenants' sessions are counted together, and would tell how many the others have.
		out.Next = list[want-1].Session
	}
	return out, nil
}
