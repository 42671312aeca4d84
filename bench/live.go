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
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// benchLive: a thousand sessions in one process, each with an exchange in flight, again and again: the model streams for
// two seconds, and the sessions are spread over them. The overhead is what comes before the first token and after the
// last one until the exchange is on disk; between them every reply is flushed four times a second. Beside it the same
// happens on a bare file: the input and the reply are synced, and what there is of it four times a second.
func benchLive(ctx context.Context, b *bench) (err error) {
	const sessions, exchanges = 1000, 3
	model := speaker{reading: 100 * time.Millisecond, words: 20, every: 100 * time.Millisecond}
	config := turnstone.Config{ModelName: "llama3.2", Context: 8192, Prompt: *promptOptions.Settings}
	bare, err := openFileLog(b.file("live.log"))
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, bare.close()) }()
	var late, heap, alone []float64
	for range b.rounds {
		err := onSQLite(ctx, b.file("live.db"), config, func(eng *turnstone.Engine, _ *sqlite.Store) error {
			chats := make([]*turnstone.Session, sessions)
			for i := range chats {
				var err error
				if chats[i], err = eng.Session(ctx, fmt.Sprint("live-", i)); err != nil {
					return err
				}
			}
			before := heapNow()
			took, err := live(ctx, sessions, exchanges, model, func(i int, text string) (before, after time.Duration, err error) {
				return overhead(ctx, chats[i], model, text)
			})
			if err != nil {
				return err
			}
			late = append(late, percentile(took, 0.99))
			heap = append(heap, float64(heapNow()-before)/1024/sessions)
			return nil
		})
		if err != nil {
			return err
		}
		took, err := live(ctx, sessions, exchanges, model, func(_ int, text string) (before, after time.Duration, err error) {
			return bareOverhead(ctx, bare, model, text)
		})
		if err != nil {
			return err
		}
		alone = append(alone, percentile(took, 0.99))
	}
	b.show(Line{Name: "1,000 live sessions, engine's time in an exchange, p99", Ours: slices.Min(late), Baseline: slices.Min(alone), Unit: "ms", Against: "the same talk on a bare group-committed file log"})
	b.atMost(25, Line{Name: "1,000 live sessions, engine's time in an exchange, p99", Ours: slices.Min(late), Unit: "ms", Against: "absolute, best of rounds"})
	b.atMost(32, Line{Name: "1,000 live sessions, memory of each when idle", Ours: slices.Min(heap), Unit: "KB", Against: "absolute, with its window"})
	return nil
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
