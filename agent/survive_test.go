package agent_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
)

var errDown = &llm.Error{Kind: llm.ErrInterrupted, Problem: "connection reset"}

// flaky fails with a temporary error once and then is the model, behind a client's retries.
type flaky struct {
	llm.Model
	failed bool
}

func (f *flaky) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return llm.Backoff{}.Stream(ctx, func(yield func(llm.Chunk, error) bool) {
		if !f.failed {
			f.failed = true
			yield(llm.Chunk{}, llm.Refusal{Status: 500}.Judge("m"))
			return
		}
		f.Model.Stream(ctx, r)(yield)
	})
}

func TestTheLoopSurvivesModels(t *testing.T) {
	greeting := tool(t, "greet", greet)
	hang := stream(func(ctx context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		<-ctx.Done()
		yield(llm.Chunk{}, ctx.Err())
	})
	stall := stream(func(ctx context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		if yield(llm.Chunk{Text: "so far"}, nil) {
			<-ctx.Done()
			yield(llm.Chunk{}, ctx.Err())
		}
	})
	many := make([]llm.Call, 5)
	for i := range many {
		many[i] = call(fmt.Sprint(i), "greet", `{"name":"x"}`)
	}
	bare, err := agent.NewTool("bare", "", func(context.Context, struct{}) (int, error) { return 1, nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []survival{
		{
			name: "dead before the first piece", model: llmtest.Replies(llmtest.Reply{Err: &llm.Error{Kind: llm.ErrUnreachable}}),
			outcome: agent.Failed, state: commit.Failed, err: is(llm.ErrUnreachable), entries: "Prompt?",
		},
		{
			name: "dies in the middle", model: llmtest.Replies(llmtest.Reply{Text: "I was ab", Err: errDown}),
			outcome: agent.Failed, state: commit.Interrupted, err: is(llm.ErrInterrupted),
			log: "agent \"I was ab\" interrupted\n", entries: "Prompt Response!",
		},
		{
			name: "dies while it thinks", model: llmtest.Replies(llmtest.Reply{Thinking: "hm", Err: errDown}),
			outcome: agent.Failed, state: commit.Failed, err: is(llm.ErrInterrupted), entries: "Prompt?",
		},
		{
			name: "dies after a call", config: agent.Config{Tools: []agent.Tool{greeting}},
			model: stream(func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
				if yield(llm.Chunk{Calls: []llm.Call{call("a", "greet", `{"name":"x"}`)}}, nil) {
					yield(llm.Chunk{}, errDown)
				}
			}),
			outcome: agent.Failed, state: commit.Interrupted, err: is(llm.ErrInterrupted),
			log:     "agent \"\" a:greet({\"name\":\"x\"}) interrupted\nresult a greet cancelled \"the exchange ended before the call did\"\n",
			entries: "Prompt ToolUse! CancelledTools?",
		},
		{
			name: "dies after tools", model: llmtest.Replies(calls(call("a", "greet", `{"name":"x"}`)), llmtest.Reply{Err: errDown}),
			config: agent.Config{Tools: []agent.Tool{greeting}}, outcome: agent.Failed, state: commit.Failed, err: is(llm.ErrInterrupted),
			log:     "agent \"\" a:greet({\"name\":\"x\"})\nresult a greet ok \"hello x\"\n",
			entries: "Prompt ToolUse ToolResults?",
		},
		{
			name: "ends without an end",
			model: stream(func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
				yield(llm.Chunk{Text: "half"}, nil)
			}),
			outcome: agent.Failed, state: commit.Interrupted, err: is(llm.ErrInterrupted),
			log: "agent \"half\" interrupted\n", entries: "Prompt Response!",
		},
		{
			name: "garbage",
			model: stream(func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
				yield(llm.Chunk{Text: "a\x00b\xff", Stop: llm.StopEnd}, nil)
			}),
			outcome: agent.Normal, state: commit.Complete, log: "agent \"a\ufffdb\ufffd\"\n", entries: "Prompt Response",
		},
		{
			name: "garbage for a call",
			model: llmtest.Replies(calls(
				call("", "", ""), call("\x00", strings.Repeat("n", 300), "\xff"), call(strings.Repeat("i", 300), "greet", " ")), says("sorry")),
			config:  agent.Config{Tools: []agent.Tool{greeting}},
			outcome: agent.Normal, state: commit.Complete, entries: "Prompt ToolUse ToolResults Response",
			log: "agent \"\" call:unnamed({}) \ufffd:unnamed(\"\ufffd\") call-2:greet({})\n" +
				"result call unnamed error \"there is no tool \\\"unnamed\\\"; use one of greet\"\n" +
				"result \ufffd unnamed error \"there is no tool \\\"unnamed\\\"; use one of greet\"\n" +
				"result call-2 greet error \"arguments of greet: name: is missing; give it\"\n" +
				"agent \"sorry\"\n",
		},
		{
			name: "nothing", model: llmtest.Replies(llmtest.Reply{Text: " ", Stop: llm.StopFilter}),
			outcome: agent.Failed, state: commit.Failed, err: is(agent.ErrNoAnswer), entries: "Prompt?",
		},
		{
			name: "hangs", model: hang, config: agent.Config{First: time.Hour},
			outcome: agent.Failed, state: commit.Failed, entries: "Prompt?",
			err: func(err error) bool {
				return errors.Is(err, llm.ErrUnreachable) && strings.Contains(err.Error(), "nothing came for 1h0m0s") && !errors.Is(err, context.Canceled)
			},
		},
		{
			name: "an error that is nil", outcome: agent.Failed, state: commit.Failed, err: panics, entries: "Prompt?",
			model: stream(func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
				yield(llm.Chunk{}, (*llm.Error)(nil))
			}),
		},
		{
			name: "a prompt's error that is nil", outcome: agent.Failed, state: commit.Failed, err: panics, entries: "Prompt?",
			model: llmtest.NewScript("unasked"), before: func(l *ledger) {
				l.at = func(_ context.Context, method string) error {
					if method == "Compile" {
						return (*llm.Error)(nil)
					}
					return nil
				}
			},
		},
		{
			name: "never stops in a call", config: agent.Config{MaxAnswer: 100},
			model: stream(func(ctx context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
				for range 10_000 {
					if !yield(llm.Chunk{}, nil) {
						return
					}
				}
				yield(llm.Chunk{Text: "so late", Stop: llm.StopEnd}, nil)
			}),
			outcome: agent.Failed, state: commit.Failed, err: limit("MaxAnswer"), entries: "Prompt?",
		},
		{
			name: "falls silent in a call", config: agent.Config{Idle: time.Minute},
			model: stream(func(ctx context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
				if yield(llm.Chunk{}, nil) {
					<-ctx.Done()
					yield(llm.Chunk{}, ctx.Err())
				}
			}),
			outcome: agent.Failed, state: commit.Failed, entries: "Prompt?",
			err: func(err error) bool {
				return errors.Is(err, llm.ErrInterrupted) && strings.Contains(err.Error(), "nothing came for 1m0s")
			},
		},
		{
			name: "falls silent", model: stall, config: agent.Config{Idle: time.Minute},
			outcome: agent.Failed, state: commit.Interrupted, log: "agent \"so far\" interrupted\n", entries: "Prompt Response!",
			err: func(err error) bool {
				return errors.Is(err, llm.ErrInterrupted) && strings.Contains(err.Error(), "nothing came for 1m0s")
			},
		},
		{
			name: "falls silent without tools", model: stall,
			outcome: agent.Failed, state: commit.Interrupted, log: "agent \"so far\" interrupted\n", entries: "Prompt Response!",
			err: func(err error) bool { return strings.Contains(err.Error(), "nothing came for 2m0s") },
		},
		{
			name: "falls silent with tools", model: stall, config: agent.Config{Tools: []agent.Tool{greeting}},
			outcome: agent.Failed, state: commit.Interrupted, log: "agent \"so far\" interrupted\n", entries: "Prompt Response!",
			err: func(err error) bool { return strings.Contains(err.Error(), "nothing came for 15m0s") },
		},
		{
			name: "slow but steady", model: llmtest.Replies(llmtest.Reply{Text: "a b c d e", Delay: 50 * time.Second}),
			config: agent.Config{Idle: time.Minute, First: time.Minute}, outcome: agent.Normal, state: commit.Complete,
			log: "agent \"a b c d e\"\n", entries: "Prompt Response",
		},
		{
			name: "500 then 200", model: &flaky{Model: llmtest.NewScript("up again")},
			outcome: agent.Normal, state: commit.Complete, log: "agent \"up again\"\n", entries: "Prompt Response",
		},
		{
			name: "panics", model: stream(func(context.Context, llm.Request, func(llm.Chunk, error) bool) { panic("oops") }),
			outcome: agent.Failed, state: commit.Failed, err: panics, entries: "Prompt?",
		},
		{
			name: "never stops talking", model: llmtest.Replies(llmtest.Reply{Endless: true}), config: agent.Config{MaxAnswer: 10, MaxTokens: 1000},
			outcome: agent.Failed, state: commit.Interrupted, err: limit("MaxAnswer"),
			log: "agent \"on on on \" interrupted\n", entries: "Prompt Response!",
		},
		{
			name: "does not heed its tokens", model: llmtest.Replies(llmtest.Reply{Text: strings.Repeat("x", 40) + " ", Endless: true}),
			config: agent.Config{MaxTokens: 2}, outcome: agent.Failed, state: commit.Interrupted, err: limit("MaxTokens"),
			log: "agent \"" + strings.Repeat("x", 40) + " \" interrupted\n", entries: "Prompt Response!",
		},
		{
			name: "never stops calling", model: llmtest.Respond(func(llm.Request) llmtest.Reply { return calls(call("a", "greet", `{"name":"x"}`)) }),
			config:  agent.Config{Tools: []agent.Tool{greeting}, MaxRounds: 2},
			outcome: agent.Failed, state: commit.Failed, err: limit("MaxRounds"), entries: "Prompt ToolUse ToolResults ToolUse CancelledTools?",
			log: "agent \"\" a:greet({\"name\":\"x\"})\nresult a greet ok \"hello x\"\n" +
				"agent \"\" a-2:greet({\"name\":\"x\"})\nresult a-2 greet cancelled \"not run: after 2 rounds nobody would read the result\"\n",
		},
		{
			name: "calls too many", model: llmtest.Replies(calls(many...), says("sorry")),
			config:  agent.Config{Tools: []agent.Tool{greeting}, MaxCalls: 2},
			outcome: agent.Normal, state: commit.Complete, entries: "Prompt ToolUse ToolResults Response",
			log: "agent \"\" 0:greet({\"name\":\"x\"}) 1:greet({\"name\":\"x\"})\n" +
				"result 0 greet error \"more than 2 calls at once; none of them was run; make fewer\"\n" +
				"result 1 greet error \"more than 2 calls at once; none of them was run; make fewer\"\nagent \"sorry\"\n",
		},
		{
			name: "calls as many as it may", model: llmtest.Replies(calls(many[:2]...), says("done")),
			config:  agent.Config{Tools: []agent.Tool{greeting}, MaxCalls: 2},
			outcome: agent.Normal, state: commit.Complete, entries: "Prompt ToolUse ToolResults Response",
			log: "agent \"\" 0:greet({\"name\":\"x\"}) 1:greet({\"name\":\"x\"})\n" +
				"result 0 greet ok \"hello x\"\nresult 1 greet ok \"hello x\"\nagent \"done\"\n",
		},
		{
			name: "broken arguments", model: llmtest.Replies(calls(call("a", "greet", `{"name":`)), says("sorry")),
			config:  agent.Config{Tools: []agent.Tool{greeting}},
			outcome: agent.Normal, state: commit.Complete, entries: "Prompt ToolUse ToolResults Response",
			log: "agent \"\" a:greet(\"{\\\"name\\\":\")\n" +
				"result a greet error \"the arguments of greet are not valid JSON: unexpected end of JSON input at offset 8; call it again with a complete JSON object\"\nagent \"sorry\"\n",
		},
		{
			name: "cut off before the arguments", config: agent.Config{Tools: []agent.Tool{bare}},
			model:   llmtest.Replies(llmtest.Reply{Calls: []llm.Call{call("a", "bare", ""), call("b", "bare", "")}, Stop: llm.StopLength}, says("sorry")),
			outcome: agent.Normal, state: commit.Complete, entries: "Prompt ToolUse ToolResults Response",
			log: "agent \"\" a:bare({}) b:bare({})\nresult a bare ok 1\n" +
				"result b bare error \"the answer reached its limit before the arguments of bare; call it again\"\nagent \"sorry\"\n",
		},
		{
			name: "no tools at all", model: llmtest.Replies(calls(call("a", "greet", `{}`)), says("sorry")),
			outcome: agent.Normal, state: commit.Complete, entries: "Prompt ToolUse ToolResults Response",
			log: "agent \"\" a:greet({})\nresult a greet error \"there is no tool \\\"greet\\\"; there are none; answer without\"\nagent \"sorry\"\n",
		},
	} {
		t.Run(s.name, func(t *testing.T) { survive(t, s) })
	}
}

