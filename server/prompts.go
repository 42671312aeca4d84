package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/prompt/wire"
)

func (s *Server) registerPrompts(api huma.API) {
	answers := map[string]*huma.MediaType{
		"application/json": {Schema: &huma.Schema{AnyOf: []*huma.Schema{
			api.OpenAPI().Components.Schemas.Schema(typeFor[promptDoc](), true, ""),
			{Type: huma.TypeObject, Description: "the body of a request to a model server", Required: []string{"model", "messages"}},
		}}},
		"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}},
	}
	handleSession(s, api, route{
		method: http.MethodPost, path: "/sessions/{session}/prompt", id: "compilePrompt", tag: "prompts", pace: slow,
		summary: "Compile what the model is to see now, within its window to the token",
		about:   "It is noted, so that it can be made again byte for byte, unless it is a preview. What does not fit is refused with the account of every token.",
		answers: answers,
	}, s.compilePrompt)
	handleSession(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}/prompt", id: "getPrompt", tag: "prompts",
		summary: "What the model saw after a turn, byte for byte",
		about:   "Of a turn after which no prompt was compiled it is what would have been; recorded says which.",
		answers: answers,
	}, pastPrompt)
	handleSession(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}/prompts", id: "listPrompts", tag: "prompts",
		summary: "The prompts that were compiled, oldest first",
	}, listPrompts)
	handleSession(s, api, route{
		method: http.MethodPost, path: "/sessions/{session}/prompt/usage", id: "reportUsage", tag: "prompts", pace: slow,
		summary: "Say what the model server counted for a prompt",
		about:   "Later counts for the model are calibrated by it. If it counted fewer tokens than were sent, it dropped some of the prompt, and truncated is true. Say does this itself.",
	}, reportUsage)
}

// InPrompt is how a prompt is answered. It is exported for huma, which reads it.
type InPrompt struct {
	InSession
	Format  string `query:"format" enum:"json,text,ollama,openai,anthropic" default:"json" doc:"json with the account of every token, text for people, or the body of a request to a model server"`
	Explain bool   `query:"explain" doc:"only where every token goes, without the messages"`
}

// check refuses what cannot be answered at once: an explanation has no messages to be written in a server's format.
func (in *InPrompt) check() error {
	if in.Explain && in.Format != "json" {
		return invalid.New("explain", "is given beside format "+in.Format, "give one of them")
	}
	return nil
}

// Addressee is who a prompt is for. It is exported for huma, which reads it where it is embedded.
type Addressee struct {
	Model   string `json:"model,omitempty" doc:"who it is for; the session's model if it is left out, or the server's where it has none"`
	Context int    `json:"context,omitempty" minimum:"1" doc:"the size of the model's context in tokens"`
}

func (a Addressee) options() turnstone.PromptOptions {
	return turnstone.PromptOptions{Model: a.Model, Context: a.Context}
}

type material struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// definition is a tool that the model may call.
type definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty" doc:"the JSON Schema of its arguments, an object"`
}

// settings are what a prompt begins with.
type settings struct {
	System   string       `json:"system,omitempty" doc:"the system prompt"`
	Mandates []string     `json:"mandates,omitempty" doc:"rules that the model must keep"`
	Skills   []material   `json:"skills,omitempty" doc:"what the model knows how to do"`
	Checks   []string     `json:"checks,omitempty" doc:"what the model is to make sure of before it answers"`
	Sticky   []material   `json:"sticky,omitempty" doc:"files that stay in the prompt"`
	Tools    []definition `json:"tools,omitempty"`
}

func (s *settings) seen() *prompt.Settings {
	if s == nil {
		return nil
	}
	out := &prompt.Settings{System: s.System, Mandates: s.Mandates, Checks: s.Checks}
	for _, m := range s.Skills {
		out.Skills = append(out.Skills, prompt.Material(m))
	}
	for _, m := range s.Sticky {
		out.Sticky = append(out.Sticky, prompt.Material(m))
	}
	for _, d := range s.Tools {
		schema := string(d.Schema)
		if schema == "" {
			schema = `{"type":"object","properties":{}}`
		}
		out.Tools = append(out.Tools, prompt.Definition{Name: d.Name, Description: d.Description, Schema: schema})
	}
	return out
}

