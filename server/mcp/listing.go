package mcp

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/turnstone-dev/turnstone/turn"
)

// listed is how many sessions stand in the list of resources. The resource of all has more, and list_sessions all.
const listed = 50

// listing adds the caller's newest sessions to the list of resources, which is otherwise the same for everybody.
func (s *Server) listing(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, request)
		list, ok := result.(*mcp.ListResourcesResult)
		if err != nil || !ok {
			return result, err
		}
		c, err := from(ctx)
		if err != nil {
			return nil, err
		}
		newest, err := c.engine.Sessions(ctx, turn.SessionFilter{Limit: listed})
		if err != nil {
			return nil, s.explain(ctx, method, err)
		}
		for _, info := range newest {
			title := info.Title
			if title == "" {
				title = "Session " + info.Session
			}
			list.Resources = append(list.Resources, &mcp.Resource{
				URI: sessions + "/" + info.Session, Name: info.Session, Title: title, MIMEType: jsonType, Description: "What is known of this session.",
			})
		}
		return list, nil
	}
}

// complete offers the ids of sessions that begin with what was typed, newest first.
func (s *Server) complete(ctx context.Context, request *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	result := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}
	if request.Params.Argument.Name != "session" {
		return result, nil
	}
	c, err := from(ctx)
	if err != nil {
		return nil, err
	}
	list, err := c.engine.Sessions(ctx, turn.SessionFilter{Limit: 10 * mostSessions})
	if err != nil {
		return nil, s.explain(ctx, "completion", err)
	}
	for _, info := range list {
		if strings.HasPrefix(info.Session, request.Params.Argument.Value) {
			result.Completion.Total++
			if len(result.Completion.Values) < mostSessions {
				result.Completion.Values = append(result.Completion.Values, info.Session)
			}
		}
	}
	result.Completion.HasMore = result.Completion.Total > len(result.Completion.Values)
	return result, nil
}
