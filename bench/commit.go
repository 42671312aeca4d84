package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// exchanges makes exchanges of about 25 KB: two turns, five candidates that are all kept, a goal and two
// observations that change. No two have the same texts.
type exchanges struct {
	prose *prose
	long  func(n int) string // makes replies and what tools return
}

func newExchanges(seed uint64) *exchanges {
	p := newProse(seed)
	return &exchanges{prose: p, long: p.text}
}

// newWritten has what is long written as people read it, with paragraphs and quotes, which JSON escapes.
func newWritten(seed uint64) *exchanges {
	p := newProse(seed)
	return &exchanges{prose: p, long: p.paragraphs}
}

// next returns an exchange and the user's data that is in it, one piece after the other.
func (x *exchanges) next(n int) (commit.Exchange, []byte) {
	input, reply := x.prose.text(1500), x.long(7500)
	ex := commit.Exchange{Turns: []turn.Draft{
		{Role: turn.User, Content: turn.Text{Text: input}},
		{Role: turn.Agent, Content: turn.Text{Text: reply}},
	}}
	data := append([]byte(input), reply...)
	for i, kind := range []memory.Type{memory.UserData, memory.UserData, memory.Event, memory.ScratchItem, memory.Event} {
		c := memory.Candidate{
			Type: kind, Source: memory.FromTool, Text: "ship the next release candidate: " + x.prose.text(200),
			Data: `{"result":` + strconv.Quote(x.long(2700)) + `}`, Tags: []string{"bench", fmt.Sprint("kind:", i)},
		}
		ex.Candidates = append(ex.Candidates, c)
		data = append(append(data, c.Text...), c.Data...)
	}
	title, progress, steps := "Ship the next release", float64(n%100)/100, []string{x.prose.text(120), x.prose.text(120)}
	ex.Intentions.Goals = []cortex.GoalChange{{ID: "release", Title: &title, Progress: &progress, NextSteps: &steps}}
	data = append(append(append(data, title...), steps[0]...), steps[1]...)
	for i := range 2 {
		kind, content := "alert", x.prose.text(300)
		ex.Scratch.Put = append(ex.Scratch.Put, scratch.Change{ID: fmt.Sprint("o", i), Type: &kind, Content: &content})
		data = append(data, content...)
	}
	return ex, data
}

// complete makes sure that nothing was left out: all five items are stored, all targets written.
func complete(res commit.Result, err error) error {
	if err == nil && (len(res.Episodes) != 5 || res.Status != commit.Complete) {
		return fmt.Errorf("%d items were kept, the exchange is %s: %v", len(res.Episodes), res.Status, res.Dropped)
	}
	return err
}

// begun notes when the update of a commit begins: what comes before it is the pipeline's own work.
type begun struct {
	store.Store
	at atomic.Int64
}

func (b *begun) Update(ctx context.Context, fn func(store.Tx) error) error {
	b.at.Store(time.Now().UnixNano())
	return b.Store.Update(ctx, fn)
}

