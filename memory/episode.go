package memory

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/record"
)

// Episode is an item of episodic memory, the seed's MemoryItem: what an exchange left behind that was
// worth keeping, with what it links to, how long it stays and why it was kept. It never changes.
type Episode struct {
	ID   string // a ULID
	Type Type
	Text string
	Data string // raw JSON, kept byte for byte; may be empty
	// Importance is from 0 to 1, a whole number of millionths.
	Importance float64
	Tags       []string
	Links      Links
	Created    time.Time // whole microseconds
	Expires    time.Time // zero: never
	Provenance Provenance
}

// Provenance is where an item comes from and why it is as important as it is.
type Provenance struct {
	ExportID string // the export it was selected into
	TurnID   string // the input that opened the exchange
	Source   Source
	Inputs   Inputs   // what the importance was computed of
	Notes    []string // what was left out of it, and why
}

// Owner is whose item it is.
type Owner struct {
	Tenant  string
	Segment int64
	Session string
	User    string
}

// Check refuses an item that breaks a rule, with a *[FieldError] that names the field.
func (e *Episode) Check() error {
	switch {
	case !ids.Valid(e.ID):
		return fieldErrorf("id", "use a ULID", "%.40q is not a ULID", e.ID)
	case len(e.Text) > MaxText:
		return fieldErrorf("text", fmt.Sprintf("use at most %d", MaxText), "is %d bytes long", len(e.Text))
	case len(e.Data) > MaxData:
		return fieldErrorf("data", fmt.Sprintf("use at most %d", MaxData), "is %d bytes long", len(e.Data))
	case !(e.Importance >= 0 && e.Importance <= 1):
		return fieldErrorf("importance", "give a number from 0 to 1", "%v is not from 0 to 1", e.Importance)
	case e.Created.IsZero():
		return fieldErrorf("created_at", "say when it was made", "is missing")
	case !e.Expires.IsZero() && e.Expires.Before(e.Created):
		return fieldErrorf("expires_at", "leave it out for never", "is before created_at")
	}
	for _, name := range []struct{ field, value string }{
		{"provenance.export_id", e.Provenance.ExportID}, {"provenance.turn_id", e.Provenance.TurnID},
	} {
		if err := checkName(name.field, name.value); err != nil {
			return err
		}
	}
	if err := e.Provenance.Inputs.Check(); err != nil {
		return within("provenance.inputs", err)
	}
	for i, note := range e.Provenance.Notes {
		if err := checkText(indexed("provenance.notes", i), note); err != nil {
			return err
		}
	}
	c := Candidate{Type: e.Type, Text: e.Text, Data: e.Data, Tags: e.Tags, Links: e.Links, Source: e.Provenance.Source}
	if c.Text == "" && c.Data == "" && len(e.Provenance.Notes) > 0 {
		c.Data = "null" // its data was left out, which is no reason to refuse it
	}
	return c.Check()
}

// Row returns the item as a store keeps it.
func (e *Episode) Row(o Owner) Row { return e.row(o, record.String(e.appendAbout)) }

func (e *Episode) row(o Owner, about string) Row {
	return Row{
		Tenant: o.Tenant, ID: e.ID, Segment: o.Segment, Session: o.Session, User: o.User,
		Type: e.Type, Importance: millionths(e.Importance), Created: e.Created, Expires: e.Expires,
		Text: e.Text, Data: keptData(e.Text, e.Data), About: about,
	}
}

// RowsOf returns the rows of items that are stored together. What is about them is one text, of which each has its part.
func RowsOf(items []Episode, o Owner) []Row {
	var room [16]int
	ends := room[:0]
	abouts := record.String(func(dst []byte) []byte {
		for i := range items {
			dst = items[i].appendAbout(dst)
			ends = append(ends, len(dst))
		}
		return dst
	})
	rows, from := make([]Row, len(items)), 0
	for i, end := range ends {
		rows[i] = items[i].row(o, abouts[from:end])
		from = end
	}
	return rows
}

// FromRow returns the item that a row holds and whose it is. The error names the item.
func FromRow(r Row) (Episode, Owner, error) {
	e := Episode{
		ID: r.ID, Type: r.Type, Text: r.Text, Data: wholeData(r.Text, r.Data), Importance: fromMillionths(r.Importance),
		Created: r.Created, Expires: r.Expires,
	}
	err := e.decodeAbout(r.About)
	if err == nil {
		err = e.Check()
	}
	if err != nil {
		return Episode{}, Owner{}, fmt.Errorf("memory item %s: %w", r.ID, err)
	}
	return e, Owner{Tenant: r.Tenant, Segment: r.Segment, Session: r.Session, User: r.User}, nil
}

// dataMark is what no JSON begins with.
const dataMark = ">"

// keptData is data as a row has it beside a text: the result of a tool is the end of what is remembered of it.
func keptData(text, data string) string {
	if strings.HasSuffix(text, data) {
		if mark := dataMark + strconv.Itoa(len(text)-len(data)); len(mark) < len(data) {
			return mark
		}
	}
	return data
}

// wholeData is the data of a row. What is no such mark is returned as it is, for the check to refuse.
func wholeData(text, kept string) string {
	if at, marked := strings.CutPrefix(kept, dataMark); marked {
		if n, err := strconv.Atoi(at); err == nil && n >= 0 && n <= len(text) {
			return text[n:]
		}
	}
	return kept
}
