package commit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
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
	// sums are those of the exchange that was given.
	sums []string
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
	record.List("sums", func(o *outboxed) *[]string { return &o.sums }, word),
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
	Into: func(w *wireExport, v strictjson.Raw) error {
		err := exportFields.DecodeInto(w, string(v))
		if err != nil || w.Version != SchemaVersion {
			// Asked only now, since nearly all are of this version and each is read for every daemon.
			return cmp.Or(checkVersion(string(v)), err)
		}
		return nil
	},
}

// outbox makes the outbox row's body of what was written; appended are the seqs of the turns that the log gained. When that was
// stands in the row itself, so that the body can be made beforehand.
func (r *run) outbox(w *writing, appended []int64) string {
	o := outboxed{sums: r.sums, export: wireExport{Version: SchemaVersion, StateExport: r.export}}
	e := &o.export.StateExport
	e.ExportID, e.TurnID, e.Tenant, e.Session, e.Status = "", "", "", "", ""
	e.Cortex, e.Scratch = w.place.cortex, w.place.scratch
	o.flawed = len(r.problems) > 0 || len(w.place.refused) > 0
	// The list may be the caller's own.
	e.Metadata.Warnings = slices.Clip(e.Metadata.Warnings)
	for i, refused := range w.place.refused {
		if i == MaxMessages {
			e.Metadata.Warnings = append(e.Metadata.Warnings, fmt.Sprintf("%d more changes were refused", len(w.place.refused)-i))
			break
		}
		e.Metadata.Warnings = append(e.Metadata.Warnings, storableText(refused.What+": "+refused.Reason))
	}
	for _, d := range w.deferred {
		o.inline = append(o.inline, d.Target)
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
