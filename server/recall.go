package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/recall"
)

func (s *Server) registerRecall(api huma.API) {
	handleSession(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}/recall", id: "recall", tag: "memory",
		summary: "Find what was said and remembered that answers a question, best first",
		about: "The question may be in any words. A tool call comes with its results and a message with all its parts. " +
			"Where the model for embeddings does not answer, what the words found is the answer, and its warnings say so.",
	}, recallHits)
}

// hit is something that answers a question.
type hit struct {
	Session   string   `json:"session_id"`
	Seqs      []int64  `json:"seqs" doc:"the turns it consists of; none of an item of memory"`
	Item      string   `json:"item_id,omitempty" doc:"the item of memory that it is"`
	CreatedAt string   `json:"created_at" format:"date-time"`
	Role      string   `json:"role,omitempty"`
	Text      string   `json:"text"`
	Score     float64  `json:"score" doc:"orders the hits of one search; it means nothing else"`
	Why       []string `json:"why" doc:"the words of the question that were found in it"`
	Nearby    bool     `json:"nearby,omitempty" doc:"none was: it stands beside turns that hold them"`
	Citation  string   `json:"citation"`
	Tokens    int      `json:"tokens" doc:"how much it has as an item of a prompt"`
	Clipped   bool     `json:"clipped,omitempty" doc:"the text is not all of it"`
}

func newHit(h recall.Hit) hit {
	made := hit{
		Session: h.Session, Seqs: []int64{}, Item: h.Item, CreatedAt: timeText(h.Time), Role: string(h.Role), Text: h.Text, Score: h.Score,
		Why: listOf(h.Why), Nearby: h.Nearby(), Citation: h.Citation, Tokens: h.Tokens, Clipped: h.Clipped,
	}
	for _, t := range h.Turns {
		made.Seqs = append(made.Seqs, t.Seq)
	}
	return made
}

// hits are what was found.
type hits struct {
	Items    []hit    `json:"items" doc:"what was found, best first"`
	Warnings []string `json:"warnings,omitempty" doc:"what went wrong without ending the search, such as that nothing could be ranked by its meaning"`
}

type recallInput struct {
	InSession
	Query  string `query:"query" required:"true" minLength:"1" maxLength:"4096" doc:"the question"`
	Scope  string `query:"scope" enum:"session,user,tenant" default:"session" doc:"in this session, in all of its user, or in all"`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"10"`
	Tokens int    `query:"tokens" minimum:"0" doc:"how many tokens the hits may have together; 0 for no limit"`
	Unseen bool   `query:"unseen" doc:"only what the next prompt does not show"`
	All    bool   `query:"all" doc:"also turns that were left behind when the session went back to a snapshot"`
}

func recallHits(ctx context.Context, s *turnstone.Session, in *recallInput) (*answer[hits], error) {
	scope := map[string]recall.Scope{"session": recall.OfSession, "user": recall.OfUser, "tenant": recall.OfTenant}[in.Scope]
	found, err := s.Recall(ctx, in.Query, turnstone.RecallOptions{
		Scope: scope, Limit: in.Limit, Tokens: in.Tokens, Count: true, Unseen: in.Unseen, All: in.All,
	})
	var warnings []string
	if errors.Is(err, recall.ErrEmbedder) {
		warnings, err = []string{err.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	return answered(hits{pageOf(found, newHit).Items, warnings}), nil
}
