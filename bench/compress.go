package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/bench/talks"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/budget/bpe"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/compress/extract"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/replay/history"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// benchCompress: what a pass costs besides its summary, how fast the extractive summary is made, how long the
// prompt takes that makes a pass, and whether anybody waits for a model that summarises.
func benchCompress(ctx context.Context, b *bench) error {
	for _, part := range []func(context.Context, *bench) error{benchPass, benchExtract, benchPasses, benchBack, benchDraft} {
		if err := part(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// mixed is a conversation of that many tokens, one half chat, the other half work with tools.
func mixed(ctx context.Context, tokens int) (drafts []turn.Draft, err error) {
	count := bpe.Cl100k().Count
	for _, talk := range [][]byte{talks.Chat(1, tokens/2, count), talks.Tools(1, tokens/2, count)} {
		_, err = history.Import(ctx, bytes.NewReader(talk), "", history.Options{}, func(e history.Entry) error {
			drafts = append(drafts, e.Draft)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return drafts, nil
}

// talkingTo are the options for a window.
func talkingTo(window int) turnstone.PromptOptions {
	return turnstone.PromptOptions{Model: promptOptions.Model, Context: window, Settings: promptOptions.Settings}
}

// cpuMillis is the least processor time that f takes.
func (b *bench) cpuMillis(f func() error) (float64, error) {
	return b.best(func() (float64, error) {
		var u usage
		err := u.measure(f)
		return u.cpu.Seconds() * 1e3, err
	})
}

// benchPass plans and verifies a pass over 30,000 tokens, as the first of its session.
func benchPass(ctx context.Context, b *bench) error {
	const least, window = 30_000, 80 << 10
	drafts, err := mixed(ctx, 3*least)
	if err != nil {
		return err
	}
	return onSQLite(ctx, b.file("pass.db"), turnstone.Config{}, func(eng *turnstone.Engine, st *sqlite.Store) error {
		chat, err := eng.Session(ctx, "pass")
		if err != nil {
			return err
		}
		// Before the first prompt there is no epoch that could be full.
		if _, err := chat.Prompt(ctx, talkingTo(window)); err != nil {
			return err
		}
		p := planner{store: st, key: turn.Key{Tenant: turn.DefaultTenant, Session: "pass"}}
		if err := p.prepare(window); err != nil {
			return err
		}
		var planned *prompt.Planned
		for source := 0; source < least; {
			if len(drafts) == 0 {
				return errors.New("the conversation is too short for the pass")
			}
			next := drafts[:min(16, len(drafts))]
			drafts = drafts[len(next):]
			if _, err := chat.Append(ctx, next...); err != nil {
				return err
			}
			if planned, err = p.plan(ctx); err != nil {
				return err
			}
			if planned != nil {
				source = planned.Job.New.Tokens(planned.Job.Count)
			}
		}
		return b.planAndVerify(ctx, &p, planned.Job)
	})
}

// planner plans passes as the engine does.
type planner struct {
	store   store.Store
	key     turn.Key
	request prompt.Request
}

func (p *planner) prepare(window int) error {
	sealed, err := promptOptions.Settings.Seal()
	if err != nil {
		return err
	}
	w, err := budget.WindowOf(window)
	if err != nil {
		return err
	}
	compression, err := budget.Compression{}.WithDefaults()
	if err != nil {
		return err
	}
	profile, _ := budget.Known().Find(promptOptions.Model)
	p.request = prompt.Request{
		Settings: &sealed, Model: promptOptions.Model, Window: w, Counter: budget.NewCounter(profile, nil, false, budget.Calibration{}),
		Compression: compression, Force: true,
	}
	return nil
}

func (p *planner) plan(ctx context.Context) (planned *prompt.Planned, err error) {
	err = p.store.View(ctx, func(tx store.Tx) error {
		r := p.request
		if r.Session, err = tx.Log().Session(ctx, p.key); err != nil {
			return err
		}
		planned, err = prompt.Plan(ctx, prompt.AllRows{Turns: tx.Log(), Prompts: tx.Prompt(), Checkpoints: tx.Compress()}, r)
		return err
	})
	return planned, err
}

func (b *bench) planAndVerify(ctx context.Context, p *planner, j *compress.Job) error {
	r := compress.Request{Source: j.New, Mode: j.Mode, Budget: j.Pass.Tokens, Count: j.Count}
	summary, _, err := compress.Run(ctx, nil, r, compress.Options{})
	if err != nil {
		return err
	}
	planning, err := b.cpuMillis(func() error {
		_, err := p.plan(ctx)
		return err
	})
	if err != nil {
		return err
	}
	verifying, err := b.cpuMillis(func() error {
		if v := compress.Verify(r, summary); !v.OK() {
			return fmt.Errorf("the extractive summary cannot stand: %v", v.Problems)
		}
		return nil
	})
	if err != nil {
		return err
	}
	both := planning + verifying
	of := fmt.Sprintf("%d turns, %d tokens", len(r.Source.Turns), r.Source.Tokens(r.Count))
	b.atMost(50, Line{Name: "plan and verify a pass over 30,000 tokens", Ours: both, Unit: "ms cpu", Against: "absolute, " + of})
	b.show(Line{Name: "plan it, from SQLite", Ours: planning, Baseline: both, Unit: "ms cpu", Against: "both"})
	b.show(Line{Name: "verify it", Ours: verifying, Baseline: both, Unit: "ms cpu", Against: "both"})
	return nil
}

// benchExtract summarises a conversation into 1,024 tokens, as a pass does and without its demands.
func benchExtract(ctx context.Context, b *bench) error {
	for _, tokens := range []int{30_000, 250_000} {
		drafts, err := mixed(ctx, tokens)
		if err != nil {
			return err
		}
		turns := make([]turn.Turn, len(drafts))
		for i, d := range drafts {
			turns[i] = turn.Turn{Seq: int64(i + 1), Role: d.Role, Kind: d.Kind, Content: d.Content, CreatedAt: time.Unix(1.7e9+int64(i)*60, 0)}
		}
		r := compress.Request{
			Source: compress.NewSource(turn.Range{From: 1, To: int64(len(turns))}, turns, nil),
			Budget: 1024, Count: bpe.Cl100k().Count,
		}
		// All of it is read, what the user said for what the rest is held against.
		lines := (&compress.Source{Turns: turns}).Lines()
		size := 0
		for i := range lines {
			size += len(lines[i].Text)
		}
		for _, m := range []struct {
			name      string
			summarise func() (string, error)
		}{
			{"extract", func() (string, error) {
				return extract.Summarise(lines, extract.Options{Budget: r.Budget, Count: r.Count}).Text, nil
			}},
			{"verified extractive summary", func() (string, error) { return compress.Extractive{}.Summarise(ctx, r) }},
		} {
			ms, err := b.cpuMillis(func() error {
				text, err := m.summarise()
				if err == nil && r.Count(text) < r.Budget/2 {
					err = fmt.Errorf("%s: a summary of %d tokens where %d may be", m.name, r.Count(text), r.Budget)
				}
				return err
			})
			if err != nil {
				return err
			}
			b.atLeast(5, Line{
				Name: fmt.Sprintf("%s of %d KB, chat and tools", m.name, size/1000), Ours: float64(size) / 1e3 / ms, Unit: "MB/s cpu", Against: "absolute",
			})
		}
	}
	return nil
}

// benchPasses: the prompt that makes a pass beside those that do not, in conversations of three windows.
func benchPasses(ctx context.Context, b *bench) error {
	return onSQLite(ctx, b.file("passes.db"), turnstone.Config{}, func(eng *turnstone.Engine, _ *sqlite.Store) error {
		for _, window := range []int{8 << 10, 32 << 10, 128 << 10} {
			chat, err := eng.Session(ctx, fmt.Sprint("window-", window))
			if err != nil {
				return err
			}
			drafts, err := mixed(ctx, 3*window)
			if err != nil {
				return err
			}
			var passing, others []float64
			for batch := window >> 13; len(drafts) > 0; {
				next := drafts[:min(batch, len(drafts))]
				drafts = drafts[len(next):]
				if _, err := chat.Append(ctx, next...); err != nil {
					return err
				}
				start := time.Now()
				p, err := chat.Prompt(ctx, talkingTo(window))
				if err != nil {
					return err
				}
				if took := micros(start) / 1e3; p.Opened == prompt.ReasonFull {
					passing = append(passing, took)
				} else {
					others = append(others, took)
				}
			}
			if len(passing) == 0 {
				return fmt.Errorf("a conversation of three windows of %d tokens was never full", window)
			}
			b.show(Line{
				Name: fmt.Sprintf("prompt that makes a pass at %dK, p50 of %d", window>>10, len(passing)), Ours: median(passing), Baseline: median(others),
				Unit: "ms", Against: "prompts that make none",
			})
		}
		return nil
	})
}

// benchBack: a pass that is asked for, taken back, and a snapshot restored after another one.
func benchBack(ctx context.Context, b *bench) error {
	const window = 32 << 10
	drafts, err := mixed(ctx, 12_000)
	if err != nil {
		return err
	}
	options := talkingTo(window)
	return onSQLite(ctx, b.file("back.db"), turnstone.Config{}, func(eng *turnstone.Engine, _ *sqlite.Store) error {
		var chat *turnstone.Session
		compressed := func() error {
			_, err := chat.Compress(ctx, options)
			return err
		}
		steps := []struct {
			name string
			do   func() error
		}{
			{"prompt", func() error {
				_, err := chat.Prompt(ctx, options)
				return err
			}},
			{"compress 12,000 tokens at 32K", compressed},
			{"undo it", func() error {
				_, err := chat.Undo(ctx, 0, options)
				return err
			}},
			{"compress it again", compressed},
			{"restore a snapshot from before a pass", func() error {
				_, err := chat.Restore(ctx, "before", options)
				return err
			}},
		}
		times := make([][]float64, len(steps))
		for round := range b.rounds {
			if chat, err = eng.Session(ctx, fmt.Sprint("back-", round)); err != nil {
				return err
			}
			if _, err := chat.Append(ctx, drafts...); err != nil {
				return err
			}
			p, err := chat.Prompt(ctx, options)
			if err != nil {
				return err
			}
			if p.Passes > 0 {
				return errors.New("the conversation is full before anybody compressed it")
			}
			if _, err := chat.Snapshot(ctx, "before"); err != nil {
				return err
			}
			if _, err := chat.Append(ctx, userText("And what follows from that?")); err != nil {
				return err
			}
			for i := range steps {
				start := time.Now()
				if err := steps[i].do(); err != nil {
					return fmt.Errorf("%s: %w", steps[i].name, err)
				}
				times[i] = append(times[i], micros(start)/1e3)
			}
		}
		for i, s := range steps {
			if i > 0 {
				b.show(Line{Name: s.name, Ours: median(times[i]), Baseline: median(times[0]), Unit: "ms", Against: "a prompt"})
			}
		}
		return nil
	})
}

// slow is a model that takes its time for a good summary.
type slow struct {
	takes           time.Duration
	asked, answered atomic.Int64
}

func (s *slow) Summarise(ctx context.Context, r compress.Request) (string, error) {
	s.asked.Add(1)
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-time.After(s.takes):
		defer s.answered.Add(1)
		return compress.Extractive{}.Summarise(ctx, r)
	}
}

// benchDraft: turns go on while a model summarises for ten seconds: those of one session as fast as they can,
// through passes for which no draft is ready in time, and those of another that rests until its draft is.
func benchDraft(ctx context.Context, b *bench) error {
	const name, most = "slow", 13 * time.Second
	model := &slow{takes: 10 * time.Second}
	fast, patient := &driver{prose: newProse(5)}, &driver{prose: newProse(6)}
	adopted := 0
	err := onSQLite(ctx, b.file("draft.db"), turnstone.Config{Summariser: model, SummariserName: name}, func(eng *turnstone.Engine, _ *sqlite.Store) (err error) {
		for session, d := range map[string]*driver{"fast": fast, "patient": patient} {
			if d.chat, err = eng.Session(ctx, session); err != nil {
				return err
			}
		}
		for model.asked.Load() == 0 {
			if err := patient.turn(ctx, 600); err != nil {
				return err
			}
		}
		for start := time.Now(); model.answered.Load() == 0 && time.Since(start) < most; {
			if err := fast.turn(ctx, 600); err != nil {
				return err
			}
		}
		for range 80 {
			if err := patient.turn(ctx, 300); err != nil {
				return err
			}
			if adopted, err = patient.adopted(ctx, name); err != nil || adopted > 0 {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	turns := slices.Concat(fast.took, patient.took)
	b.atLeast(3, Line{Name: "passes while drafts take 10 s", Ours: float64(fast.passes), Unit: "passes", Against: fmt.Sprintf("absolute, in %d turns", len(turns))})
	b.atLeast(1, Line{Name: "drafts that were adopted", Ours: float64(adopted), Unit: "drafts", Against: fmt.Sprintf("absolute, %d were begun", model.asked.Load())})
	b.atMost(50, Line{Name: "append and prompt while drafts take 10 s, p95", Ours: percentile(turns, 0.95), Unit: "ms", Against: "absolute"})
	b.show(Line{Name: "append and prompt while drafts take 10 s, longest", Ours: percentile(turns, 1), Baseline: median(turns), Unit: "ms", Against: "p50"})
	return nil
}

// driver goes on with a conversation and notes how long every turn waits.
type driver struct {
	chat   *turnstone.Session
	prose  *prose
	n      int
	took   []float64 // ms
	passes int64
}

// turn appends a turn of about that many bytes and compiles the prompt after it.
func (d *driver) turn(ctx context.Context, size int) error {
	draft := seedTurn(d.n, d.prose.text(size))
	d.n++
	start := time.Now()
	if _, err := d.chat.Append(ctx, draft); err != nil {
		return err
	}
	p, err := d.chat.Prompt(ctx, promptOptions)
	if err != nil {
		return err
	}
	d.took = append(d.took, micros(start)/1e3)
	d.passes = p.Passes
	return nil
}

// adopted is how many of the standing checkpoints that summariser made.
func (d *driver) adopted(ctx context.Context, by string) (n int, err error) {
	list, err := d.chat.Checkpoints(ctx)
	for i := range list {
		if list[i].Receipt.By == by {
			n++
		}
	}
	return n, err
}
