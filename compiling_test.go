package turnstone_test

import (
	"context"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// viewed knows how many views are open that read the log, as nothing in the background does.
type viewed struct {
	store.Store
	open atomic.Int64
}

func (v *viewed) View(ctx context.Context, fn func(store.Tx) error) error {
	return v.Store.View(ctx, func(tx store.Tx) error {
		view := &openView{Tx: tx, viewed: v}
		defer view.close()
		return fn(view)
	})
}

type openView struct {
	store.Tx
	viewed *viewed
	open   bool
}

func (v *openView) Log() turn.Rows {
	if !v.open {
		v.open = true
		v.viewed.open.Add(1)
	}
	return v.Tx.Log()
}

func (v *openView) close() {
	if v.open {
		v.viewed.open.Add(-1)
	}
}

// overheard is a session whose summaries can be seen being made.
type overheard struct {
	*turnstone.Session
	eng   *turnstone.Engine
	st    *viewed
	heard func() // called when summaries are being made, nil for nobody
}

func newOverheard(t *testing.T) *overheard {
	t.Helper()
	o := &overheard{st: &viewed{Store: mem.New(mem.Config{})}}
	o.eng = open(t, o.st, turnstone.Config{Clock: func() time.Time {
		// Others ask for the time too, some of them in the background.
		if strings.Contains(string(debug.Stack()), "(*Manager).Extract(") && o.heard != nil {
			heard := o.heard
			o.heard = nil // what it does itself is not to be heard
			heard()
			o.heard = heard
		}
		return time.Now()
	}})
	o.Session = session(t, o.eng, "s")
	return o
}

// TestSummariesAreMadeOutsideOfTransactions: whoever writes meanwhile does not wait for them.
func TestSummariesAreMadeOutsideOfTransactions(t *testing.T) {
	for name, tt := range map[string]struct {
		exchanges int
		do        func(*overheard) error
	}{
		"prompt":             {12, func(o *overheard) error { _, err := o.Prompt(t.Context(), small); return err }},
		"prompt, far behind": {600, func(o *overheard) error { _, err := o.Prompt(t.Context(), small); return err }},
		"status":             {12, func(o *overheard) error { _, err := o.Status(t.Context(), small); return err }},
		"prompt at a turn":   {13, func(o *overheard) error { _, _, err := o.PromptAt(t.Context(), 25, small); return err }},
		"compress":           {8, func(o *overheard) error { _, err := o.Compress(t.Context(), small); return err }},
		"restore":            {40, func(o *overheard) error { _, err := o.Restore(t.Context(), "now", small); return err }},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOverheard(t)
			converseTo(t, o.Session, 0, tt.exchanges)
			if _, err := o.Snapshot(t.Context(), "now"); err != nil {
				t.Fatal(err)
			}
			made, inside := 0, 0
			o.heard = func() {
				made++
				if o.st.open.Load() > 0 {
					inside++
				}
			}
			before := eventsOf(t, o.eng, o.Session, event.Compressed)
			if err := tt.do(o); err != nil {
				t.Fatal(err)
			}
			o.heard = nil
			if made == 0 || inside > 0 {
				t.Errorf("summaries were made %d times, %d of them inside of a transaction", made, inside)
			}
			if told := eventsOf(t, o.eng, o.Session, event.Compressed); len(told) == len(before) && !strings.Contains("status, prompt at a turn", name) {
				t.Error("no pass was made")
			}
		})
	}
}

// TestAWriterWhoNeverRestsDoesNotHoldUpAPass appends whenever a summary is being made: the pass is planned for one
// turn of the session and stays so.
func TestAWriterWhoNeverRestsDoesNotHoldUpAPass(t *testing.T) {
	o := newOverheard(t)
	converseTo(t, o.Session, 0, 12)
	n, made := 12, 0
	o.heard = func() {
		made++
		if n < 16 && o.st.open.Load() == 0 {
			converse(t, o.Session, n)
			n++
		}
	}
	p := compiled(t, o.Session, small)
	o.heard = nil
	legal(t, p, n)
	// Each is heard twice: it has an id and a time.
	if told := eventsOf(t, o.eng, o.Session, event.Compressed); n < 13 || len(told) == 0 || int64(len(told)) != p.Passes || made > 2*len(told) {
		t.Errorf("%d exchanges, %d passes, %d of them announced, summaries heard %d times", n, p.Passes, len(told), made)
	}
}
