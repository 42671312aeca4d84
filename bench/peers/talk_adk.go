//go:build !without_adk

package main

import (
	"context"
	"encoding/json"
	"iter"
	"path/filepath"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"
)

var adkTalks = []talkSystem{
	{
		name:   "adk/v2 runner, SQLite",
		beside: oursOnDisk,
		note:   "session/database as its guide has it: every event on disk before the next (rollback journal, synced at every commit); it has nothing that shortens prompts",
		keeps:  true,
		grows:  true,
		open:   openADKTalk(""),
	},
	{
		name:   "adk/v2 runner, with a write-ahead log",
		beside: oursOnDisk,
		note:   "the same with a write-ahead log that is synced at every commit; the log is left as it is, since the service cannot be closed",
		keeps:  true,
		grows:  true,
		tuned:  true,
		open:   openADKTalk(writeAhead),
	},
}

type adkTalk struct{ runner *runner.Runner }

func openADKTalk(options string) func(context.Context, string, *script) (talker, error) {
	return func(ctx context.Context, folder string, s *script) (talker, error) {
		kept, err := openADK(ctx, filepath.Join(folder, "talk.db")+options)
		if err != nil {
			return nil, err
		}
		find, err := functiontool.New(functiontool.Config{Name: toolName, Description: toolPurpose},
			func(_ agent.Context, a lookupArgs) (lookupResult, error) { return lookup(a) })
		if err != nil {
			return nil, err
		}
		shop, err := llmagent.New(llmagent.Config{Name: "shop", Model: adkModel{s}, Instruction: instruction, Tools: []tool.Tool{find}})
		if err != nil {
			return nil, err
		}
		r, err := runner.New(runner.Config{AppName: "bench", Agent: shop, SessionService: kept.(*adk).service})
		return &adkTalk{r}, err
	}
}

func (a *adkTalk) say(ctx context.Context, input string) (reply string, err error) {
	for e, err := range a.runner.Run(ctx, "u", "s", genai.NewContentFromText(input, genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			return "", err
		}
		if e.IsFinalResponse() && e.Content != nil && len(e.Content.Parts) > 0 {
			reply = e.Content.Parts[0].Text
		}
	}
	return reply, nil
}

// close has nothing to do: the service offers no way to close its database.
func (a *adkTalk) close() error { return nil }

// adkModel is the script as the runner asks it.
type adkModel struct{ *script }

// Name implements [model.LLM].
func (m adkModel) Name() string { return modelName }

// GenerateContent implements [model.LLM].
func (m adkModel) GenerateContent(_ context.Context, r *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		if m.seen != nil {
			prompt, err := adkPrompt(r)
			if err != nil {
				yield(nil, err)
				return
			}
			m.seen.see(forReply, prompt)
		}
		e, call := m.next()
		part := genai.NewPartFromText(e.reply)
		if call {
			part = genai.NewPartFromFunctionCall(toolName, map[string]any{"record": e.args.Record, "query": e.args.Query})
		}
		yield(&model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{part}}, TurnComplete: true}, nil)
	}
}

func adkPrompt(r *model.LLMRequest) (texts []string, err error) {
	written := func(v any) string {
		data, jerr := json.Marshal(v)
		err = firstError(err, jerr)
		return string(data)
	}
	contents := r.Contents
	if r.Config != nil {
		for _, t := range r.Config.Tools {
			for _, f := range t.FunctionDeclarations {
				texts = append(texts, message(f.Name, f.Description, written(f.ParametersJsonSchema)))
			}
		}
		if system := r.Config.SystemInstruction; system != nil {
			contents = append([]*genai.Content{{Role: "system", Parts: system.Parts}}, contents...)
		}
	}
	for _, c := range contents {
		text, calls := "", []string(nil)
		for _, p := range c.Parts {
			text += p.Text
			if p.FunctionCall != nil {
				calls = append(calls, p.FunctionCall.Name, written(p.FunctionCall.Args))
			}
			if p.FunctionResponse != nil {
				text += written(p.FunctionResponse.Response)
			}
		}
		texts = append(texts, message(c.Role, text, calls...))
	}
	return texts, err
}
