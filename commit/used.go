package commit

import (
	"fmt"

	"github.com/turnstone-dev/turnstone/turn"
)

// UsedError says that the name of an exchange, its export id, is another's. It is a [turn.ErrConflict].
type UsedError struct {
	Name string // "export_id 01J…", or what the caller calls it
	Why  string
}

func (e *UsedError) Error() string {
	return fmt.Sprintf("%s %s: %s; use a new one", e.Name, e.Why, turn.ErrConflict)
}

// Unwrap returns turn.ErrConflict.
func (e *UsedError) Unwrap() error { return turn.ErrConflict }
