package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/replay/history"
	"github.com/turnstone-dev/turnstone/turn"
)

func (s *Server) registerTurns(api huma.API) {
	handle(s, api, route{
		method: http.MethodPost, path: "/sessions/{session}/turns", id: "appendTurns", tag: "turns", status: http.StatusCreated,
		body: s.config.Limits.Turns, decoded: true, quick: s.appendQuickly,
		summary: "Append turns to a session, all or none",
		about: "When it is answered, the turns are on disk. A turn is {\"role\":\"user\",\"text\":\"…\"}, or has a form and a content as it is stored; " +
			"bytes of images and recordings are given as base64 in data. With an Idempotency-Key the same request again changes nothing and is answered with the first turns.",
	}, appendTurns)
	handleSession(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}/turns", id: "queryTurns", tag: "turns",
		summary: "Find turns of a session, oldest first",
		about:   "What is not asked for does not matter; everything that is must hold. Each turn stands for itself, a tool call without its result if that does not match.",
	}, queryTurns)
	handleSession(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}/window", id: "getWindow", tag: "turns",
		summary: "The last 7 utterances, with the results of their tool calls",
	}, window)
	handleSession(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}/history", id: "getHistory", tag: "turns",
		summary: "The last turns of a session as a model would be given them, oldest first",
		about:   "These are utterances, text and speech of user and agent, with the results of their tool calls, which do not count. A call that still waits for its result is not shown.",
	}, compileHistory)
	handleSession(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}/history/{format}", id: "exportHistory", tag: "turns", pace: slow,
		summary: "The whole log of a session in a format of others",
		about:   "Nothing of it was ever compressed. The formats session and lines hold every turn exactly; what the others have no place for is left out.",
		answers: exported(),
	}, exportHistory)
}

// turnDoc is a turn: what [turn.Turn.AppendJSON] writes.
type turnDoc struct {
	TurnID         string   `json:"turn_id"`
	Session        string   `json:"session_id,omitempty"`
	Seq            int64    `json:"seq" doc:"the position in the session, from 1, without gaps: the only order there is"`
	Role           string   `json:"role" enum:"user,agent,system"`
	Form           string   `json:"form" enum:"text,speech,image,action"`
	Kind           string   `json:"kind,omitempty" enum:"summary" doc:"set for what is no ordinary turn"`
	Content        object   `json:"content,omitempty" doc:"what was said, by form; raw values in it are kept byte for byte"`
	ContentText    string   `json:"content_text,omitempty" doc:"the JSON of the content, where it was written over several lines"`
	CreatedAt      string   `json:"created_at" format:"date-time"`
	Unit           int64    `json:"unit,omitempty" doc:"the seq of the tool call that it belongs to"`
	MessageID      string   `json:"message_id,omitempty" doc:"shared by the turns of one message"`
	IdempotencyKey string   `json:"idempotency_key,omitempty"`
	Covers         []int64  `json:"covers,omitempty" doc:"of a summary: the first and the last turn that it stands for"`
	Meta           *metaDoc `json:"meta,omitempty"`
	OffPath        bool     `json:"off_path,omitempty" doc:"the session went back to a snapshot behind it: prompts do not show it"`
}

type metaDoc struct {
	Tokens      int64  `json:"tokens,omitempty"`
	Model       string `json:"model,omitempty"`
	LatencyUS   int64  `json:"latency_us,omitempty" doc:"how long it took, in microseconds"`
	Interrupted bool   `json:"interrupted,omitempty" doc:"the reply was cut short"`
}

// draftDoc is a turn that is to be appended: what [turn.DecodeDraft] reads.
type draftDoc struct {
	TurnID         string   `json:"turn_id,omitempty" doc:"a ULID; one is made if it is left out"`
	Role           string   `json:"role" enum:"user,agent,system"`
	Form           string   `json:"form,omitempty" enum:"text,speech,image,action" default:"text"`
	Text           string   `json:"text,omitempty" doc:"what was said, in the place of a content"`
	Content        object   `json:"content,omitempty" doc:"what was said, by form"`
	MessageID      string   `json:"message_id,omitempty"`
	IdempotencyKey string   `json:"idempotency_key,omitempty"`
	Meta           *metaDoc `json:"meta,omitempty"`
}

