package main

import (
	"context"
	"fmt"
	"os"
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
type exchanges struct{ prose *prose }

func newExchanges(seed uint64) *exchanges { return &exchanges{newProse(seed)} }

// next returns an exchange and how many bytes of the user's data are in it.
func (x *exchanges) next(n int) (commit.Exchange, int) {
	input, reply := x.prose.text(1500), x.prose.text(7500)
	ex := commit.Exchange{Turns: []turn.Draft{
		{Role: turn.User, Content: turn.Text{Text: input}},
		{Role: turn.Agent, Content: turn.Text{Text: reply}},
	}}
	size := len(input) + len(reply)
	for i, kind := range []memory.Type{memory.UserData, memory.ToolResult, memory.ToolResult, memory.Observation, memory.Event} {
		c := memory.Candidate{
			Type: kind, Source: memory.FromTool, Text: x.prose.text(200), Data: `{"result":` + strconv.Quote(x.prose.text(2700)) + `}`,
			Tags: []string{"bench", fmt.Sprint("kind:", i)},
		}
		// Relevance is not the point here: all are to be stored, which is more work.
		high := 0.95
		c.Given.Goals, c.Given.User = &high, &high
		ex.Candidates = append(ex.Candidates, c)
		size += len(c.Text) + len(c.Data)
	}
	title, progress, steps := "Ship the next release", float64(n%100)/100, []string{x.prose.text(120), x.prose.text(120)}
	ex.Intentions.Goals = []cortex.GoalChange{{ID: "release", Title: &title, Progress: &progress, NextSteps: &steps}}
	size += len(title) + len(steps[0]) + len(steps[1])
	for i := range 2 {
		kind, content := "alert", x.prose.text(300)
		ex.Scratch.Put = append(ex.Scratch.Put, scratch.Change{ID: fmt.Sprint("o", i), Type: &kind, Content: &content})
		size += len(content)
	}
	return ex, size
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
	x, count := newExchanges(1), 0
	var before, whole []float64
	size := 0
	ours := func() (float64, error) {
		var times []float64
		for range n {
			ex, bytes := x.next(count)
			size = (size*count + bytes) / (count + 1)
			count++
			start := time.Now()
			if _, err := chat.Commit(ctx, ex); err != nil {
				return 0, err
			}
			took := float64(time.Since(start).Nanoseconds()) / 1e3
			before = append(before, float64(watched.at.Load()-start.UnixNano())/1e3)
			times = append(times, took)
		}
		whole = append(whole, times...)
		return median(times), nil
	}
	data := make([]byte, 64<<10)
	bare := func() (float64, error) {
		return p50(n, func() error {
			if _, err := f.Write(data[:size]); err != nil {
				return err
			}
			return f.Sync()
		})
	}
	m, err := b.interleave(ours, bare)
	if err != nil {
		return err
	}
	b.atMost(500, Line{Name: "commit 25 KB, own work before the update, p99", Ours: percentile(before, 0.99), Unit: "µs", Against: "absolute"})
	b.atMost(4.0, Line{Name: "commit 25 KB, SQLite, p50", Ours: m[0], Baseline: m[1], Unit: "µs", Against: "bare file append of the same bytes + fsync"})
	b.atMost(20_000, Line{Name: "commit 25 KB, all six phases, p99", Ours: percentile(whole, 0.99), Unit: "µs", Against: "absolute"})
	return nil
}

func percentile(xs []float64, p float64) float64 {
	xs = slices.Clone(xs)
	slices.Sort(xs)
	return xs[min(len(xs)-1, int(float64(len(xs))*p))]
}

// benchCommits: 128 sessions commit at once.
func benchCommits(ctx context.Context, b *bench) (err error) {
	const sessions, each = 128, 12
	bare, err := openFileLog(b.file("commits.log"))
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, bare.close()) }()
	eng, st, err := openSQLite(ctx, b.file("commits.db"), sqlite.Config{})
	if err != nil {
		return err
	}
	closed := false
	defer func() {
		if !closed {
			err = firstError(err, eng.Close())
		}
	}()
	alone, _, err := openSQLite(ctx, b.file("commits-alone.db"), sqlite.Config{GroupCommit: 1})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, alone.Close()) }()
	answers := make([]chan error, sessions)
	for i := range answers {
		answers[i] = make(chan error, 1)
	}
	load := newCommitLoad(sessions, each)
	data := make([]byte, load.size)
	var cost usage
	commits := 0
	m, err := b.interleave(
		func() (float64, error) {
			start, err := used()
			if err != nil {
				return 0, err
			}
			rate, err := load.run(ctx, eng, "g")
			if err != nil {
				return 0, err
			}
			// What is left to do in the background is part of what the commits cost.
			if err := firstError(eng.Publish(ctx), st.IndexText(ctx)); err != nil {
				return 0, err
			}
			end, err := used()
			cost.add(end.since(start))
			commits += sessions * each
			return rate, err
		},
		func() (float64, error) {
			return throughput(sessions, each, func(i int) error { return bare.append(data, answers[i]) })
		},
		func() (float64, error) { return load.run(ctx, alone, "a") },
	)
	if err != nil {
		return err
	}
	start, err := used()
	if err != nil {
		return err
	}
	closed = true
	if err := eng.Close(); err != nil {
		return err
	}
	end, err := used()
	if err != nil {
		return err
	}
	cost.add(end.since(start)) // the last checkpoint
	b.atLeast(0.12, Line{Name: "128 sessions commit 25 KB, SQLite", Ours: m[0], Baseline: m[1], Unit: "commits/s", Against: "bare group-committed file log of the same bytes"})
	b.atLeast(1.5, Line{Name: "128 sessions commit 25 KB, SQLite", Ours: m[0], Baseline: m[2], Unit: "commits/s", Against: "the same store, group commit off"})
	b.atMost(350, Line{Name: "CPU of a commit, index and relay included", Ours: cost.cpu.Seconds() * 1e6 / float64(commits), Unit: "µs", Against: "absolute"})
	b.atMost(4, Line{Name: "bytes written per byte of user data, index and relay included", Ours: float64(cost.written) / float64(commits*load.size), Unit: "B/B", Against: "absolute"})
	return nil
}

