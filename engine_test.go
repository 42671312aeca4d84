package turnstone_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// open opens an engine that recovers what was left when it is asked to, and not by itself every few seconds: a test that
// leaves something would depend on its own speed.
func open(t *testing.T, st store.Store, config turnstone.Config) *turnstone.Engine {
	t.Helper()
	eng, err := turnstone.Open(context.WithValue(t.Context(), byItself{}, true), patient{st}, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	return eng
}

// byItself marks what an engine does in the background.
type byItself struct{}

// patient is a store that shows no exchange that was left to what is done in the background.
type patient struct{ store.Store }

type (
	patientTx   struct{ store.Tx }
	patientRows struct{ turn.Rows }
)

func (s patient) View(ctx context.Context, fn func(store.Tx) error) error {
	if ctx.Value(byItself{}) == nil {
		return s.Store.View(ctx, fn)
	}
	return s.Store.View(ctx, func(tx store.Tx) error { return fn(patientTx{tx}) })
}

func (t patientTx) Log() turn.Rows { return patientRows{t.Tx.Log()} }

func (patientRows) LeftExchanges(context.Context, turn.Key, time.Time, int) ([]turn.Key, error) {
	return nil, nil
}

func session(t *testing.T, eng *turnstone.Engine, id string) *turnstone.Session {
	t.Helper()
	s, err := eng.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func say(t *testing.T, s *turnstone.Session, role turn.Role, text string) turn.Turn {
	t.Helper()
	turns, err := s.Append(t.Context(), turn.Draft{Role: role, Content: turn.Text{Text: text}})
	if err != nil {
		t.Fatal(err)
	}
	return turns[0]
}

func texts(turns []turn.Turn) string {
	var parts []string
	for _, t := range turns {
		parts = append(parts, t.Content.Searchable())
	}
	return strings.Join(parts, "|")
}

func TestConfigIsCheckedOnce(t *testing.T) {
	for name, config := range map[string]turnstone.Config{
		"tenant":  {Tenant: "no/slash"},
		"limits":  {Limits: turn.Limits{Text: -1}},
		"idle":    {IdleAfter: -1},
		"grace":   {BlobGrace: -1},
		"windows": {Windows: -1},
	} {
		_, err := turnstone.Open(t.Context(), mem.New(mem.Config{}), config)
		var bad *turn.FieldError
		if !errors.As(err, &bad) {
			t.Errorf("%s: error %v, want a field error", name, err)
		}
	}
}

func TestSessionIsMadeOnceAndFoundAgain(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	if _, err := eng.Find(t.Context(), "alice"); !errors.Is(err, turn.ErrNotFound) {
		t.Fatalf("find before: %v, want ErrNotFound", err)
	}
	first := session(t, eng, "alice")
	say(t, first, turn.User, "hello")
	again := session(t, eng, "alice")
	info, err := again.Info(t.Context())
	if err != nil || info.Head != 1 {
		t.Fatalf("second handle sees head %d, %v; want 1", info.Head, err)
	}
	unnamed, err := eng.Create(t.Context(), turn.SessionInfo{})
	if err != nil || len(unnamed.ID()) != 26 {
		t.Fatalf("session without a name: %q, %v; want a ULID", unnamed.ID(), err)
	}
	if _, err := eng.Create(t.Context(), turn.SessionInfo{Key: turn.Key{Session: "alice"}}); !errors.Is(err, turn.ErrExists) {
		t.Fatalf("second create: %v, want ErrExists", err)
	}
}

func TestDescribeChangesOnlyWhatIsGiven(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s, err := eng.Create(t.Context(), turn.SessionInfo{User: "ann", Title: "Plans"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Describe(t.Context(), turn.SessionInfo{Title: "Better plans", Model: "llama3.2"}); err != nil {
		t.Fatal(err)
	}
	info, err := s.Info(t.Context())
	if err != nil || info.User != "ann" || info.Title != "Better plans" || info.Model != "llama3.2" {
		t.Fatalf("described as %+v, %v", info, err)
	}
	if err := s.Describe(t.Context(), turn.SessionInfo{User: strings.Repeat("x", 300)}); err == nil {
		t.Fatal("a user of 300 bytes was taken")
	}
}

func TestAppendIsAllOrNothing(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s := session(t, eng, "a")
	_, err := s.Append(t.Context(),
		turn.Draft{Role: turn.User, Content: turn.Text{Text: "kept?"}},
		turn.Draft{Role: turn.System, Content: turn.Result{Name: "f", CallID: "none", Status: turn.CallOK}})
	if err == nil {
		t.Fatal("a result without a call was taken")
	}
	if info, err := s.Info(t.Context()); err != nil || info.Head != 0 {
		t.Fatalf("head %d, %v after a refused append, want 0", info.Head, err)
	}
	window, err := s.Window(t.Context())
	if err != nil || len(window) != 0 {
		t.Fatalf("window %v, %v after a refused append, want none", window, err)
	}
}

func TestLimitsAreTheConfigs(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{Limits: turn.Limits{Text: 4}})
	s := session(t, eng, "a")
	say(t, s, turn.User, "four")
	_, err := s.Append(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "fiver"}})
	var bad *turn.FieldError
	if !errors.As(err, &bad) || !strings.Contains(err.Error(), "at most 4") {
		t.Fatalf("five bytes: %v, want a field error that names the bound", err)
	}
}

func TestBelieveWritesNothingWhenNothingChanged(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s := session(t, eng, "a")
	rev, err := s.Believe(t.Context(), func(*dialogue.State) error { return nil })
	if err != nil || rev.Number != 0 {
		t.Fatalf("revision %d, %v; want 0", rev.Number, err)
	}
	refused := errors.New("no")
	if _, err := s.Believe(t.Context(), func(st *dialogue.State) error {
		if _, _, err := st.StackOn("f", "f", dialogue.Options{}); err != nil {
			return err
		}
		return refused
	}); !errors.Is(err, refused) {
		t.Fatalf("error %v, want the change's own", err)
	}
	now, err := s.State(t.Context(), turnstone.Head)
	if err != nil || len(now.State.Stack) != 0 {
		t.Fatalf("stack %v, %v after a refused change; want none", now.State.Stack, err)
	}
	if _, err := s.State(t.Context(), 7); !errors.Is(err, turn.ErrNotFound) {
		t.Fatalf("state at a turn to come: %v, want ErrNotFound", err)
	}
}

func TestBlobsAreSweptOnlyWhenNothingRefersToThem(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{BlobGrace: 1})
	s := session(t, eng, "a")
	turns, err := s.Append(t.Context(), turn.Draft{Role: turn.User, Content: turn.Image{MediaType: "image/png", Blob: turn.Blob{Data: []byte("pixels")}}})
	if err != nil {
		t.Fatal(err)
	}
	ref, _ := turn.BlobOf(turns[0].Content)
	if n, err := eng.SweepBlobs(t.Context()); n != 0 || err != nil {
		t.Fatalf("swept %d, %v; want none, a turn refers to it", n, err)
	}
	b, err := eng.Blob(t.Context(), ref.SHA256)
	if err != nil || string(b.Data) != "pixels" {
		t.Fatalf("blob %q, %v", b.Data, err)
	}
	other, err := eng.ForTenant("other")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Blob(t.Context(), ref.SHA256); !errors.Is(err, turn.ErrNotFound) {
		t.Fatalf("another tenant's blob: %v, want ErrNotFound", err)
	}
}
