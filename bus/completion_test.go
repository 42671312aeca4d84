package bus_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/bus"
)

// foreign is a completion as another program may write it.
func foreign() bus.Completion {
	return bus.Completion{
		Daemon: "py", Tenant: "default", Session: "s", ExportID: "01JAAAAAAAAAAAAAAAAAAAAAAA", TurnID: "01JBBBBBBBBBBBBBBBBBBBBBBB",
		Status: bus.Dead, Tries: 1, Error: "no such mailbox",
	}
}

func TestWhatNoStoreCanKeepOfACompletionIsReplaced(t *testing.T) {
	want := foreign()
	if got := want.Foreign(); !cmp.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	given := want
	given.Error, given.Status, given.Segment = "a\x00b\xffc", "de\x00ad", 7
	want.Error, want.Status = "a�b�c", "de�ad"
	if got := given.Foreign(); !cmp.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	given.Error, given.Status = strings.Repeat("ü", 5000), strings.Repeat("ü", 5000)
	if got := given.Foreign(); len(got.Error) > 2048 || len(got.Status) > 2048 || !utf8.ValidString(got.Error) {
		t.Errorf("%d and %d bytes", len(got.Error), len(got.Status))
	}
}

func TestACompletionOfNothingKnownIsRefused(t *testing.T) {
	if err := foreign().Check(); err != nil {
		t.Error(err)
	}
	for field, spoil := range map[string]func(*bus.Completion){
		"daemon":    func(c *bus.Completion) { c.Daemon = "two words" },
		"tenant":    func(c *bus.Completion) { c.Tenant = "a\x00b" },
		"session":   func(c *bus.Completion) { c.Session = "" },
		"export_id": func(c *bus.Completion) { c.ExportID = "x\x00" },
		"turn_id":   func(c *bus.Completion) { c.TurnID = strings.Repeat("t", 5000) },
	} {
		c := foreign()
		spoil(&c)
		if err := c.Check(); err == nil || !strings.HasPrefix(err.Error(), field) || len(err.Error()) > 3000 {
			t.Errorf("%s: got %v", field, err)
		}
	}
}
