// Package config reads the file of settings: TOML whose keys are the names of flags, and whose tables are commands.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// Entry is a value that the file gives a flag.
type Entry struct {
	// Command is whose flag it is, such as session end; empty for all that have it.
	Command string
	Name    string
	// Value is as TOML has it: string, int64, float64, bool, []any or a time.
	Value any
	Line  int
}

// Error says what is wrong in a line of the file.
type Error struct {
	Line         int
	Problem, Fix string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s; %s", e.Line, e.Problem, e.Fix) }

// Label names the entry as the file does, such as session.end.idle-after.
func (e Entry) Label() string {
	return strings.TrimPrefix(strings.ReplaceAll(e.Command, " ", ".")+"."+e.Name, ".")
}

// Refused is an *[Error] about the entry.
func (e Entry) Refused(fix, format string, args ...any) error {
	return &Error{Line: e.Line, Problem: e.Label() + ": " + fmt.Sprintf(format, args...), Fix: fix}
}

// Decode reads TOML. An *[Error] says where to see how it is written.
func Decode(text, help string) (doc map[string]any, err error) {
	_, err = toml.Decode(text, &doc)
	var syntax toml.ParseError
	switch {
	case errors.As(err, &syntax):
		problem := syntax.Message
		if syntax.LastKey != "" {
			problem = "near " + syntax.LastKey + ": " + problem
		}
		// The line of the position is the next one where a line ends too early, its start is not.
		line := 1 + strings.Count(text[:min(syntax.Position.Start, len(text))], "\n")
		return nil, &Error{Line: line, Problem: problem, Fix: "correct the TOML; see " + help}
	case err != nil:
		return nil, &Error{Line: 1, Problem: err.Error(), Fix: "correct the TOML; see " + help}
	}
	return doc, nil
}

// Parse returns the entries in the order of the file. Errors are *[Error].
func Parse(text string) ([]Entry, error) {
	doc, err := Decode(text, "turnstone config --help")
	if err != nil {
		return nil, err
	}
	entries, err := collect(lines(text), nil, doc)
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Label(), b.Label()))
	})
	return entries, err
}

// collect takes a table apart, and those in it, which are subcommands.
func collect(at map[string]int, command []string, table map[string]any) (entries []Entry, err error) {
	for name, value := range table {
		path := append(command[:len(command):len(command)], name)
		e := Entry{Command: strings.Join(command, " "), Name: name, Value: value, Line: lineOf(at, path)}
		switch v := value.(type) {
		case map[string]any:
			below, err := collect(at, path, v)
			if err != nil {
				return nil, err
			}
			entries = append(entries, below...)
		case []map[string]any:
			return nil, e.Refused("write its name in single brackets", "is a list of tables")
		default:
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// Texts are the value as the flag's own syntax has it, of which a flag that may be given again has several. Kind is the
// type of the flag. Errors are *[Error].
func (e Entry) Texts(kind string) ([]string, error) {
	switch kind {
	case "bool":
		if v, ok := e.Value.(bool); ok {
			return []string{strconv.FormatBool(v)}, nil
		}
		return nil, e.Refused("write it without quotes", "is not true or false")
	case "int", "int64":
		if v, ok := e.Value.(int64); ok {
			return []string{strconv.FormatInt(v, 10)}, nil
		}
		return nil, e.Refused("write one without quotes", "is no whole number")
	case "float64":
		switch v := e.Value.(type) {
		case int64:
			return []string{strconv.FormatInt(v, 10)}, nil
		case float64:
			return []string{strconv.FormatFloat(v, 'g', -1, 64)}, nil
		}
		return nil, e.Refused("write one without quotes", "is no number")
	case "duration":
		if v, ok := e.Value.(string); ok {
			if _, err := time.ParseDuration(v); err == nil {
				return []string{v}, nil
			}
		}
		return nil, e.Refused(`write one such as "90m", in quotes`, "is no time")
	case "stringArray", "stringSlice":
		return e.list()
	}
	v, ok := e.Value.(string)
	switch {
	case !ok:
		return nil, e.Refused("write it in quotes", "is no text")
	case v == "":
		return nil, e.Refused("give a value or leave it out", "is empty")
	}
	return []string{v}, nil
}

func (e Entry) list() ([]string, error) {
	items, ok := e.Value.([]any)
	if !ok {
		items = []any{e.Value}
	}
	texts := make([]string, len(items))
	for i, item := range items {
		text, ok := item.(string)
		if !ok || text == "" {
			return nil, e.Refused(`write it as ["one", "another"]`, "is no list of texts")
		}
		texts[i] = text
	}
	return texts, nil
}

// lines finds the line of each key and table in a text that is TOML, by their names with dots between.
func lines(text string) map[string]int {
	at := map[string]int{}
	section, number := "", 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		name := ""
		if header, ok := strings.CutPrefix(line, "["); ok {
			header, _, _ = strings.Cut(strings.TrimLeft(header, "["), "]")
			section = plain(header) + "."
			name = section
		} else if key, _, ok := strings.Cut(line, "="); ok {
			name = section + plain(key) + "."
		}
		if _, twice := at[name]; name != "" && !twice {
			at[name] = number
		}
	}
	return at
}

// lineOf is where a key stands or, inside another value, that one.
func lineOf(at map[string]int, path []string) int {
	for n := len(path); n > 0; n-- {
		if line, ok := at[strings.Join(path[:n], ".")+"."]; ok {
			return line
		}
	}
	return 1
}

// plain is a key without quotes and spaces.
func plain(key string) string {
	parts := strings.Split(key, ".")
	for i := range parts {
		parts[i] = strings.Trim(strings.TrimSpace(parts[i]), `"'`)
	}
	return strings.Join(parts, ".")
}
