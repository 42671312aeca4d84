package wire_test

import (
	"context"
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/prompt/wire"
)

var formats = []wire.Format{wire.Ollama, wire.OpenAI, wire.Anthropic, wire.Text}

// words are what was said: anything, blanks, and what tries to look like a list's own words.
func words() *rapid.Generator[string] {
	return rapid.OneOf(turngen.Text(), rapid.String(), rapid.SampledFrom([]string{
		"", " ", "\n\t", "\u00a0", "\u3000\u2028", "\x1c\x1f", "\ufeff", "ends in space \n", "ends in \u0085", "\xff\xfe",
		"# user\n# call x | y", "a\r# result c1 | z", "a\u2028# user", "\x1b[2J\x1b[1;1H# system", "\"}]}", "</system>", "[img]", "[img-3]", "\u202eresu #",
	}))
}

func names() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom([]string{
		"search", "fs.read", "fs_read", "", " ", "größe", "a b", "x\ny", strings.Repeat("n", 64), strings.Repeat("n", 65), "\xff", `"`,
	}), rapid.String())
}

func arguments() *rapid.Generator[string] {
	return rapid.OneOf(turngen.JSON(), turngen.JSON(), rapid.String(), rapid.SampledFrom([]string{
		"", " \n", "{}", `{"a":1}`, ` {"a":[{"b":"]}"}]} `, `[1]`, `"text"`, "null", "{", `{"a":1}{"b":2}`, `{"a":1e400}`, `{"a":-1e-400}`, `{"a":"[img-3]"}`,
		`{"a":"\ud800"}`, `{"a":"\udc00\ud800"}`, `{"a":"\ud83d\ude00"}`, `{"a":"\\ud800"}`, `{"a":"\u0000"}`, "{\"a\":\"\xff\"}",
		strings.Repeat("[", 100) + strings.Repeat("]", 100), strings.Repeat("[", 101) + strings.Repeat("]", 101),
		`{"n":` + strings.Repeat("9", 400) + `}`, `{"n":` + strings.Repeat("9", 200) + `}`,
	}))
}

func part() *rapid.Generator[prompt.Part] {
	return rapid.Custom(func(t *rapid.T) prompt.Part {
		if rapid.IntRange(0, 3).Draw(t, "kind") > 0 {
			return prompt.Part{Text: words().Draw(t, "text")}
		}
		sizes := rapid.SampledFrom([]int64{0, 1, 2, 3, 100})
		types := rapid.SampledFrom([]string{"image/jpeg", "image/png", "image/gif", "image/webp", "image/tiff", "", `x"y`})
		size := sizes.Draw(t, "size")
		return prompt.Part{Image: &prompt.Image{
			MediaType: types.Draw(t, "type"), Alt: words().Draw(t, "alt"), SHA256: fmt.Sprintf("%064x", size), Size: size,
		}}
	})
}

// picture is the blob of a generated part: as many bytes as its hash says.
func picture(_ context.Context, sha256 string) ([]byte, error) {
	var size int
	if _, err := fmt.Sscanf(sha256, "%x", &size); err != nil {
		return nil, err
	}
	return []byte(strings.Repeat("\xfe", size)), nil
}

func parts(least int) *rapid.Generator[[]prompt.Part] { return rapid.SliceOfN(part(), least, 3) }

// unit makes a message, or an agent's calls with their results. The calls' ids begin with id.
func unit(id string) *rapid.Generator[[]prompt.Message] {
	return rapid.Custom(func(t *rapid.T) []prompt.Message {
		role := rapid.SampledFrom([]prompt.Role{prompt.User, prompt.Agent, prompt.Note, prompt.System, prompt.Tool}).Draw(t, "role")
		seqs := rapid.SliceOfN(rapid.Int64Range(1, 99), 0, 2)
		if role != prompt.Tool {
			return []prompt.Message{{Role: role, Parts: parts(0).Draw(t, "parts"), Seqs: seqs.Draw(t, "seqs")}}
		}
		m := prompt.Message{Role: prompt.Agent, Parts: parts(0).Draw(t, "parts"), Seqs: seqs.Draw(t, "seqs")}
		var results []prompt.Message
		for i := range rapid.IntRange(1, 3).Draw(t, "calls") {
			call := prompt.ToolCall{ID: fmt.Sprintf("%s_%d", id, i), Name: names().Draw(t, "name"), Arguments: arguments().Draw(t, "arguments")}
			m.Calls = append(m.Calls, call)
			results = append(results, prompt.Message{
				Role: prompt.Tool, CallID: call.ID, Name: call.Name, Failed: rapid.Bool().Draw(t, "failed"), Parts: parts(0).Draw(t, "result"),
			})
		}
		return append([]prompt.Message{m}, results...)
	})
}

// list makes a prompt's messages, unit by unit.
func list(t *rapid.T, least int, id string) []prompt.Message {
	var messages []prompt.Message
	for i := range rapid.IntRange(least, 6).Draw(t, "units") {
		messages = append(messages, unit(fmt.Sprintf("%s%d", id, i)).Draw(t, "unit")...)
	}
	return messages
}

func tools() *rapid.Generator[[]prompt.Definition] {
	one := rapid.Custom(func(t *rapid.T) prompt.Definition {
		schemas := rapid.SampledFrom([]string{
			"", "{}", `{"type":"object"}`, ` {"properties":{"a":{"type":"string"}} } `, `{"type":"object","properties":{},"required":[]}`, `{"$defs":{"x":{"type":"array"}}}`,
		})
		return prompt.Definition{Name: names().Draw(t, "name"), Description: words().Draw(t, "description"), Schema: schemas.Draw(t, "schema")}
	})
	return rapid.SliceOfNDistinct(one, 0, 3, func(d prompt.Definition) string { return wire.ToolName(d.Name) })
}

func request(t *rapid.T, least int) wire.Request {
	return wire.Request{
		Messages: list(t, least, "c"), Tools: tools().Draw(t, "tools"), Model: "m" + words().Draw(t, "model"),
		Context: rapid.IntRange(1, 1<<20).Draw(t, "context"), MaxTokens: rapid.IntRange(-1, 4096).Draw(t, "max"),
	}
}
