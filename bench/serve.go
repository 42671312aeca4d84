package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// benchServe: turns that are appended over HTTP, by 64 connections to sessions of their own, against the library with as
// many goroutines. Both answer when the turn is on disk. The clients share the processors with the server, so they do
// as little as one can: the same bytes each time, and a look at the status.
func benchServe(ctx context.Context, b *bench) (err error) {
	const connections, each = 64, 100
	eng, _, err := openSQLite(ctx, b.file("serve.db"), sqlite.Config{})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, eng.Close()) }()
	bare, _, err := openSQLite(ctx, b.file("library.db"), sqlite.Config{})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, bare.Close()) }()
	addr, stop, err := serveHere(ctx, eng)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, stop()) }()
	clients := make([]*appender, connections)
	for i := range clients {
		if clients[i], err = dialAppender(addr, fmt.Sprint("h", i)); err != nil {
			return err
		}
		defer clients[i].conn.Close()
	}
	var mu sync.Mutex // guards took
	var took []float64
	var late []float64
	m, err := b.interleave(
		func() (float64, error) {
			took = took[:0]
			rate, err := throughput(connections, each, func(i int) error {
				start := time.Now()
				err := clients[i].append()
				mu.Lock()
				took = append(took, micros(start)/1e3)
				mu.Unlock()
				return err
			})
			if err == nil {
				late = append(late, percentile(took, 0.99))
			}
			return rate, err
		},
		func() (float64, error) { return appendAll(ctx, bare, "l", connections, each, oneTurn) },
	)
	if err != nil {
		return err
	}
	b.atLeast(0.5, Line{Name: "append 2 KB over HTTP, 64 connections, SQLite", Ours: m[0], Baseline: m[1], Unit: "turns/s", Against: "the library with 64 goroutines"})
	b.atMost(20, Line{Name: "append 2 KB over HTTP, 64 connections, p99", Ours: slices.Min(late), Unit: "ms", Against: "absolute, best of rounds"})
	return nil
}

// appender is a connection that appends the same turn again and again.
type appender struct {
	conn    net.Conn
	answers *bufio.Reader
	request []byte
}

func dialAppender(addr, session string) (*appender, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	body := `{"turns":[{"role":"user","text":` + strconv.Quote(oneTurn) + `}]}`
	head := fmt.Sprintf("POST /api/v1/sessions/%s/turns?create=true HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", session, len(body))
	return &appender{conn: conn, answers: bufio.NewReader(conn), request: []byte(head + body)}, nil
}

func (a *appender) append() error {
	if _, err := a.conn.Write(a.request); err != nil {
		return err
	}
	r, err := http.ReadResponse(a.answers, nil)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusCreated {
		err = errors.New(r.Status + ": " + string(body))
	}
	return firstError(err, r.Body.Close())
}
