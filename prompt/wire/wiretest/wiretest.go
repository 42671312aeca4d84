// Package wiretest is the providers' rules for message lists, written down apart from the code that makes
// the lists.
package wiretest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/prompt/wire"
)

// Check returns what the provider of f would refuse body for, and what it would accept and then not do
// as meant. It may be called concurrently.
func Check(f wire.Format, body []byte) error {
	if f == wire.Text {
		return checkText(string(body))
	}
	if err := readable(body); err != nil {
		return err
	}
	switch f {
	case wire.Ollama:
		return checkOllama(body)
	case wire.OpenAI:
		return checkOpenAI(body)
	case wire.Anthropic:
		return checkAnthropic(body)
	}
	return fmt.Errorf("no rules for format %q", f)
}

// maxDepth is how many levels the parsers of Rust and Python read without being asked.
const maxDepth = 128

// readable refuses what encoding/json reads and stricter parsers do not.
func readable(body []byte) error {
	if !utf8.Valid(body) {
		return errors.New("not UTF-8")
	}
	depth, inside := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case inside && c == '\\':
			size, err := escape(body[i:])
			if err != nil {
				return fmt.Errorf("offset %d: %w", i, err)
			}
			i += size - 1
		case c == '"':
			inside = !inside
		case !inside && (c == '{' || c == '['):
			if depth++; depth > maxDepth {
				return fmt.Errorf("offset %d: more than %d levels", i, maxDepth)
			}
		case !inside && (c == '}' || c == ']'):
			depth--
		}
	}
	return nil
}

var (
	pair = regexp.MustCompile(`^\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)
	half = regexp.MustCompile(`^\\u[dD][89a-fA-F]`)
)

// escape is how long the escape is that s begins with.
func escape(s []byte) (int, error) {
	switch head := s[:min(len(s), 12)]; {
	case pair.Match(head):
		return 12, nil
	case half.Match(head):
		return 0, errors.New("half of a surrogate pair")
	}
	return 2, nil
}

// decode reads exactly one value that has no members but those of v.
func decode(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.More() {
		return errors.New("something after the value")
	}
	return nil
}

var plainName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// definition is a tool as all providers have it, after their wrapping.
type definition struct {
	name   string
	schema json.RawMessage
}

func checkTools(tools []definition) error {
	seen := map[string]bool{}
	for i, tool := range tools {
		if !plainName.MatchString(tool.name) {
			return fmt.Errorf("tools[%d]: name %q", i, tool.name)
		}
		if seen[tool.name] {
			return fmt.Errorf("tools[%d]: name %q stands twice", i, tool.name)
		}
		seen[tool.name] = true
		schema, err := object(tool.schema)
		if err != nil {
			return fmt.Errorf("tools[%d]: schema: %w", i, err)
		}
		if schema["type"] != "object" {
			return fmt.Errorf("tools[%d]: schema is of type %v", i, schema["type"])
		}
	}
	return nil
}

// object reads an object whose numbers all fit into 64 bits.
func object(data []byte) (map[string]any, error) {
	var v map[string]any
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, err
	}
	if v == nil {
		return nil, errors.New("not an object")
	}
	return v, nil
}

// blank says whether Python finds nothing but white space in s.
func blank(s string) bool { return strings.TrimFunc(s, whiteSpace) == "" }

func whiteSpace(r rune) bool { return unicode.IsSpace(r) || '\x1c' <= r && r <= '\x1f' }

func checkPicture(mediaType, data string, types []string) error {
	if !slices.Contains(types, mediaType) {
		return fmt.Errorf("picture of type %q", mediaType)
	}
	return checkBase64(data)
}

func checkBase64(data string) error {
	if data == "" {
		return errors.New("picture without data")
	}
	if _, err := base64.StdEncoding.Strict().DecodeString(data); err != nil || strings.ContainsAny(data, "\r\n") {
		return fmt.Errorf("picture is not base64: %v", err)
	}
	return nil
}

func at(i int, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("messages[%d]: %w", i, err)
}
