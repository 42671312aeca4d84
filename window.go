package turnstone

import (
	"context"
	"fmt"
	"sync"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// windows keeps the recent windows of sessions in use. A window is filled by a read and then
// follows the appends of this process; the store's generation says when others wrote too.
type windows struct {
	store  store.Store
	limit  int
	trails *trails

	mu      sync.Mutex // guards entries, and every entry in it
	entries map[turn.Key]*windowEntry
}

type windowEntry struct {
	window     *turn.Window // nil while it is being filled
	head       int64        // the last turn the window knows of
	generation uint64
	pushes     uint64 // counts appends, so that a fill that one overtook is not kept
}

// maxWindow bounds the text of a window that is kept. A larger one is read each time: a few long
// pastes in many sessions must not fill the memory.
const maxWindow = 1 << 20

func newWindows(st store.Store, limit int) *windows {
	return &windows{store: st, limit: limit, trails: newTrails(st), entries: make(map[turn.Key]*windowEntry)}
}

func (w *windows) last(ctx context.Context, key turn.Key, n int) ([]turn.Turn, error) {
	generation, keep := w.store.Generation()
	if !keep {
		window, _, err := w.read(ctx, key)
		if err != nil {
			return nil, err
		}
		return window.Last(n), nil
	}
	w.mu.Lock()
	e := w.entry(key)
	if e.window != nil && e.generation == generation {
		turns := e.window.Last(n)
		w.mu.Unlock()
		return turns, nil
	}
	pushes := e.pushes
	w.mu.Unlock()
	window, head, err := w.read(ctx, key)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	// An append that went by while the window was read may be missing from it, and an entry that
	// was dropped meanwhile has not seen the appends at all.
	if w.entries[key] == e && e.pushes == pushes && window.Size() <= maxWindow {
		e.window, e.head, e.generation = window, head, generation
	}
	return window.Last(n), nil
}

// read makes a window from the store. No lock is held: an append may be waiting for this read.
func (w *windows) read(ctx context.Context, key turn.Key) (window *turn.Window, head int64, err error) {
	err = w.store.View(ctx, func(tx store.Tx) error {
		info, err := tx.Log().Session(ctx, key)
		if err != nil {
			return fmt.Errorf("session %s: %w", key.Session, err)
		}
		epoch, err := prompt.InForce(ctx, tx.Prompt(), info, info.Head)
		if err != nil {
			return err
		}
		turns, err := turn.History(ctx, tx.Log(), info, turn.HistoryOptions{Turns: turn.WindowSize, Path: epoch.Path})
		window, head = turn.NewWindow(turns), info.Head
		return err
	})
	return window, head, err
}

// push follows an append. It is called in the order of the appends.
func (w *windows) push(key turn.Key, turns []turn.Turn) {
	w.trails.push(key, turns)
	w.mu.Lock()
	defer w.mu.Unlock()
	e, ok := w.entries[key]
	if !ok {
		return
	}
	e.pushes++
	for _, t := range turns {
		switch {
		case e.window == nil:
			return
		case t.Seq <= e.head: // read by the fill already, or an idempotent repeat
		case t.Seq == e.head+1 && e.window.Push(t) && e.window.Size() <= maxWindow:
			e.head = t.Seq
		default:
			e.window = nil
		}
	}
}

// entry returns the key's entry, making room for a new one by dropping any other.
func (w *windows) entry(key turn.Key) *windowEntry {
	e, ok := w.entries[key]
	if ok {
		return e
	}
	for other := range w.entries {
		if len(w.entries) < w.limit {
			break
		}
		delete(w.entries, other)
	}
	e = &windowEntry{}
	w.entries[key] = e
	return e
}

// forget drops the key's window: it holds what was forgotten, or turns that are not on the path any more. A fill that is under way is not kept.
func (w *windows) forget(key turn.Key) {
	w.trails.drop(key)
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.entries, key)
}
