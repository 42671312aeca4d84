package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/turn"
)

const (
	usualTurns = 20
	mostTurns  = 200
)

type searchInput struct {
	Session string `json:"session,omitempty" jsonschema:"id of the session; the default session where it is left out"`
	Text    string `json:"text,omitempty" jsonschema:"words that a turn must all hold, in any order, case and English ending"`
	Match   string `json:"match,omitempty" jsonschema:"what a turn must hold to the letter"`
	Regexp  string `json:"regexp,omitempty" jsonschema:"an RE2 expression that a turn must match"`
	Role    string `json:"role,omitempty" jsonschema:"who said it: user, agent or system"`
	From    int64  `json:"from,omitempty" jsonschema:"number of the first turn"`
	To      int64  `json:"to,omitempty" jsonschema:"number of the last turn"`
	Since   string `json:"since,omitempty" jsonschema:"not before this time, RFC 3339 such as 2026-01-31T12:00:00Z"`
	Until   string `json:"until,omitempty" jsonschema:"before this time, RFC 3339"`
	Limit   int    `json:"limit,omitempty" jsonschema:"how many turns at most, 1 to 200; 20 where it is left out"`
	After   int64  `json:"after,omitempty" jsonschema:"go on after the turn of this number: next of the answer before"`
}

type searchOutput struct {
	Session string `json:"session_id"`
	Turns   []any  `json:"turns" jsonschema:"the turns as they stand in the log: seq, turn_id, role, form, content, created_at"`
	Next    int64  `json:"next,omitempty" jsonschema:"there are more: call again with after set to it"`
}

func (s *Server) searchHistory(ctx context.Context, c caller, in searchInput) (searchOutput, error) {
	query, err := in.query()
	if err != nil {
		return searchOutput{}, err
	}
	session, err := s.find(ctx, c, in.Session)
	if err != nil {
		return searchOutput{}, err
	}
	return search(ctx, session, query)
}

// search answers with the turns of the path that the session is on: those that a restore left behind are not its history.
func search(ctx context.Context, session *turnstone.Session, query turn.Query) (searchOutput, error) {
	out := searchOutput{Session: session.ID(), Turns: []any{}}
	epoch, err := session.Epoch(ctx, turnstone.Head)
	if err != nil {
		return out, err
	}
	for want := query.Limit; len(out.Turns) < want; {
		query.Limit = want - len(out.Turns)
		page, err := session.Query(ctx, query)
		if err != nil {
			return out, err
		}
		for i := range page.Turns {
			if onPath(epoch.Path, page.Turns[i].Seq) {
				out.Turns = append(out.Turns, json.RawMessage(page.Turns[i].AppendJSON(nil)))
			}
		}
		query.After, out.Next = page.Next, page.Next
		if page.Next == 0 {
			break
		}
	}
	return out, nil
}

// onPath reports whether the prompts of a session may show a turn. A range without an end goes on with the log, and no
// ranges are all turns.
func onPath(path []turn.Range, seq int64) bool {
	return len(path) == 0 || slices.ContainsFunc(path, func(r turn.Range) bool { return seq >= r.From && (r.To == 0 || seq <= r.To) })
}

func (in searchInput) query() (turn.Query, error) {
	q := turn.Query{
		Text: in.Text, Match: in.Match, Regexp: in.Regexp, Role: turn.Role(in.Role), From: in.From, To: in.To, Limit: in.Limit, After: in.After,
	}
	if q.Limit == 0 {
		q.Limit = usualTurns
	}
	if q.Limit < 1 || q.Limit > mostTurns {
		return q, invalid.New("limit", strconv.Itoa(q.Limit)+" is out of range", "give 1 to "+strconv.Itoa(mostTurns))
	}
	var err error
	if q.Since, err = moment("since", in.Since); err != nil {
		return q, err
	}
	if q.Until, err = moment("until", in.Until); err != nil {
		return q, err
	}
	_, err = q.Compile()
	return q, err
}

func moment(field, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, invalid.New(field, quoted(text)+" is no time", "write it like 2026-01-31T12:00:00Z")
	}
	return at, nil
}

func timeJSON(t time.Time) string { return t.UTC().Format(turn.TimeFormat) }

func quoted(text string) string {
	const most = 64
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strconv.Quote(text)
}
