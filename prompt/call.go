package prompt

import (
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/internal/record"
)

// Call is a prompt that was compiled for a model: enough to make it again from the log, and the hash that
// proves that it is the same.
type Call struct {
	Number   int64
	End      int64 // the last turn that the prompt could show
	Epoch    int64
	SHA256   string
	Renderer int64
	Settings string // the hash of the settings: system prompt, sticky files and tools
	Model    string
	Context  int64  // the model's context size that was assumed
	Tokens   int64  // what the prompt was counted to be
	Passes   int64  // how many times turns had left the session's prompts
	Late     string // the late block, byte for byte; empty where there was none
	At       time.Time
}

var callRowFields = record.Fields[Call]{
	record.Value("renderer", func(c *Call) *int64 { return &c.Renderer }, record.Int()),
	record.Value("settings", func(c *Call) *string { return &c.Settings }, record.Text[string]()),
	record.Value("model", func(c *Call) *string { return &c.Model }, record.Text[string]()),
	record.Value("context", func(c *Call) *int64 { return &c.Context }, record.Int()),
	record.Value("tokens", func(c *Call) *int64 { return &c.Tokens }, record.Int()),
	record.Value("passes", func(c *Call) *int64 { return &c.Passes }, record.Int()),
	record.Value("late", func(c *Call) *string { return &c.Late }, record.Text[string]()),
}

// Same reports whether both calls are of the same prompt for the same model.
func (c Call) Same(o Call) bool {
	c.Number, c.At = o.Number, o.At
	return c == o
}

// Row returns the call as a store keeps it.
func (c *Call) Row() CallRow {
	return CallRow{Number: c.Number, End: c.End, Epoch: c.Epoch, SHA256: c.SHA256, Doc: string(callRowFields.Append(nil, c)), At: c.At}
}

// DecodeCall reads what [Call.Row] wrote.
func DecodeCall(r CallRow) (Call, error) {
	c, err := callRowFields.Decode(r.Doc)
	if err != nil {
		return Call{}, fmt.Errorf("prompt %d: %w", r.Number, err)
	}
	c.Number, c.End, c.Epoch, c.SHA256, c.At = r.Number, r.End, r.Epoch, r.SHA256, r.At
	return c, nil
}
