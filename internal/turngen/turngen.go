// Package turngen makes up turns for tests: every form of content, odd but legal text, raw JSON in
// every notation, and whole logs with tool calls that interleave and stay open. All of it is invented.
package turngen

import (
	"encoding/binary"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/turn"
)

// ID returns the ULID of a number: equal for equal numbers, rising with them.
func ID(n uint64) string {
	var id ulid.ULID
	id[0] = 1
	binary.BigEndian.PutUint64(id[8:], n)
	return id.String()
}

// Content makes content that the role may append, with a result's call left to [Log].
func Content(role turn.Role) *rapid.Generator[turn.Content] {
	switch role {
	case turn.User:
		return rapid.OneOf(plain(), speech(), image(), action())
	case turn.Agent:
		return rapid.OneOf(plain(), thought(), calls())
	default:
		return rapid.OneOf(plain(), action(), result())
	}
}

// Draft makes a draft that can be sealed with the default limits. Its ID is made of n. A result's
// call may not be open in any log.
func Draft(n uint64) *rapid.Generator[turn.Draft] {
	return rapid.Custom(func(t *rapid.T) turn.Draft {
		d := turn.Draft{ID: ID(n), Role: rapid.SampledFrom([]turn.Role{turn.User, turn.Agent, turn.System}).Draw(t, "role")}
		d.Content = Content(d.Role).Draw(t, "content")
		d.Meta = meta().Draw(t, "meta")
		d.MessageID = rapid.OneOf(rapid.Just(""), name()).Draw(t, "message")
		d.IdempotencyKey = rapid.OneOf(rapid.Just(""), name()).Draw(t, "key")
		if _, text := d.Content.(turn.Text); text && d.Role == turn.System && rapid.Bool().Draw(t, "summary") {
			from := rapid.Int64Range(1, 1000).Draw(t, "from")
			d.Kind, d.Covers = turn.KindSummary, turn.Range{From: from, To: from + rapid.Int64Range(0, 1000).Draw(t, "covered")}
		}
		return d
	})
}

func plain() *rapid.Generator[turn.Content] {
	return rapid.Map(Text(), func(s string) turn.Content { return turn.Text{Text: s} })
}

func thought() *rapid.Generator[turn.Content] {
	return rapid.Custom(func(t *rapid.T) turn.Content {
		return turn.Text{Text: Text().Draw(t, "text"), Thinking: Text().Draw(t, "thinking")}
	})
}

func calls() *rapid.Generator[turn.Content] {
	return rapid.Custom(func(t *rapid.T) turn.Content {
		c := turn.Text{Text: rapid.OneOf(rapid.Just(""), Text()).Draw(t, "text")}
		ids := rapid.SliceOfNDistinct(name(), 1, 4, rapid.ID).Draw(t, "ids")
		for _, id := range ids {
			c.ToolCalls = append(c.ToolCalls, turn.ToolCall{ID: id, Name: name().Draw(t, "name"), Arguments: JSON().Draw(t, "arguments")})
		}
		return c
	})
}

func speech() *rapid.Generator[turn.Content] {
	return rapid.Custom(func(t *rapid.T) turn.Content {
		c := turn.Speech{Transcript: Text().Draw(t, "transcript")}
		c.Language = rapid.SampledFrom([]string{"", "en", "pt-BR", "zh-Hant"}).Draw(t, "language")
		c.Confidence = rapid.Ptr(rapid.Float64Range(0, 1), true).Draw(t, "confidence")
		if rapid.Bool().Draw(t, "recorded") {
			c.Audio = &turn.Audio{MediaType: "audio/ogg", Blob: blob().Draw(t, "audio")}
		}
		return c
	})
}

func image() *rapid.Generator[turn.Content] {
	return rapid.Custom(func(t *rapid.T) turn.Content {
		return turn.Image{
			MediaType: rapid.SampledFrom([]string{"image/png", "image/jpeg"}).Draw(t, "media_type"),
			Alt:       rapid.OneOf(rapid.Just(""), Text()).Draw(t, "alt"),
			Blob:      blob().Draw(t, "blob"),
		}
	})
}

func blob() *rapid.Generator[turn.Blob] {
	return rapid.Map(rapid.SliceOfN(rapid.Byte(), 1, 40), func(data []byte) turn.Blob { return turn.Blob{Data: data} })
}

func action() *rapid.Generator[turn.Content] {
	return rapid.Custom(func(t *rapid.T) turn.Content {
		return turn.Action{
			Name:    name().Draw(t, "name"),
			Target:  rapid.OneOf(rapid.Just(""), Text()).Draw(t, "target"),
			Payload: rapid.OneOf(rapid.Just(""), JSON()).Draw(t, "payload"),
		}
	})
}

func result() *rapid.Generator[turn.Content] {
	return rapid.Custom(func(t *rapid.T) turn.Content {
		return turn.Result{
			Name:      name().Draw(t, "name"),
			CallID:    name().Draw(t, "call"),
			Status:    rapid.SampledFrom([]turn.CallStatus{turn.CallOK, turn.CallError, turn.CallCancelled}).Draw(t, "status"),
			Result:    rapid.OneOf(rapid.Just(""), JSON()).Draw(t, "result"),
			Synthetic: rapid.Bool().Draw(t, "synthetic"),
		}
	})
}

func meta() *rapid.Generator[turn.Meta] {
	return rapid.Custom(func(t *rapid.T) turn.Meta {
		return turn.Meta{
			Tokens:      rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Min(0)).Draw(t, "tokens"),
			Model:       rapid.OneOf(rapid.Just(""), name()).Draw(t, "model"),
			Latency:     microseconds(rapid.Int64Range(0, 1e12).Draw(t, "latency")),
			Interrupted: rapid.Bool().Draw(t, "interrupted"),
		}
	})
}
