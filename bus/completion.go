package bus

import (
	"fmt"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// Completion says how a daemon ended with an export.
type Completion struct {
	Daemon    string        `json:"daemon"`
	Tenant    string        `json:"tenant"`
	Session   string        `json:"session"`
	ExportID  string        `json:"export_id"`
	TurnID    string        `json:"turn_id"`
	Segment   int64         `json:"segment,omitempty"` // as in the message; 0: whoever records it finds the export
	Status    string        `json:"status"`            // OK or Dead
	Processed int           `json:"processed"`
	Duration  time.Duration `json:"duration_ns"` // spent in the handler, all tries together
	Tries     int           `json:"tries"`
	Error     string        `json:"error,omitempty"` // of the last try, its first 2 KiB
	At        time.Time     `json:"at"`
}

// Letter is the dead letter of a completion that is [Dead].
func (c *Completion) Letter() event.Letter {
	return event.Letter{
		Tenant: c.Tenant, Daemon: c.Daemon, ExportID: c.ExportID, Session: c.Session, TurnID: c.TurnID,
		Tries: c.Tries, Error: c.Error, At: c.At,
	}
}

// Check names what makes a completion that another program wrote one of nothing that this program knows.
func (c Completion) Check() error {
	for _, name := range []struct{ field, value string }{{"daemon", c.Daemon}, {"tenant", c.Tenant}, {"session", c.Session}} {
		if err := ids.CheckName(name.field, name.value); err != nil {
			return err
		}
	}
	for _, id := range []struct{ field, value string }{{"export_id", c.ExportID}, {"turn_id", c.TurnID}} {
		if !ids.Valid(id.value) {
			return invalid.New(id.field, fmt.Sprintf("%q is no ULID", storable(id.value)), "send what the message of the export says")
		}
	}
	return nil
}

// Foreign returns a completion as another program's: what no store can keep of its texts is replaced, what is too long is cut, and
// the export is to be looked up.
func (c Completion) Foreign() Completion {
	c.Status, c.Error, c.Segment = storable(c.Status), storable(c.Error), 0
	return c
}

// maxError is how much of an error's text a completion keeps, in bytes.
const maxError = 2048

// storable cuts a text and replaces what no store can keep.
func storable(text string) string {
	if len(text) > maxError {
		text = strings.ToValidUTF8(text[:maxError-len("…")], "") + "…"
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "�"), "\x00", "�")
}
