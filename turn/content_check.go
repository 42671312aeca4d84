package turn

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// check leaves what is said to [Draft.check].
func (c Text) check(role Role, l Limits) error {
	if role != Agent && (c.Thinking != "" || len(c.ToolCalls) > 0) {
		return fieldErrorf("content", "leave out thinking and tool_calls", "role %s may not think or call tools", role)
	}
	if c.Text == "" && len(c.ToolCalls) == 0 {
		return fieldErrorf("content.text", "give the text that was said", "is empty")
	}
	if len(c.ToolCalls) > l.Calls {
		return fieldErrorf("content.tool_calls", "split them over several turns", "%d calls, at most %d", len(c.ToolCalls), l.Calls)
	}
	seen := make(map[string]bool, len(c.ToolCalls))
	for i, call := range c.ToolCalls {
		err := call.check()
		if seen[call.ID] && err == nil {
			err = fieldErrorf("content.tool_calls.id", "give each call an id of its own", "%q stands twice", call.ID)
		}
		if err != nil {
			return ofCall(i, err)
		}
		seen[call.ID] = true
	}
	if err := checkSize("content", c.size(), l.Text); err != nil {
		return err
	}
	return checkText("content.thinking", c.Thinking)
}

// ofCall is what is wrong with a field of a call, by the place of the call among the others.
func ofCall(i int, err error) error {
	var field *FieldError
	if !errors.As(err, &field) {
		return err
	}
	name, _ := strings.CutPrefix(field.Name, "content.tool_calls")
	return &FieldError{Name: fmt.Sprintf("content.tool_calls[%d]%s", i, name), Problem: field.Problem, Fix: field.Fix}
}

func (c ToolCall) check() error {
	if err := checkShort("content.tool_calls.id", c.ID, true); err != nil {
		return err
	}
	if err := checkShort("content.tool_calls.name", c.Name, true); err != nil {
		return err
	}
	if c.Arguments == "" {
		return fieldErrorf("content.tool_calls.arguments", "give a JSON value, {} for none", "is missing")
	}
	return checkRaw("content.tool_calls.arguments", c.Arguments)
}

func (c Speech) check(_ Role, l Limits) error {
	if c.Transcript == "" {
		return fieldErrorf("content.transcript", "give the words that were spoken", "is empty")
	}
	if err := checkSize("content.transcript", c.size(), l.Text); err != nil {
		return err
	}
	if err := checkText("content.transcript", c.Transcript); err != nil {
		return err
	}
	if err := checkShort("content.language", c.Language, false); err != nil {
		return err
	}
	if p := c.Confidence; p != nil && !(*p >= 0 && *p <= 1) {
		return fieldErrorf("content.confidence", "give a number from 0 to 1", "%v is out of range", *p)
	}
	if c.Audio == nil {
		return nil
	}
	if err := checkMediaType("content.audio.media_type", c.Audio.MediaType, AudioTypes()); err != nil {
		return err
	}
	return c.Audio.check("content.audio", l)
}

func (c Image) check(_ Role, l Limits) error {
	if err := checkMediaType("content.media_type", c.MediaType, ImageTypes()); err != nil {
		return err
	}
	if err := checkSize("content.alt", c.size(), l.Text); err != nil {
		return err
	}
	if err := checkText("content.alt", c.Alt); err != nil {
		return err
	}
	return c.Blob.check("content", l)
}

func (c Action) check(_ Role, l Limits) error {
	if err := checkShort("content.name", c.Name, true); err != nil {
		return err
	}
	if err := checkSize("content", c.size(), l.Text); err != nil {
		return err
	}
	if err := checkText("content.target", c.Target); err != nil {
		return err
	}
	return checkRaw("content.payload", c.Payload)
}

func (c Result) check(role Role, l Limits) error {
	if role != System {
		return fieldErrorf("content.call_id", "append the result with role system", "role %s may not give tool results", role)
	}
	if err := checkShort("content.name", c.Name, true); err != nil {
		return err
	}
	if err := checkShort("content.call_id", c.CallID, true); err != nil {
		return err
	}
	switch c.Status {
	case CallOK, CallError, CallCancelled:
	default:
		return fieldErrorf("content.status", "use ok, error or cancelled", "%q is not a status", c.Status)
	}
	if err := checkSize("content.result", c.size(), l.Text); err != nil {
		return err
	}
	return checkRaw("content.result", c.Result)
}

func (b Blob) check(field string, l Limits) error {
	if b.Data == nil {
		if !isSHA256(b.SHA256) {
			return fieldErrorf(field+".data", "give the bytes as base64, or the sha256 of bytes stored before", "is missing")
		}
		return nil
	}
	if len(b.Data) == 0 {
		return fieldErrorf(field+".data", "give the bytes as base64", "is empty")
	}
	return checkSize(field+".data", int64(len(b.Data)), l.Blob)
}

func isSHA256(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

func checkSize(field string, size, limit int64) error {
	if size > limit {
		return fieldErrorf(field, "shorten it or raise the limit", "%d bytes, at most %d", size, limit)
	}
	return nil
}

// checkShort bounds names and ids, which stand in keys and indices.
func checkShort(field, s string, required bool) error {
	if required && s == "" {
		return fieldErrorf(field, "give a value", "is missing")
	}
	if len(s) > maxName {
		return fieldErrorf(field, "shorten it", "%d bytes, at most %d", len(s), maxName)
	}
	return checkText(field, s)
}

// checkText refuses what not every store can keep exactly: PostgreSQL's text takes neither NUL
// bytes nor invalid UTF-8.
func checkText(field, s string) error {
	_, err := measureText(field, s)
	return err
}

// measureText is checkText that also returns by how many bytes JSON makes the text longer: both are seen in one look.
func measureText(field, s string) (more int, err error) {
	more, ascii := strictjson.Escapes(s)
	if !ascii && !utf8.ValidString(s) {
		return 0, fieldErrorf(field, "send valid UTF-8", "is not valid UTF-8")
	}
	if more > 0 && strings.IndexByte(s, 0) >= 0 {
		return 0, fieldErrorf(field, "remove it", "holds a NUL byte")
	}
	return more, nil
}

func checkRaw(field, raw string) error {
	if raw == "" {
		return nil
	}
	if err := strictjson.Check(raw); err != nil {
		return fieldErrorf(field, "give one JSON value", "%v", err)
	}
	return nil
}