type draftsDoc struct {
	Turns []draftDoc `json:"turns" minItems:"1" maxItems:"10000"`
}

type turnPageDoc struct {
	Items []turnDoc `json:"items"`
	Next  string    `json:"next,omitempty" doc:"the cursor of the next page; on the last there is none"`
}

// appendedDoc is what an append is answered with.
type appendedDoc struct {
	Items    []turnDoc `json:"items"`
	Reopened bool      `json:"reopened,omitempty" doc:"the session had ended and goes on with these turns; a request that is sent again reopens nothing"`
}

func appendAppended(text []byte, done turnstone.Appended) []byte {
	text = appendPage(text, done.Turns, nil, "")
	if done.Reopened {
		text = append(text[:len(text)-1], `,"reopened":true}`...)
	}
	return text
}

// turnPage shows turns, and marks those that are off the path.
func turnPage(turns []turn.Turn, path turn.Path, next string) *answer[exact[turnPageDoc]] {
	return exactly[turnPageDoc](appendPage(make([]byte, 0, min(len(turns), 16)*(3<<10)+64), turns, path, next))
}

func appendPage(text []byte, turns []turn.Turn, path turn.Path, next string) []byte {
	text = append(text, `{"items":`...)
	text = list(text, turns, func(dst []byte, t turn.Turn) []byte {
		dst = t.AppendJSON(dst)
		if path.Off(t.Seq) {
			dst = append(dst[:len(dst)-1], `,"off_path":true}`...)
		}
		return dst
	})
	if next != "" {
		text = append(text, `,"next":"`+next+`"`...) // a cursor has nothing that must be escaped
	}
	return append(text, '}')
}

