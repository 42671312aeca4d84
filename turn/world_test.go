package turn_test

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

var noon = time.Date(2024, 2, 29, 12, 0, 0, 123456000, time.UTC)

// tester is what both a test and a property can do.
type tester interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// book is a log in memory.
type book struct {
	store *mem.Store
	key   turn.Key
	ids   uint64
}

func newBook(t tester) *book {
	b := &book{store: mem.New(mem.Config{}), key: turn.Key{Tenant: "default", Session: "book"}}
	b.update(t, func(tx store.Tx) error {
		_, err := tx.Log().InsertSession(t.Context(), turn.SessionInfo{Key: b.key, Status: turn.Active, CreatedAt: noon, LastActivity: noon})
		return err
	})
	return b
}

func (b *book) update(t tester, fn func(store.Tx) error) {
	t.Helper()
	if err := b.store.Update(t.Context(), fn); err != nil {
		t.Fatalf("update: %v", err)
	}
}

// append writes drafts, which need no ID, a millisecond apart.
func (b *book) append(t tester, drafts ...turn.Draft) (turns []turn.Turn) {
	t.Helper()
	for _, d := range drafts {
		b.ids++
		d.ID = turngen.ID(b.ids)
		sealed, err := d.Seal(limits(t))
		if err != nil {
			t.Fatalf("seal %+v: %v", d, err)
		}
		b.update(t, func(tx store.Tx) error {
			more, err := turn.Append(t.Context(), tx.Log(), b.key, noon.Add(time.Duration(b.ids)*time.Millisecond), sealed)
			turns = append(turns, more...)
			return err
		})
	}
	return turns
}

// read gives fn the rows and the session as they are now.
func (b *book) read(t tester, fn func(turn.Rows, turn.SessionInfo) error) {
	t.Helper()
	err := b.store.View(t.Context(), func(tx store.Tx) error {
		info, err := tx.Log().Session(t.Context(), b.key)
		if err != nil {
			return err
		}
		return fn(tx.Log(), info)
	})
	if err != nil {
		t.Fatalf("view: %v", err)
	}
}

func (b *book) history(t tester, o turn.HistoryOptions) (turns []turn.Turn) {
	t.Helper()
	b.read(t, func(rows turn.Rows, info turn.SessionInfo) (err error) {
		turns, err = turn.History(t.Context(), rows, info, o)
		return err
	})
	return turns
}

func (b *book) query(t tester, q turn.Query) (page turn.Page) {
	t.Helper()
	search, err := q.Compile()
	if err != nil {
		t.Fatalf("compile %+v: %v", q, err)
	}
	b.read(t, func(rows turn.Rows, info turn.SessionInfo) (err error) {
		page, err = search.Run(t.Context(), rows, info)
		return err
	})
	return page
}

func limits(t tester) turn.Limits {
	t.Helper()
	l, err := turn.Limits{}.WithDefaults()
	if err != nil {
		t.Fatalf("limits: %v", err)
	}
	return l
}

func said(role turn.Role, text string) turn.Draft {
	return turn.Draft{Role: role, Content: turn.Text{Text: text}}
}

// same fails the test where got is not want. Nil and empty turns are the same.
func same(t tester, what string, got, want any) {
	t.Helper()
	none := cmp.FilterValues(func(a, b []turn.Turn) bool { return len(a)+len(b) == 0 }, cmp.Ignore())
	if diff := cmp.Diff(want, got, none); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// refused fails the test where err does not name the field, the problem and what to do.
func refused(t tester, what string, err error, field, problem string) {
	t.Helper()
	var bad *turn.FieldError
	switch {
	case !errors.As(err, &bad):
		t.Errorf("%s: got error %v, want one that names %s", what, err, field)
	case bad.Name != field || !strings.Contains(bad.Problem, problem) || bad.Fix == "":
		t.Errorf("%s: got %q about %s and to %q; want something about %s, %q", what, bad.Problem, bad.Name, bad.Fix, field, problem)
	}
}
