package turnstone_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/recall"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/doctor"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// between runs something before each update of an importer, and fails all updates from one of them on, as after a kill.
type between struct {
	store.Store
	updates atomic.Int64
	do      func(update int64)
	dies    int64
}

var errDied = errors.New("the program died")

func (b *between) Update(ctx context.Context, fn func(store.Tx) error) error {
	n := b.updates.Add(1)
	if b.dies > 0 && n >= b.dies {
		return errDied
	}
	if b.do != nil {
		b.do(n)
	}
	return b.Store.Update(ctx, fn)
}

// onEach runs a test on every store, with a clock that can be moved.
func onEach(t *testing.T, test func(t *testing.T, st store.Store, sleep func(time.Duration))) {
	var slept atomic.Int64
	clock := func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }
	sleep := func(d time.Duration) { slept.Add(int64(d)) }
	opens := map[string]func(*testing.T) (store.Store, error){
		"mem": func(*testing.T) (store.Store, error) { return mem.New(mem.Config{Clock: clock}), nil },
		"sqlite": func(t *testing.T) (store.Store, error) {
			return sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), sqlite.Config{Clock: clock})
		},
		"postgres": func(t *testing.T) (store.Store, error) {
			return postgres.Open(t.Context(), pgstore.URL(t), postgres.Config{Clock: clock})
		},
	}
	for name, open := range opens {
		t.Run(name, func(t *testing.T) {
			st, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			test(t, st, sleep)
		})
	}
}

// quokkas is a conversation of many turns in which a word stands.
func quokkas(turns int) string {
	return strings.Repeat(`{"role":"user","content":"quokka"}`+"\n", turns)
}

// unseen reports what is to be seen of a session that is being imported.
func unseen(t *testing.T, eng *turnstone.Engine, st store.Store, name string) {
	t.Helper()
	ctx := t.Context()
	if _, err := eng.Find(ctx, name); !errors.Is(err, turn.ErrNotFound) {
		t.Errorf("it is found: %v", err)
	}
	list, err := eng.Sessions(ctx, turn.SessionFilter{})
	if err != nil {
		t.Error(err)
	}
	for _, s := range list {
		if s.Session == name || s.Importing() {
			t.Errorf("%s is in the list", s.Session)
		}
	}
	asking, err := eng.Session(ctx, "asking")
	if err != nil {
		t.Fatal(err)
	}
	hits, err := asking.Recall(ctx, "quokka", turnstone.RecallOptions{Scope: recall.OfTenant})
	if err != nil || len(hits) > 0 && name == "long" {
		t.Errorf("%d hits, %v", len(hits), err)
	}
	_, err = doctor.Examine(ctx, st, func(f doctor.Finding) { t.Errorf("doctor: %v", f) }, nil)
	if err != nil {
		t.Error(err)
	}
}

// Who writes meanwhile waits for one piece of an import, however long that is, and nothing of it is seen before its end.
func TestOthersWriteBetweenThePiecesOfAnImport(t *testing.T) { writeBetween(t, 8*replay.PieceRows) }

// TestTortureOthersWriteBetweenThePiecesOfAnImport does so with as many turns as a server takes.
func TestTortureOthersWriteBetweenThePiecesOfAnImport(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	writeBetween(t, 100_000)
}

func writeBetween(t *testing.T, turns int) {
	onEach(t, func(t *testing.T, st store.Store, _ func(time.Duration)) {
		other := open(t, st, turnstone.Config{Tenant: "other", SweepEvery: time.Hour})
		mine, err := other.ForTenant("mine")
		if err != nil {
			t.Fatal(err)
		}
		chat, err := other.Session(t.Context(), "chat")
		if err != nil {
			t.Fatal(err)
		}
		appended, wanted := 0, "long"
		slow := &between{Store: st}
		slow.do = func(int64) {
			if _, err := chat.Append(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "hello"}}); err != nil {
				t.Errorf("append: %v", err)
			}
			if appended++; appended == 5 {
				unseen(t, mine, st, wanted)
			}
		}
		importer, err := turnstone.Open(t.Context(), notClosed{slow}, turnstone.Config{Tenant: "mine", SweepEvery: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		made, _, err := importer.ImportHistory(t.Context(), source(quokkas(turns)), turnstone.ImportOptions{Session: turn.SessionInfo{Key: turn.Key{Session: "long"}}})
		if err != nil {
			t.Fatal(err)
		}
		if pieces := turns / replay.PieceRows; appended < pieces {
			t.Errorf("%d were appended between %d pieces", appended, pieces)
		}
		info, err := made.Info(t.Context())
		if err != nil || info.Head != int64(turns) {
			t.Errorf("%+v, %v", info, err)
		}
		var bundle bytes.Buffer
		if _, err := made.WriteBundle(t.Context(), &bundle, replay.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		appended, wanted = 0, "copy"
		from := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(bundle.Bytes())), nil }
		copied, err := importer.ImportBundle(t.Context(), from, replay.ImportOptions{As: "copy"})
		if err != nil {
			t.Fatal(err)
		}
		if info, err := copied.Info(t.Context()); err != nil || info.Head != int64(turns) || appended < turns/replay.PieceRows {
			t.Errorf("%+v, %d appended, %v", info, appended, err)
		}
		if err := importer.Close(); err != nil {
			t.Error(err)
		}
		if _, err := doctor.Examine(t.Context(), st, func(f doctor.Finding) { t.Errorf("doctor: %v", f) }, nil); err != nil {
			t.Error(err)
		}
	})
}

