package trace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// AppendJSON appends the trace as one JSON object on one line. Times inside are microseconds since it
// began.
func (t *TurnTrace) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"started":"`...)
	dst = t.Started.UTC().AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, '"')
	for _, m := range [...]struct{ name, value string }{
		{"turn_id", t.TurnID}, {"session_id", t.Session}, {"export_id", t.ExportID}, {"status", t.Status},
	} {
		dst = appendMember(dst, m.name, m.value)
	}
	dst = appendElsewhere(dst, t.Elsewhere)
	dst = append(dst, `,"spans":[`...)
	for i, s := range t.Spans {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"start_us":`...)
		dst = strconv.AppendInt(dst, s.Start.Microseconds(), 10)
		dst = append(dst, `,"length_us":`...)
		dst = strconv.AppendInt(dst, s.Length.Microseconds(), 10)
		dst = appendMember(dst, "phase", s.Phase)
		dst = append(appendMember(dst, "error", s.Error), '}')
	}
	dst = append(dst, `],"entries":[`...)
	for i, e := range t.Entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = e.appendJSON(dst)
	}
	return append(dst, end...)
}

// end is what follows the last entry.
const end = `]}`

func (e *Entry) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"at_us":`...)
	dst = strconv.AppendInt(dst, e.At.Microseconds(), 10)
	dst = appendMember(dst, "kind", string(e.Kind))
	dst = appendMember(dst, "phase", e.Phase)
	return append(appendMember(dst, "text", e.Text), '}')
}

// Continue returns what AppendJSON wrote with one more entry, which happened at that time: what reading and
// writing all of it again would come to. What another clock has before the trace began stands where it began. ok is false
// for anything else than AppendJSON wrote.
func Continue(body string, at time.Time, kind Kind, text string) (longer string, ok bool) {
	rest, ok := strings.CutPrefix(body, `{"started":"`)
	stamp, _, _ := strings.Cut(rest, `"`)
	started, err := time.Parse(time.RFC3339Nano, stamp)
	head, whole := strings.CutSuffix(body, end)
	if !ok || err != nil || !whole {
		return "", false
	}
	e := Entry{At: max(at.Sub(started), 0), Kind: kind, Text: text}
	dst := append(make([]byte, 0, len(body)+len(text)+64), head...)
	if !strings.HasSuffix(head, "[") {
		dst = append(dst, ',')
	}
	return string(append(e.appendJSON(dst), end...)), true
}

func appendElsewhere(dst []byte, others []Exchange) []byte {
	if len(others) == 0 {
		return dst
	}
	dst = append(dst, `,"elsewhere":[`...)
	for i, x := range others {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strictjson.AppendString(append(dst, `{"session_id":`...), x.Session)
		dst = append(appendMember(dst, "export_id", x.ExportID), '}')
	}
	return append(dst, ']')
}

func appendMember(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	return strictjson.AppendString(dst, value)
}

type wireTrace struct {
	Started time.Time `json:"started"`
	TurnID  string    `json:"turn_id"`
	Session string    `json:"session_id"`
	Export  string    `json:"export_id"`
	Status  string    `json:"status"`
	Others  []struct {
		Session string `json:"session_id"`
		Export  string `json:"export_id"`
	} `json:"elsewhere"`
	Spans []struct {
		Start  int64  `json:"start_us"`
		Length int64  `json:"length_us"`
		Phase  string `json:"phase"`
		Error  string `json:"error"`
	} `json:"spans"`
	Entries []struct {
		At    int64  `json:"at_us"`
		Kind  Kind   `json:"kind"`
		Phase string `json:"phase"`
		Text  string `json:"text"`
	} `json:"entries"`
}

// Decode reads what AppendJSON wrote. Fields that a later version added are passed over.
func Decode(body string) (TurnTrace, error) {
	var w wireTrace
	if err := json.Unmarshal([]byte(body), &w); err != nil {
		return TurnTrace{}, fmt.Errorf("trace: %w", err)
	}
	t := TurnTrace{TurnID: w.TurnID, Session: w.Session, ExportID: w.Export, Status: w.Status, Started: w.Started}
	for _, x := range w.Others {
		t.Elsewhere = append(t.Elsewhere, Exchange{Session: x.Session, ExportID: x.Export})
	}
	for _, s := range w.Spans {
		t.Spans = append(t.Spans, Span{Phase: s.Phase, Start: micros(s.Start), Length: micros(s.Length), Error: s.Error})
	}
	for _, e := range w.Entries {
		t.Entries = append(t.Entries, Entry{At: micros(e.At), Kind: e.Kind, Phase: e.Phase, Text: e.Text})
	}
	return t, nil
}

func micros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

// Join makes one trace of its parts: spans and entries by time, the status of the latest part that has
// one. Of several exchanges it is that of the one that began last: the end of another may have been stored after it. Parts that begin at
// different times are laid on the clock of the first.
func Join(parts ...TurnTrace) TurnTrace {
	began := make(map[string]time.Time)
	for _, p := range parts {
		if at, known := began[p.ExportID]; !known || p.Started.Before(at) {
			began[p.ExportID] = p.Started
		}
	}
	var whole TurnTrace
	for i, p := range parts {
		if i == 0 || p.Started.Before(whole.Started) {
			shift(&whole, whole.Started.Sub(p.Started))
			whole.Started = p.Started
		}
		shift(&p, p.Started.Sub(whole.Started))
		whole.TurnID, whole.Session = p.TurnID, p.Session
		if p.ExportID != "" && (whole.ExportID == "" || !began[p.ExportID].Before(began[whole.ExportID])) {
			whole.ExportID = p.ExportID
		}
		if p.Status != "" && (p.ExportID == "" || p.ExportID == whole.ExportID) {
			whole.Status = p.Status
		}
		whole.Spans = append(whole.Spans, p.Spans...)
		whole.Entries = append(whole.Entries, p.Entries...)
	}
	slices.SortStableFunc(whole.Spans, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
	slices.SortStableFunc(whole.Entries, func(a, b Entry) int { return cmp.Compare(a.At, b.At) })
	return whole
}

// shift moves everything by d, in slices of its own.
func shift(t *TurnTrace, d time.Duration) {
	if d == 0 {
		return
	}
	t.Spans, t.Entries = slices.Clone(t.Spans), slices.Clone(t.Entries)
	for i := range t.Spans {
		t.Spans[i].Start += d
	}
	for i := range t.Entries {
		t.Entries[i].At += d
	}
}
