package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/sse"
	"github.com/turnstone-dev/turnstone/turn"
)

func (s *Server) registerSay(api huma.API) {
	handle(s, api, route{
		method: http.MethodPost, path: "/sessions/{session}/say", id: "say", tag: "say", pace: endless,
		summary: "Say something to a session and have its model answer",
		about: "The answer comes when the whole exchange is on disk. Who accepts text/event-stream is sent it as it comes: the events text, thinking, " +
			"call, result and warning, each with one JSON object, and at the end reply, with what is answered otherwise, or problem. " +
			"Who hangs up cuts the reply short; what came of it is kept, and the exchange is committed as interrupted. " +
			"Exchanges of one session come one after the other: a second one waits until the first is over. " +
			"Under an Idempotency-Key something is said once: again it is a conflict that names the turn, and the model is not asked; what came of it stands after that turn.",
		answers: map[string]*huma.MediaType{
			"application/json": {Schema: api.OpenAPI().Components.Schemas.Schema(typeFor[spoken](), true, "")},
			sse.ContentType:    {Schema: &huma.Schema{Type: huma.TypeString}},
		},
	}, s.say)
}

type sayInput struct {
	InSession
	Create         bool   `query:"create" doc:"make the session where there is none"`
	Accept         string `header:"Accept" doc:"application/json, or text/event-stream for the reply as it comes"`
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"200" doc:"kept with what is said: under the same key nothing is said again, which is a conflict that names the turn"`
	Body           struct {
		Text    string   `json:"text" minLength:"1" doc:"what the user says"`
		Model   string   `json:"model,omitempty" doc:"which model answers; the session's, or the server's, if it is left out"`
		Context int      `json:"context,omitempty" minimum:"1" doc:"the size of the model's context in tokens"`
		Late    []string `json:"late,omitempty" doc:"texts for the end of the prompt, such as what was recalled, the most important first"`
	}
}

// spoken is a reply, and how the exchange went.
type spoken struct {
	Session  string   `json:"session_id"`
	Model    string   `json:"model"`
	Text     string   `json:"text"`
	Thinking string   `json:"thinking,omitempty"`
	Stop     string   `json:"stop" doc:"why it ended: length for a reply that the model cut short"`
	Calls    int      `json:"tool_calls" doc:"how many tools were called"`
	Rounds   int      `json:"rounds" doc:"how often the model was asked"`
	Prompt   int      `json:"prompt_tokens"`
	Cached   int      `json:"cached_tokens,omitempty"`
	Answer   int      `json:"answer_tokens"`
	Status   string   `json:"status" doc:"what became of the exchange: complete, or complete_with_errors where something is tried again"`
	TurnID   string   `json:"turn_id" doc:"the turn that opened the exchange"`
	ExportID string   `json:"export_id"`
	Reopened bool     `json:"reopened,omitempty" doc:"the session had ended and goes on with this exchange"`
	Warnings []string `json:"warnings,omitempty" doc:"what went wrong without ending the exchange, such as that the model did not see all of the prompt"`
}

func newSpoken(session string, r *turnstone.Reply) spoken {
	out := spoken{
		Session: session, Text: r.Text, Thinking: r.Thinking, Stop: string(r.Stop), Calls: r.Calls, Rounds: r.Rounds,
		Prompt: r.Usage.Prompt, Cached: r.Usage.Cached, Answer: r.Usage.Answer,
		Status: string(r.Commit.Status), TurnID: r.Commit.TurnID, ExportID: r.Commit.ExportID,
		Reopened: r.Reopened, Warnings: r.Warnings,
	}
	if r.Prompt != nil {
		out.Model = r.Prompt.Model
	}
	return out
}

func (s *Server) say(ctx context.Context, eng *turnstone.Engine, in *sayInput) (*streamed, error) {
	if s.config.Model == nil && (in.Body.Model != "" || in.Body.Context != 0) {
		return nil, invalid.New("model", "cannot be chosen: this server has one of its own", "leave out model and context")
	}
	if strings.TrimSpace(in.Body.Text) == "" {
		return nil, invalid.New("text", "is empty", "give the text that was said")
	}
	session, err := s.sayTo(ctx, eng, in)
	if err != nil {
		return nil, err
	}
	options, err := s.voice(ctx, session, in)
	if err != nil {
		return nil, err
	}
	text := in.Body.Text
	if in.IdempotencyKey != "" {
		keyed := turn.Draft{Role: turn.User, Content: turn.Text{Text: text}, IdempotencyKey: in.IdempotencyKey}
		text, options = "", append(options, turnstone.WithParts(keyed))
	}
	if acceptsEvents(in.Accept) {
		return &streamed{ContentType: sse.ContentType, Body: func(c huma.Context) {
			s.saying(c, session, text, options)
		}}, nil
	}
	reply, err := session.Say(ctx, text, options...)
	if err != nil {
		return nil, err
	}
	return &streamed{ContentType: "application/json", Body: func(c huma.Context) {
		if err := jsonFormat.Marshal(c.BodyWriter(), newSpoken(session.ID(), &reply)); err != nil {
			RecordOf(c.Context()).Err = err
		}
	}}, nil
}

// sayTo is the session that something is said to. One that is not there is made if that is wanted and a model can answer.
func (s *Server) sayTo(ctx context.Context, eng *turnstone.Engine, in *sayInput) (*turnstone.Session, error) {
	session, err := eng.Find(ctx, in.Session)
	switch {
	case !errors.Is(err, turn.ErrNotFound):
		return session, err
	case !in.Create:
		return nil, fmt.Errorf("%w; add ?create=true to make it", err)
	case s.config.Model != nil && cmp.Or(in.Body.Model, s.config.ModelName) == "":
		return nil, noModel()
	}
	return eng.Session(ctx, in.Session)
}

func noModel() error {
	return invalid.New("model", "neither the request nor the session names one", "give one, or describe the session with one")
}

// voice is who answers: the model that the request names, the session's, or the server's.
func (s *Server) voice(ctx context.Context, session *turnstone.Session, in *sayInput) ([]turnstone.SayOption, error) {
	options := []turnstone.SayOption{turnstone.WithLate(in.Body.Late...)}
	if s.config.Model == nil {
		return options, nil
	}
	info, err := session.Info(ctx)
	if err != nil {
		return nil, err
	}
	name := cmp.Or(in.Body.Model, info.Model, s.config.ModelName)
	if name == "" {
		return nil, noModel()
	}
	return append(options, turnstone.WithModel(name, s.config.Model(name), in.Body.Context)), nil
}

func acceptsEvents(accept string) bool {
	return strings.Contains(strings.ToLower(accept), sse.ContentType)
}

// saying streams a reply as events.
func (s *Server) saying(c huma.Context, session *turnstone.Session, text string, options []turnstone.SayOption) {
	ctx := c.Context()
	r, w := humago.Unwrap(c)
	var out *sse.Writer
	for piece, err := range session.Stream(ctx, text, options...) {
		if err != nil && out == nil {
			s.refused(c, err)
			return
		}
		if out == nil {
			if out, err = sse.Begin(w, s.config.Limits.Write); err != nil {
				RecordOf(ctx).Err = err
				return // nobody listens: the exchange is cut short
			}
		}
		event, data := "problem", any(nil)
		if err != nil {
			data = s.problem(ctx, r.URL.Path, err)
		} else {
			event, data = pieceEvent(session.ID(), piece)
		}
		if err := sendEvent(out, event, data); err != nil {
			RecordOf(ctx).Err = err
			return
		}
	}
}

func sendEvent(out *sse.Writer, event string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("event %s: %w", event, err)
	}
	return out.Send(sse.Event{Name: event, Data: string(text)})
}

// pieceEvent is a piece of a reply as an event: its name and what is said in it.
func pieceEvent(session string, p turnstone.Piece) (string, any) {
	switch {
	case p.Reply != nil:
		return "reply", newSpoken(session, p.Reply)
	case p.Call != nil:
		return "call", map[string]string{"id": p.Call.ID, "name": p.Call.Name, "arguments": p.Call.Arguments}
	case p.Result != nil:
		return "result", json.RawMessage(turn.AppendContent(nil, *p.Result))
	case p.Warning != "":
		return "warning", map[string]string{"warning": p.Warning}
	case p.Thinking != "":
		return "thinking", map[string]string{"text": p.Thinking}
	}
	return "text", map[string]string{"text": p.Text}
}