// benchCommit: one session, one exchange after the other, all six phases, each on disk before the next.
// After each the bare file gets the same bytes, so that both meet the same machine: caches that
// another's work has emptied, a disk that is busy or not. And after each a loop runs for as long as the
// own work does at its median: what its slowest take is the machine's doing.
func benchCommit(ctx context.Context, b *bench) (err error) {
	const n = 300
	f, err := os.OpenFile(b.file("bare.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := sqlite.Open(ctx, b.file("commit.db"), sqlite.Config{})
	if err != nil {
		return err
	}
	watched := &begun{Store: st}
	eng, err := turnstone.Open(ctx, watched, turnstone.Config{})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, eng.Close()) }()
	chat, err := eng.Session(ctx, "one")
	if err != nil {
		return err
	}
	x := newExchanges(1)
	turns := 0 // of the loop
	var before, loops, whole, ours, bare []float64
	for round := range b.rounds {
		// Made beforehand: making one takes longer than committing it.
		ready, data := make([]commit.Exchange, n), make([][]byte, n)
		for i := range ready {
			ready[i], data[i] = x.next(round*n + i)
		}
		runtime.GC()
		var commits, appends []float64
		for i, ex := range ready {
			start := time.Now()
			if err := complete(chat.Commit(ctx, ex)); err != nil {
				return err
			}
			commits = append(commits, micros(start))
			before = append(before, float64(watched.at.Load()-start.UnixNano())/1e3)
			if round > 0 {
				start = time.Now()
				runtime.KeepAlive(loop(turns))
				loops = append(loops, micros(start))
			}
			start = time.Now()
			if err := appendBare(f, data[i]); err != nil {
				return err
			}
			appends = append(appends, micros(start))
		}
		whole = append(whole, commits...)
		ours, bare = append(ours, median(commits)), append(bare, median(appends))
		turns = loopTurns(median(before))
	}
	m := []float64{median(ours), median(bare)}
	b.atMost(500, Line{Name: "commit 25 KB, own work before the update, p99", Ours: percentile(before, 0.99), Unit: "µs", Against: "absolute"})
	if b.rounds > 1 {
		b.show(Line{Name: "commit 25 KB, own work before the update, p99", Ours: percentile(before, 0.99), Baseline: percentile(loops, 0.99), Unit: "µs", Against: fmt.Sprintf("a loop as long as it at its median, %.0f µs: p99", median(before))})
	}
	b.atMost(4.0, Line{Name: "commit 25 KB, SQLite, p50", Ours: m[0], Baseline: m[1], Unit: "µs", Against: "bare file append of the same bytes + fsync"})
	b.atMost(20_000, Line{Name: "commit 25 KB, all six phases, p99", Ours: percentile(whole, 0.99), Unit: "µs", Against: "absolute"})
	return nil
}

func appendBare(f *os.File, data []byte) error {
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}

func micros(since time.Time) float64 { return float64(time.Since(since).Nanoseconds()) / 1e3 }

func percentile(xs []float64, p float64) float64 {
	xs = slices.Clone(xs)
	slices.Sort(xs)
	return xs[min(len(xs)-1, int(float64(len(xs))*p))]
}

// benchCommits: 128 sessions commit at once, in a new store, and each with a history and with paragraphs: in a new store they
// share the pages of its indexes, and write less than they do ever after, and text without line breaks costs less than most.
func benchCommits(ctx context.Context, b *bench) error {
	if err := benchCommitsAfter(ctx, b, newExchanges, 0, "128 sessions commit 25 KB"); err != nil {
		return err
	}
	return benchCommitsAfter(ctx, b, newWritten, 200, "128 sessions of 200 exchanges commit 25 KB in paragraphs")
}

