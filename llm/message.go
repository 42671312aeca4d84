package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Role is who a message is from.
type Role string

// The roles, in the words that servers use.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	// ToolResult is what a tool answered to a call.
	ToolResult Role = "tool"
)

// Message is one message of a request.
type Message struct {
	Role Role
	Text string
	// Images are a user's, shown after the text.
	Images []Image
	// Thinking is what an assistant thought before it called tools. Servers without a place for it are not
	// sent it.
	Thinking string
	// Calls are an assistant's. Each is answered by a message of role [ToolResult] that follows, before
	// anybody else speaks.
	Calls []Call
	// CallID and Name are of a tool's message: which call it answers, and the tool.
	CallID string
	Name   string
}

// Image is a picture. Data is not changed.
type Image struct {
	MediaType string // image/png
	Data      []byte
	// Alt stands in brackets in the text where a server does not take pictures of this type.
	Alt string
}

// InWords is what stands in a text in place of the picture.
func (i Image) InWords() string {
	if strings.TrimSpace(i.Alt) == "" {
		return "[image]"
	}
	return "[image: " + i.Alt + "]"
}

// Call is a tool call as the model made it, once it is complete.
type Call struct {
	// ID is the server's. Where it gave none, or one that another call of the answer has, the client made one
	// up. Servers may use it again in a later answer.
	ID   string
	Name string
	// Arguments are as they came, byte for byte: usually a JSON object, which nobody has checked. See
	// [Call.Check].
	Arguments string
}

// Check says whether the arguments are a JSON object or nothing. A call that is broken is no reason to end a
// conversation: its error is written for the model and can be the result that the call gets. Clients send
// broken arguments back in a form that servers accept.
func (c Call) Check() error {
	if strings.TrimSpace(c.Arguments) == "" {
		return nil
	}
	var object map[string]json.RawMessage
	err := json.Unmarshal([]byte(c.Arguments), &object)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("the arguments of %s are not valid JSON: %w at offset %d; call it again with a complete JSON object", c.Name, err, syntax.Offset)
	case err != nil || object == nil:
		return fmt.Errorf("the arguments of %s are not a JSON object; call it again with one", c.Name)
	}
	return nil
}
