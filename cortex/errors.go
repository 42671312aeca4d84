package cortex

import (
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// FieldError is bad input: it names the field, the problem and what to do instead.
type FieldError = invalid.Field

func fieldErrorf(field, fix, format string, args ...any) error {
	return invalid.New(field, fmt.Sprintf(format, args...), fix)
}

// oneOf refuses a word that is not in the list.
func oneOf[S ~string](field string, word S, words []S) error {
	for _, w := range words {
		if w == word {
			return nil
		}
	}
	return fieldErrorf(field, "use "+alternatives(words), "%.80q is none", string(word))
}

// alternatives is a list, not an empty one, for an error text: "a, b or c".
func alternatives[S ~string](words []S) string {
	list := plainWords(words)
	last := len(list) - 1
	return strings.TrimPrefix(strings.Join(list[:last], ", ")+" or "+list[last], " or ")
}