// benchCommitsAfter has sessions commit that have so many exchanges each. A round is shorter than the time after which the text
// index is filled under load, so that what commits and the relay cost is seen apart from what
// indexing their words costs. The bare log is given eight times as many records, with which it writes for as long:
// in a few milliseconds one would measure what a disk that has rested swallows, and not what it sustains.
func benchCommitsAfter(ctx context.Context, b *bench, maker func(seed uint64) *exchanges, history int, name string) (err error) {
	const sessions, each, eachBare = 128, 6, 8 * 6
	bare, err := openFileLog(b.file("commits.log"))
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, bare.close()) }()
	load := newCommitLoad(sessions, each, maker)
	eng, st, err := load.open(ctx, b.file("commits.db"), sqlite.Config{}, history)
	if err != nil {
		return err
	}
	closed := false
	defer func() {
		if !closed {
			err = firstError(err, eng.Close())
		}
	}()
	alone, aloneStore, err := load.open(ctx, b.file("commits-alone.db"), sqlite.Config{GroupCommit: 1}, history)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, alone.Close()) }()
	rows, err := openTable(b.file("commits-table.db"), 10)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, rows.db.Close()) }()
	answers := make([]chan error, sessions)
	for i := range answers {
		answers[i] = make(chan error, 1)
	}
	data := []byte(newProse(3).text(4 * load.size))[:load.size]
	var commits, index, inserts usage
	var cpu []float64 // of each round, in seconds
	m, err := b.interleave(
		func() (float64, error) {
			round, err := load.prepare(ctx, eng)
			if err != nil {
				return 0, err
			}
			var rate float64
			before := commits.cpu
			err = commits.measure(func() (err error) {
				rate, err = round.run(ctx)
				return firstError(err, eng.Publish(ctx))
			})
			if err != nil {
				return 0, err
			}
			cpu = append(cpu, (commits.cpu - before).Seconds())
			return rate, index.measure(func() error { return st.IndexText(ctx) })
		},
		func() (float64, error) {
			return throughput(sessions, eachBare, func(i int) error { return bare.append(data, answers[i]) })
		},
		func() (float64, error) {
			round, err := load.prepare(ctx, alone)
			if err != nil {
				return 0, err
			}
			rate, err := round.run(ctx)
			// So that nothing of it runs on beside the next round.
			return rate, firstError(err, alone.Publish(ctx), aloneStore.IndexText(ctx))
		},
		func() (float64, error) {
			before := inserts.cpu
			for range each {
				if err := inserts.measure(func() error { return rows.add(data, sessions) }); err != nil {
					return 0, err
				}
			}
			return (inserts.cpu - before).Seconds() * 1e6 / (sessions * each), nil
		},
	)
	if err != nil {
		return err
	}
	closed = true
	// With the last checkpoint.
	before := commits.cpu
	if err := commits.measure(eng.Close); err != nil {
		return err
	}
	n := float64(b.rounds * sessions * each)
	perCommit := slices.Min(cpu)*1e6/(sessions*each) + (commits.cpu-before).Seconds()*1e6/n
	b.atLeast(0.12, Line{Name: name + ", SQLite", Ours: m[0], Baseline: m[1], Unit: "commits/s", Against: "bare group-committed file log of the same bytes"})
	b.atLeast(1.5, Line{Name: name + ", SQLite", Ours: m[0], Baseline: m[2], Unit: "commits/s", Against: "the same store, group commit off"})
	b.atMost(350, Line{Name: name + ": CPU of each", Ours: perCommit, Unit: "µs", Against: "absolute, relay included, best of rounds"})
	b.atMost(3, Line{Name: name + ": CPU of each", Ours: median(cpu) * 1e6 / (sessions * each), Baseline: m[3], Unit: "µs", Against: "the same bytes as ten rows of a bare SQLite table, 128 exchanges a transaction"})
	b.atMost(4, Line{Name: name + ": bytes written per byte", Ours: float64(commits.written) / n / float64(load.size), Unit: "B/B", Against: "absolute, relay included"})
	b.show(Line{Name: name + ": CPU of indexing their words", Ours: index.cpu.Seconds() * 1e6 / n, Baseline: commits.cpu.Seconds() * 1e6 / n, Unit: "µs", Against: "the commit"})
	b.show(Line{Name: name + ": bytes written by that per byte", Ours: float64(index.written) / n / float64(load.size), Baseline: float64(commits.written) / n / float64(load.size), Unit: "B/B", Against: "the commit"})
	return nil
}

// commitLoad makes exchanges for many sessions.
type commitLoad struct {
	sessions, each int
	size           int // of an exchange, on average
	makers         []*exchanges
	done           int
}

func newCommitLoad(sessions, each int, maker func(seed uint64) *exchanges) *commitLoad {
	l := &commitLoad{sessions: sessions, each: each}
	for i := range sessions {
		l.makers = append(l.makers, maker(uint64(i)))
	}
	x := maker(7)
	for n := range 200 {
		_, data := x.next(n)
		l.size += len(data)
	}
	l.size /= 200
	return l
}

// commitRound is exchanges that are ready: only committing them is measured.
type commitRound struct {
	chats []*turnstone.Session
	ready [][]commit.Exchange
}

