package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/compress/extract"
	"github.com/turnstone-dev/turnstone/replay/history"
	"github.com/turnstone-dev/turnstone/turn"
)

// jsonLines is what is to be given in place of what cannot be summarised.
const jsonLines = "give JSON Lines: one turn or message a line"

// importedLines are the turns of a conversation in a format that can be imported; none where it cannot.
func importedLines(ctx context.Context, text string) []extract.Line {
	var source compress.Source
	_, err := history.Import(ctx, strings.NewReader(text), "", history.Options{SkipTooLarge: true}, func(e history.Entry) error {
		source.Turns = append(source.Turns, turn.Turn{
			Seq: int64(len(source.Turns)) + 1, Role: e.Role, Kind: e.Kind, Content: e.Content, CreatedAt: e.At,
		})
		return nil
	})
	if err != nil {
		return nil
	}
	return source.Lines()
}

// checkLines refuses what is no JSON Lines as a whole, and says how it becomes such.
func checkLines(data []byte) error {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return usage(jsonLines, "input: is empty")
	}
	if data[0] == '[' {
		return usage(jsonLines+"; convert it with: jq -c '.[]' FILE", "input: is a JSON array")
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil {
		return nil // several lines, or broken ones
	}
	names := slices.Sorted(maps.Keys(object))
	if !slices.ContainsFunc(names, ofTurn) {
		for _, name := range names {
			if object[name][0] == '[' && plainMember.MatchString(name) {
				return usage(jsonLines+"; convert it with: jq -c '."+name+"[]' FILE", "input: is one JSON object with a list of %s", name)
			}
		}
	}
	if bytes.ContainsRune(data, '\n') {
		return usage(jsonLines+"; convert it with: jq -c . FILE", "input: is one JSON object over several lines")
	}
	return nil
}

// ofTurn reports whether a member is one that only turns and messages have.
func ofTurn(name string) bool {
	return slices.Contains([]string{"text", "role", "content", "tool_calls"}, strings.ToLower(name))
}

// plainMember is the name of a member that jq takes as it stands.
var plainMember = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// badLine says what is wrong with a line in words that are not those of the program.
func badLine(err error) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return "is no whole JSON object: " + err.Error()
	}
	value, _, _ := strings.Cut(wrong.Value, " ") // after it stands the number itself
	if value == "bool" {
		value = "true or false"
	}
	if wrong.Field == "" {
		return "is no JSON object, but of the kind " + value
	}
	return strings.ToLower(wrong.Field) + " cannot be of the kind " + value
}
