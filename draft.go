package turnstone

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

const (
	// flushEvery is how often the draft of a reply is written down: what the end of a process can cost.
	flushEvery = 250 * time.Millisecond
	// flushTogether is the grid of the moments at which drafts are written. Those of a thousand exchanges that fall on the same
	// one share a transaction, and whatever else waits for the store waits for a few of them and not for a thousand.
	flushTogether = 25 * time.Millisecond
	// syncEvery is how often that is waited for until it is durable: what the end of the machine can cost.
	syncEvery = time.Second
	// renewEvery is how often the lease is renewed.
	renewEvery = turn.LeaseTime / 3
)

// draft is the reply that an exchange is receiving. A goroutine of its own writes it down and keeps the lease, so that
// the stream waits for neither; if it cannot, it ends the exchange.
type draft struct {
	exchange *exchange
	quit     chan struct{}
	done     chan struct{} // closed when the goroutine has ended
	err      error         // why the exchange was ended; read after done

	writing  sync.Mutex // held during a write, so that an old draft does not come after what replaced it
	unsynced bool       // that what was written may not be durable; guarded by writing

	mu             sync.Mutex // guards all below
	renewed        time.Time  // when the lease was taken or renewed last, or a moment before
	reply          string     // the id that it will have
	text, thinking []byte
	kept           *[]byte // what the text is kept in for others, nil once it was given to them
	changed        bool
	counting       *prompt.Prompt // that it replies to
	heard          int            // bytes that are counted
	stream         *Stream
}

// drafts are the texts of replies that have ended: making room for a long one anew, twice as much each time it is full,
// would have the collector work for it.
var drafts = sync.Pool{New: func() any { return new([]byte) }}

// maxDraft is how large a text may be whose memory is used again.
const maxDraft = 1 << 20

func newDraft(e *exchange) *draft {
	d := &draft{exchange: e, quit: make(chan struct{}), done: make(chan struct{}), kept: drafts.Get().(*[]byte)}
	d.text = (*d.kept)[:0]
	return d
}

// release gives the memory of the text away. It is called when nothing is written any more.
func (d *draft) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kept != nil && cap(d.text) <= maxDraft {
		*d.kept = d.text
		drafts.Put(d.kept)
	}
	d.text, d.kept = nil, nil
}

// reset begins another reply.
func (d *draft) reset(id string, p *prompt.Prompt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reply, d.text, d.thinking, d.changed = id, d.text[:0], d.thinking[:0], false
	d.counting, d.stream, d.heard = p, nil, 0
}

func (d *draft) id() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reply
}

// add notes a piece and returns how many bytes there are now.
func (d *draft) add(piece llm.Chunk) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.text, d.thinking = append(d.text, piece.Text...), append(d.thinking, piece.Thinking...)
	d.changed = d.changed || piece.Text != "" || piece.Thinking != ""
	return int64(len(d.text) + len(d.thinking))
}

// replaced runs a write that puts the reply in place of its draft.
func (d *draft) replaced(write func() error) error {
	d.writing.Lock()
	defer d.writing.Unlock()
	if err := write(); err != nil {
		return err
	}
	d.unsynced = false
	d.reset("", nil)
	return nil
}

// stop has nothing more written. What is being written may still come: behind the commit it is refused, for the lease is
// given back there.
func (d *draft) stop() { close(d.quit) }

func (d *draft) stopped() bool {
	select {
	case <-d.quit:
		return true
	default:
		return false
	}
}

// ended waits for the goroutine of a draft that was stopped, and returns why it had ended the exchange if it did.
func (d *draft) ended() error {
	<-d.done
	d.release()
	return d.err
}

// run writes every now and then. A store that cannot be reached for a moment costs nothing, as long as the lease holds.
func (d *draft) run(ctx context.Context) {
	defer close(d.done)
	tick := time.NewTicker(firstFlush(time.Now()))
	defer tick.Stop()
	onGrid := false
	written, durable := time.Now(), time.Now()
	for {
		select {
		case <-d.quit:
			return
		case now := <-tick.C:
			if !onGrid {
				tick.Reset(flushEvery)
				onGrid = true
			}
			renew, wait := d.leased() >= renewEvery, now.Sub(durable) >= syncEvery
			err := guarded(func() error { return d.flush(ctx, renew, wait) })
			switch {
			case err == nil:
				written = now
				if wait {
					durable = now
				}
			case d.stopped():
				return
			case !passing(err) || now.Sub(written) >= turn.LeaseTime:
				d.err = err
				d.exchange.end(err)
				return
			}
		}
	}
}

