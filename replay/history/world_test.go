package history_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/replay/history"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

var noon = time.Date(2026, 2, 28, 12, 0, 0, 123456000, time.UTC)

// tester is what tests, fuzz targets and properties have in common.
type tester interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// world is a session in memory.
type world struct {
	tester
	store *mem.Store
	key   turn.Key
	turns []turn.Turn
	ids   uint64 // where the ids that it gives begin
}

func newWorld(t tester) *world {
	w := &world{tester: t, store: mem.New(mem.Config{}), key: turn.Key{Tenant: "default", Session: "trip"}}
	w.update(func(tx store.Tx) error {
		_, err := tx.Log().InsertSession(t.Context(), turn.SessionInfo{Key: w.key, Status: turn.Active, CreatedAt: noon, LastActivity: noon})
		return err
	})
	return w
}

func (w *world) update(fn func(store.Tx) error) {
	w.Helper()
	if err := w.store.Update(w.Context(), fn); err != nil {
		w.Fatalf("update: %v", err)
	}
}

// take appends entries as an engine would: what passes here is legal in a log.
func (w *world) take(e history.Entry) error {
	w.Helper()
	n := len(w.turns) + 1
	if e.ID == "" {
		e.ID = turngen.ID(w.ids + uint64(n))
	}
	if e.At.IsZero() {
		e.At = noon.Add(time.Duration(n) * time.Second)
	}
	limits, err := turn.Limits{}.WithDefaults()
	if err != nil {
		return err
	}
	sealed, err := e.Seal(limits)
	if err != nil {
		w.Fatalf("%s: draft %+v is refused: %v", e.Place, e.Draft, err)
	}
	w.update(func(tx store.Tx) error {
		more, err := turn.Append(w.Context(), tx.Log(), w.key, e.At, sealed)
		w.turns = append(w.turns, more...)
		return err
	})
	return nil
}

func (w *world) say(drafts ...turn.Draft) {
	w.Helper()
	for _, d := range drafts {
		if err := w.take(history.Entry{Draft: d}); err != nil {
			w.Fatalf("say: %v", err)
		}
	}
}

func (w *world) blob(ctx context.Context, sha256 string) (b turn.Blob, err error) {
	err = w.store.View(ctx, func(tx store.Tx) error {
		b, err = tx.Log().Blob(ctx, w.key.Tenant, sha256)
		return err
	})
	return b, err
}

func (w *world) all() iter.Seq2[turn.Turn, error] { return each(w.turns) }

func each(turns []turn.Turn) iter.Seq2[turn.Turn, error] {
	return func(yield func(turn.Turn, error) bool) {
		for _, t := range turns {
			if !yield(t, nil) {
				return
			}
		}
	}
}

func (w *world) export(f history.Format, h history.Header) (string, history.Report) {
	w.Helper()
	var b bytes.Buffer
	report, err := history.Export(w.Context(), &b, f, h, w.all(), w.blob)
	if err != nil {
		w.Fatalf("export %s: %v", f, err)
	}
	return b.String(), report
}

// newReader is a world that gives ids which no input has.
func newReader(t tester) *world {
	w := newWorld(t)
	w.ids = 1 << 40
	return w
}

// read imports a text into a new world, and fails where that cannot be done.
func read(t tester, text string, f history.Format, o history.Options) (*world, history.Imported) {
	t.Helper()
	w := newReader(t)
	got, err := history.Import(t.Context(), strings.NewReader(text), f, o, w.take)
	if err != nil {
		t.Fatalf("import: %v", err)
	}
	if got.Report.Turns != len(w.turns) {
		t.Errorf("%d turns reported, %d handed out", got.Report.Turns, len(w.turns))
	}
	return w, got
}

// refusal is the error of an import, and fails where there is none.
func refusal(t tester, text string, f history.Format, o history.Options) error {
	t.Helper()
	_, err := history.Import(t.Context(), strings.NewReader(text), f, o, newWorld(t).take)
	if err == nil {
		t.Fatalf("%.100q was accepted", text)
	}
	return err
}

// transcript is a line a turn: its unit and message, if any, its role and form, and its content.
func (w *world) transcript() []string {
	var lines []string
	for _, t := range w.turns {
		line := fmt.Sprintf("%s/%s", t.Role, t.Form)
		if t.Unit != 0 {
			line += fmt.Sprintf(" unit=%d", t.Unit)
		}
		if t.MessageID != "" {
			line += " message=" + t.MessageID
		}
		content := t.Content
		if image, ok := content.(turn.Image); ok {
			stored, err := w.blob(w.Context(), image.SHA256)
			if err != nil {
				w.Fatalf("blob: %v", err)
			}
			image.Blob = turn.Blob{Data: stored.Data}
			content = image
		}
		lines = append(lines, line+" "+string(turn.AppendContent(nil, content)))
	}
	return lines
}

func kinds(r history.Report) []string {
	var kinds []string
	for _, l := range r.Losses {
		kinds = append(kinds, fmt.Sprintf("%s: %d at %s", l.Kind, l.Count, l.First))
	}
	slices.Sort(kinds)
	return kinds
}