type compilePromptInput struct {
	InPrompt
	Body *promptDraft
}

type promptDraft struct {
	Addressee
	Settings *settings `json:"settings,omitempty" doc:"what it begins with; what the session's last prompt began with if it is left out"`
	Late     []string  `json:"late,omitempty" doc:"texts for the end, such as what was recalled, the most important first"`
	Preview  bool      `json:"preview,omitempty" doc:"note nothing, and change nothing"`
}

func (s *Server) compilePrompt(ctx context.Context, session *turnstone.Session, in *compilePromptInput) (*streamed, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	asked := valueOf(in.Body)
	options := asked.options()
	if options.Model == "" {
		info, err := session.Info(ctx)
		if err != nil {
			return nil, err
		}
		options.Model = cmp.Or(info.Model, s.config.ModelName)
	}
	if begins := asked.Settings.seen(); begins != nil {
		if err := begins.Check(); err != nil {
			return nil, record.Within("settings", err)
		}
	}
	options.Settings, options.Late, options.Preview = asked.Settings.seen(), asked.Late, asked.Preview || in.Explain
	made, err := session.Prompt(ctx, options)
	if err != nil {
		return nil, err
	}
	return in.answer(ctx, shownPrompt{Prompt: made, session: session.ID()})
}

type pastPromptInput struct {
	InPrompt
	At     int64 `query:"at" minimum:"1" doc:"after this turn; the newest if it is left out"`
	Number int64 `query:"number" minimum:"1" doc:"the one of this number, in the place of a turn"`
}

func pastPrompt(ctx context.Context, s *turnstone.Session, in *pastPromptInput) (*streamed, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	shown, err := compiled(ctx, s, in.At, in.Number)
	if err != nil {
		return nil, err
	}
	return in.answer(ctx, shown)
}

// compiled is the prompt after a turn, or of a number; 0 for what was not given.
func compiled(ctx context.Context, s *turnstone.Session, at, number int64) (shown shownPrompt, err error) {
	shown = shownPrompt{session: s.ID(), past: true}
	if number == 0 {
		if at, err = reach(ctx, s, given(at)); err != nil {
			return shown, err
		}
		shown.Prompt, shown.recorded, err = s.PromptAt(ctx, at, turnstone.PromptOptions{})
		return shown, err
	}
	if at > 0 {
		return shown, invalid.New("number", "is given beside at", "give one of them")
	}
	calls, err := s.Prompts(ctx, number-1, 1)
	if err != nil {
		return shown, err
	}
	if len(calls) == 0 || calls[0].Number != number {
		return shown, fmt.Errorf("prompt %d of %s: %w", number, s.ID(), prompt.ErrNotFound)
	}
	shown.recorded, shown.number = true, number
	shown.Prompt, err = s.Again(ctx, calls[0])
	return shown, err
}

// shownPrompt is a prompt and how it came about.
type shownPrompt struct {
	*prompt.Prompt
	session        string
	past, recorded bool
	number         int64
}

// answer shows a prompt in the format that was asked for.
func (in *InPrompt) answer(ctx context.Context, p shownPrompt) (*streamed, error) {
	if in.Format == "json" || in.Explain {
		text, err := p.json(!in.Explain)
		if err != nil {
			return nil, err
		}
		return written("application/json", text), nil
	}
	var blobs wire.Blobs // without them pictures are described
	if profile, _ := EngineOf(ctx).Profile(p.Model); profile.Vision {
		blobs = func(ctx context.Context, sha256 string) ([]byte, error) {
			b, err := EngineOf(ctx).Blob(ctx, sha256)
			return b.Data, err
		}
	}
	format := wire.Format(in.Format)
	if p.Model == "" && format != wire.Text {
		return nil, invalid.New("model", "the session has none", "give one")
	}
	request := wire.Request{Messages: p.Messages, Tools: p.Tools, Model: p.Model, Context: p.Window.Usable, MaxTokens: p.Window.Reserve}
	body, err := wire.Append(ctx, nil, format, request, blobs)
	if err != nil {
		return nil, fmt.Errorf("prompt of %s: %w", p.session, err)
	}
	if format == wire.Text {
		return written("text/plain; charset=utf-8", body), nil
	}
	return written("application/json", body), nil
}

