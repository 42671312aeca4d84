package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// all returns every turn of a session in the order of the log.
func (w *world) all(k turn.Key) []turn.Turn {
	w.Helper()
	var all []turn.Turn
	w.view(func(tx store.Tx) error {
		info, err := tx.Log().Session(w.ctx, k)
		if err != nil {
			return err
		}
		for _, s := range info.Spans(info.Head) {
			part, err := tx.Log().Scan(w.ctx, k.Tenant, s, turn.RowFilter{}, 10_000)
			if err != nil {
				return err
			}
			all = append(all, part...)
		}
		return nil
	})
	return all
}

func (w *world) openCalls(k turn.Key) (open []turn.OpenCall) {
	w.Helper()
	segment := w.info(k).Segment
	w.view(func(tx store.Tx) (err error) {
		open, err = tx.Log().OpenCalls(w.ctx, k.Tenant, segment)
		return err
	})
	return open
}

func TestImportKeepsEverything(t *testing.T) {
	there := newWorld(t, t.Context())
	trip := there.trip()
	detour := there.detour(trip)
	for _, k := range []turn.Key{trip, detour} {
		for _, compress := range []bool{false, true} {
			file, bundle := there.bundle(k, replay.WriteOptions{Compress: compress})
			here := newWorld(t, t.Context())
			got := here.imported(file, replay.ImportOptions{})

			want := there.info(k)
			want.Segment, want.Parent, want.ForkSeq, want.Inherited = got.Segment, "", 0, nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("session returned (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, here.info(k)); diff != "" {
				t.Errorf("session stored (-want +got):\n%s", diff)
			}
			turns := there.all(k)
			if k == detour {
				turns[0].IdempotencyKey = ""
			}
			if diff := cmp.Diff(turns, here.all(k)); diff != "" {
				t.Errorf("turns (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(there.openCalls(k), here.openCalls(k)); diff != "" {
				t.Errorf("open calls (-want +got):\n%s", diff)
			}
			again, second := here.bundle(k, replay.WriteOptions{Compress: compress})
			if !bytes.Equal(records(unpack(t, again)), records(unpack(t, file))) {
				t.Errorf("written again:\n%s\nfirst:\n%s", unpack(t, again), unpack(t, file))
			}
			if second.Records != bundle.Records || second.Turns != bundle.Turns {
				t.Errorf("written again: %+v, first %+v", second, bundle)
			}
		}
	}
}

func TestImportOfAForkStandsAlone(t *testing.T) {
	there := newWorld(t, t.Context())
	file := there.plain(there.detour(there.trip()))
	here := newWorld(t, t.Context())
	info := here.imported(file, replay.ImportOptions{})
	if spans := info.Spans(info.Head); len(spans) != 1 || spans[0].From != 1 || spans[0].To != 18 {
		t.Errorf("spans %v", spans)
	}
	if rows := here.dump(); slices.ContainsFunc(rows, func(r string) bool { return strings.HasPrefix(r, "spans ") }) {
		t.Errorf("inherited spans in %v", rows)
	}
}

func TestCallsGoOnWaitingInTheirOrder(t *testing.T) {
	there := newWorld(t, t.Context())
	k := there.create("busy")
	for n := range 3 {
		var calls []turn.ToolCall
		for i := range 20 {
			calls = append(calls, call(fmt.Sprint("call ", (7*i)%20, " of ", n), "look", "{}"))
		}
		there.say(k, calling(calls...))
	}
	there.say(k, result("call 0 of 1", "look", turn.CallOK, "1"))
	w := newWorld(t, t.Context())
	w.imported(there.plain(k), replay.ImportOptions{})
	if diff := cmp.Diff(there.openCalls(k), w.openCalls(k)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestImportNextToTheOriginal(t *testing.T) {
	w := newWorld(t, t.Context())
	k := w.trip()
	file := w.plain(k)
	before := w.dump()

	_, err := replay.Import(w.ctx, w.Store, opener(file), replay.ImportOptions{})
	if !errors.Is(err, turn.ErrExists) {
		t.Errorf("import over the original: %v", err)
	}
	if diff := cmp.Diff(before, w.dump()); diff != "" {
		t.Errorf("import over the original changed the store:\n%s", diff)
	}
	copied := w.imported(file, replay.ImportOptions{As: "copy"})
	if copied.Key != (turn.Key{Tenant: "acme", Session: "copy"}) {
		t.Errorf("copied to %v", copied.Key)
	}
	moved := w.imported(file, replay.ImportOptions{Tenant: "other"})
	if moved.Key != (turn.Key{Tenant: "other", Session: "trip"}) {
		t.Errorf("moved to %v", moved.Key)
	}
	for _, key := range []turn.Key{k, copied.Key, moved.Key} {
		if got := w.plain(key); !bytes.Equal(records(got), records(file)) {
			t.Errorf("%v:\n%s", key, got)
		}
	}
	var field *turn.FieldError
	if _, err := replay.Import(w.ctx, w.Store, opener(file), replay.ImportOptions{As: "no name"}); !errors.As(err, &field) {
		t.Errorf("import under a bad id: %v", err)
	}
}

func TestAnImportedSessionGoesOn(t *testing.T) {
	there := newWorld(t, t.Context())
	k := there.trip()
	w := newWorld(t, t.Context())
	w.imported(there.plain(k), replay.ImportOptions{})
	w.ids = 1000

	// The same request again is the turn that is there.
	again := text(turn.User, "Hello! I want to go to \"Lisbon\" \\ Lisboa 🏳️‍🌈\nin\tMay.\u2028")
	again.IdempotencyKey = "request-1"
	if got := w.say(k, again); got[0].Seq != 1 {
		t.Errorf("idempotency key led to turn %d", got[0].Seq)
	}
	// A call that waited can be answered; one that was answered cannot.
	if got := w.say(k, result("c3", "pay", turn.CallOK, "{}")); got[0].Seq != 20 || got[0].Unit != 18 {
		t.Errorf("result became turn %d of unit %d", got[0].Seq, got[0].Unit)
	}
	w.update(func(tx store.Tx) error {
		closed, err := turn.CloseOpenCalls(w.ctx, tx.Log(), k, tx.Now(), func() string { return "0100000000000000000000ZZZZ" })
		if len(closed) != 1 || closed[0].Content.(turn.Result).CallID != "c4" {
			t.Errorf("closed %v", closed)
		}
		return err
	})
	// Bytes that turns refer to stay, and can be referred to again.
	picture := turn.Draft{Role: turn.User, Content: turn.Image{MediaType: "image/png", Blob: turn.Blob{
		SHA256: "9690f54778edd96c8a994cce127c2d7609a3f77c258c39dba54870c55d10c1ab", Size: 15}}}
	w.update(func(tx store.Tx) error {
		loose, err := tx.Log().LooseBlobs(w.ctx, tx.Now().AddDate(1, 0, 0), 9)
		if len(loose) != 0 {
			t.Errorf("nothing refers to the blobs %v", loose)
		}
		return err
	})
	w.say(k, picture)
	w.believe(k, func(s *dialogue.State) error {
		if f, ok := s.Active(); !ok || f.ID != "flow-3" {
			return fmt.Errorf("active flow is %v", f)
		}
		_, err := s.Complete("")
		return err
	})
	w.bookmark(k, "later", 22)
	fork := w.fork(k, 22, "fork")
	w.say(fork, text(turn.User, "and so on"))
	if _, err := verify(w.plain(fork)); err != nil {
		t.Errorf("bundle of a fork of an import: %v", err)
	}
}

func TestAFailedImportLeavesNothingBehind(t *testing.T) {
	there := newWorld(t, t.Context())
	file := there.plain(there.detour(there.trip()))
	w := newWorld(t, t.Context())
	w.trip()
	broken := &faulty{Store: w.Store}
	writes := w.importedAtLast(broken, file)
	// One session, 18 turns, 3 of them with blobs, 6 revisions, flows at 3 turns, 2 of them
	// completed, a bookmark and an open call.
	if writes != 1+18+3+6+3+2+1+1 {
		t.Errorf("%d writes", writes)
	}
	if broken.pointers != 5 {
		t.Errorf("%d pointers written, want 5", broken.pointers)
	}
	if got := w.plain(key("detour")); !bytes.Equal(records(got), records(file)) {
		t.Errorf("imported at last:\n%s", got)
	}
}

// Past what verifying remembers, the store's keys find what stands twice.
func TestAConflictInTheStoreIsTheBundlesFault(t *testing.T) {
	there := newWorld(t, t.Context())
	file := there.plain(there.trip())
	w := newWorld(t, t.Context())
	_, err := replay.Import(w.ctx, &faulty{Store: w.Store, failAt: 4, with: turn.ErrConflict}, opener(file), replay.ImportOptions{})
	if !errors.Is(err, replay.ErrDamaged) || !errors.Is(err, turn.ErrConflict) || !strings.Contains(err.Error(), "turn 3: its turn_id or idempotency_key stands twice") {
		t.Errorf("got %v", err)
	}
}

func TestAnUpdateThatIsRepeatedImportsOnce(t *testing.T) {
	there := newWorld(t, t.Context())
	k := there.trip()
	file, _ := there.bundle(k, replay.WriteOptions{Compress: true})
	w := newWorld(t, t.Context())
	info, err := replay.Import(w.ctx, hesitant{w.Store}, opener(file), replay.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w.info(k), info); diff != "" {
		t.Errorf("session (-stored +returned):\n%s", diff)
	}
	if !bytes.Equal(records(w.plain(k)), records(unpack(t, file))) {
		t.Error("imported otherwise than written")
	}
}

func TestAFileThatChangesIsRefused(t *testing.T) {
	there := newWorld(t, t.Context())
	k := there.trip()
	first := there.plain(k)
	there.say(k, text(turn.User, "one more"))
	second := there.plain(k)
	opened := 0
	open := func() (io.ReadCloser, error) {
		opened++
		return io.NopCloser(bytes.NewReader([][]byte{first, second}[opened-1])), nil
	}
	w := newWorld(t, t.Context())
	_, err := replay.Import(w.ctx, w.Store, open, replay.ImportOptions{})
	if !errors.Is(err, replay.ErrDamaged) || !strings.Contains(err.Error(), "it changed while it was imported") {
		t.Errorf("got %v", err)
	}
	if rows := w.dump(); len(rows) != 0 {
		t.Errorf("left %v", rows)
	}
}

// tracked is a file that knows whether it was closed.
type tracked struct {
	io.Reader
	closed *int
	err    error
}

func (f tracked) Close() error { *f.closed++; return f.err }

func TestImportClosesWhatItOpens(t *testing.T) {
	there := newWorld(t, t.Context())
	file := there.plain(there.trip())
	for _, tt := range []struct {
		name string
		file []byte
		fail int
	}{{"good", file, 0}, {"damaged", file[:100], 0}, {"cut off", file[:2000], 0}, {"store fails", file, 5}} {
		opened, closed := 0, 0
		open := func() (io.ReadCloser, error) {
			opened++
			return tracked{bytes.NewReader(tt.file), &closed, nil}, nil
		}
		w := newWorld(t, t.Context())
		_, err := replay.Import(w.ctx, &faulty{Store: w.Store, failAt: tt.fail}, open, replay.ImportOptions{})
		if (err == nil) != (tt.name == "good") {
			t.Errorf("%s: %v", tt.name, err)
		}
		if opened == 0 || opened != closed {
			t.Errorf("%s: opened %d times, closed %d times", tt.name, opened, closed)
		}
	}
	gone, closed := errors.New("gone"), 0
	w := newWorld(t, t.Context())
	if _, err := replay.Import(w.ctx, w.Store, func() (io.ReadCloser, error) { return nil, gone }, replay.ImportOptions{}); !errors.Is(err, gone) {
		t.Errorf("a file that cannot be opened: %v", err)
	}
	open := func() (io.ReadCloser, error) { return tracked{bytes.NewReader(file), &closed, gone}, nil }
	if _, err := replay.Import(w.ctx, w.Store, open, replay.ImportOptions{}); !errors.Is(err, gone) {
		t.Errorf("a file that cannot be closed: %v", err)
	}
}

func TestLimitsHoldForImports(t *testing.T) {
	there := newWorld(t, t.Context())
	file := there.plain(there.trip())
	for _, tt := range []struct {
		limits turn.Limits
		want   string
	}{
		{turn.Limits{Text: 20}, "bundle: line 2: turn 1: content: "},
		{turn.Limits{Blob: 14}, "bundle: line 6: blob 9690f54778edd96c8a994cce127c2d7609a3f77c258c39dba54870c55d10c1ab: 15 bytes, at most 14; raise the limit"},
		{turn.Limits{Calls: 1}, "bundle: line 12: turn 9: content.tool_calls: 2 calls, at most 1"},
		{turn.Limits{Calls: -1}, "limits: negative limit"},
	} {
		w := newWorld(t, t.Context())
		_, err := replay.Import(w.ctx, w.Store, opener(file), replay.ImportOptions{Limits: tt.limits})
		if err == nil || errors.Is(err, replay.ErrDamaged) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: got %v, want …%s…", tt.limits, err, tt.want)
		}
		if _, verr := replay.Verify(w.ctx, bytes.NewReader(file), replay.VerifyOptions{Limits: tt.limits}); "import: "+fmt.Sprint(verr) != fmt.Sprint(err) {
			t.Errorf("%+v: verify says %v, import %v", tt.limits, verr, err)
		}
	}
}

func TestImportEndsWithItsContext(t *testing.T) {
	there := newWorld(t, t.Context())
	file := there.plain(there.trip())
	total := int64(0)
	for stop := range 60 {
		ctx, cancel := context.WithCancel(t.Context())
		w := newWorld(t, t.Context())
		reads := 0
		open := func() (io.ReadCloser, error) {
			return io.NopCloser(readerFunc(func(r io.Reader) func([]byte) (int, error) {
				return func(p []byte) (int, error) {
					if reads++; reads > stop {
						cancel()
					}
					return r.Read(p[:min(len(p), 512)])
				}
			}(bytes.NewReader(file)))), nil
		}
		_, err := replay.Import(ctx, w.Store, open, replay.ImportOptions{})
		cancel()
		if err == nil {
			total++
			continue
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped at read %d: %v", stop, err)
		}
		if rows := w.dump(); len(rows) != 0 {
			t.Fatalf("stopped at read %d: left %d rows", stop, len(rows))
		}
	}
	if total == 0 || total == 60 {
		t.Errorf("%d of 60 imports got through", total)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestProgressCountsBothReadings(t *testing.T) {
	there := newWorld(t, t.Context())
	k := there.create("long")
	var drafts []turn.Draft
	for i := range 1200 {
		drafts = append(drafts, text(turn.User, fmt.Sprint("number ", i)))
	}
	there.say(k, drafts...)
	var written, verified, imported []int64
	note := func(to *[]int64, total int64) func(int64, int64) {
		return func(done, of int64) {
			if of != total {
				t.Errorf("of %d, want %d", of, total)
			}
			*to = append(*to, done)
		}
	}
	file, _ := there.bundle(k, replay.WriteOptions{Progress: note(&written, 1200)})
	if _, err := replay.Verify(t.Context(), bytes.NewReader(file), replay.VerifyOptions{Progress: note(&verified, 1200)}); err != nil {
		t.Fatal(err)
	}
	st := mem.New(mem.Config{})
	if _, err := replay.Import(t.Context(), st, opener(file), replay.ImportOptions{Progress: note(&imported, 2400)}); err != nil {
		t.Fatal(err)
	}
	if want := []int64{512, 1024, 1200}; !slices.Equal(written, want) || !slices.Equal(verified, want) {
		t.Errorf("written %v, verified %v, want %v", written, verified, want)
	}
	if want := []int64{512, 1024, 1536, 2048, 2400}; !slices.Equal(imported, want) {
		t.Errorf("imported %v, want %v", imported, want)
	}
	imported = nil
	again := hesitant{mem.New(mem.Config{})}
	if _, err := replay.Import(t.Context(), again, opener(file), replay.ImportOptions{Progress: note(&imported, 2400)}); err != nil {
		t.Fatal(err)
	}
	if want := []int64{512, 1024, 1536, 2048, 2400}; !slices.Equal(imported, want) {
		t.Errorf("imported by updates that were repeated: %v, want %v", imported, want)
	}
}
