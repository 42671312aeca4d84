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

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/sse"
	"github.com/turnstone-dev/turnstone/turn"
)

func (s *Server) registerSay(api huma.API) {
	handle(s, api, route{
		method: http.MethodPost, path: "/sessions/{session}/say", id: "say", tag: "say", pace: endless, body: s.config.Limits.Turns,
		summary: "Say something to a session and have its model answer",
		about: "The answer comes when the whole exchange is on disk. Who accepts text/event-stream is sent it as it comes: the events text, thinking, " +
			"call, result and warning, each with one JSON object, and at the end reply, with what is answered otherwise, or problem. " +
			"A comment every 15 seconds without one shows that the stream is alive; what goes wrong before the first of all is answered with its status. " +
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
		Text     string    `json:"text,omitempty" minLength:"1" doc:"what the user says; it may be left out where there are parts"`
		Parts    []saidDoc `json:"parts,omitempty" maxItems:"512" doc:"what belongs to the same message, after the text: pictures, speech, actions"`
		Model    string    `json:"model,omitempty" doc:"which model answers; the session's, or the server's, if it is left out"`
		Context  int       `json:"context,omitempty" minimum:"1" doc:"the size of the model's context in tokens"`
		Settings *settings `json:"settings,omitempty" doc:"what the prompt begins with; what the session's last prompt began with if it is left out, unless the server has a beginning of its own"`
		Late     []string  `json:"late,omitempty" doc:"texts for the end of the prompt, such as what was recalled, the most important first"`
	}
}

// saidDoc is a part of what the user says.
type saidDoc struct {
	Form    string          `json:"form,omitempty" enum:"text,speech,image,action" default:"text"`
	Content json.RawMessage `json:"content" doc:"what was said, by form, as in a turn: {\"media_type\":\"image/png\",\"data\":\"…\"}, with the bytes as base64"`
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
	what, err := in.utterance()
	if err != nil {
		return nil, err
	}
	session, err := s.sayTo(ctx, eng, in)
	if err != nil {
		return nil, err
	}
	voice, err := s.voice(ctx, eng, session, in)
	if err != nil {
		return nil, err
	}
	what.options = append(what.options, voice...)
	if acceptsEvents(in.Accept) {
		return &streamed{ContentType: sse.ContentType, Body: func(c huma.Context) { s.saying(c, session, what) }}, nil
	}
	reply, err := session.Say(ctx, what.text, what.options...)
	if err != nil {
		return nil, what.asSent(err)
	}
	return &streamed{ContentType: "application/json", Body: func(c huma.Context) {
		if err := jsonFormat.Marshal(c.BodyWriter(), newSpoken(session.ID(), &reply)); err != nil {
			RecordOf(c.Context()).Err = err
		}
	}}, nil
}

// utterance is what the engine is given to say. Under a key the text is one of the parts, which can have one.
type utterance struct {
	text    string
	before  int // how many turns come before the request's parts
	options []turnstone.SayOption
}

func (in *sayInput) utterance() (*utterance, error) {
	what := &utterance{text: in.Body.Text, options: []turnstone.SayOption{turnstone.WithLate(in.Body.Late...)}}
	if blank := strings.TrimSpace(what.text) == ""; blank && (what.text != "" || len(in.Body.Parts) == 0) {
		return nil, invalid.New("text", "is empty", "give the text that was said")
	}
	if begins := in.Body.Settings.seen(); begins != nil {
		if err := begins.Check(); err != nil {
			return nil, record.Within("settings", err)
		}
		what.options = append(what.options, turnstone.WithSettings(*begins))
	}
	var parts []turn.Draft
	if what.text != "" {
		what.before = 1
	}
	if what.text != "" && in.IdempotencyKey != "" {
		parts = append(parts, turn.Draft{Role: turn.User, Content: turn.Text{Text: what.text}})
		what.text = ""
	}
	for i, p := range in.Body.Parts {
		content, err := turn.DecodeContent(turn.User, turn.Form(cmp.Or(p.Form, string(turn.FormText))), string(p.Content))
		if err != nil {
			return nil, record.Within(record.Indexed("parts", i), err)
		}
		parts = append(parts, turn.Draft{Role: turn.User, Content: content})
	}
	if key := in.IdempotencyKey; key != "" {
		parts[0].IdempotencyKey = key
		for i := range parts[1:] {
			// The same request again is the same message.
			parts[0].MessageID, parts[i+1].MessageID = key, key
		}
	}
	what.options = append(what.options, turnstone.WithParts(parts...))
	return what, nil
}

// asSent names what is wrong by its place in the request.
func (u *utterance) asSent(err error) error {
	var refused *turn.DraftError
	if !errors.As(err, &refused) {
		return err
	}
	if i := refused.Index - u.before; i >= 0 {
		return record.Within(record.Indexed("parts", i), refused.Err)
	}
	return refused.Err
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
func (s *Server) voice(ctx context.Context, eng *turnstone.Engine, session *turnstone.Session, in *sayInput) ([]turnstone.SayOption, error) {
	if s.config.Model == nil {
		return nil, nil
	}
	info, err := session.Info(ctx)
	if err != nil {
		return nil, err
	}
	name := cmp.Or(in.Body.Model, info.Model, s.config.ModelName)
	if name == "" {
		return nil, noModel()
	}
	return []turnstone.SayOption{turnstone.WithModel(name, s.config.Model(name), cmp.Or(in.Body.Context, eng.ContextOf(name)))}, nil
}