// PromptHead is a prompt but for its messages and tools. It is exported for huma, which reads it where it is embedded.
type PromptHead struct {
	Session  string   `json:"session_id"`
	Model    string   `json:"model,omitempty"`
	Epoch    int64    `json:"epoch"`
	Opened   string   `json:"opened,omitempty" doc:"why this prompt opened the epoch, if it did"`
	End      int64    `json:"end" doc:"the last turn that it could show"`
	Recorded *bool    `json:"recorded,omitempty" doc:"whether it was compiled then, or is what would have been"`
	Number   int64    `json:"number,omitempty"`
	Shown    int64    `json:"turns_shown"`
	Passes   int64    `json:"compressions"`
	SHA256   string   `json:"sha256" doc:"of the canonical JSON of its tools and messages"`
	Settings string   `json:"settings_sha256,omitempty"`
	Late     string   `json:"late,omitempty"`
	LeftOut  []string `json:"left_out,omitempty" doc:"texts for the end that did not fit"`
	Account  Account  `json:"account"`
}

// promptDoc describes what it becomes with them.
type promptDoc struct {
	PromptHead
	Messages []object     `json:"messages,omitempty"`
	Tools    []definition `json:"tools,omitempty"`
}

func (p *shownPrompt) json(whole bool) ([]byte, error) {
	head := PromptHead{
		Session: p.session, Model: p.Model, Epoch: p.Epoch, Opened: string(p.Opened), End: p.End, Number: p.number, Shown: p.Shown, Passes: p.Passes,
		SHA256: p.SHA256, Settings: p.Settings, Late: p.Late, LeftOut: p.LeftOut, Account: NewAccount(p.Account),
	}
	if p.past {
		head.Recorded = &p.recorded
	}
	text, err := strictjson.Marshal(head)
	if err != nil || !whole {
		return text, err
	}
	text = append(text[:len(text)-1], `,"messages":`...)
	text = list(text, p.Messages, func(dst []byte, m prompt.Message) []byte { return m.AppendJSON(dst) })
	text = append(text, `,"tools":`...)
	text = list(text, p.Tools, func(dst []byte, d prompt.Definition) []byte {
		tool, failed := strictjson.Marshal(definition{d.Name, d.Description, json.RawMessage(d.Schema)})
		if failed != nil {
			err = fmt.Errorf("tool %s: %w", d.Name, failed)
		}
		return append(dst, tool...)
	})
	return append(text, '}'), err
}

type promptRow struct {
	Session string `json:"session_id"`
	Number  int64  `json:"number"`
	End     int64  `json:"end"`
	Epoch   int64  `json:"epoch"`
	Model   string `json:"model,omitempty"`
	Context int64  `json:"context"`
	Tokens  int64  `json:"tokens"`
	SHA256  string `json:"sha256"`
	At      string `json:"at" format:"date-time"`
}

const promptList = "prompts"

func listPrompts(ctx context.Context, s *turnstone.Session, in *struct {
	InSession
	Paging
}) (*answer[page[promptRow]], error) {
	after, err := numberOf(promptList, in.Cursor)
	if err != nil {
		return nil, err
	}
	calls, err := s.Prompts(ctx, after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return answered(cut(calls, in.Limit, func(c prompt.Call) promptRow {
		return promptRow{s.ID(), c.Number, c.End, c.Epoch, c.Model, c.Context, c.Tokens, c.SHA256, timeText(c.At)}
	}, func(c prompt.Call) string { return numbered(promptList, c.Number) })), nil
}
