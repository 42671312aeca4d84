package mcp

import (
	"context"
	"errors"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/recall"
)

type recallInput struct {
	Session string `json:"session,omitempty" jsonschema:"id of the session to look in; the default session where it is left out"`
	Query   string `json:"query" jsonschema:"the question, in any words"`
	Scope   string `json:"scope,omitempty" jsonschema:"where to look: session (the default), user (all sessions of the session's user) or tenant (all sessions there are)"`
	Limit   int    `json:"limit,omitempty" jsonschema:"how many hits at most, 1 to 100; 10 where it is left out"`
	Tokens  int    `json:"tokens,omitempty" jsonschema:"how many tokens the hits may have together; no limit where it is left out"`
	Unseen  bool   `json:"unseen,omitempty" jsonschema:"leave out what the session's next prompt shows anyway"`
}

type recallOutput struct {
	Hits     []hitJSON `json:"hits" jsonschema:"what was found, best first"`
	Warnings []string  `json:"warnings,omitempty" jsonschema:"what went wrong without ending the search"`
}

type hitJSON struct {
	Session  string   `json:"session_id"`
	Seqs     []int64  `json:"seqs" jsonschema:"the turns it is made of; none for an item of memory"`
	Item     string   `json:"item_id,omitempty" jsonschema:"the item of memory, where it is one"`
	Time     string   `json:"created_at"`
	Role     string   `json:"role,omitempty" jsonschema:"who said it"`
	Text     string   `json:"text"`
	Score    float64  `json:"score"`
	Why      []string `json:"why" jsonschema:"the words of the query that were found in it"`
	Nearby   bool     `json:"nearby,omitempty" jsonschema:"none was: it stands beside turns that hold them"`
	Citation string   `json:"citation" jsonschema:"how to cite it, such as [turn 12]"`
	Tokens   int      `json:"tokens,omitempty"`
	Clipped  bool     `json:"clipped,omitempty" jsonschema:"the text is not all of it"`
}

var scopes = map[string]recall.Scope{"": recall.OfSession, "session": recall.OfSession, "user": recall.OfUser, "tenant": recall.OfTenant}

func (s *Server) recall(ctx context.Context, c caller, in recallInput) (recallOutput, error) {
	var out recallOutput
	if err := named("query", in.Query); err != nil {
		return out, err
	}
	scope, known := scopes[in.Scope]
	if !known {
		return out, invalid.New("scope", quoted(in.Scope)+" is no scope", "use session, user or tenant")
	}
	session, err := s.find(ctx, c, in.Session)
	if err != nil {
		return out, err
	}
	hits, err := session.Recall(ctx, in.Query, turnstone.RecallOptions{Scope: scope, Limit: in.Limit, Tokens: in.Tokens, Unseen: in.Unseen})
	if errors.Is(err, recall.ErrEmbedder) {
		out.Warnings, err = []string{err.Error()}, nil
	}
	if err != nil {
		return out, err
	}
	out.Hits = make([]hitJSON, 0, len(hits))
	for _, h := range hits {
		hit := hitJSON{
			Session: h.Session, Seqs: []int64{}, Item: h.Item, Time: timeJSON(h.Time), Role: string(h.Role), Text: h.Text, Score: h.Score,
			Why: append([]string{}, h.Why...), Nearby: h.Nearby(), Citation: h.Citation, Tokens: h.Tokens, Clipped: h.Clipped,
		}
		for _, t := range h.Turns {
			hit.Seqs = append(hit.Seqs, t.Seq)
		}
		out.Hits = append(out.Hits, hit)
	}
	return out, nil
}
