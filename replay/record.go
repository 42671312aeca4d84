package replay

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// Record is one line of a bundle between the first and the last. Exactly one field is set.
type Record struct {
	Blob          *turn.Blob // with Data
	Turn          *turn.Turn // Session is empty
	Revision      *dialogue.RevisionRow
	FlowTurn      *dialogue.PointerRow
	CompletedFlow *turn.CompletedFlow
	Bookmark      *turn.Bookmark
	Intention     *cortex.Row
	Observation   *scratch.Row
	MemoryItem    *MemoryItem
	Digest        *memory.DigestRow
	TracePart     *trace.Part // Segment is 0
	Material      *Material
	Settings      *Material // Text is the document
	// Checkpoint has no Doc where the store could not read it any more.
	Checkpoint *compress.Row
	Epoch      *prompt.EpochRow
	Pin        *prompt.PinRow
	Prompt     *prompt.CallRow
	Breaker    *compress.Breaker
	Snapshot   *snapshot.Row
}

// append appends the record's line without its line feed.
func (r Record) append(dst []byte) []byte {
	switch {
	case r.Blob != nil:
		dst = append(dst, `{"blob":{"sha256":`...)
		dst = strictjson.AppendString(dst, r.Blob.SHA256)
		dst = appendNumber(append(dst, `,"size":`...), r.Blob.Size)
		dst = append(dst, `,"data":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, r.Blob.Data)
		return append(dst, `"}}`...)
	case r.Turn != nil:
		dst = append(dst, `{"turn":`...)
		dst = r.Turn.AppendJSON(dst)
	case r.Revision != nil:
		dst = append(dst, `{"revision":{"number":`...)
		dst = appendNumber(dst, r.Revision.Number)
		dst = appendNumber(append(dst, `,"after_seq":`...), r.Revision.AfterSeq)
		dst = strictjson.AppendTime(append(dst, `,"at":`...), r.Revision.At)
		dst = appendRaw(dst, "state", r.Revision.State)
		dst = append(dst, '}')
	case r.FlowTurn != nil:
		dst = append(dst, `{"flow_turn":{"flow_id":`...)
		dst = strictjson.AppendString(dst, r.FlowTurn.FlowID)
		dst = appendText(dst, "turn_id", r.FlowTurn.TurnID)
		dst = appendNumber(append(dst, `,"seq":`...), r.FlowTurn.Seq)
		dst = append(dst, '}')
	case r.CompletedFlow != nil:
		dst = append(dst, `{"completed_flow":{"flow_id":`...)
		dst = strictjson.AppendString(dst, r.CompletedFlow.ID)
		dst = appendNumber(append(dst, `,"after_seq":`...), r.CompletedFlow.AfterSeq)
		dst = append(dst, '}')
	case r.Bookmark != nil:
		dst = append(dst, `{"bookmark":{"name":`...)
		dst = strictjson.AppendString(dst, r.Bookmark.Name)
		dst = appendNumber(append(dst, `,"seq":`...), r.Bookmark.Seq)
		dst = strictjson.AppendTime(append(dst, `,"at":`...), r.Bookmark.At)
		dst = append(dst, '}')
	case r.Intention != nil:
		dst = appendIntention(dst, r.Intention)
	case r.Observation != nil:
		dst = append(dst, `{"observation":`...)
		dst = append(dst, r.Observation.Doc...)
	case r.MemoryItem != nil:
		dst = appendMemoryItem(dst, r.MemoryItem)
	case r.Digest != nil:
		dst = strictjson.AppendTime(append(dst, `{"digest":{"at":`...), r.Digest.At)
		dst = append(appendRaw(dst, "doc", r.Digest.Doc), '}')
	case r.TracePart != nil:
		dst = appendTracePart(dst, r.TracePart)
	case r.Material != nil:
		dst = appendMaterial(dst, r.Material)
	case r.Settings != nil:
		dst = appendSettings(dst, r.Settings)
	case r.Checkpoint != nil:
		dst = appendCheckpoint(dst, r.Checkpoint)
	case r.Epoch != nil:
		dst = appendEpoch(dst, r.Epoch)
	case r.Pin != nil:
		dst = appendPin(dst, r.Pin)
	case r.Prompt != nil:
		dst = appendPrompt(dst, r.Prompt)
	case r.Breaker != nil:
		dst = appendBreaker(dst, r.Breaker)
	case r.Snapshot != nil:
		dst = appendSnapshot(dst, r.Snapshot)
	}
	return append(dst, '}')
}

// recordKinds are the kinds that each version of the format knows.
var recordKinds = [Version + 1]string{
	1: "blob, turn, revision, flow_turn, completed_flow, bookmark, end",
	2: "blob, turn, revision, flow_turn, completed_flow, bookmark, intention, observation, memory_item, digest, trace_part, end",
	3: "blob, turn, revision, flow_turn, completed_flow, bookmark, intention, observation, memory_item, digest, trace_part, material, settings, epoch, pin, prompt, end",
	4: "blob, turn, revision, flow_turn, completed_flow, bookmark, intention, observation, memory_item, digest, trace_part, material, settings, checkpoint, epoch, pin, prompt, breaker, snapshot, end",
}

// split takes the one member of a line apart: its name and its value.
func split(line string) (kind, value string, err error) {
	// As it is always written. Whoever decodes the value refuses what does not end where it must,
	// so that long lines need not be read one more time.
	if name, ok := strings.CutPrefix(line, `{"`); ok && strings.HasSuffix(line, "}") {
		if i := strings.IndexByte(name, '"'); i > 0 && strings.HasPrefix(name[i:], `":`) && !strings.Contains(name[:i], `\`) {
			return name[:i], name[i+2 : len(name)-1], nil
		}
	}
	n := 0
	err = strictjson.Object(line, func(name string, v strictjson.Raw) error {
		kind, value, n = name, string(v), n+1
		return nil
	})
	if err == nil && n != 1 {
		err = fmt.Errorf("%d members, where one names the kind of the record", n)
	}
	return kind, value, err
}

// decodeRecord reads the value of a record of the kind in a bundle of the version.
func decodeRecord(version int64, kind, value string) (Record, error) {
	var r Record
	var err error
	switch kind {
	case "blob":
		r.Blob, err = decodeBlob(value)
	case "turn":
		var t turn.Turn
		t, err = turn.DecodeTurn(value)
		r.Turn = &t
	case "revision":
		r.Revision, err = decodeRevision(value)
	case "flow_turn":
		r.FlowTurn, err = decodeFlowTurn(value)
	case "completed_flow":
		r.CompletedFlow, err = decodeCompletedFlow(value)
	case "bookmark":
		r.Bookmark, err = decodeBookmark(value)
	default:
		known := false
		if version > 1 {
			known, err = r.decodeCommitted(kind, value)
		}
		if version > 2 && !known {
			known, err = r.decodePrompted(kind, value)
		}
		if version > 3 && !known {
			known, err = r.decodeCompressed(kind, value)
		}
		if !known {
			return r, fmt.Errorf("%q is no kind of record; legal here: %s", kind, recordKinds[version])
		}
	}
	if err != nil {
		return Record{}, fmt.Errorf("%s: %w", kind, err)
	}
	return r, nil
}

// decodeCommitted reads the kinds that version 2 added: what turn commits write.
func (r *Record) decodeCommitted(kind, value string) (known bool, err error) {
	switch kind {
	case "intention":
		r.Intention, err = decodeIntention(value)
	case "observation":
		r.Observation, err = decodeObservation(value)
	case "memory_item":
		r.MemoryItem, err = decodeMemoryItem(value)
	case "digest":
		r.Digest, err = decodeDigest(value)
	case "trace_part":
		r.TracePart, err = decodeTracePart(value)
	default:
		return false, nil
	}
	return true, err
}

// decodePrompted reads the kinds that version 3 added: what prompts are made from.
func (r *Record) decodePrompted(kind, value string) (known bool, err error) {
	switch kind {
	case "material":
		r.Material, err = decodeMaterial(value)
	case "settings":
		r.Settings, err = decodeSettings(value)
	case "epoch":
		r.Epoch, err = decodeEpoch(value)
	case "pin":
		r.Pin, err = decodePin(value)
	case "prompt":
		r.Prompt, err = decodePrompt(value)
	default:
		return false, nil
	}
	return true, err
}

// decodeCompressed reads the kinds that version 4 added: what compression leaves.
func (r *Record) decodeCompressed(kind, value string) (known bool, err error) {
	switch kind {
	case "checkpoint":
		r.Checkpoint, err = decodeCheckpoint(value)
	case "breaker":
		r.Breaker, err = decodeBreaker(value)
	case "snapshot":
		r.Snapshot, err = decodeSnapshot(value)
	default:
		return false, nil
	}
	return true, err
}

func decodeBlob(value string) (*turn.Blob, error) {
	var b turn.Blob
	data := valueMember("data", &b.Data, func(v strictjson.Raw) ([]byte, error) {
		text, err := v.String()
		if err != nil {
			return nil, err
		}
		return base64.StdEncoding.Strict().DecodeString(text)
	})
	return &b, decodeMembers(value, textMember("sha256", &b.SHA256), intMember("size", &b.Size), data)
}

func decodeRevision(value string) (*dialogue.RevisionRow, error) {
	r := dialogue.RevisionRow{Number: -1, AfterSeq: -1}
	var state string
	err := decodeMembers(value, intMember("number", &r.Number), intMember("after_seq", &r.AfterSeq), timeMember("at", &r.At), rawMember("state", &state))
	if err != nil {
		return nil, err
	}
	if state == "" {
		return nil, missing("state")
	}
	r.State, err = normalState(state)
	return &r, err
}

// normalState returns a state's JSON as dialogue writes it.
func normalState(text string) (string, error) {
	state, err := dialogue.DecodeState(text)
	if err != nil {
		return "", fmt.Errorf("state: %w", err)
	}
	for _, flows := range [][]dialogue.Flow{state.Stack, state.SetAside} {
		for _, f := range flows {
			if f.TurnIDs != nil {
				return "", fmt.Errorf("state: flow %q has turn_ids, which stand in records of their own", f.ID)
			}
		}
	}
	return dialogue.EncodeState(state), nil
}

func decodeFlowTurn(value string) (*dialogue.PointerRow, error) {
	p := dialogue.PointerRow{Seq: -1}
	err := decodeMembers(value, textMember("flow_id", &p.FlowID), textMember("turn_id", &p.TurnID), intMember("seq", &p.Seq))
	return &p, err
}

func decodeCompletedFlow(value string) (*turn.CompletedFlow, error) {
	f := turn.CompletedFlow{AfterSeq: -1}
	return &f, decodeMembers(value, textMember("flow_id", &f.ID), intMember("after_seq", &f.AfterSeq))
}

func decodeBookmark(value string) (*turn.Bookmark, error) {
	b := turn.Bookmark{Seq: -1}
	return &b, decodeMembers(value, textMember("name", &b.Name), intMember("seq", &b.Seq), timeMember("at", &b.At))
}

// appendRaw appends a member, not the first, that is JSON already. A value may have been written over
// several lines; a line stays a line and no byte is lost.
func appendRaw(dst []byte, name, value string) []byte {
	if strings.ContainsAny(value, "\r\n") {
		return appendText(dst, name+"_text", value)
	}
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	dst = append(dst, '"', ':')
	return append(dst, value...)
}

// decodeRaw reads what appendRaw wrote, under either name.
func decodeRaw(to *string, name string, v strictjson.Raw) (err error) {
	base, text := strings.CutSuffix(name, "_text")
	if *to != "" {
		return fmt.Errorf("there is one %s, and it stands here already", base)
	}
	if *to = string(v); text {
		*to, err = v.String()
	}
	return err
}

// appendText appends a member that is not the first; an empty one is left out.
func appendText(dst []byte, name, text string) []byte {
	if text == "" {
		return dst
	}
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	dst = append(dst, '"', ':')
	return strictjson.AppendString(dst, text)
}

func appendNumber(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }
