package commit

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// outboxed is an export as the outbox keeps it: what stands in the log and in memory is only named, and what stands in its
// row or is empty is left out.
type outboxed struct {
	export wireExport
	// input and reply are the seqs of the turns that hold what was asked and answered.
	input, reply []int64
	items        []string
	// inline are the targets that were put off: their part stands in the export itself.
	inline []string
	// flawed is set where the exchange ended with errors besides that.
	flawed bool
	// trace is the JSON of the trace's first phases, for as long as nobody has stored it with the note that
	// the export was published: a row of its own in every commit would cost more than it says.
	trace string
}

// outboxedFields reads it; [outboxed.append] writes the same.
var outboxedFields = record.Fields[outboxed]{
	record.List("input", func(o *outboxed) *[]int64 { return &o.input }, record.Int()),
	record.List("reply", func(o *outboxed) *[]int64 { return &o.reply }, record.Int()),
	record.List("items", func(o *outboxed) *[]string { return &o.items }, word),
	record.List("inline", func(o *outboxed) *[]string { return &o.inline }, word),
	record.Value("flawed", func(o *outboxed) *bool { return &o.flawed }, record.Bool()),
	record.Inside("export", func(o *outboxed) *wireExport { return &o.export }, exportCodec),
	record.Value("trace", func(o *outboxed) *string { return &o.trace }, rawCodec),
}

// rawCodec is that of JSON which is kept as it is.
var rawCodec = record.Codec[string]{
	Append: func(dst []byte, v string) []byte { return append(dst, v...) },
	Decode: func(v strictjson.Raw) (string, error) { return string(v), nil },
}

var exportCodec = record.Codec[wireExport]{
	Append: func(dst []byte, w wireExport) []byte { return exportFields.AppendSparse(dst, &w) },
	At:     exportFields.AppendSparse,
	Decode: func(v strictjson.Raw) (wireExport, error) {
		w, err := exportFields.Decode(string(v))
		if err != nil || w.Version != SchemaVersion {
			// Asked only now, since nearly all are of this version and each is read for every daemon.
			return wireExport{}, cmp.Or(checkVersion(string(v)), err)
		}
		return w, nil
	},
}

// outbox makes the outbox row's body of what was written; appended are the seqs of the turns that the log gained. When that was
// stands in the row itself, so that the body can be made beforehand.
func (r *run) outbox(w *writing, appended []int64) string {
	o := outboxed{export: wireExport{Version: SchemaVersion, StateExport: r.export}}
	e := &o.export.StateExport
	e.ExportID, e.TurnID, e.Tenant, e.Session, e.Status = "", "", "", "", ""
	e.Cortex, e.Scratch = w.place.cortex, w.place.scratch
	o.flawed = len(r.problems) > 0 || len(w.place.refused) > 0
	// The list may be the caller's own.
	e.Metadata.Warnings = slices.Clip(e.Metadata.Warnings)
	for _, refused := range w.place.refused {
		e.Metadata.Warnings = append(e.Metadata.Warnings, storableText(refused.What+": "+refused.Reason))
	}
	for _, d := range w.deferred {
		o.inline = append(o.inline, d.Target)
		switch Target(d.Target) {
		case Cortex:
			e.Cortex = describeIntentions(&r.stagedIn)
		case Scratch:
			e.Scratch = describeNotes(&r.stagedOn)
		}
	}
	// Few exchanges need more memory than this.
	var lists struct {
		input [2]int64
		reply [1]int64
		items [6]string
	}
	if !slices.Contains(o.inline, string(History)) {
		o.input, o.reply = r.places(appended, lists.input[:0], lists.reply[:0])
		e.Turn.UserInput, e.Conversation.UserInput = "", ""
		e.Turn.AssistantResponse, e.Conversation.AssistantResponse = "", ""
	}
	if !slices.Contains(o.inline, string(Memory)) {
		o.items = lists.items[:0]
		for i := range e.Episodes {
			o.items = append(o.items, e.Episodes[i].ID)
		}
		e.Episodes = nil
	}
	begun := r.begun
	begun.Status = string(w.status)
	return record.String(func(dst []byte) []byte { return o.append(dst, &begun) })
}

// places appends the seqs of the turns that hold input and reply. Turns of the exchange that were not in
// the log yet stand in it now, in order, after the others: there is a seq for each.
func (r *run) places(appended, input, reply []int64) (_, _ []int64) {
	for i := range r.situation.Turns {
		t := &r.situation.Turns[i]
		seq := t.Seq
		if seq == 0 {
			seq, appended = appended[0], appended[1:]
		}
		switch c := t.Content.(type) {
		case turn.Text:
			if t.Role == turn.User {
				input = append(input, seq)
			}
			if t.Role == turn.Agent && c.Text != "" {
				reply = append(reply[:0], seq)
			}
		case turn.Speech:
			input = append(input, seq)
		}
	}
	return input, reply
}

