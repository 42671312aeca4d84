package commit

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// together is how many exports are read from log and memory at once. What of it is in no message, as what an agent thought, is held
// for as many.
const together = 64

// Messages makes the messages of exports: it puts each StateExport together from the outbox, the log
// and memory. What was forgotten or has expired since is named in the export's Missing. An export whose
// body was swept gives an error that is event.ErrNotFound.
func Messages(ctx context.Context, tx store.Tx, exports []event.Export) ([]event.Message, error) {
	messages := make([]event.Message, 0, len(exports))
	var body []byte
	for rest := exports; len(rest) > 0; {
		some := rest[:min(together, len(rest))]
		rest = rest[len(some):]
		readings, err := readAll(ctx, tx, some)
		if err != nil {
			return nil, err
		}
		for i := range readings {
			if err := readings[i].fill(); err != nil {
				return nil, err
			}
			e := &some[i]
			body = exportFields.Append(body[:0], &readings[i].export)
			messages = append(messages, event.Message{
				Tenant: e.Tenant, Session: e.Session, Segment: e.Segment, ID: e.ID, TurnID: e.TurnID, Number: e.Sent, Body: bytes.Clone(body),
			})
		}
	}
	return messages, nil
}

// Whole puts one StateExport together; see [Messages]. A *[VersionError] says that a newer program wrote it.
func Whole(ctx context.Context, tx store.Tx, e event.Export) (StateExport, error) {
	r, err := readWhole(ctx, tx, e)
	if err != nil {
		return StateExport{}, err
	}
	return r.export.StateExport, nil
}

// readWhole is Whole with what else the outbox keeps of the export.
func readWhole(ctx context.Context, tx store.Tx, e event.Export) (*reading, error) {
	readings, err := readAll(ctx, tx, []event.Export{e})
	if err == nil {
		err = readings[0].fill()
	}
	if err != nil {
		return nil, err
	}
	return &readings[0], nil
}

// reading is an export that is being put together.
type reading struct {
	row *event.Export
	outboxed
	// places are where the turns of input and reply stand, in this order.
	places []turn.Place
	lot    *lot
}

// readAll reads all that exports are put together from.
func readAll(ctx context.Context, tx store.Tx, exports []event.Export) ([]reading, error) {
	readings := make([]reading, len(exports))
	for i := range readings {
		r := &readings[i]
		r.row = &exports[i]
		if err := r.decode(); err != nil {
			return nil, err
		}
	}
	for _, l := range lotsOf(readings) {
		if err := l.read(ctx, tx); err != nil {
			return nil, err
		}
	}
	return readings, nil
}

// decode reads the body of the export's row.
func (r *reading) decode() error {
	if r.row.Body == "" {
		return fmt.Errorf("export %s was sent and is no longer kept: %w", r.row.ID, event.ErrNotFound)
	}
	if err := outboxedFields.DecodeInto(&r.outboxed, r.row.Body); err != nil {
		if newer := fromNewer(r.row.Body); newer != nil {
			return fmt.Errorf("export %s of %s: %w", r.row.ID, r.row.Session, newer)
		}
		return r.failed(err)
	}
	e := &r.export.StateExport
	e.ExportID, e.TurnID, e.Tenant, e.Session = r.row.ID, r.row.TurnID, r.row.Tenant, r.row.Session
	// A target that was put off and written since changes how the exchange ended.
	e.Status, e.Timestamp = State(r.row.Status), r.row.At
	r.export.Version = SchemaVersion // a body may be without an export
	return nil
}

func (r *reading) failed(err error) error { return fmt.Errorf("export %s: %w", r.row.ID, err) }

// fill puts in what was read.
func (r *reading) fill() error {
	e := &r.export.StateExport
	if !r.has(History) {
		input := r.said(r.input, r.places[:len(r.input)])
		reply := r.said(r.reply, r.places[len(r.input):])
		e.Turn.UserInput, e.Conversation.UserInput = input, input
		e.Turn.AssistantResponse, e.Conversation.AssistantResponse = reply, reply
	}
	if len(r.items) == 0 {
		return nil
	}
	e.Episodes = make([]memory.Episode, 0, len(r.items))
	for _, id := range r.items {
		row := r.lot.item(id)
		if row == nil {
			e.Missing = append(e.Missing, "item "+id)
			continue
		}
		item, _, err := memory.FromRow(*row)
		if err != nil {
			return r.failed(err)
		}
		e.Episodes = append(e.Episodes, item)
	}
	return nil
}

// has says whether what a target has to tell stands in the export itself.
func (r *reading) has(t Target) bool { return slices.Contains(r.inline, string(t)) }

// said is the text of turns, each on lines of its own.
func (r *reading) said(seqs []int64, places []turn.Place) string {
	var few [1]string
	lines := few[:0]
	for i, at := range places {
		t := r.lot.turn(at)
		if t == nil || t.Gone() {
			r.export.Missing = append(r.export.Missing, fmt.Sprintf("turn %d", seqs[i]))
			continue
		}
		switch c := t.Content.(type) {
		case turn.Text:
			lines = append(lines, c.Text)
		case turn.Speech:
			lines = append(lines, c.Transcript)
		}
	}
	return strings.Join(lines, "\n")
}
