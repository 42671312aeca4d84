// Command clients talks to a front with the clients that Ollama and OpenAI make themselves, and fails where one of them is
// not content. It is a module of its own, so that what it needs does not enter ours.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"

	ollama "github.com/ollama/ollama/api"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: clients URL")
		os.Exit(2)
	}
	ctx := context.Background()
	if err := errors.Join(withOllama(ctx, os.Args[1]), withOpenAI(ctx, os.Args[1])); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("content")
}

// expect is an error where the two are not the same.
func expect(what, got, want string) error {
	if got != want {
		return fmt.Errorf("%s: got %q, want %q", what, got, want)
	}
	return nil
}

func withOllama(ctx context.Context, at string) error {
	base, err := url.Parse(at)
	if err != nil {
		return err
	}
	client := ollama.NewClient(base, http.DefaultClient)
	list, err := client.List(ctx)
	if err != nil {
		return err
	}
	if len(list.Models) != 1 {
		return fmt.Errorf("ollama: %d models", len(list.Models))
	}
	if err := client.Heartbeat(ctx); err != nil {
		return err
	}
	history := []ollama.Message{{Role: "user", Content: "say hello"}}
	chat := func(ctx context.Context, stream bool, each func(ollama.ChatResponse) error) (ollama.Message, error) {
		var said ollama.Message
		err := client.Chat(ctx, &ollama.ChatRequest{Model: "m", Messages: history, Stream: &stream}, func(r ollama.ChatResponse) error {
			said.Role = r.Message.Role
			said.Content += r.Message.Content
			said.ToolCalls = append(said.ToolCalls, r.Message.ToolCalls...)
			return each(r)
		})
		history = append(history, said)
		return said, err
	}
	var last ollama.ChatResponse
	keep := func(r ollama.ChatResponse) error { last = r; return nil }
	said, err := chat(ctx, true, keep)
	if err != nil {
		return err
	}
	if !last.Done || last.EvalCount == 0 {
		return fmt.Errorf("ollama: the end is %+v", last)
	}
	if err := expect("ollama, streamed", said.Content, "hello to you"); err != nil {
		return err
	}
	history = append(history, ollama.Message{Role: "user", Content: "use the tool"})
	said, err = chat(ctx, false, keep)
	if err != nil {
		return err
	}
	if len(said.ToolCalls) != 1 {
		return fmt.Errorf("ollama: calls %v", said.ToolCalls)
	}
	history = append(history, ollama.Message{Role: "tool", ToolName: said.ToolCalls[0].Function.Name, Content: "cold"})
	if said, err = chat(ctx, true, keep); err != nil {
		return err
	}
	if err := expect("ollama, after a tool", said.Content, "the tool said cold"); err != nil {
		return err
	}
	history = append(history, ollama.Message{Role: "user", Content: "talk on and on"})
	enough := errors.New("enough")
	if _, err := chat(ctx, true, func(ollama.ChatResponse) error { return enough }); !errors.Is(err, enough) {
		return fmt.Errorf("ollama: cut off with %w", err)
	}
	history = append(history, ollama.Message{Role: "user", Content: "say hello"})
	said, err = chat(ctx, true, keep)
	return errors.Join(err, expect("ollama, after a cut", said.Content, "hello to you"))
}

func withOpenAI(ctx context.Context, at string) error {
	client := openai.NewClient(option.WithBaseURL(at+"/v1"), option.WithAPIKey("theirs"), option.WithMaxRetries(0))
	models, err := client.Models.List(ctx)
	if err != nil {
		return err
	}
	if len(models.Data) != 1 {
		return fmt.Errorf("openai: %d models", len(models.Data))
	}
	call := openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("say hello")}}
	whole, err := client.Chat.Completions.New(ctx, call)
	if err != nil {
		return err
	}
	if err := expect("openai", whole.Choices[0].Message.Content, "hello to you"); err != nil {
		return err
	}
	if whole.Usage.TotalTokens == 0 {
		return errors.New("openai: no usage")
	}
	call.Messages = append(call.Messages, whole.Choices[0].Message.ToParam(), openai.UserMessage("use the tool"))
	stream := client.Chat.Completions.NewStreaming(ctx, call)
	var sum openai.ChatCompletionAccumulator
	for stream.Next() {
		if !sum.AddChunk(stream.Current()) {
			return errors.New("openai: a chunk that does not fit")
		}
	}
	if err := stream.Err(); err != nil {
		return err
	}
	if len(sum.Choices) != 1 || len(sum.Choices[0].Message.ToolCalls) != 1 || sum.Choices[0].FinishReason != "tool_calls" {
		return fmt.Errorf("openai: calls %+v", sum.Choices)
	}
	made := sum.Choices[0].Message
	call.Messages = append(call.Messages, made.ToParam(), openai.ToolMessage("cold", made.ToolCalls[0].ID))
	if whole, err = client.Chat.Completions.New(ctx, call); err != nil {
		return err
	}
	if err := expect("openai, after a tool", whole.Choices[0].Message.Content, "the tool said cold"); err != nil {
		return err
	}
	call.Messages = append(call.Messages, whole.Choices[0].Message.ToParam(), openai.UserMessage("talk on and on"))
	cut := client.Chat.Completions.NewStreaming(ctx, call)
	if !cut.Next() {
		return fmt.Errorf("openai: nothing to cut off: %w", cut.Err())
	}
	if err := cut.Close(); err != nil {
		return err
	}
	call.Messages = append(call.Messages, openai.AssistantMessage("on "), openai.UserMessage("say hello"))
	if whole, err = client.Chat.Completions.New(ctx, call); err != nil {
		return err
	}
	return expect("openai, after a cut", whole.Choices[0].Message.Content, "hello to you")
}
