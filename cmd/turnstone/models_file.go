package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/config"
	"github.com/turnstone-dev/turnstone/internal/record"
)

const (
	envModels = "TURNSTONE_MODELS"
	// maxModelsFile bounds the file of models, which people write by hand.
	maxModelsFile = 4 << 20
)

// modelsFile is the user's file of models: what --models or the environment name, or models.toml in the
// folder for settings. Given says that it must be there.
func (a *app) modelsFile(flag string) (path string, given bool) {
	if flag == "" {
		flag = a.getenv(envModels)
	}
	if flag != "" {
		return flag, true
	}
	dir, err := configFolder.dir(runtime.GOOS, a.getenv)
	if err != nil {
		return "", false // nobody can have put a file there
	}
	return filepath.Join(dir, "models.toml"), false
}

// userModels reads the user's file of models. Where there is none it returns none.
func (a *app) userModels(flag string) ([]budget.Profile, error) {
	path, given := a.modelsFile(flag)
	if path == "" {
		return nil, nil
	}
	text, err := readText(path, maxModelsFile)
	if errors.Is(err, fs.ErrNotExist) && !given {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	profiles, err := parseModels(text)
	var bad *fileError
	if errors.As(err, &bad) {
		return nil, usage(bad.fix, "%s, line %d: %s", path, bad.line, bad.problem)
	}
	return profiles, err
}

// fileError says what is wrong in a line of a file.
type fileError struct {
	line         int
	problem, fix string
}

func (e *fileError) Error() string {
	return fmt.Sprintf("line %d: %s; %s", e.line, e.problem, e.fix)
}

// parseModels reads a TOML file with a table [[models]] for each model. Errors are *fileError.
func parseModels(text string) ([]budget.Profile, error) {
	doc, err := config.Decode(text, "turnstone models --help")
	var syntax *config.Error
	if errors.As(err, &syntax) {
		return nil, &fileError{line: syntax.Line, problem: syntax.Problem, fix: syntax.Fix}
	}
	for key := range doc {
		if key != "models" {
			return nil, &fileError{line: lineOf(text, -1, []string{key}), problem: key + ": is not known here", fix: "begin each model with [[models]]"}
		}
	}
	if doc["models"] == nil {
		return nil, nil
	}
	if name, found := notFinite("", doc["models"]); found {
		index, field := fieldOf(name)
		return nil, &fileError{line: lineOf(text, index, field), problem: "models" + name + ": is no finite number", fix: "give one"}
	}
	data, err := json.Marshal(doc["models"])
	if err != nil {
		return nil, &fileError{line: 1, problem: err.Error(), fix: "correct the TOML; see turnstone models --help"}
	}
	profiles, err := budget.DecodeProfiles(string(data))
	var bad *budget.FieldError
	if errors.As(err, &bad) {
		index, field := fieldOf(bad.Name)
		fix := bad.Fix
		if fix == "" {
			fix = "see turnstone models --help"
		}
		return nil, &fileError{line: lineOf(text, index, field), problem: strings.TrimPrefix("models"+bad.Name+": "+bad.Problem, ": "), fix: fix}
	}
	if err != nil {
		return nil, err
	}
	return profiles, onlyOnce(text, profiles)
}

// onlyOnce refuses a file that has two models of one name.
func onlyOnce(text string, profiles []budget.Profile) error {
	seen := map[string]int{}
	for i, p := range profiles {
		key := strings.ToLower(strings.TrimSpace(p.Name))
		first, twice := seen[key]
		if twice {
			name := []string{"name"}
			return &fileError{
				line:    lineOf(text, i, name),
				problem: fmt.Sprintf("models[%d].name: %q stands in line %d already", i, p.Name, lineOf(text, first, name)),
				fix:     "leave one of them out",
			}
		}
		seen[key] = i
	}
	return nil
}

// notFinite names the first number in a decoded value that JSON has no words for: [2].contexts[0].
func notFinite(name string, value any) (place string, found bool) {
	switch v := value.(type) {
	case float64:
		return name, math.IsNaN(v) || math.IsInf(v, 0)
	case []map[string]any:
		for i, item := range v {
			if place, found := notFinite(record.Indexed(name, i), item); found {
				return place, true
			}
		}
	case []any:
		for i, item := range v {
			if place, found := notFinite(record.Indexed(name, i), item); found {
				return place, true
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if place, found := notFinite(name+"."+key, v[key]); found {
				return place, true
			}
		}
	}
	return "", false
}

// fieldOf takes a name such as [2].template.call apart.
func fieldOf(name string) (index int, field []string) {
	number, rest, _ := strings.Cut(strings.TrimPrefix(name, "["), "]")
	index, err := strconv.Atoi(number)
	if err != nil {
		return -1, nil
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(rest, "."), ".") {
		part, _, _ = strings.Cut(part, "[")
		field = append(field, part)
	}
	return index, field
}

// lineOf finds the line that sets a field of one of the models, or one outside of them if index is -1, in a
// file that is TOML. Where the field stands inside another value it is that one's line, and else that of the
// model.
func lineOf(text string, index int, field []string) int {
	found, depth := 1, 0
	models, inside := 0, -1 // how many began, and which one the line is of
	var section []string
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		var path []string
		begins := false
		if header, ok := strings.CutPrefix(line, "["); ok {
			header, _, _ = strings.Cut(strings.TrimPrefix(header, "["), "]")
			section, inside = keyPath(header), -1
			if section[0] == "models" {
				if len(section) == 1 {
					models++
				}
				section, inside = section[1:], models-1
			}
			path, begins = section, len(section) == 0
		} else if key, _, ok := strings.Cut(line, "="); ok {
			path = append(section[:len(section):len(section)], keyPath(key)...)
		}
		if inside != index {
			continue
		}
		if n := startOf(field, path); n > depth || begins {
			found, depth = number, n
		}
	}
	return found
}

// startOf is how long the path is if the field begins with it, and 0 otherwise.
func startOf(field, path []string) int {
	if len(path) > len(field) {
		return 0
	}
	for i := range path {
		if path[i] != field[i] {
			return 0
		}
	}
	return len(path)
}

func keyPath(key string) []string {
	parts := strings.Split(key, ".")
	for i := range parts {
		parts[i] = strings.Trim(strings.TrimSpace(parts[i]), `"'`)
	}
	return parts
}
