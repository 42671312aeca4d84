package wiretest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

type anthropicBody struct {
	Model     string             `json:"model"`
	MaxTokens int                `json:"max_tokens"`
	System    json.RawMessage    `json:"system"`
	Tools     []anthropicTool    `json:"tools"`
	Messages  []anthropicMessage `json:"messages"`
}

type anthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"input_schema"`
}

type anthropicMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type anthropicBlock struct {
	Type      string           `json:"type"`
	Text      *string          `json:"text"`
	Source    *anthropicSource `json:"source"`
	ID        string           `json:"id"`
	Name      string           `json:"name"`
	Input     json.RawMessage  `json:"input"`
	ToolUseID string           `json:"tool_use_id"`
	IsError   bool             `json:"is_error"`
	Content   json.RawMessage  `json:"content"`
}

type anthropicSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

var (
	anthropicID       = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	anthropicPictures = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
)

const anthropicMaxPicture = 5 << 20 // of base64

func checkAnthropic(data []byte) error {
	var body anthropicBody
	if err := decode(data, &body); err != nil {
		return err
	}
	switch {
	case body.Model == "":
		return errors.New("no model")
	case body.MaxTokens < 1:
		return errors.New("no max_tokens")
	case len(body.Messages) == 0:
		return errors.New("no messages")
	case body.Messages[0].Role != "user":
		return errors.New("the first message is not the user's")
	case body.Messages[len(body.Messages)-1].Role != "user":
		return errors.New("the last message is not the user's: newer models refuse to go on with their own")
	}
	tools := make([]definition, len(body.Tools))
	for i, tool := range body.Tools {
		tools[i] = definition{tool.Name, tool.Schema}
	}
	if err := checkTools(tools); err != nil {
		return err
	}
	if body.System != nil {
		if err := checkBlocks(body.System, "text"); err != nil {
			return fmt.Errorf("system: %w", err)
		}
	}
	c := anthropicCheck{ids: map[string]bool{}}
	for i, m := range body.Messages {
		if i > 0 && m.Role == body.Messages[i-1].Role {
			return at(i, errors.New("the roles do not alternate"))
		}
		if err := c.message(m); err != nil {
			return at(i, err)
		}
	}
	return nil
}

type anthropicCheck struct {
	ids     map[string]bool
	waiting map[string]bool // the calls of the message before
}

func (c *anthropicCheck) message(m anthropicMessage) error {
	blocks, err := anthropicBlocks(m.Content)
	if err != nil {
		return err
	}
	switch m.Role {
	case "user":
		return c.user(blocks)
	case "assistant":
		return c.assistant(blocks)
	}
	return fmt.Errorf("role %q", m.Role)
}

func (c *anthropicCheck) user(blocks []anthropicBlock) error {
	results := true
	for i := range blocks {
		b := &blocks[i]
		if b.Type != "tool_result" {
			results = false
			if err := b.check("text", "image"); err != nil {
				return err
			}
			continue
		}
		if !results {
			return errors.New("a tool_result after something else")
		}
		if !c.waiting[b.ToolUseID] {
			return fmt.Errorf("a tool_result for %q, which is not in the message before or has one", b.ToolUseID)
		}
		delete(c.waiting, b.ToolUseID)
		if b.Content != nil {
			if err := checkBlocks(b.Content, "text", "image"); err != nil {
				return fmt.Errorf("tool_result: %w", err)
			}
		}
	}
	for id := range c.waiting {
		return fmt.Errorf("no tool_result for %q", id)
	}
	return nil
}

func (c *anthropicCheck) assistant(blocks []anthropicBlock) error {
	c.waiting = map[string]bool{}
	for i := range blocks {
		b := &blocks[i]
		if err := b.check("text", "tool_use"); err != nil {
			return err
		}
		if b.Type == "text" {
			if strings.TrimRightFunc(*b.Text, whiteSpace) != *b.Text {
				return errors.New("text ends in white space")
			}
			continue
		}
		if c.ids[b.ID] {
			return fmt.Errorf("tool_use id %q stands twice", b.ID)
		}
		c.ids[b.ID], c.waiting[b.ID] = true, true
	}
	return nil
}

// anthropicBlocks reads content, which may be a string.
func anthropicBlocks(data json.RawMessage) ([]anthropicBlock, error) {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return []anthropicBlock{{Type: "text", Text: &text}}, nil
	}
	var blocks []anthropicBlock
	if err := decode(data, &blocks); err != nil {
		return nil, err
	}
	if len(blocks) == 0 {
		return nil, errors.New("no content")
	}
	return blocks, nil
}

func checkBlocks(data json.RawMessage, types ...string) error {
	blocks, err := anthropicBlocks(data)
	if err != nil {
		return err
	}
	for i := range blocks {
		if err := blocks[i].check(types...); err != nil {
			return err
		}
	}
	return nil
}

func (b *anthropicBlock) check(types ...string) error {
	for _, t := range types {
		if t == b.Type {
			return b.members()
		}
	}
	return fmt.Errorf("a block of type %q", b.Type)
}

func (b *anthropicBlock) members() error {
	switch b.Type {
	case "text":
		if b.Text == nil || blank(*b.Text) {
			return errors.New("blank text")
		}
	case "image":
		if b.Source == nil || b.Source.Type != "base64" {
			return errors.New("a picture without a base64 source")
		}
		if len(b.Source.Data) > anthropicMaxPicture {
			return fmt.Errorf("a picture of %d bytes", len(b.Source.Data))
		}
		return checkPicture(b.Source.MediaType, b.Source.Data, anthropicPictures)
	case "tool_use":
		if !anthropicID.MatchString(b.ID) || !plainName.MatchString(b.Name) {
			return fmt.Errorf("tool_use id %q or name %q", b.ID, b.Name)
		}
		if _, err := object(b.Input); err != nil {
			return fmt.Errorf("tool_use input: %w", err)
		}
	}
	return nil
}
