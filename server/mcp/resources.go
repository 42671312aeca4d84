package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/turn"
)

const (
	scheme   = "turnstone://"
	sessions = scheme + "sessions"
	jsonType = "application/json"
)

// read makes the value of a resource. Path are the parts of its URI that its template leaves open.
type read func(ctx context.Context, c caller, path []string) (any, error)

func (s *Server) addResources() {
	s.sdk.AddResource(&mcp.Resource{
		URI: sessions, Name: "sessions", Title: "Sessions", MIMEType: jsonType, Description: "The newest sessions, newest first.",
	}, s.reading(func(ctx context.Context, c caller, _ []string) (any, error) {
		return s.listSessions(ctx, c, listInput{Limit: mostSessions})
	}))
	for _, r := range []struct {
		uri, name, title, about string
		read                    read
	}{
		{sessions + "/{session}", "session", "Session", "What is known of a session, with its rolling summary, topics, decisions and snapshots.", readSession},
		{sessions + "/{session}/history", "history", "History", "The last turns of a session as they stand in the log.", readHistory},
		{sessions + "/{session}/checkpoints", "checkpoints", "Checkpoints", "The summaries that stand in a session's prompt in place of older turns, oldest first.", readCheckpoints},
		{sessions + "/{session}/checkpoints/{number}", "checkpoint", "Checkpoint", "One summary in all its versions, oldest first: what it says, which turns it stands for, and the receipt of what it keeps.", readCheckpoint},
		{scheme + "traces/{turn}", "trace", "Trace", "What happened in the exchange that the turn of this id opened: phases with their times, and what was decided.", readTrace},
	} {
		s.sdk.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: r.uri, Name: r.name, Title: r.title, MIMEType: jsonType, Description: r.about}, s.reading(r.read))
	}
	s.sdk.AddReceivingMiddleware(s.listing, escaping)
}

// escaping has a URI with a colon in the id of a session found like one where it is escaped, as templates have it.
func escaping(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		asked, ok := r.(*mcp.ReadResourceRequest)
		if !ok || asked.Params == nil {
			return next(ctx, method, r)
		}
		uri := asked.Params.URI
		asked.Params.URI = escaped(uri)
		result, err := next(ctx, method, r)
		if found, ok := result.(*mcp.ReadResourceResult); ok && err == nil {
			for _, c := range found.Contents {
				c.URI = uri
			}
		}
		return result, err
	}
}

// escaped is a URI of ours as a template writes it.
func escaped(uri string) string {
	path, ours := strings.CutPrefix(uri, scheme)
	if !ours {
		return uri
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if plain, err := url.PathUnescape(part); err == nil {
			parts[i] = url.QueryEscape(plain) // which escapes all that a template does
		}
	}
	return scheme + strings.Join(parts, "/")
}

// reading answers with a value as JSON. What is not there is the protocol's own error.
func (s *Server) reading(r read) mcp.ResourceHandler {
	return func(ctx context.Context, request *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		uri := request.Params.URI
		text, err := func() (string, error) {
			c, err := from(ctx)
			if err != nil {
				return "", err
			}
			value, err := r(ctx, c, openParts(uri))
			if err != nil {
				return "", err
			}
			text, err := json.Marshal(value)
			return string(text), err
		}()
		switch {
		case errors.Is(err, turn.ErrNotFound) || errors.Is(err, compress.ErrNotFound):
			return nil, mcp.ResourceNotFoundError(uri)
		case errors.Is(err, turn.ErrForgotten):
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: s.explain(ctx, uri, err).Error()}
		case err != nil:
			return nil, s.explain(ctx, uri, err)
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: jsonType, Text: text}}}, nil
	}
}

// openParts are the second, fourth and so on of the parts of a URI; the others are names.
func openParts(uri string) (open []string) {
	for i, part := range strings.Split(strings.TrimPrefix(uri, scheme), "/") {
		if plain, err := url.PathUnescape(part); err == nil {
			part = plain
		}
		if i%2 == 1 {
			open = append(open, part)
		}
	}
	return open
}

