package history

import (
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/turn"
)

// fit holds content against the limits. What is larger is an error or, where that is asked for,
// replaced by a text that says so.
func (s *sink) fit(p place, c turn.Content) (turn.Content, error) {
	text, blob := textSize(c), int64(0)
	if b, ok := turn.BlobOf(c); ok {
		blob = int64(len(b.Data))
	}
	limits := s.options.Limits
	switch {
	case blob > limits.Blob:
		omitted, err := s.omit(p, mediaType(c), blob, limits.Blob)
		if err != nil {
			return nil, err
		}
		return s.fit(p, withoutBlob(c, omitted))
	case text > limits.Text:
		omitted, err := s.omit(p, "text", text, limits.Text)
		if err != nil {
			return nil, err
		}
		return withoutText(c, omitted), nil
	}
	return c, nil
}

// omit is the text in the place of what is too large.
func (s *sink) omit(p place, what string, size, limit int64) (string, error) {
	if !s.options.SkipTooLarge {
		return "", invalid.New(p.String(), fmt.Sprintf("%s of %d bytes, at most %d", what, size, limit),
			"raise the limit, or import with what is too large left out")
	}
	s.report.lose("content larger than the limits", p, "replaced by a text that says so")
	return fmt.Sprintf("[%s of %d bytes left out: the limit is %d]", what, size, limit), nil
}

// textSize is how much text the content holds, as the limits count it.
func textSize(c turn.Content) int64 {
	n := 0
	switch c := c.(type) {
	case turn.Text:
		n = len(c.Text) + len(c.Thinking)
		for _, call := range c.ToolCalls {
			n += len(call.Arguments)
		}
	case turn.Speech:
		n = len(c.Transcript)
	case turn.Image:
		n = len(c.Alt)
	case turn.Action:
		n = len(c.Target) + len(c.Payload)
	case turn.Result:
		n = len(c.Result)
	}
	return int64(n)
}

func mediaType(c turn.Content) string {
	switch c := c.(type) {
	case turn.Image:
		return c.MediaType
	case turn.Speech:
		return c.Audio.MediaType
	}
	return ""
}

// withoutBlob is the content without its bytes: a text in the place of an image, speech without its
// recording.
func withoutBlob(c turn.Content, omitted string) turn.Content {
	switch c := c.(type) {
	case turn.Image:
		return turn.Text{Text: described(omitted, c.Alt)}
	case turn.Speech:
		c.Audio = nil
		return c
	}
	return c
}

func withoutText(c turn.Content, omitted string) turn.Content {
	switch c := c.(type) {
	case turn.Text:
		c.Text, c.Thinking = omitted, ""
		c.ToolCalls = slices.Clone(c.ToolCalls)
		for i := range c.ToolCalls {
			c.ToolCalls[i].Arguments = "{}"
		}
		return c
	case turn.Speech:
		c.Transcript = omitted
		return c
	case turn.Image:
		c.Alt = omitted
		return c
	case turn.Action:
		c.Target, c.Payload = omitted, ""
		return c
	case turn.Result:
		c.Result = quoted(omitted)
		return c
	}
	return c
}

// described adds to a text what an image is said to show.
func described(text, alt string) string {
	if alt == "" {
		return text
	}
	return text + " " + alt
}

// quoted is a text as a JSON string.
func quoted(text string) string { return string(strictjson.AppendString(nil, text)) }