// commitLoad is a round of exchanges for many sessions, made beforehand: only committing them is
// measured.
type commitLoad struct {
	sessions, each int
	size           int
	makers         []*exchanges
	done           int
}

func newCommitLoad(sessions, each int) *commitLoad {
	l := &commitLoad{sessions: sessions, each: each}
	for i := range sessions {
		l.makers = append(l.makers, newExchanges(uint64(i)))
	}
	x := newExchanges(7)
	for n := range 200 {
		_, size := x.next(n)
		l.size += size
	}
	l.size /= 200 // on average
	return l
}

func (l *commitLoad) run(ctx context.Context, eng *turnstone.Engine, prefix string) (float64, error) {
	chats := make([]*turnstone.Session, l.sessions)
	ready := make([][]commit.Exchange, l.sessions)
	for i := range chats {
		s, err := eng.Session(ctx, fmt.Sprint(prefix, i))
		if err != nil {
			return 0, err
		}
		chats[i] = s
		for range l.each {
			ex, _ := l.makers[i].next(l.done)
			l.done++
			ready[i] = append(ready[i], ex)
		}
	}
	next := make([]int, l.sessions)
	return throughput(l.sessions, l.each, func(i int) error {
		ex := ready[i][next[i]]
		next[i]++
		_, err := chats[i].Commit(ctx, ex)
		return err
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
			var times []float64
			for range n {
				ex, _ := x.next(count)
				count++
				start := time.Now()
				if _, err := chat.Commit(ctx, ex); err != nil {
					return 0, err
				}
				times = append(times, float64(time.Since(start).Nanoseconds())/1e3)
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