type appendTurnsInput struct {
	InSession
	Create         bool   `query:"create" doc:"make the session where there is none"`
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"200" doc:"the same request again under the same key changes nothing"`
	Body           read[draftsDoc]
}

func appendTurns(ctx context.Context, eng *turnstone.Engine, in *appendTurnsInput) (*answer[exact[appendedDoc]], error) {
	done, err := in.append(ctx, eng)
	if err != nil {
		return nil, err
	}
	return exactly[appendedDoc](appendAppended(nil, done)), nil
}

func (in *appendTurnsInput) append(ctx context.Context, eng *turnstone.Engine) (done turnstone.Appended, err error) {
	drafts, err := decodeDrafts(in.Body.text, in.IdempotencyKey)
	if err != nil {
		return turnstone.Appended{}, err
	}
	err = writing(ctx, eng, in.Session, in.Create, func(s *turnstone.Session) (err error) {
		if in.IdempotencyKey == "" {
			done, err = s.Extend(ctx, drafts...)
		} else {
			done, err = s.ExtendOnce(ctx, in.IdempotencyKey, drafts...)
		}
		return err
	})
	var refused *turn.DraftError
	if errors.As(err, &refused) {
		err = record.Within(record.Indexed("turns", refused.Index), refused.Err)
	}
	return done, err
}

// writing has a session written to by a function that says itself when there is none: nobody looks first, which would
// cost as much again. Where it may be made, it is then.
func writing(ctx context.Context, eng *turnstone.Engine, id string, create bool, write func(*turnstone.Session) error) error {
	s, err := eng.Named(id)
	if err != nil {
		return err
	}
	if err = write(s); !errors.Is(err, turn.ErrNotFound) {
		return err
	}
	if create {
		if s, err = eng.Session(ctx, id); err != nil {
			return err
		}
		return write(s)
	}
	if _, none := eng.Find(ctx, id); errors.Is(none, turn.ErrNotFound) {
		err = fmt.Errorf("%w; add ?create=true to make it", none)
	}
	return err
}

type queryTurnsInput struct {
	InSession
	Paging
	Role   string    `query:"role" enum:"user,agent,system" doc:"who said it"`
	Form   string    `query:"form" enum:"text,speech,image,action"`
	Kind   string    `query:"kind" enum:"turn,summary"`
	TurnID string    `query:"turn_id" doc:"the turn with this id"`
	Match  string    `query:"match" doc:"its text holds this, to the letter"`
	Regexp string    `query:"regexp" doc:"its text matches this RE2 expression"`
	Text   string    `query:"text" doc:"its text holds all these words, in any order, case and ending"`
	Flow   string    `query:"flow" doc:"the flow with this id points at it"`
	From   int64     `query:"from" minimum:"1" doc:"from this turn on"`
	To     int64     `query:"to" minimum:"1" doc:"up to this turn"`
	Since  time.Time `query:"since" doc:"not before this time"`
	Until  time.Time `query:"until" doc:"before this time"`
	All    bool      `query:"all" doc:"also turns after a snapshot that the session went back to, which are marked"`
}

const turnList = "turns"

func queryTurns(ctx context.Context, s *turnstone.Session, in *queryTurnsInput) (*answer[exact[turnPageDoc]], error) {
	after, err := numberOf(turnList, in.Cursor)
	if err != nil {
		return nil, err
	}
	q := turn.Query{
		ID: in.TurnID, Role: turn.Role(in.Role), Form: turn.Form(in.Form), Kind: turn.Kind(in.Kind), From: in.From, To: in.To,
		Since: in.Since, Until: in.Until, Match: in.Match, Regexp: in.Regexp, Text: in.Text, Limit: in.Limit, After: after,
	}
	ask := s.Query
	if in.Flow != "" {
		ask = func(ctx context.Context, q turn.Query) (turn.Page, error) { return s.QueryFlow(ctx, in.Flow, q) }
	}
	epoch, err := s.Epoch(ctx, turnstone.Head)
	if err != nil {
		return nil, err
	}
	path := turn.Path(epoch.Path)
	found, err := ask(ctx, q)
	if err != nil {
		return nil, err
	}
	if !in.All {
		// A page may be shorter than it was asked to be, and is not the last for that.
		found.Turns = slices.DeleteFunc(found.Turns, func(t turn.Turn) bool { return path.Off(t.Seq) })
	}
	next := ""
	if found.Next != 0 {
		next = numbered(turnList, found.Next)
	}
	return turnPage(found.Turns, path, next), nil
}

func window(ctx context.Context, s *turnstone.Session, _ *struct{ InSession }) (*answer[exact[turnPageDoc]], error) {
	turns, err := s.Window(ctx)
	if err != nil {
		return nil, err
	}
	return turnPage(turns, nil, ""), nil
}

type compileHistoryInput struct {
	InSession
	Turns      int   `query:"turns" minimum:"1" maximum:"10000" default:"7" doc:"how many"`
	KeepSystem bool  `query:"keep_system" doc:"count and show images, actions and system turns too"`
	At         int64 `query:"at" minimum:"1" doc:"as it was after this turn; the newest if it is left out"`
	All        bool  `query:"all" doc:"also turns after a snapshot that the session went back to, which are marked"`
}

func compileHistory(ctx context.Context, s *turnstone.Session, in *compileHistoryInput) (*answer[exact[turnPageDoc]], error) {
	o := turn.HistoryOptions{Turns: in.Turns, KeepSystem: in.KeepSystem, UpTo: in.At}
	at, err := reach(ctx, s, given(in.At))
	if err != nil {
		return nil, err
	}
	epoch, err := s.Epoch(ctx, at)
	if err != nil {
		return nil, err
	}
	if in.All {
		o.Path = turn.WholePath()
	}
	turns, err := s.History(ctx, o)
	if err != nil {
		return nil, err
	}
	return turnPage(turns, turn.Path(epoch.Path), ""), nil
}

// given is a number of a query, where it was given.
func given(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

type exportHistoryInput struct {
	InSession
	Format string `path:"format" enum:"session,lines,openai,anthropic,markdown"`
}

// exported describes what the formats are.
func exported() map[string]*huma.MediaType {
	media := map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{}}}
	for _, name := range mediaTypes {
		name, _, _ = strings.Cut(name, ";")
		media[name] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	}
	return media
}

// mediaTypes are those of the formats that are not one JSON document.
var mediaTypes = map[history.Format]string{history.Lines: "application/x-ndjson", history.Markdown: "text/markdown; charset=utf-8"}

func exportHistory(ctx context.Context, session *turnstone.Session, in *exportHistoryInput) (*streamed, error) {
	format := history.Format(in.Format)
	return spooled(ctx, cmp.Or(mediaTypes[format], "application/json"), func(w io.Writer) error {
		_, err := session.ExportHistory(ctx, w, format)
		return err
	})
}
