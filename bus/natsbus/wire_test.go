package natsbus_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/bus/natsbus"
	"github.com/turnstone-dev/turnstone/event"
)

// sized makes bodies as long as its map says, or cannot make them.
type sized struct {
	mu    sync.Mutex // guards all below
	sizes map[string]int
	errs  map[string]error
}

func (s *sized) Messages(_ context.Context, exports []event.Export) ([]event.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	messages := make([]event.Message, len(exports))
	for i, e := range exports {
		if err := s.errs[e.ID]; err != nil {
			return nil, err
		}
		messages[i] = event.Message{
			Tenant: e.Tenant, Session: e.Session, ID: e.ID, TurnID: e.TurnID,
			Body: []byte(strings.Repeat("x", max(s.sizes[e.ID], 1))),
		}
	}
	return messages, nil
}

func open(t *testing.T, nc *nats.Conn, bodies bus.Bodies, cfg natsbus.Config) *natsbus.Bus {
	t.Helper()
	b, err := natsbus.New(t.Context(), nc, bodies, nil, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func export(session, id string) event.Export {
	return event.Export{Tenant: "t.1", Session: session, ID: id, TurnID: "turn-" + id}
}

// listen subscribes a daemon and returns what it gets.
func listen(t *testing.T, b *natsbus.Bus, daemon string, o bus.Options) <-chan event.Message {
	t.Helper()
	got := make(chan event.Message, 100)
	_, err := b.Subscribe(t.Context(), daemon, func(_ context.Context, m event.Message) (int, error) {
		got <- m
		return 1, nil
	}, o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func next[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(2 * time.Minute):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

func publish(t *testing.T, b *natsbus.Bus, exports ...event.Export) {
	t.Helper()
	if n, err := b.Publish(t.Context(), exports); n != len(exports) || err != nil {
		t.Fatalf("published %d of %d: %v", n, len(exports), err)
	}
}

func TestWhatTravels(t *testing.T) {
	nc := connect(t, serve(t))
	b := open(t, nc, &sized{}, natsbus.Config{Stream: "OTHER", MaxAge: time.Hour, Duplicates: time.Minute})
	raw, err := nc.SubscribeSync("other.>")
	if err != nil {
		t.Fatal(err)
	}
	publish(t, b, export("a.b:c-d_e", "01"))
	msg, err := raw.NextMsg(10 * time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if msg.Subject != "other.export.t=2E1.a=2Eb=3Ac-d_e" || string(msg.Data) != "x" ||
		msg.Header.Get("Nats-Msg-Id") != "t.1/01" || msg.Header.Get("Turnstone-Export") != "01" || msg.Header.Get("Turnstone-Turn") != "turn-01" {
		t.Errorf("message %s %v %s", msg.Subject, msg.Header, msg.Data)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "OTHER")
	if err != nil {
		t.Fatal(err)
	}
	cfg := stream.CachedInfo().Config
	if cfg.MaxAge != time.Hour || cfg.Duplicates != time.Minute || cfg.Replicas != 1 || cfg.Storage != jetstream.FileStorage {
		t.Errorf("stream %+v", cfg)
	}
}

func TestNamesAreOneWordAndComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.StringMatching(`[A-Za-z0-9._:-]{1,128}`).Draw(t, "a")
		b := rapid.StringMatching(`[A-Za-z0-9._:-]{1,128}`).Draw(t, "b")
		if strings.ContainsAny(natsbus.Token(a), ".:*> ") {
			t.Fatalf("%q is not one word", natsbus.Token(a))
		}
		if (a == b) != (natsbus.Token(a) == natsbus.Token(b)) {
			t.Fatalf("%q and %q share a word", a, b)
		}
	})
}

// TestDaemonsMayHaveAnyName, also one whose word is longer than the name of a consumer may be.
func TestDaemonsMayHaveAnyName(t *testing.T) {
	b := open(t, connect(t, serve(t)), &sized{}, natsbus.Config{})
	one, other := listen(t, b, strings.Repeat(".", 128), bus.Options{}), listen(t, b, strings.Repeat(".", 127)+":", bus.Options{})
	publish(t, b, export("s", "01"))
	for _, got := range []<-chan event.Message{one, other} {
		if m := next(t, got); m.ID != "01" {
			t.Errorf("message %s", m.ID)
		}
	}
}

func TestTooLargeExportsBecomeStubs(t *testing.T) {
	b := open(t, connect(t, serve(t)), &sized{sizes: map[string]int{"02": 5 << 20, "03": 1<<20 - 1024, "04": 1<<20 - 1023}}, natsbus.Config{})
	got := listen(t, b, "indexer", bus.Options{})
	publish(t, b, export("s", "01"), export("s", "02"), export("s", "03"), export("s", "04"), export("s", "05"))
	for _, want := range []struct {
		id    string
		bytes int
		stub  bool
	}{{"01", 1, false}, {"02", 5 << 20, true}, {"03", 1<<20 - 1024, false}, {"04", 1<<20 - 1023, true}, {"05", 1, false}} {
		m := next(t, got)
		if m.ID != want.id || m.TurnID != "turn-"+want.id || !want.stub && len(m.Body) != want.bytes {
			t.Fatalf("message %s of %d bytes, want %+v", m.ID, len(m.Body), want)
		}
		if !want.stub {
			continue
		}
		var stub natsbus.Stub
		if err := json.Unmarshal(m.Body, &stub); err != nil {
			t.Fatal(err)
		}
		whole := natsbus.Stub{Tenant: "t.1", Session: "s", ExportID: want.id, TurnID: "turn-" + want.id, TooLarge: want.bytes}
		if diff := cmp.Diff(whole, stub); diff != "" {
			t.Error(diff)
		}
	}
}

// TestHeadersThatNeedTheRoomOfTheBodyCostIt: what the client refuses is treated as what the stream refuses.
func TestHeadersThatNeedTheRoomOfTheBodyCostIt(t *testing.T) {
	b := open(t, connect(t, serve(t)), &sized{sizes: map[string]int{"01": 1<<20 - 1024}}, natsbus.Config{})
	got := listen(t, b, "indexer", bus.Options{})
	long := export("s", "01")
	long.TurnID = strings.Repeat("t", 1024)
	publish(t, b, long)
	var stub natsbus.Stub
	if err := json.Unmarshal(next(t, got).Body, &stub); err != nil || stub.TooLarge != 1<<20-1024 {
		t.Errorf("%+v, %v", stub, err)
	}
}

func TestUnmadeExportsBecomeStubsAfterFourTries(t *testing.T) {
	bodies := &sized{errs: map[string]error{"02": errors.New("its turns are gone")}}
	b := open(t, connect(t, serve(t)), bodies, natsbus.Config{})
	got := listen(t, b, "indexer", bus.Options{})
	exports := []event.Export{export("s", "01"), export("s", "02"), export("s", "03")}
	for try := 1; try <= 3; try++ {
		n, err := b.Publish(t.Context(), exports)
		if err == nil || !strings.Contains(err.Error(), "body of export 02") {
			t.Fatalf("try %d: %d, %v", try, n, err)
		}
		exports = exports[n:]
	}
	publish(t, b, exports...)
	if m := next(t, got); m.ID != "01" {
		t.Errorf("first %s", m.ID)
	}
	var stub natsbus.Stub
	if m := next(t, got); m.ID != "02" || json.Unmarshal(m.Body, &stub) != nil || stub.Unmade != "its turns are gone" {
		t.Errorf("second %s %s", m.ID, m.Body)
	}
	if m := next(t, got); m.ID != "03" {
		t.Errorf("third %s", m.ID)
	}
}

// TestAStubTellsThatABodyCannotBeMade whatever the reason is and whatever the stream takes: it is not one that is too large.
func TestAStubTellsThatABodyCannotBeMade(t *testing.T) {
	nc := connect(t, serve(t))
	bodies := &sized{errs: map[string]error{"01": errors.New(strings.Repeat("ü", 2<<20)), "02": errors.New(strings.Repeat("w", 2000))}}
	b := open(t, nc, bodies, natsbus.Config{})
	got := listen(t, b, "indexer", bus.Options{})
	told := func(id string) string {
		t.Helper()
		for try := 1; ; try++ {
			if n, err := b.Publish(t.Context(), []event.Export{export("s", id)}); n == 1 {
				break
			} else if try == 4 {
				t.Fatal(err)
			}
		}
		var stub natsbus.Stub
		if m := next(t, got); m.ID != id || json.Unmarshal(m.Body, &stub) != nil || stub.TooLarge != 0 {
			t.Errorf("message %s %s", m.ID, m.Body)
		}
		return stub.Unmade
	}
	if reason := told("01"); len(reason) > 1024 || !strings.HasPrefix(reason, "üü") || !strings.HasSuffix(reason, "ü…") {
		t.Errorf("the reason is %q", reason)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	limit(t, js, 800)
	if reason := told("02"); !strings.Contains(reason, "see the log") {
		t.Errorf("the reason is %q", reason)
	}
}

func TestADaemonNeedsNothingButNATS(t *testing.T) {
	s := serve(t)
	daemon := open(t, connect(t, s), nil, natsbus.Config{})
	engine := open(t, connect(t, s), &sized{}, natsbus.Config{})
	got := listen(t, daemon, "indexer", bus.Options{})
	publish(t, engine, export("s", "01"))
	if m := next(t, got); m.ID != "01" || m.Tenant != "t.1" || m.Session != "s" || string(m.Body) != "x" {
		t.Errorf("message %+v", m)
	}
	if n, err := daemon.Publish(t.Context(), []event.Export{export("s", "02")}); n != 0 || err == nil {
		t.Errorf("published %d without bodies: %v", n, err)
	}
	// One that only subscribes leaves the stream's configuration alone.
	open(t, connect(t, s), nil, natsbus.Config{MaxAge: time.Minute})
	js, err := jetstream.New(connect(t, s))
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "TURNSTONE")
	if err != nil {
		t.Fatal(err)
	}
	if age := stream.CachedInfo().Config.MaxAge; age != 7*24*time.Hour {
		t.Errorf("messages are retained for %v", age)
	}
}

func TestDeadLettersAndCompletionsAreAnnounced(t *testing.T) {
	nc := connect(t, serve(t))
	b := open(t, nc, &sized{}, natsbus.Config{})
	dead, err := nc.SubscribeSync("turnstone.dead.mail=2Eer")
	if err != nil {
		t.Fatal(err)
	}
	done, err := nc.SubscribeSync("turnstone.done.mail=2Eer")
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Subscribe(t.Context(), "mail.er", func(context.Context, event.Message) (int, error) {
		return 0, bus.Reject(errors.New("no such mailbox"))
	}, bus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	publish(t, b, export("s", "01"))
	want := bus.Completion{
		Daemon: "mail.er", Tenant: "t.1", Session: "s", ExportID: "01", TurnID: "turn-01",
		Status: bus.Dead, Tries: 1, Error: "no such mailbox",
	}
	times := cmpopts.IgnoreFields(bus.Completion{}, "Duration", "At")
	var letter bus.Completion
	decode(t, dead, &letter)
	if diff := cmp.Diff(want, letter, times); diff != "" {
		t.Error(diff)
	}
	var completions []bus.Completion
	decode(t, done, &completions)
	if diff := cmp.Diff([]bus.Completion{want}, completions, times); diff != "" {
		t.Error(diff)
	}
}

func decode(t *testing.T, sub *nats.Subscription, v any) {
	t.Helper()
	msg, err := sub.NextMsg(2 * time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(msg.Data, v); err != nil {
		t.Fatal(err)
	}
}

func TestWithoutJetStreamThereIsNoBus(t *testing.T) {
	s, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(s.Shutdown)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := natsbus.New(ctx, connect(t, s), &sized{}, nil, natsbus.Config{}); err == nil || !strings.Contains(err.Error(), "stream TURNSTONE") {
		t.Errorf("got %v", err)
	}
}