// open makes a store in which every session has so many short exchanges, and opens it.
func (l *commitLoad) open(ctx context.Context, path string, config sqlite.Config, history int) (*turnstone.Engine, store.Store, error) {
	eng, st, err := openSQLite(ctx, path, sqlite.Config{Synchronous: sqlite.Normal})
	if err != nil {
		return nil, nil, err
	}
	chats, err := l.chats(ctx, eng)
	if err == nil {
		title := "Ship the next release"
		_, err = throughput(l.sessions, history, func(i int) error {
			progress := rand.Float64()
			ex := commit.Exchange{Turns: []turn.Draft{userText("And now?"), {Role: turn.Agent, Content: turn.Text{Text: "The next step."}}}}
			ex.Intentions.Goals = []cortex.GoalChange{{ID: "release", Title: &title, Progress: &progress}}
			_, err := chats[i].Commit(ctx, ex)
			return err
		})
	}
	if err := firstError(err, st.IndexText(ctx), eng.Close()); err != nil {
		return nil, nil, err
	}
	return openSQLite(ctx, path, config)
}

func (l *commitLoad) chats(ctx context.Context, eng *turnstone.Engine) ([]*turnstone.Session, error) {
	chats := make([]*turnstone.Session, l.sessions)
	for i := range chats {
		var err error
		if chats[i], err = eng.Session(ctx, fmt.Sprint("s", i)); err != nil {
			return nil, err
		}
	}
	return chats, nil
}

func (l *commitLoad) prepare(ctx context.Context, eng *turnstone.Engine) (*commitRound, error) {
	chats, err := l.chats(ctx, eng)
	if err != nil {
		return nil, err
	}
	r := &commitRound{chats: chats, ready: make([][]commit.Exchange, l.sessions)}
	for i := range l.sessions {
		for range l.each {
			ex, _ := l.makers[i].next(l.done)
			l.done++
			r.ready[i] = append(r.ready[i], ex)
		}
	}
	runtime.GC() // what making them left behind is not the commits' to clear away
	return r, nil
}

func (r *commitRound) run(ctx context.Context) (float64, error) {
	next := make([]int, len(r.chats))
	return throughput(len(r.chats), len(r.ready[0]), func(i int) error {
		ex := r.ready[i][next[i]]
		next[i]++
		return complete(r.chats[i].Commit(ctx, ex))
	})
}

// benchCommitGrowth: what a commit costs in a tenant with many remembered items, against few.
func benchCommitGrowth(ctx context.Context, b *bench) (err error) {
	const small, large, n = 1_000, 100_000, 200
	variants := make([]func() (float64, error), 0, 2)
	for _, items := range []int{small, large} {
		eng, st, err := openSQLite(ctx, b.file("grown.db"), sqlite.Config{})
		if err != nil {
			return err
		}
		defer func() { err = firstError(err, eng.Close()) }()
		if err := remember(ctx, eng, st, items); err != nil {
			return err
		}
		chat, err := eng.Session(ctx, "one")
		if err != nil {
			return err
		}
		x, count := newExchanges(uint64(items)), 0
		variants = append(variants, func() (float64, error) {
			ready := make([]commit.Exchange, n)
			for i := range ready {
				ready[i], _ = x.next(count)
				count++
			}
			runtime.GC()
			var times []float64
			for _, ex := range ready {
				start := time.Now()
				if _, err := chat.Commit(ctx, ex); err != nil {
					return 0, err
				}
				times = append(times, micros(start))
			}
			return median(times), nil
		})
	}
	m, err := b.interleave(variants...)
	if err != nil {
		return err
	}
	b.atMost(1.3, Line{Name: "commit 25 KB with 100,000 items in the tenant, p50", Ours: m[1], Baseline: m[0], Unit: "µs", Against: "the same with 1,000"})
	return nil
}

// remember fills a tenant with items, in sessions of a thousand, and indexes them.
func remember(ctx context.Context, eng *turnstone.Engine, st store.Store, items int) error {
	p := newProse(uint64(items))
	for done := 0; done < items; {
		s, err := eng.Session(ctx, fmt.Sprint("filled", done))
		if err != nil {
			return err
		}
		for range 4 {
			ex := commit.Exchange{Turns: []turn.Draft{userText(p.text(100))}}
			for range 250 {
				ex.Candidates = append(ex.Candidates, memory.Candidate{Type: memory.UserData, Text: p.text(200), Source: memory.FromUser})
			}
			if _, err := s.Commit(ctx, ex); err != nil {
				return err
			}
			done += 250
		}
	}
	return st.IndexText(ctx)
}