type shownSession struct {
	sessionJSON
	Summary   []string         `json:"summary"`
	Topics    []string         `json:"topics"`
	Decisions []decidedJSON    `json:"decisions"`
	Snapshots []snapshotOutput `json:"snapshots"`
}

type decidedJSON struct {
	Seq    int64  `json:"seq"`
	TurnID string `json:"turn_id"`
	Text   string `json:"text"`
}

func readSession(ctx context.Context, c caller, path []string) (any, error) {
	session, err := c.engine.Find(ctx, path[0])
	if err != nil {
		return nil, err
	}
	info, err := session.Info(ctx)
	if err != nil {
		return nil, err
	}
	digest, err := session.Digest(ctx)
	if err != nil {
		return nil, err
	}
	shown := shownSession{sessionJSON: newSessionJSON(info), Summary: []string{}, Topics: []string{}, Decisions: []decidedJSON{}, Snapshots: []snapshotOutput{}}
	for _, line := range digest.Rolling.Lines {
		shown.Summary = append(shown.Summary, line.Text)
	}
	for _, t := range digest.Topics {
		shown.Topics = append(shown.Topics, t.Word)
	}
	for _, d := range digest.Decisions {
		shown.Decisions = append(shown.Decisions, decidedJSON(d))
	}
	list, err := session.Snapshots(ctx, "", 0)
	if err != nil && len(list) == 0 {
		return nil, err
	}
	for _, shot := range list {
		shown.Snapshots = append(shown.Snapshots, newSnapshotOutput(shot))
	}
	return shown, nil
}

func readHistory(ctx context.Context, c caller, path []string) (any, error) {
	session, err := c.engine.Find(ctx, path[0])
	if err != nil {
		return nil, err
	}
	turns, err := session.History(ctx, turn.HistoryOptions{Turns: usualTurns, KeepSystem: true})
	if err != nil {
		return nil, err
	}
	out := searchOutput{Session: session.ID(), Turns: []any{}}
	for i := range turns {
		out.Turns = append(out.Turns, json.RawMessage(turns[i].AppendJSON(nil)))
	}
	return out, nil
}

type checkpointsJSON struct {
	Session     string `json:"session_id"`
	Checkpoints []any  `json:"checkpoints"`
}

// emptiedJSON stands in the place of a version that was emptied.
type emptiedJSON struct {
	Number    int64 `json:"compression_number"`
	Version   int64 `json:"version"`
	Forgotten bool  `json:"forgotten"`
}

func newCheckpointsJSON(session *turnstone.Session, list []compress.Checkpoint) checkpointsJSON {
	out := checkpointsJSON{session.ID(), []any{}}
	for i := range list {
		c := &list[i]
		if c.Gone() {
			out.Checkpoints = append(out.Checkpoints, emptiedJSON{c.Number, c.Version, true})
			continue
		}
		out.Checkpoints = append(out.Checkpoints, json.RawMessage(c.AppendShown(nil, session.ID())))
	}
	return out
}

func readCheckpoints(ctx context.Context, c caller, path []string) (any, error) {
	session, err := c.engine.Find(ctx, path[0])
	if err != nil {
		return nil, err
	}
	list, err := session.Checkpoints(ctx)
	return newCheckpointsJSON(session, list), err
}

func readCheckpoint(ctx context.Context, c caller, path []string) (any, error) {
	number, err := strconv.ParseInt(path[1], 10, 64)
	if err != nil {
		return nil, invalid.New("number", quoted(path[1])+" is no number", "read the session's checkpoints for theirs")
	}
	session, err := c.engine.Find(ctx, path[0])
	if err != nil {
		return nil, err
	}
	list, err := session.CheckpointVersions(ctx, number)
	return newCheckpointsJSON(session, list), err
}

func readTrace(ctx context.Context, c caller, path []string) (any, error) {
	t, err := c.engine.Trace(ctx, path[0])
	return json.RawMessage(t.AppendJSON(nil)), err
}
