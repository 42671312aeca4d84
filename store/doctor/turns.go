package doctor

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/turn"
)

func (e *examination) turn(f fields) {
	e.report.Turns++
	if e.progress != nil {
		e.progress(e.report.Turns)
	}
	s, ok := e.owner(f)
	if !ok {
		return
	}
	seq := f.int("seq")
	if seq != s.lastSeq+1 {
		e.wrong(f.table, s, "turn %d follows turn %d", seq, s.lastSeq)
	}
	s.lastSeq = max(s.lastSeq, seq)
	id := f.text("turn_id")
	if !ids.Valid(id) {
		e.wrong(f.table, s, "turn %d: id %q is not a ULID", seq, id)
	}
	e.turnIDs.add(turnPlace(s, id))
	role, form := turn.Role(f.text("role")), turn.Form(f.text("form"))
	content, err := turn.DecodeContent(role, form, f.text("content"))
	if err != nil {
		e.wrong(f.table, s, "turn %d: %v", seq, err)
		return
	}
	if string(turn.AppendContent(nil, content)) != f.text("content") {
		e.wrong(f.table, s, "turn %d: content is not in the form it was written in", seq)
	}
	if meta := f.text("meta"); meta != "" {
		if _, err := turn.DecodeMeta(meta); err != nil {
			e.wrong(f.table, s, "turn %d: %v", seq, err)
		}
	}
	e.kind(f, s, seq, role, form)
	if _, gone := content.(turn.Forgotten); gone {
		e.tombstone(f, s, seq)
		return
	}
	e.unit(f, s, seq, content)
	if b, ok := turn.BlobOf(content); ok {
		e.refs[blobRef{blobKey{s.key.Tenant, b.SHA256}, s.number, seq}] = false
	}
}

func (e *examination) kind(f fields, s *segment, seq int64, role turn.Role, form turn.Form) {
	from, to := f.int("covers_from"), f.int("covers_to")
	switch kind := turn.Kind(f.text("kind")); kind {
	case "":
		if from != 0 || to != 0 {
			e.wrong(f.table, s, "turn %d covers turns and is no summary", seq)
		}
	case turn.KindSummary:
		if role != turn.System || form != turn.FormText || from < 1 || to < from || to >= seq {
			e.wrong(f.table, s, "turn %d: a summary by %s as %s of turns %d–%d", seq, role, form, from, to)
		}
	default:
		e.wrong(f.table, s, "turn %d: %q is not a kind", seq, kind)
	}
}

// tombstone looks at what is left of a turn that was forgotten.
func (e *examination) tombstone(f fields, s *segment, seq int64) {
	s.forgotten = append(s.forgotten, seq)
	if f.value("idempotency_key") != nil || f.value("meta") != nil {
		e.wrong(f.table, s, "turn %d was forgotten, and its key or what is known about it was not; forget it again", seq)
	}
	switch unit := f.int("unit_seq"); {
	case unit == 0 || unit == seq:
	case !s.forgot(turn.Range{From: unit, To: unit}):
		e.wrong(f.table, s, "turn %d was forgotten, and turn %d, whose unit it is in, was not; forget it again", seq, unit)
	}
}

// forgot reports whether a turn of the range was forgotten.
func (s *segment) forgot(r turn.Range) bool {
	i, _ := slices.BinarySearch(s.forgotten, r.From)
	return i < len(s.forgotten) && s.forgotten[i] <= r.To
}

// unit follows calls and results as they were written.
func (e *examination) unit(f fields, s *segment, seq int64, content turn.Content) {
	want := int64(0)
	switch c := content.(type) {
	case turn.Text:
		for _, call := range c.ToolCalls {
			want = seq
			if open, taken := s.open[call.ID]; taken {
				e.wrong(f.table, s, "turn %d: call %q of turn %d is still open", seq, call.ID, open.unit)
			}
			s.open[call.ID] = openCall{name: call.Name, unit: seq}
		}
	case turn.Result:
		open, ok := s.open[c.CallID]
		if !ok {
			e.wrong(f.table, s, "turn %d is the result of call %q, which is not open", seq, c.CallID)
			return
		}
		want = open.unit
		delete(s.open, c.CallID)
	}
	if got := f.int("unit_seq"); got != want {
		e.wrong(f.table, s, "turn %d is in unit %d, by its content in %d", seq, got, want)
	}
}

// openCall confirms a call that the turns left open.
func (e *examination) openCall(f fields) {
	s, ok := e.owner(f)
	if !ok {
		return
	}
	id := f.text("call_id")
	want, ok := s.open[id]
	if !ok || want.unit != f.int("unit_seq") || want.name != f.text("name") {
		e.wrong(f.table, s, "call %q is listed as open, the turns say otherwise", id)
		return
	}
	delete(s.open, id)
}

func (e *examination) blob(f fields) {
	e.report.Blobs++
	data, ok := f.value("data").([]byte)
	key := blobKey{f.text("tenant"), f.text("sha256")}
	sum := sha256.Sum256(data)
	if !ok || hex.EncodeToString(sum[:]) != key.sha256 || int64(len(data)) != f.int("size") {
		e.find(Finding{Table: f.table, Tenant: key.tenant, Problem: "the bytes under " + key.sha256 + " are not those of that hash"})
	}
	e.blobs[key] = true
}

func (e *examination) blobRef(f fields) {
	s, ok := e.owner(f)
	if !ok {
		return
	}
	ref := blobRef{blobKey{f.text("tenant"), f.text("sha256")}, f.int("segment"), f.int("seq")}
	if _, ok := e.refs[ref]; !ok {
		e.wrong(f.table, s, "turn %d does not refer to bytes %s", ref.seq, ref.sha256)
		return
	}
	e.refs[ref] = true
}

func (e *examination) revision(f fields) {
	s, ok := e.owner(f)
	if !ok {
		return
	}
	number, after := f.int("number"), f.int("after_seq")
	if _, err := dialogue.DecodeState(f.text("state")); err != nil {
		e.wrong(f.table, s, "revision %d: %v", number, err)
	}
	switch r := s.revision; {
	case after > s.head:
		e.wrong(f.table, s, "revision %d comes after turn %d of %d", number, after, s.head)
	case r.seen && (number != r.number+1 || after < r.afterSeq):
		e.wrong(f.table, s, "revision %d after turn %d follows revision %d after turn %d", number, after, r.number, r.afterSeq)
	case !r.seen && s.parent == "" && (number != 0 || after != 0):
		e.wrong(f.table, s, "the first revision is %d, after turn %d", number, after)
	}
	s.revision.seen, s.revision.number, s.revision.afterSeq = true, number, after
}

func (e *examination) flow(f fields) {
	s, ok := e.owner(f)
	if !ok {
		return
	}
	column := "seq"
	if f.table == "completed_flows" {
		column = "after_seq"
	}
	if seq := f.int(column); seq < 0 || seq > s.head {
		e.wrong(f.table, s, "flow %s points at turn %d of %d", f.text("flow_id"), seq, s.head)
	}
}
