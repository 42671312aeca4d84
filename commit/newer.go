package commit

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// VersionError says that an export is of a version that this program does not know: a newer one wrote it.
type VersionError struct{ Version int64 }

func (e *VersionError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the error as one of the field schema_version.
func (e *VersionError) Unwrap() error {
	return invalid.New("schema_version", fmt.Sprintf("%d is not known, this program reads %d", e.Version, SchemaVersion), "use a newer turnstone")
}

// Unreadable tells what is known of an export that cannot be read: an object with its ids, time and status as a StateExport has them,
// its version where a newer program wrote it, and why it cannot be read as "unreadable". [DecodeExport] refuses it.
func Unreadable(of event.Export, why error) event.Message {
	u := unread{Export: of, why: strings.ToValidUTF8(why.Error(), "\uFFFD")}
	var newer *VersionError
	if errors.As(why, &newer) {
		u.Version, u.why = &newer.Version, newer.Error()
	}
	body := unreadFields.Append(nil, &u)
	return event.Message{Tenant: of.Tenant, Session: of.Session, Segment: of.Segment, ID: of.ID, TurnID: of.TurnID, Number: of.Sent, Body: body}
}

// unread is an export that cannot be read.
type unread struct {
	Version *int64
	event.Export
	why string
}

var unreadFields = record.Fields[unread]{
	record.Optional("schema_version", func(u *unread) **int64 { return &u.Version }, record.Int()),
	record.Value("export_id", func(u *unread) *string { return &u.ID }, word),
	record.Value("turn_id", func(u *unread) *string { return &u.TurnID }, word),
	record.Value("timestamp", func(u *unread) *time.Time { return &u.At }, record.Time()),
	record.Value("tenant", func(u *unread) *string { return &u.Tenant }, word),
	record.Value("session_id", func(u *unread) *string { return &u.Session }, word),
	record.Value("status", func(u *unread) *string { return &u.Status }, word),
	record.Value("unreadable", func(u *unread) *string { return &u.why }, word),
}

// fromNewer is why the body of an outbox row cannot be read if a newer program wrote it, and nil otherwise. It may have more than the
// export that this one does not know.
func fromNewer(body string) (newer *VersionError) {
	err := strictjson.Object(body, func(name string, v strictjson.Raw) error {
		if name == "export" {
			newer, _ = checkVersion(string(v)).(*VersionError)
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return newer
}