// notClosed is a store that several engines are opened on.
type notClosed struct{ store.Store }

func (notClosed) Close() error { return nil }

// What a program that died leaves of an import is seen by nobody, and swept an hour after its lease has run out.
func TestWhatIsLeftOfAnImportIsSwept(t *testing.T) {
	onEach(t, func(t *testing.T, st store.Store, sleep func(time.Duration)) {
		eng := open(t, st, turnstone.Config{SweepEvery: time.Hour})
		if _, err := eng.Session(t.Context(), "asking"); err != nil {
			t.Fatal(err)
		}
		before := rowsOf(t, st)
		for dies := int64(2); dies < 6; dies++ {
			dying, err := turnstone.Open(t.Context(), notClosed{&between{Store: st, dies: dies}}, turnstone.Config{SweepEvery: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = dying.ImportHistory(t.Context(), source(quokkas(5*replay.PieceRows)), turnstone.ImportOptions{Session: turn.SessionInfo{Key: turn.Key{Session: "long"}}})
			if !errors.Is(err, errDied) {
				t.Fatal(err)
			}
			_ = dying.Close()
			unseen(t, eng, st, "long")
			if swept, err := eng.Sweep(t.Context()); err != nil || swept.Imports != 0 {
				t.Errorf("while the lease holds: %+v, %v", swept, err)
			}
			sleep(turn.LeaseTime + time.Hour + time.Second)
			if swept, err := eng.Sweep(t.Context()); err != nil || swept.Imports != 1 {
				t.Errorf("%+v, %v", swept, err)
			}
			if after := rowsOf(t, st); after != before {
				t.Errorf("left are\n%s\nthere were\n%s", after, before)
			}
		}
		if _, _, err := eng.ImportHistory(t.Context(), source(quokkas(2*replay.PieceRows)), turnstone.ImportOptions{Session: turn.SessionInfo{Key: turn.Key{Session: "long"}}}); err != nil {
			t.Error(err)
		}
	})
}

// Between two pieces an import may take longer than its lease holds, as where much is examined before the last.
func TestASlowImportIsNotSwept(t *testing.T) {
	onEach(t, func(t *testing.T, st store.Store, sleep func(time.Duration)) {
		eng := open(t, st, turnstone.Config{SweepEvery: time.Hour})
		slow, err := turnstone.Open(t.Context(), notClosed{&between{Store: st, do: func(int64) {
			sleep(turn.LeaseTime + time.Minute)
			if swept, err := eng.Sweep(t.Context()); err != nil || swept.Imports != 0 {
				t.Errorf("%+v, %v", swept, err)
			}
		}}}, turnstone.Config{SweepEvery: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = slow.ImportHistory(t.Context(), source(quokkas(3*replay.PieceRows)), turnstone.ImportOptions{})
		if err := errors.Join(err, slow.Close()); err != nil {
			t.Error(err)
		}
	})
}

// An import that fails leaves nothing, also where it came in pieces.
func TestAnImportThatFailsLeavesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, st store.Store, _ func(time.Duration)) {
		eng := open(t, st, turnstone.Config{SweepEvery: time.Hour})
		before := rowsOf(t, st)
		readings := 0
		changing := func() (io.ReadCloser, error) {
			readings++
			return io.NopCloser(strings.NewReader(quokkas(5*replay.PieceRows - readings))), nil
		}
		if _, _, err := eng.ImportHistory(t.Context(), changing, turnstone.ImportOptions{}); err == nil || !strings.Contains(err.Error(), "changed while it was read") {
			t.Error(err)
		}
		if after := rowsOf(t, st); after != before {
			t.Errorf("left are\n%s\nthere were\n%s", after, before)
		}
	})
}

// rowsOf counts the rows of each table.
func rowsOf(t *testing.T, st store.Store) string {
	t.Helper()
	counts := map[string]int{}
	if err := st.Dump(t.Context(), func(r store.Row) error { counts[r.Table]++; return nil }); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(counts)
}

// Forgetting names no session that is being imported, and says that one is under way.
func TestForgetWhileACopyIsImported(t *testing.T) {
	st := mem.New(mem.Config{})
	eng := open(t, st, turnstone.Config{SweepEvery: time.Hour})
	home, _, err := eng.ImportHistory(t.Context(), source(quokkas(3*replay.PieceRows)), turnstone.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var bundle bytes.Buffer
	if _, err := home.WriteBundle(t.Context(), &bundle, replay.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	slow, met := &between{Store: st}, false
	importer, err := turnstone.Open(t.Context(), notClosed{slow}, turnstone.Config{SweepEvery: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	slow.do = func(int64) {
		r, err := home.Forget(t.Context(), turnstone.Target{Seqs: []int64{1}, Preview: true})
		if err != nil || len(r.Sessions) != 1 {
			t.Errorf("a preview names %q, %v", r.Sessions, err)
		}
		if r.Turns == 1 {
			return
		}
		_, err = home.Forget(t.Context(), turnstone.Target{Seqs: []int64{1}})
		if met = errors.Is(err, turnstone.ErrBusy) && strings.Contains(err.Error(), "an import is under way"); !met {
			t.Error(err)
		}
	}
	from := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(bundle.Bytes())), nil }
	if _, err := importer.ImportBundle(t.Context(), from, replay.ImportOptions{As: "copy"}); err != nil || !met {
		t.Errorf("met %v, %v", met, err)
	}
	if err := importer.Close(); err != nil {
		t.Error(err)
	}
}
