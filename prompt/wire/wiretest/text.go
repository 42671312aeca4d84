package wiretest

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// header is a line that the engine wrote: its kind and, of calls and results, the call.
var header = regexp.MustCompile(`^# (?:(prompt|tool|parameters|system|user|assistant|note|image)(?: .*)?|(call|result) ([a-zA-Z0-9_-]+) \| .*)$`)

// checkText holds a text for people against what makes it unambiguous: what is not indented is a header, and
// calls are followed by their results.
func checkText(body string) error {
	if !utf8.ValidString(body) || !strings.HasPrefix(body, "# prompt") || !strings.HasSuffix(body, "\n") {
		return errors.New("not lines of UTF-8 under a header")
	}
	var waiting []string
	for i, line := range strings.Split(strings.TrimSuffix(body, "\n"), "\n") {
		for _, r := range line {
			if r != '\t' && unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r) {
				return fmt.Errorf("line %d has %U, which is not only shown", i+1, r)
			}
		}
		if line == "" || strings.HasPrefix(line, "  ") {
			continue
		}
		found := header.FindStringSubmatch(line)
		if found == nil {
			return fmt.Errorf("line %d is neither indented nor a header: %q", i+1, line)
		}
		switch kind, verb, id := found[1], found[2], found[3]; {
		case verb == "call":
			waiting = append(waiting, id)
		case verb == "result":
			if len(waiting) == 0 || waiting[0] != id {
				return fmt.Errorf("line %d is the result of %q, but %q wait", i+1, id, waiting)
			}
			waiting = waiting[1:]
		case kind != "image" && len(waiting) > 0:
			return fmt.Errorf("line %d stands where the result of %q belongs", i+1, waiting[0])
		}
	}
	if len(waiting) > 0 {
		return fmt.Errorf("no result of %q", waiting[0])
	}
	return nil
}
