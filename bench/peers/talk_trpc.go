//go:build !without_trpc

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"trpc.group/trpc-go/trpc-agent-go/agent/llmagent"
	"trpc.group/trpc-go/trpc-agent-go/log"
	"trpc.group/trpc-go/trpc-agent-go/model"
	"trpc.group/trpc-go/trpc-agent-go/runner"
	"trpc.group/trpc-go/trpc-agent-go/session/inmemory"
	"trpc.group/trpc-go/trpc-agent-go/session/summary"
	"trpc.group/trpc-go/trpc-agent-go/tool"
	"trpc.group/trpc-go/trpc-agent-go/tool/function"
)

var trpcTalks = []talkSystem{
	{
		name:   "trpc-agent-go, summary at half the window",
		beside: oursShorter,
		note: "session/inmemory: nothing survives the process (its session/sqlite is a module of its own, of which no release resolved); " +
			"summary.WithContextThreshold, which its guide prefers; 200 words, made in the background",
		open: openTRPC(false),
	},
	{
		name:   "trpc-agent-go, summary at 0.80 of the window",
		beside: oursInMemory,
		note:   "the same filled as far as ours before it is summarised, with cache-safe forking and the summary as a user's message, as its guide to prompt caches has it",
		open:   openTRPC(true),
	},
}

type trpcTalk struct {
	runner  runner.Runner
	service *inmemory.SessionService
}

func openTRPC(full bool) func(context.Context, string, *script) (talker, error) {
	return func(_ context.Context, _ string, s *script) (talker, error) {
		// It logs to the standard output, which is for results.
		log.SetLevel(log.LevelFatal)
		m := trpcModel{s, forReply}
		options := []summary.Option{summary.WithContextThreshold(), summary.WithMaxSummaryWords(200)}
		agentOptions := []llmagent.Option{
			llmagent.WithModel(m), llmagent.WithInstruction(instruction), llmagent.WithAddSessionSummary(true),
			llmagent.WithTools([]tool.Tool{function.NewFunctionTool(
				func(_ context.Context, a lookupArgs) (lookupResult, error) { return lookup(a) },
				function.WithName(toolName), function.WithDescription(toolPurpose),
			)}),
		}
		if full {
			options[0] = summary.WithContextThreshold(summary.WithContextThresholdRatio(0.80))
			options = append(options, summary.WithCacheSafeForking(true))
			agentOptions = append(agentOptions, llmagent.WithSessionSummaryInjectionMode(llmagent.SessionSummaryInjectionUser))
		}
		service := inmemory.NewSessionService(
			inmemory.WithSummarizer(summary.NewSummarizer(trpcModel{s, forSummary}, options...)),
			inmemory.WithAsyncSummaryNum(2), inmemory.WithSummaryQueueSize(100), inmemory.WithSummaryJobTimeout(time.Minute),
		)
		r := runner.NewRunner("bench", llmagent.New("shop", agentOptions...), runner.WithSessionService(service))
		return &trpcTalk{r, service}, nil
	}
}

func (t *trpcTalk) say(ctx context.Context, input string) (reply string, err error) {
	events, err := t.runner.Run(ctx, "u", "s", model.NewUserMessage(input))
	if err != nil {
		return "", err
	}
	for e := range events {
		if e.Error != nil {
			err = firstError(err, fmt.Errorf("%s: %s", e.Error.Type, e.Error.Message))
		}
		if e.Response == nil || len(e.Choices) == 0 {
			continue
		}
		if m := e.Choices[0].Message; m.Role == model.RoleAssistant && m.Content != "" {
			reply = m.Content
		}
	}
	return reply, err
}

func (t *trpcTalk) close() error { return firstError(t.runner.Close(), t.service.Close()) }

// trpcModel is the script as the runner and the summariser ask it.
type trpcModel struct {
	*script
	purpose purpose
}

// Info implements [model.Model].
func (m trpcModel) Info() model.Info { return model.Info{Name: modelName, ContextWindow: window} }

// GenerateContent implements [model.Model].
func (m trpcModel) GenerateContent(_ context.Context, r *model.Request) (<-chan *model.Response, error) {
	answer, err := m.answer(r)
	if err != nil {
		return nil, err
	}
	out := make(chan *model.Response, 1)
	out <- answer
	close(out)
	return out, nil
}

// GenerateContentIter implements [model.IterModel].
func (m trpcModel) GenerateContentIter(_ context.Context, r *model.Request) (model.Seq[*model.Response], error) {
	answer, err := m.answer(r)
	return func(yield func(*model.Response) bool) { yield(answer) }, err
}

func (m trpcModel) answer(r *model.Request) (*model.Response, error) {
	if m.seen != nil {
		prompt, err := trpcPrompt(r)
		if err != nil {
			return nil, err
		}
		m.seen.see(m.purpose, prompt)
	}
	said := model.NewAssistantMessage(summaryText)
	if m.purpose == forReply {
		e, call := m.next()
		said.Content = e.reply
		if call {
			said.Content = ""
			said.ToolCalls = []model.ToolCall{{
				Type: "function", ID: fmt.Sprint("call-", e.args.Record),
				Function: model.FunctionDefinitionParam{Name: toolName, Arguments: []byte(e.arguments)},
			}}
		}
	}
	return &model.Response{
		ID: "r", Object: model.ObjectTypeChatCompletion, Model: modelName, Created: time.Now().Unix(), Timestamp: time.Now(),
		Choices: []model.Choice{{Message: said}}, Done: true,
	}, nil
}

func trpcPrompt(r *model.Request) (texts []string, err error) {
	for _, t := range r.Tools {
		d := t.Declaration()
		schema, err := json.Marshal(d.InputSchema)
		if err != nil {
			return nil, err
		}
		texts = append(texts, message(d.Name, d.Description, string(schema)))
	}
	for _, m := range r.Messages {
		var calls []string
		for _, c := range m.ToolCalls {
			calls = append(calls, c.Function.Name, string(c.Function.Arguments))
		}
		text := m.Content
		for _, p := range m.ContentParts {
			if p.Text != nil {
				text += *p.Text
			}
		}
		texts = append(texts, message(m.Role.String(), text, calls...))
	}
	return texts, nil
}