// Messages makes the messages of exports: it puts each StateExport together from the outbox, the log
// and memory. What was forgotten or has expired since is named in the export's Missing. An export whose
// body was swept gives an error that is event.ErrNotFound.
func Messages(ctx context.Context, tx store.Tx, exports []event.Export) ([]event.Message, error) {
	messages := make([]event.Message, len(exports))
	var body []byte
	for i, e := range exports {
		whole, err := Whole(ctx, tx, e)
		if err != nil {
			return nil, err
		}
		body = whole.AppendJSON(body[:0])
		messages[i] = event.Message{
			Tenant: e.Tenant, Session: e.Session, Segment: e.Segment, ID: e.ID, TurnID: e.TurnID, Number: e.Sent, Body: bytes.Clone(body),
		}
	}
	return messages, nil
}

// Whole puts one StateExport together; see [Messages]. A *[VersionError] says that a newer program wrote it.
func Whole(ctx context.Context, tx store.Tx, e event.Export) (StateExport, error) {
	if e.Body == "" {
		return StateExport{}, fmt.Errorf("export %s was sent and is no longer kept: %w", e.ID, event.ErrNotFound)
	}
	o, err := outboxedFields.Decode(e.Body)
	if err != nil {
		if newer := fromNewer(e.Body); newer != nil {
			return StateExport{}, fmt.Errorf("export %s of %s: %w", e.ID, e.Session, newer)
		}
		return StateExport{}, fmt.Errorf("export %s: %w", e.ID, err)
	}
	whole := o.export.StateExport
	whole.ExportID, whole.TurnID, whole.Tenant, whole.Session = e.ID, e.TurnID, e.Tenant, e.Session
	// A target that was put off and written since changes how the exchange ended.
	whole.Status, whole.Timestamp = State(e.Status), e.At
	if err := o.say(ctx, tx, e, &whole); err != nil {
		return StateExport{}, fmt.Errorf("export %s: %w", e.ID, err)
	}
	if err := o.remember(ctx, tx, e, &whole); err != nil {
		return StateExport{}, fmt.Errorf("export %s: %w", e.ID, err)
	}
	return whole, nil
}

// say fills in what was said.
func (o *outboxed) say(ctx context.Context, tx store.Tx, e event.Export, whole *StateExport) error {
	if slices.Contains(o.inline, string(History)) {
		return nil
	}
	turns, err := turnsOf(ctx, tx, e, slices.Concat(o.input, o.reply))
	if err != nil {
		return err
	}
	input, reply := said(turns, o.input, whole), said(turns, o.reply, whole)
	whole.Turn.UserInput, whole.Conversation.UserInput = input, input
	whole.Turn.AssistantResponse, whole.Conversation.AssistantResponse = reply, reply
	return nil
}

// said is the text of turns, each on lines of its own.
func said(turns []turn.Stored, seqs []int64, whole *StateExport) string {
	lines := make([]string, 0, len(seqs))
	for _, seq := range seqs {
		i := slices.IndexFunc(turns, func(t turn.Stored) bool { return t.Seq == seq })
		if i < 0 || turns[i].Gone() {
			whole.Missing = append(whole.Missing, fmt.Sprintf("turn %d", seq))
			continue
		}
		switch c := turns[i].Content.(type) {
		case turn.Text:
			lines = append(lines, c.Text)
		case turn.Speech:
			lines = append(lines, c.Transcript)
		}
	}
	return strings.Join(lines, "\n")
}

// turnsOf reads turns of the export's session: mostly from the segment that the session writes to, and
// where the exchange was opened before a fork, from an inherited one.
func turnsOf(ctx context.Context, tx store.Tx, e event.Export, seqs []int64) ([]turn.Stored, error) {
	places := make([]turn.Place, len(seqs))
	for i, seq := range seqs {
		places[i] = turn.Place{Segment: e.Segment, Seq: seq}
	}
	turns, err := tx.Log().TurnsAt(ctx, e.Tenant, places)
	if err != nil || len(turns) == len(places) {
		return turns, err
	}
	info, err := tx.Log().Session(ctx, turn.Key{Tenant: e.Tenant, Session: e.Session})
	if err != nil {
		return nil, err
	}
	for i, seq := range seqs {
		for _, span := range info.Spans(seq) {
			if span.To == seq {
				places[i].Segment = span.Segment
			}
		}
	}
	return tx.Log().TurnsAt(ctx, e.Tenant, places)
}

// remember fills in what was remembered.
func (o *outboxed) remember(ctx context.Context, tx store.Tx, e event.Export, whole *StateExport) error {
	if len(o.items) == 0 {
		return nil
	}
	rows, err := tx.Memory().ItemsByID(ctx, e.Tenant, o.items)
	if err != nil {
		return err
	}
	whole.Episodes = make([]memory.Episode, 0, len(rows))
	for _, id := range o.items {
		i := slices.IndexFunc(rows, func(r memory.Row) bool { return r.ID == id })
		if i < 0 {
			whole.Missing = append(whole.Missing, "item "+id)
			continue
		}
		item, _, err := memory.FromRow(rows[i])
		if err != nil {
			return err
		}
		whole.Episodes = append(whole.Episodes, item)
	}
	return nil
}
