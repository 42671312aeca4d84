package main

import (
	"context"
	"iter"
	"path/filepath"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

const (
	oursOnDisk   = "turnstone, SQLite"
	oursInMemory = "turnstone, in memory"
	oursShorter  = "turnstone, in memory, summary at half the room"
)

var ourTalks = []talkSystem{
	{
		name:  oursOnDisk,
		note:  "as it comes: every step is on disk before the next (write-ahead log, synced at every commit), full-text index included; turns leave the prompt at 0.80 of its room, summaries are made of their own words",
		keeps: true,
		open: func(ctx context.Context, folder string, s *script) (talker, error) {
			db, err := sqlite.Open(ctx, filepath.Join(folder, "talk.db"), sqlite.Config{})
			if err != nil {
				return nil, err
			}
			return openOurs(ctx, db, s, budget.Compression{})
		},
	},
	{
		name: oursInMemory,
		note: "the same on store/mem: nothing survives the process",
		open: func(ctx context.Context, _ string, s *script) (talker, error) {
			return openOurs(ctx, mem.New(mem.Config{}), s, budget.Compression{})
		},
	},
	{
		name: oursShorter,
		note: "the same, but that turns leave the prompt at half of its room and a summary has 270 tokens at most, which are about 200 words",
		open: func(ctx context.Context, _ string, s *script) (talker, error) {
			return openOurs(ctx, mem.New(mem.Config{}), s, budget.Compression{Threshold: 0.50, SummaryMaxTokens: 270})
		},
	},
}

type ourTalk struct {
	engine *turnstone.Engine
	chat   *turnstone.Session
}

func openOurs(ctx context.Context, st store.Store, s *script, c budget.Compression) (talker, error) {
	tool, err := agent.NewTool(toolName, toolPurpose, func(_ context.Context, a lookupArgs) (lookupResult, error) { return lookup(a) })
	if err != nil {
		return nil, err
	}
	engine, err := turnstone.Open(ctx, st, turnstone.Config{
		Model: ourModel{s}, ModelName: modelName, Context: window,
		Agent:  agent.Config{Tools: []agent.Tool{tool}},
		Prompt: prompt.Settings{System: instruction}, Compression: c,
	})
	if err != nil {
		return nil, err
	}
	chat, err := engine.Session(ctx, "s")
	return &ourTalk{engine, chat}, err
}

func (o *ourTalk) say(ctx context.Context, input string) (string, error) {
	reply, err := o.chat.Say(ctx, input)
	return reply.Text, err
}

func (o *ourTalk) close() error { return o.engine.Close() }

// ourModel is the script as our engine asks it.
type ourModel struct{ *script }

// Stream implements [llm.Model].
func (m ourModel) Stream(_ context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if m.seen != nil {
			m.seen.see(forReply, ourPrompt(r))
		}
		e, call := m.next()
		if call {
			yield(llm.Chunk{Calls: []llm.Call{{ID: "call", Name: toolName, Arguments: e.arguments}}, Stop: llm.StopCalls}, nil)
			return
		}
		yield(llm.Chunk{Text: e.reply, Stop: llm.StopEnd}, nil)
	}
}

func ourPrompt(r llm.Request) (texts []string) {
	for _, t := range r.Tools {
		texts = append(texts, message(t.Name, t.Description, t.Schema))
	}
	for _, m := range r.Messages {
		var calls []string
		for _, c := range m.Calls {
			calls = append(calls, c.Name, c.Arguments)
		}
		texts = append(texts, message(string(m.Role), m.Text, calls...))
	}
	return texts
}
