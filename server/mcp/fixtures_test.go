package mcp_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// fixture describes what only tests have.
const fixture = "of the protocol's suite"

var (
	text     = &sdk.TextContent{Text: "This is a simple text response for testing."}
	picture  = &sdk.ImageContent{MIMEType: "image/png", Data: pixel}
	silence  = &sdk.AudioContent{MIMEType: "audio/wav", Data: []byte("RIFF\x24\x00\x00\x00WAVE")}
	embedded = &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "test://embedded", MIMEType: "text/plain", Text: "embedded"}}
	pixel    = decoded("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")
)

func decoded(text string) []byte {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return data
}

// addFixtures adds what the scenarios of the protocol's suite call by name. See its README for what each must answer.
func addFixtures(s *sdk.Server) {
	for name, content := range map[string][]sdk.Content{
		"test_simple_text":            {text},
		"test_image_content":          {picture},
		"test_audio_content":          {silence},
		"test_embedded_resource":      {embedded},
		"test_multiple_content_types": {text, picture, embedded},
	} {
		addFixtureTool(s, &sdk.Tool{Name: name}, func(context.Context, *sdk.CallToolRequest) ([]sdk.Content, error) { return content, nil })
	}
	addFixtureTool(s, &sdk.Tool{Name: "test_error_handling"}, func(context.Context, *sdk.CallToolRequest) ([]sdk.Content, error) {
		return nil, errors.New("this tool intentionally returns an error for testing")
	})
	addFixtureTool(s, &sdk.Tool{Name: "test_tool_with_progress"}, func(ctx context.Context, r *sdk.CallToolRequest) ([]sdk.Content, error) {
		token := r.Params.GetProgressToken()
		for _, done := range []float64{0, 50, 100} {
			if err := r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 100}); err != nil {
				return nil, err
			}
		}
		return []sdk.Content{text}, nil
	})
	addFixtureTool(s, &sdk.Tool{Name: "test_elicitation"}, func(ctx context.Context, r *sdk.CallToolRequest) ([]sdk.Content, error) {
		_, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Who are you?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)})
		return []sdk.Content{text}, err
	})
	addFixtureTool(s, &sdk.Tool{Name: "json_schema_2020_12_tool", InputSchema: json.RawMessage(`{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "additionalProperties": false,
		"$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
		"properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}}
	}`)}, func(context.Context, *sdk.CallToolRequest) ([]sdk.Content, error) { return []sdk.Content{text}, nil })

	read := func(change func(uri string, c *sdk.ResourceContents)) sdk.ResourceHandler {
		return func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			c := &sdk.ResourceContents{URI: r.Params.URI}
			change(r.Params.URI, c)
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{c}}, nil
		}
	}
	s.AddResource(&sdk.Resource{URI: "test://static-text", Name: "text", MIMEType: "text/plain"}, read(func(_ string, c *sdk.ResourceContents) {
		c.MIMEType, c.Text = "text/plain", "This is the content of the static text resource."
	}))
	s.AddResource(&sdk.Resource{URI: "test://static-binary", Name: "binary", MIMEType: "image/png"}, read(func(_ string, c *sdk.ResourceContents) {
		c.MIMEType, c.Blob = "image/png", pixel
	}))
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", MIMEType: "application/json"}, read(func(uri string, c *sdk.ResourceContents) {
		id := strings.TrimSuffix(strings.TrimPrefix(uri, "test://template/"), "/data")
		c.MIMEType, c.Text = "application/json", fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id)
	}))
	addFixturePrompts(s)
}

func addFixtureTool(s *sdk.Server, tool *sdk.Tool, do func(context.Context, *sdk.CallToolRequest) ([]sdk.Content, error)) {
	tool.Description = fixture
	sdk.AddTool(s, tool, func(ctx context.Context, r *sdk.CallToolRequest, _ map[string]any) (*sdk.CallToolResult, any, error) {
		content, err := do(ctx, r)
		return &sdk.CallToolResult{Content: content}, nil, err
	})
}

func addFixturePrompts(s *sdk.Server) {
	required := func(names ...string) (list []*sdk.PromptArgument) {
		for _, name := range names {
			list = append(list, &sdk.PromptArgument{Name: name, Required: true})
		}
		return list
	}
	for _, p := range []struct {
		name      string
		arguments []*sdk.PromptArgument
		says      func(arguments map[string]string) []sdk.Content
	}{
		{"test_simple_prompt", nil, func(map[string]string) []sdk.Content { return []sdk.Content{text} }},
		{"test_prompt_with_arguments", required("arg1", "arg2"), func(a map[string]string) []sdk.Content {
			return []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"])}}
		}},
		{"test_prompt_with_embedded_resource", required("resourceUri"), func(a map[string]string) []sdk.Content {
			return []sdk.Content{&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: a["resourceUri"], MIMEType: "text/plain", Text: "embedded"}}, text}
		}},
		{"test_prompt_with_image", nil, func(map[string]string) []sdk.Content { return []sdk.Content{picture, text} }},
	} {
		s.AddPrompt(&sdk.Prompt{Name: p.name, Description: fixture, Arguments: p.arguments}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			result := &sdk.GetPromptResult{}
			for _, c := range p.says(r.Params.Arguments) {
				result.Messages = append(result.Messages, &sdk.PromptMessage{Role: "user", Content: c})
			}
			return result, nil
		})
	}
}
