package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/pause"
	"github.com/turnstone-dev/turnstone/internal/resident"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// benchLive: a thousand sessions in one process, each with an exchange in flight, again and again: the model streams for
// two seconds, and the sessions are spread over them. The overhead is what comes before the first token and after the
// last one until the exchange is on disk; between them every reply is flushed four times a second. The garbage is collected
// as the server has it, and, to see what that is worth, as the runtime would. Beside it the same happens on a bare file:
// the input and the reply are synced, and what there is of it four times a second.
func benchLive(ctx context.Context, b *bench) (err error) {
	const sessions, exchanges = 1000, 3
	model := speaker{reading: 100 * time.Millisecond, words: 20, every: 100 * time.Millisecond}
	bare, err := openFileLog(b.file("live.log"))
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, bare.close()) }()
	var spread, usual, heap, alone []float64
	for range b.rounds {
		stop := resident.Spread(resident.Room())
		took, each, err := liveSessions(ctx, b, sessions, exchanges, model)
		stop()
		if err != nil {
			return err
		}
		spread, heap = append(spread, percentile(took, 0.99)), append(heap, each)
		if took, _, err = liveSessions(ctx, b, sessions, exchanges, model); err != nil {
			return err
		}
		usual = append(usual, percentile(took, 0.99))
		took, err = live(ctx, sessions, exchanges, model, func(_ int, text string) (before, after time.Duration, err error) {
			return bareOverhead(ctx, bare, model, text)
		})
		if err != nil {
			return err
		}
		alone = append(alone, percentile(took, 0.99))
	}
	const name = "1,000 live sessions, engine's time in an exchange, p99"
	b.show(Line{Name: name, Ours: slices.Min(spread), Baseline: slices.Min(alone), Unit: "ms", Against: "the same talk on a bare group-committed file log"})
	b.show(Line{Name: name, Ours: slices.Min(spread), Baseline: slices.Min(usual), Unit: "ms", Against: "the same with GOGC=100, best of rounds"})
	b.atMost(25, Line{Name: name, Ours: slices.Min(spread), Unit: "ms", Against: "absolute, best of rounds"})
	b.atMost(32, Line{Name: "1,000 live sessions, memory of each when idle", Ours: slices.Min(heap), Unit: "KB", Against: "absolute, with its window"})
	return nil
}

// liveSessions has a thousand sessions of a new store talk. It returns what was the engine's in each exchange, in
// milliseconds, and how many KB each session held when all was over.
func liveSessions(ctx context.Context, b *bench, sessions, exchanges int, model speaker) (took []float64, each float64, err error) {
	config := turnstone.Config{ModelName: "llama3.2", Context: 8192, Prompt: *promptOptions.Settings}
	err = onSQLite(ctx, b.file("live.db"), config, func(eng *turnstone.Engine, _ *sqlite.Store) error {
		chats := make([]*turnstone.Session, sessions)
		for i := range chats {
			var err error
			if chats[i], err = eng.Session(ctx, fmt.Sprint("live-", i)); err != nil {
				return err
			}
		}
		before := heapNow()
		var err error
		took, err = live(ctx, sessions, exchanges, model, func(i int, text string) (before, after time.Duration, err error) {
			return overhead(ctx, chats[i], model, text)
		})
		each = float64(heapNow()-before) / 1024 / float64(sessions)
		return err
	})
	return took, each, err
}

// live has every session talk and returns what was not the model's in each exchange, in milliseconds.
func live(ctx context.Context, sessions, exchanges int, model speaker, talk func(session int, text string) (before, after time.Duration, err error)) ([]float64, error) {
	var mu sync.Mutex // guards took and failed
	var took []float64
	var failed error
	var wg sync.WaitGroup
	stream := time.Duration(model.words) * model.every
	for i := range sessions {
		wg.Go(func() {
			if !pause.For(ctx, stream*time.Duration(i)/time.Duration(sessions)) {
				return
			}
			for n := range exchanges {
				before, after, err := talk(i, fmt.Sprintf("And what follows from part %d?", n))
				mu.Lock()
				took, failed = append(took, float64((before+after).Microseconds())/1000), errors.Join(failed, err)
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return took, errors.Join(failed, ctx.Err())
}

// bareOverhead has one exchange with a model that is kept in a file and nowhere else.
func bareOverhead(ctx context.Context, file *fileLog, model speaker, text string) (before, after time.Duration, err error) {
	answer := make(chan error, 1)
	start := time.Now()
	if err := file.append([]byte(text), answer); err != nil {
		return 0, 0, err
	}
	before = time.Since(start)
	var reply []byte
	flushed := time.Now()
	for chunk, err := range model.Stream(ctx, llm.Request{}) {
		if err != nil {
			return 0, 0, err
		}
		reply = append(reply, chunk.Text...)
		if time.Since(flushed) < 250*time.Millisecond {
			continue
		}
		if err := file.append(reply, answer); err != nil {
			return 0, 0, err
		}
		flushed = time.Now()
	}
	err = file.append(reply, answer)
	return before, time.Since(model.ended), err
}

func heapNow() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
