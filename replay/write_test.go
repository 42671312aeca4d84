package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestEqualSessionsGiveEqualBytes(t *testing.T) {
	for _, compress := range []bool{false, true} {
		var files [][]byte
		for range 2 {
			w := newWorld(t, t.Context())
			file, _ := w.bundle(w.trip(), replay.WriteOptions{Compress: compress})
			files = append(files, file)
		}
		if !bytes.Equal(files[0], files[1]) {
			t.Errorf("compress %v: two files", compress)
		}
		if packed := bytes.HasPrefix(files[0], []byte("\x28\xb5\x2f\xfd")); packed != compress {
			t.Errorf("compress %v: compressed %v", compress, packed)
		}
	}
}

func TestWriteReturnsWhatVerifyFinds(t *testing.T) {
	w := newWorld(t, t.Context())
	k := w.detour(w.trip())
	for _, compress := range []bool{false, true} {
		file, written := w.bundle(k, replay.WriteOptions{Compress: compress})
		read, err := verify(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(written, read); diff != "" {
			t.Errorf("(-written +verified):\n%s", diff)
		}
		if written.Records != 34 || written.Turns != 18 || written.Session.Parent != "trip" || written.Session.ForkSeq != 14 {
			t.Errorf("bundle %+v", written)
		}
	}
}

func TestWriteOfNothing(t *testing.T) {
	w := newWorld(t, t.Context())
	err := w.View(w.ctx, func(tx store.Tx) error {
		_, err := replay.Write(w.ctx, tx, key("nobody"), io.Discard, replay.WriteOptions{})
		return err
	})
	if !errors.Is(err, turn.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

// A parent goes on after the fork, and both write at the fork point: the fork's bundle holds what
// the fork sees and nothing else.
func TestAForksBundleHoldsWhatTheForkSees(t *testing.T) {
	w := newWorld(t, t.Context())
	parent := w.create("parent")
	first := w.say(parent, text(turn.User, "one"), text(turn.Agent, "two"))
	w.believe(parent, func(s *dialogue.State) error {
		if _, _, err := s.StackOn("f", "chat", dialogue.Options{}); err != nil {
			return err
		}
		return s.Attach(first[0].ID)
	})
	child := w.fork(parent, 2, "child")
	w.believe(parent, func(s *dialogue.State) error { return s.SetStage("parent's") })
	w.say(parent, text(turn.User, "parent only"))
	w.believe(child, func(s *dialogue.State) error { return s.SetStage("child's") })
	second := w.say(child, text(turn.User, "child only"))
	// The turn that the parent's pointer names already is pointed at again, from the child's segment.
	w.believe(child, func(s *dialogue.State) error {
		return errors.Join(s.Attach(first[0].ID), s.Attach(second[0].ID))
	})
	grandchild := w.fork(child, 3, "grandchild")

	for _, k := range []turn.Key{child, grandchild} {
		file := string(w.plain(k))
		for _, want := range []string{`"text":"one"`, `"text":"child only"`, `"stage":"child's"`} {
			if !strings.Contains(file, want) {
				t.Errorf("%s: no %s in\n%s", k.Session, want, file)
			}
		}
		if strings.Contains(file, "parent only") || strings.Contains(file, "parent's") {
			t.Errorf("%s: parent's own in\n%s", k.Session, file)
		}
		if n := strings.Count(file, `"turn_id":"`+first[0].ID+`","seq"`); n != 2 {
			t.Errorf("%s: turn 1 and pointers to it stand %d times in\n%s", k.Session, n, file)
		}
		if _, err := verify([]byte(file)); err != nil {
			t.Errorf("%s: %v", k.Session, err)
		}
	}
}

func TestACompletedFlowStandsOnce(t *testing.T) {
	w := newWorld(t, t.Context())
	parent := w.create("parent")
	w.say(parent, text(turn.User, "one"))
	complete := func(k turn.Key, flows ...string) {
		info := w.info(k)
		w.update(func(tx store.Tx) error {
			var err error
			for _, f := range flows {
				err = errors.Join(err, tx.Log().InsertCompletedFlow(w.ctx, k.Tenant, info.Segment, f, info.Head))
			}
			return err
		})
	}
	complete(parent, "first", "both")
	w.say(parent, text(turn.User, "two"))
	child := w.fork(parent, 2, "child")
	w.say(child, text(turn.User, "three"))
	complete(child, "both", "last")
	var flows []string
	for line := range strings.Lines(string(w.plain(child))) {
		if strings.HasPrefix(line, `{"completed_flow"`) {
			flows = append(flows, line)
		}
	}
	want := []string{
		`{"completed_flow":{"flow_id":"first","after_seq":1}}` + "\n",
		`{"completed_flow":{"flow_id":"both","after_seq":1}}` + "\n",
		`{"completed_flow":{"flow_id":"last","after_seq":3}}` + "\n",
	}
	if diff := cmp.Diff(want, flows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// limited takes n bytes and then fails.
type limited struct{ left int }

var errNoRoom = errors.New("no room")

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.left {
		return l.left, errNoRoom
	}
	l.left -= len(p)
	return len(p), nil
}

func TestWriteSaysWhenThereIsNoRoom(t *testing.T) {
	w := newWorld(t, t.Context())
	k := w.create("large")
	for range 5 {
		w.say(k, text(turn.User, strings.Repeat("random? no. ", 10_000)))
	}
	for _, compress := range []bool{false, true} {
		file, _ := w.bundle(k, replay.WriteOptions{Compress: compress})
		for n := 0; n < len(file); n += max(len(file)/12, 1) {
			err := w.View(w.ctx, func(tx store.Tx) error {
				_, err := replay.Write(w.ctx, tx, k, &limited{n}, replay.WriteOptions{Compress: compress})
				return err
			})
			if !errors.Is(err, errNoRoom) {
				t.Fatalf("compress %v, room for %d of %d bytes: %v", compress, n, len(file), err)
			}
		}
	}
}

func TestWriteEndsWithItsContext(t *testing.T) {
	w := newWorld(t, t.Context())
	k := w.trip()
	ctx, cancel := context.WithCancel(t.Context())
	err := w.View(ctx, func(tx store.Tx) error {
		cancel()
		_, err := replay.Write(ctx, tx, k, io.Discard, replay.WriteOptions{})
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestLongSessionsAreWrittenInPages(t *testing.T) {
	w := newWorld(t, t.Context())
	k := w.create("long")
	for i := range 500 {
		size := 10
		if i%100 == 7 {
			size = 300_000
		}
		w.say(k, text(turn.User, fmt.Sprint(i, strings.Repeat("x", size))))
	}
	counting := &pages{}
	w.view(func(tx store.Tx) error {
		_, err := replay.Write(w.ctx, pagedTx{tx, counting}, k, io.Discard, replay.WriteOptions{})
		return err
	})
	if counting.longest > 128 || counting.scans < 4 || counting.scans > 40 {
		t.Errorf("%d scans, the longest of %d turns", counting.scans, counting.longest)
	}
	if _, err := verify(w.plain(k)); err != nil {
		t.Error(err)
	}
}

// pages counts how turns are read.
type pages struct{ scans, longest int }

type pagedTx struct {
	store.Tx
	*pages
}

func (t pagedTx) Log() turn.Rows { return pagedLog{t.Tx.Log(), t.pages} }

type pagedLog struct {
	turn.Rows
	*pages
}

func (l pagedLog) Scan(ctx context.Context, tenant string, s turn.Span, f turn.RowFilter, limit int) ([]turn.Turn, error) {
	page, err := l.Rows.Scan(ctx, tenant, s, f, limit)
	l.scans, l.longest = l.scans+1, max(l.longest, len(page))
	return page, err
}

func TestEncoderRefusesWhatCouldNotBeRead(t *testing.T) {
	at := time.Date(2026, 11, 14, 9, 0, 0, 0, time.UTC)
	bundle := replay.Bundle{CreatedAt: at, Session: turn.SessionInfo{
		Key: key("made"), Status: turn.Active, CreatedAt: at, LastActivity: at, Head: 1,
	}}
	good := turn.Turn{
		ID: "01000000000000000000000001", Seq: 1, Role: turn.User, Form: turn.FormText, Kind: turn.KindTurn,
		Content: turn.Text{Text: "hi"}, CreatedAt: at,
	}
	bad := good
	bad.Content = turn.Text{}

	var out bytes.Buffer
	copied := bundle
	copied.Records, copied.Turns, copied.SHA256, copied.Session.Segment = 7, 7, "another's", 7
	e, err := replay.NewEncoder(&out, copied, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Encode(replay.Record{Turn: &good}); err != nil {
		t.Fatal(err)
	}
	closed, err := e.Close()
	if err != nil {
		t.Fatal(err)
	}
	if read, err := verify(out.Bytes()); err != nil || !cmp.Equal(read, closed) {
		t.Errorf("verified %+v, %v; closed %+v", read, err, closed)
	}

	for _, tt := range []struct {
		name string
		use  func(*replay.Encoder) error
		want string
	}{
		{"bad turn", func(e *replay.Encoder) error { return e.Encode(replay.Record{Turn: &bad}) }, "turn 1: content.text: is empty; give the text that was said"},
		{"bad item", func(e *replay.Encoder) error {
			return errors.Join(e.Encode(replay.Record{Turn: &good}), e.Encode(replay.Record{MemoryItem: &replay.MemoryItem{}}))
		}, `memory_item : item.id: "" is not a ULID; use a ULID`},
		{"nothing", func(e *replay.Encoder) error { return e.Encode(replay.Record{}) }, "is empty"},
		{"too few", func(e *replay.Encoder) error { _, err := e.Close(); return err }, "the bundle has 0 turns, and its session 1"},
		{"after an error", func(e *replay.Encoder) error {
			if err := e.Encode(replay.Record{}); err == nil {
				return errors.New("no error")
			}
			return e.Encode(replay.Record{Turn: &good})
		}, "is empty"},
		{"closed after an error", func(e *replay.Encoder) error {
			if err := e.Encode(replay.Record{}); err == nil {
				return errors.New("no error")
			}
			_, err := e.Close()
			return err
		}, "is empty"},
	} {
		e, err := replay.NewEncoder(io.Discard, bundle, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := tt.use(e); err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
	bundle.Session.Status = "asleep"
	if _, err := replay.NewEncoder(io.Discard, bundle, false); err == nil {
		t.Error("a session that sleeps")
	}
}

func TestAStoreThatCannotBeReadMakesNoBundle(t *testing.T) {
	w := newWorld(t, t.Context())
	sessions := map[string]turn.Key{"detour": w.detour(w.trip()), "plan": w.plan(), "talk": w.talk(), "long": w.long()}
	for method, want := range map[string]string{
		"Scan": "bundle of detour: turns from 1: ", "TurnByKey": `bundle of detour: idempotency_key "request-1": `,
		"Blob": "bundle of detour: turn 3: blob 83e34af1", "Revisions": "bundle of detour: ", "Pointers": "bundle of detour: turns of flows: ",
		"CompletedFlows": "bundle of detour: completed flows: ", "Bookmarks": "bundle of detour: bookmarks: ",
		"Newest": "bundle of plan: goals and actions: ", "Versions": "bundle of plan: versions of action measure: ",
		"Observations": "bundle of plan: observations: ", "Items": "bundle of plan: memory items: ", "Digest": "bundle of plan: digest: ",
		"PartsOf": "bundle of plan: traces: ", "TurnsByID": "bundle of plan: turn ",
		"Epochs": "bundle of talk: epochs: ", "Material": "bundle of talk: material ", "Pins": "bundle of talk: pins: ", "Calls": "bundle of talk: prompts: ",
		"Checkpoints": "bundle of long: checkpoints: ", "Breaker": "bundle of long: breaker: ", "Snapshots": "bundle of long: snapshots: ",
	} {
		session, _, _ := strings.Cut(strings.TrimPrefix(want, "bundle of "), ":")
		k := sessions[session]
		err := w.View(w.ctx, func(tx store.Tx) error {
			_, err := replay.Write(w.ctx, unread{tx, method}, k, io.Discard, replay.WriteOptions{})
			return err
		})
		if !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s…", method, err, want)
		}
	}
}

func TestRecordsEndOnce(t *testing.T) {
	d, err := replay.NewDecoder(bytes.NewReader(golden(t, "v1-trip.bundle")), turn.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	n := int64(0)
	for range 2 {
		for _, err := range d.Records() {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
	}
	if b := d.Bundle(); n != 32 || b.Records != 32 || b.Turns != 19 || len(b.SHA256) != 64 {
		t.Errorf("%d records, bundle %+v", n, b)
	}
	// An error is the last that comes, also for who goes on.
	file := golden(t, "v1-trip.bundle")
	cut, err := replay.NewDecoder(bytes.NewReader(file[:len(file)/2]), turn.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer cut.Close()
	errs := 0
	for _, err := range cut.Records() {
		if err != nil {
			errs++
		}
		if errs > 1 {
			break
		}
	}
	if errs != 1 {
		t.Errorf("%d errors", errs)
	}
}

func TestADamagedStoreMakesNoBundle(t *testing.T) {
	w := newWorld(t, t.Context())
	k := w.create("holes")
	w.say(k, text(turn.User, "one"))
	w.update(func(tx store.Tx) error { return tx.Log().Advance(w.ctx, k, 3, tx.Now()) })
	err := w.View(w.ctx, func(tx store.Tx) error {
		_, err := replay.Write(w.ctx, tx, k, io.Discard, replay.WriteOptions{})
		return err
	})
	if !errors.Is(err, turn.ErrNotFound) || !strings.Contains(err.Error(), "bundle of holes: turn 2") {
		t.Errorf("got %v", err)
	}
	w.update(func(tx store.Tx) error {
		_, err := tx.Log().InsertSession(w.ctx, turn.SessionInfo{Key: key("odd"), Status: "asleep", CreatedAt: tx.Now(), LastActivity: tx.Now()})
		return err
	})
	err = w.View(w.ctx, func(tx store.Tx) error {
		_, err := replay.Write(w.ctx, tx, key("odd"), io.Discard, replay.WriteOptions{})
		return err
	})
	if err == nil || err.Error() != `bundle of odd: session.status: "asleep" is neither active nor ended` {
		t.Errorf("got %v", err)
	}
}
