package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/prompt/wire"
	"github.com/turnstone-dev/turnstone/recall"
)

type promptInput struct {
	Session string `json:"session,omitempty" jsonschema:"id of the session; the default session where it is left out"`
	Model   string `json:"model,omitempty" jsonschema:"the model it is for; the session's model where it is left out"`
	Context int    `json:"context,omitempty" jsonschema:"size of the model's context in tokens; what is known of the model where it is left out"`
	Query   string `json:"query,omitempty" jsonschema:"a question: what answers it and is not shown anyway is recalled at the prompt's end"`
	At      *int64 `json:"at,omitempty" jsonschema:"make the prompt again that was compiled after the turn of this number, byte for byte"`
	Preview bool   `json:"preview,omitempty" jsonschema:"do not record that it was compiled"`
	Format  string `json:"format,omitempty" jsonschema:"whose words: turnstone (the default), or the request body of openai, ollama or anthropic, or text for people"`
}

type promptOutput struct {
	Session  string   `json:"session_id"`
	Model    string   `json:"model,omitempty"`
	Epoch    int64    `json:"epoch"`
	End      int64    `json:"end" jsonschema:"number of the last turn that it may show"`
	Recorded bool     `json:"recorded" jsonschema:"it is kept, so that it can be made again"`
	Shown    int64    `json:"turns_shown"`
	Passes   int64    `json:"compressions" jsonschema:"how many times older turns have left the session's prompts"`
	Tokens   int      `json:"tokens" jsonschema:"what it takes of the window"`
	Usable   int      `json:"window" jsonschema:"the usable window in tokens"`
	Reserve  int      `json:"reply_reserve" jsonschema:"tokens that are left for the reply"`
	SHA256   string   `json:"sha256"`
	LeftOut  []string `json:"left_out,omitempty" jsonschema:"what was recalled and did not fit"`
	Warnings []string `json:"warnings,omitempty"`
	Messages []any    `json:"messages,omitempty" jsonschema:"format turnstone: role, parts, calls and the turns each is made of"`
	Body     any      `json:"body,omitempty" jsonschema:"the other formats"`
}

func (s *Server) prompt(ctx context.Context, c caller, in promptInput) (promptOutput, error) {
	if err := in.check(); err != nil {
		return promptOutput{}, err
	}
	session, err := s.find(ctx, c, in.Session)
	if err != nil {
		return promptOutput{}, err
	}
	late, warnings, err := in.recalled(ctx, session)
	if err != nil {
		return promptOutput{}, err
	}
	p, recorded, err := in.compile(ctx, session, late, c.readOnly)
	if err != nil {
		return promptOutput{}, err
	}
	out := promptOutput{
		Session: session.ID(), Model: p.Model, Epoch: p.Epoch, End: p.End, Recorded: recorded, Shown: p.Shown, Passes: p.Passes,
		Tokens: p.Count.Tokens, Usable: p.Window.Usable, Reserve: p.Window.Reserve, SHA256: p.SHA256, LeftOut: p.LeftOut, Warnings: slices.Concat(warnings, p.Account.Warnings),
	}
	if in.Format == "" || in.Format == own {
		for i := range p.Messages {
			out.Messages = append(out.Messages, json.RawMessage(p.Messages[i].AppendJSON(nil)))
		}
		return out, nil
	}
	// Without blobs pictures are described: an answer in JSON is no place for megabytes.
	request := wire.Request{Messages: p.Messages, Tools: p.Tools, Model: p.Model, Context: p.Window.Usable, MaxTokens: p.Window.Reserve}
	body, err := wire.Append(ctx, nil, wire.Format(in.Format), request, nil)
	if err != nil {
		return promptOutput{}, err
	}
	if out.Body = json.RawMessage(body); wire.Format(in.Format) == wire.Text {
		out.Body = string(body)
	}
	return out, nil
}

// own is the format of this package: messages as the engine has them.
const own = "turnstone"

func (in promptInput) check() error {
	switch wire.Format(in.Format) {
	case "", own, wire.OpenAI, wire.Ollama, wire.Anthropic, wire.Text:
	default:
		return invalid.New("format", quoted(in.Format)+" is no format", "use turnstone, openai, ollama, anthropic or text")
	}
	if in.At != nil && in.Query != "" {
		return invalid.New("query", "does not go together with at", "leave one of them out: a prompt of the past recalls what it recalled then")
	}
	return nil
}

// recalled is what answers the query, for the end of the prompt, and what went wrong without ending the search.
func (in promptInput) recalled(ctx context.Context, session *turnstone.Session) (late, warnings []string, err error) {
	if in.Query == "" {
		return nil, nil, nil
	}
	hits, err := session.Recall(ctx, in.Query, turnstone.RecallOptions{Unseen: true})
	if errors.Is(err, recall.ErrEmbedder) {
		warnings, err = []string{err.Error()}, nil
	}
	return recall.Late(hits), warnings, err
}

// compile makes the prompt that is meant, and says whether it is kept.
func (in promptInput) compile(ctx context.Context, session *turnstone.Session, late []string, readOnly bool) (p *prompt.Prompt, recorded bool, err error) {
	options := turnstone.PromptOptions{Model: in.Model, Context: in.Context, Preview: in.Preview || readOnly, Late: late}
	if in.At != nil {
		return session.PromptAt(ctx, *in.At, options)
	}
	p, err = session.Prompt(ctx, options)
	return p, !options.Preview, err
}
