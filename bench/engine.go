package main

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

func openSQLite(ctx context.Context, path string, config sqlite.Config) (*turnstone.Engine, store.Store, error) {
	st, err := sqlite.Open(ctx, path, config)
	if err != nil {
		return nil, nil, err
	}
	eng, err := turnstone.Open(ctx, st, turnstone.Config{})
	return eng, st, err
}

func userText(text string) turn.Draft {
	return turn.Draft{Role: turn.User, Content: turn.Text{Text: text}}
}

// appendAll appends from one goroutine per session and returns turns per second.
func appendAll(ctx context.Context, eng *turnstone.Engine, prefix string, sessions, each int, text string) (float64, error) {
	chats := make([]*turnstone.Session, sessions)
	for i := range chats {
		s, err := eng.Session(ctx, fmt.Sprint(prefix, i))
		if err != nil {
			return 0, err
		}
		chats[i] = s
	}
	return throughput(sessions, each, func(i int) error {
		_, err := chats[i].Append(ctx, userText(text))
		return err
	})
}

// throughput runs each calls of f in every one of n goroutines and returns calls per second.
func throughput(n, each int, f func(worker int) error) (float64, error) {
	var wg sync.WaitGroup
	errs := make(chan error, n)
	start := time.Now()
	for i := range n {
		wg.Go(func() {
			for range each {
				if err := f(i); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	select {
	case err := <-errs:
		return 0, err
	default:
		return float64(n*each) / took.Seconds(), nil
	}
}

// seed fills one session with turns, in large updates, and indexes them: exchanges of a user's and
// an agent's text, in every third a tool call and its result between them.
func seed(ctx context.Context, eng *turnstone.Engine, st store.Store, session string, turns, size int) (textBytes int64, err error) {
	chat, err := eng.Session(ctx, session)
	if err != nil {
		return 0, err
	}
	p := newProse(uint64(turns))
	for done := 0; done < turns; {
		batch := make([]turn.Draft, min(1000, turns-done))
		for i := range batch {
			text := p.text(size)
			textBytes += int64(len(text))
			batch[i] = seedTurn(done+i, text)
		}
		if _, err := chat.Append(ctx, batch...); err != nil {
			return 0, err
		}
		done += len(batch)
	}
	return textBytes, st.IndexText(ctx)
}

// seedTurn is the nth turn of a seeded session. A batch is a multiple of eight, so that no call is cut
// off from its result.
func seedTurn(n int, text string) turn.Draft {
	id := fmt.Sprint("call-", n/8)
	switch n % 8 {
	case 1, 3, 7:
		return turn.Draft{Role: turn.Agent, Content: turn.Text{Text: text}}
	case 5:
		return turn.Draft{Role: turn.Agent, Content: turn.Text{Text: text, ToolCalls: []turn.ToolCall{{ID: id, Name: "search", Arguments: "{}"}}}}
	case 6:
		return turn.Draft{Role: turn.System, Content: turn.Result{Name: "search", CallID: id, Status: turn.CallOK, Result: strconv.Quote(text)}}
	default:
		return userText(text)
	}
}