func TestTheLoopSurvivesTools(t *testing.T) {
	const made = "agent \"\" a:work({\"name\":\"x\"})\n"
	for _, s := range []struct {
		name   string
		run    func(context.Context, nameArgs) (string, error)
		result string
	}{
		{"fails", func(context.Context, nameArgs) (string, error) { return "", errors.New("no \x00 such\xff file") }, `error "no � such� file"`},
		{"panics", func(context.Context, nameArgs) (string, error) { panic("oops") }, `error "panic: oops"`},
		{"exits", func(context.Context, nameArgs) (string, error) { runtime.Goexit(); return "", nil }, `error "its goroutine ended without a result"`},
		{"hangs", func(ctx context.Context, _ nameArgs) (string, error) { <-ctx.Done(); return "", ctx.Err() }, `error "timed out after 2m0s"`},
		{"is killed", func(ctx context.Context, _ nameArgs) (string, error) {
			<-ctx.Done()
			return "", errors.New("signal: killed")
		}, `error "timed out after 2m0s: signal: killed"`},
		{"does not stop", func(context.Context, nameArgs) (string, error) { <-time.After(time.Hour); return "", nil }, `error "timed out after 2m0s; it may still be running"`},
		{"comes just too late", func(ctx context.Context, _ nameArgs) (string, error) { <-ctx.Done(); return "late", nil }, `ok "late"`},
		{"returns 10 MB", func(context.Context, nameArgs) (string, error) { return strings.Repeat("x", 10<<20), nil }, `error "the result has 10485762 bytes, more than the 1048576 that fit; ask for less"`},
		{"fails at length", func(context.Context, nameArgs) (string, error) { return "", errors.New(strings.Repeat("x", 10<<20)) }, `error "` + strings.Repeat("x", 16<<10-len(`" […]"`)) + ` […]"`},
		{"returns an error that is nil", func(context.Context, nameArgs) (string, error) { return "", (*fs.PathError)(nil) }, `error "panic: runtime error: invalid memory address or nil pointer dereference"`},
		{"says nothing", func(context.Context, nameArgs) (string, error) { return "", nil }, `ok ""`},
	} {
		t.Run(s.name, func(t *testing.T) {
			survive(t, survival{
				model:  llmtest.Replies(calls(call("a", "work", `{"name":"x"}`)), says("done")),
				config: agent.Config{Tools: []agent.Tool{tool(t, "work", s.run)}}, outcome: agent.Normal, state: commit.Complete,
				log: made + "result a work " + s.result + "\nagent \"done\"\n", entries: "Prompt ToolUse ToolResults Response",
			})
		})
	}
}
