package wire_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/prompt/wire"
)

// One prompt, in the words of each provider.
func ExampleAppend() {
	request := wire.Request{
		Messages: []prompt.Message{
			{Role: prompt.System, Parts: []prompt.Part{{Text: "Be brief."}}},
			{Role: prompt.User, Parts: []prompt.Part{{Text: "What is this?"}, {Image: &prompt.Image{SHA256: "9f86d0", Size: 3, MediaType: "image/png", Alt: "a cat"}}}},
		},
		Model: "m", Context: 8192, MaxTokens: 1024,
	}
	blobs := wire.Blobs(func(_ context.Context, sha256 string) ([]byte, error) { return []byte("png"), nil })
	for _, format := range []wire.Format{wire.Ollama, wire.OpenAI, wire.Anthropic, wire.Text} {
		body, err := wire.Append(context.Background(), nil, format, request, blobs)
		if err != nil {
			fmt.Println(err)
		}
		fmt.Printf("%s\n", body)
	}
	request.Model = ""
	_, err := wire.Append(context.Background(), nil, wire.OpenAI, request, blobs)
	var wrong *wire.FieldError
	fmt.Println(errors.As(err, &wrong), err)
	// Output:
	// {"model":"m","truncate":false,"shift":false,"options":{"num_ctx":8192,"num_predict":1024},"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"What is this?","images":["cG5n"]}]}
	// {"model":"m","max_completion_tokens":1024,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"What is this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}}]}]}
	// {"model":"m","max_tokens":1024,"system":[{"type":"text","text":"Be brief."}],"messages":[{"role":"user","content":[{"type":"text","text":"What is this?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"cG5n"}}]}]}
	// # prompt | model m | window 8192 | reply 1024
	// # system
	//   Be brief.
	// # user
	//   What is this?
	// # image image/png | 3 bytes | sha256 9f86d0
	//   a cat
	//
	// true model: is empty; name the model
}

func ExampleToolName() {
	fmt.Println(wire.ToolName("read_file"), wire.ToolName("files/read"))
	// Output: read_file files_read_2b733164
}
