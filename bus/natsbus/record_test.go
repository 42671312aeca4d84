package natsbus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/store"
)

// told is a message that says what daemons did, and what was answered.
type told struct {
	jetstream.Msg
	data       []byte
	deliveries uint64
	answer     string
}

func (m *told) Metadata() (*jetstream.MsgMetadata, error) {
	return &jetstream.MsgMetadata{NumDelivered: m.deliveries}, nil
}
func (m *told) Subject() string                  { return "turnstone.done.py" }
func (m *told) Data() []byte                     { return m.data }
func (m *told) Ack() error                       { m.answer = "ack"; return nil }
func (m *told) NakWithDelay(time.Duration) error { m.answer = "again"; return nil }
func (m *told) TermWithReason(string) error      { m.answer = "never"; return nil }

// tell delivers completions until they do not come again, or a hundred times.
func tell(b *Bus, data []byte) *told {
	m := &told{data: data, answer: "again"}
	for m.answer == "again" && m.deliveries < 100 {
		m.deliveries++
		_ = b.recordOne(context.Background(), m) // for the log
	}
	return m
}

// picky is a recorder that refuses some exports.
type picky struct {
	errs     map[string]error
	done     []string
	text     []string
	segments []int64
}

func (p *picky) Completed(_ context.Context, completions []bus.Completion) error {
	for _, c := range completions {
		if err := p.errs[c.ExportID]; err != nil {
			return err
		}
	}
	for _, c := range completions {
		p.done, p.text, p.segments = append(p.done, c.ExportID), append(p.text, c.Error), append(p.segments, c.Segment)
	}
	return nil
}

const (
	first  = "01JAAAAAAAAAAAAAAAAAAAAAAA"
	second = "01JBBBBBBBBBBBBBBBBBBBBBBB"
	third  = "01JCCCCCCCCCCCCCCCCCCCCCCC"
)

func completions(t *testing.T, change func(c []bus.Completion)) []byte {
	t.Helper()
	var list []bus.Completion
	for _, id := range []string{first, second, third} {
		list = append(list, bus.Completion{Daemon: "py", Tenant: "t", Session: "s", ExportID: id, TurnID: id, Status: bus.OK})
	}
	if change != nil {
		change(list)
	}
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func recording(r bus.Recorder) *Bus {
	return &Bus{recorder: r, log: bus.Logger(nil), refused: make(map[uint64]int)}
}

// TestCompletionsOfOtherProgramsAreMadeFitToStore: a daemon need not be written with this library.
func TestCompletionsOfOtherProgramsAreMadeFitToStore(t *testing.T) {
	r := &picky{}
	m := tell(recording(r), completions(t, func(c []bus.Completion) {
		c[0].Error, c[0].Segment = "a\x00b", 7
		c[1].Session = "two words"
	}))
	if m.answer != "ack" || m.deliveries != 1 || !slices.Equal(r.done, []string{first, third}) || r.text[0] != "a�b" || r.segments[0] != 0 {
		t.Errorf("%s after %d deliveries, recorded %q of %v", m.answer, m.deliveries, r.text, r.done)
	}
	r = &picky{}
	m = tell(recording(r), completions(t, func(c []bus.Completion) { c[0].ExportID, c[1].TurnID, c[2].Tenant = "x", "y", "" }))
	if m.answer != "ack" || m.deliveries != 1 || len(r.done) != 0 {
		t.Errorf("where none is legal: %s after %d deliveries, %v", m.answer, m.deliveries, r.done)
	}
	r = &picky{}
	m = tell(recording(r), bytes.Replace(completions(t, nil), []byte(`"tries":0`), []byte(`"tries":"0"`), 1))
	if m.answer != "ack" || m.deliveries != 1 || !slices.Equal(r.done, []string{second, third}) {
		t.Errorf("where one is malformed: %s after %d deliveries, %v", m.answer, m.deliveries, r.done)
	}
	if m = tell(recording(r), []byte("{")); m.answer != "never" {
		t.Errorf("what is no list: %s", m.answer)
	}
}

// TestWhatCanNeverBeRecordedDoesNotComeForEver, and the others of its message are recorded.
func TestWhatCanNeverBeRecordedDoesNotComeForEver(t *testing.T) {
	r := &picky{errs: map[string]error{second: errors.New("no column takes it")}}
	m := tell(recording(r), completions(t, nil))
	if m.answer != "ack" || m.deliveries != recordTries || !slices.Equal(r.done, []string{first, third}) {
		t.Errorf("%s after %d deliveries, recorded %v", m.answer, m.deliveries, r.done)
	}
}

// TestWhatCannotBeRecordedForNowComesAgain as long as the store is away, whichever completion meets that.
func TestWhatCannotBeRecordedForNowComesAgain(t *testing.T) {
	away := fmt.Errorf("disk: %w", store.ErrFull)
	for _, errs := range []map[string]error{
		{first: away}, {first: errors.New("no column takes it"), third: away},
	} {
		if m := tell(recording(&picky{errs: errs}), completions(t, nil)); m.answer != "again" {
			t.Errorf("%v: %s after %d deliveries", errs, m.answer, m.deliveries)
		}
	}
}

// moody is a recorder that answers with its errors in turn, and then records.
type moody struct {
	errs []error
	done int
}

func (m *moody) Completed(_ context.Context, completions []bus.Completion) error {
	if len(m.errs) > 0 {
		err := m.errs[0]
		m.errs = m.errs[1:]
		return err
	}
	m.done += len(completions)
	return nil
}

// TestWhatComesWhileTheStoreIsAwayIsNotRefused: a store that was away for long may refuse something for a moment when it is back.
func TestWhatComesWhileTheStoreIsAwayIsNotRefused(t *testing.T) {
	away, refused := fmt.Errorf("x: %w", store.ErrUnavailable), errors.New("for a moment")
	errs := append(slices.Repeat([]error{away}, 3*recordTries), slices.Repeat([]error{refused}, recordTries-1)...)
	r := &moody{errs: errs}
	b := recording(r)
	if m := tell(b, completions(t, nil)); m.answer != "ack" || r.done != 3 {
		t.Errorf("%s after %d deliveries, %d recorded", m.answer, m.deliveries, r.done)
	}
	if len(b.refused) != 0 {
		t.Errorf("what is recorded is remembered: %v", b.refused)
	}
}

// flood gives the same message a hundred times.
type flood struct {
	jetstream.MessagesContext
	message *told
	given   int
}

func (f *flood) Next(...jetstream.NextOpt) (jetstream.Msg, error) {
	if f.given++; f.given > 100 {
		return nil, errEnd
	}
	return f.message, nil
}

// While the store is away all that comes meets the same: it is not asked, and the log not told, for every message that waits.
func TestAStoreThatIsAwayIsGivenTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := recording(&picky{errs: map[string]error{first: store.ErrUnavailable}})
		ctx, cancel := context.WithTimeout(t.Context(), 10*recordAgain)
		defer cancel()
		waiting := &flood{message: &told{data: completions(t, nil)}}
		if b.recordAll(ctx, waiting); waiting.given < 10 || waiting.given > 12 {
			t.Errorf("%d messages were taken within ten pauses", waiting.given)
		}
		if waiting.message.answer != "again" {
			t.Errorf("what could not be recorded was answered %q", waiting.message.answer)
		}
	})
}