// firstFlush is how long after now a draft is first written: as long as after that, or the bit less that brings it to the
// grid.
func firstFlush(now time.Time) time.Duration {
	return flushEvery - now.Sub(now.Truncate(flushTogether))
}

// passing reports whether the same update may well succeed a moment later.
func passing(err error) bool {
	return errors.Is(err, store.ErrLocked) || errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrUnknown) || errors.Is(err, context.DeadlineExceeded)
}

// flush writes what has changed, and renews the lease if it is time. Told to wait it returns when all that was written is
// durable.
func (d *draft) flush(ctx context.Context, renew, wait bool) error {
	d.writing.Lock()
	defer d.writing.Unlock()
	row, changed := d.row(wait && d.unsynced)
	if !changed && !renew {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, renewEvery)
	defer cancel()
	e, asked := d.exchange, time.Now()
	err := e.write(ctx, func(tx store.Tx) error {
		if !wait {
			tx.SyncLater()
		}
		if renew {
			if _, err := turn.Renew(ctx, tx.Log(), e.session.key, e.lease.token, tx.Now()); err != nil {
				return err
			}
		}
		if !changed {
			return nil
		}
		row.Changed = tx.Now()
		return tx.Log().PutExchange(ctx, e.session.key, row)
	})
	if err != nil {
		d.again(row.Reply)
		return err
	}
	if renew {
		d.hold(asked)
	}
	if changed {
		d.unsynced = !wait
	}
	d.count(ctx)
	return nil
}

// hold notes that the lease was taken or renewed, no earlier than that.
func (d *draft) hold(at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.renewed = at
}

// leased is how long ago that was, by the clock that went further: the one on the wall may be set back, and the other stands
// still while the machine sleeps.
func (d *draft) leased() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	return max(now.Sub(d.renewed), now.Round(0).Sub(d.renewed.Round(0)))
}

// keep returns nil while the lease is held. One that has run out, as in a process that was stopped for a while, is renewed
// first, and a turn.ErrLeaseLost says that somebody else has the session.
func (d *draft) keep(ctx context.Context) error {
	for d.leased() >= turn.LeaseTime {
		err := d.flush(ctx, true, false)
		if err == nil {
			break
		}
		if !passing(err) {
			return err
		}
		select {
		case <-d.done: // it has ended the exchange
			return cmp.Or(d.err, err)
		case <-time.After(flushEvery):
		case <-ctx.Done():
			return llm.Ended(ctx)
		}
	}
	return nil
}

// row is the draft as it is to be written, if it has changed or is written again.
func (d *draft) row(again bool) (row turn.OpenExchange, changed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if changed = d.changed || again && len(d.text)+len(d.thinking) > 0; !changed {
		return row, false
	}
	d.changed = false
	row = d.exchange.row()
	row.Reply = d.reply
	row.Content = record.String(func(dst []byte) []byte {
		return turn.AppendContent(dst, turn.Text{Text: string(d.text), Thinking: string(d.thinking)})
	})
	return row, true
}

// again has a draft written that could not be.
func (d *draft) again(reply string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changed = d.changed || d.reply == reply && len(d.text)+len(d.thinking) > 0
}

// count brings the count of the reply's tokens up to what was said: past the window an event is stored. A reply that is so
// short that it cannot get there is not counted, and it is worth more than its count.
func (d *draft) count(ctx context.Context) {
	if err := d.tally(ctx); err != nil {
		s := d.exchange.session
		bus.Logger(s.engine.config.Log).LogAttrs(ctx, slog.LevelWarn, "reply not counted", slog.String("session", s.key.Session), slog.Any("error", err))
	}
}

func (d *draft) tally(ctx context.Context) error {
	d.mu.Lock()
	p, stream, piece := d.counting, d.stream, ""
	if p != nil && p.Count.Tokens+budget.MostTokens(len(d.text)) > p.Window.Usable {
		piece = string(d.text[min(d.heard, len(d.text)):])
		d.heard = len(d.text)
	}
	d.mu.Unlock()
	if p == nil || piece == "" {
		return nil
	}
	if stream == nil {
		var err error
		if stream, err = d.exchange.session.Streaming(ctx, p); err != nil {
			return err
		}
		d.mu.Lock()
		if d.counting == p {
			d.stream = stream
		}
		d.mu.Unlock()
	}
	_, err := stream.Add(ctx, piece)
	return err
}
