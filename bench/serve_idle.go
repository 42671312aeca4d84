package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"

	"github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// benchServeIdle: what subscribers of events cost that nothing happens for: the memory that the process has from the
// system, with the clients' connections, which are in it too. As both ends of a connection count as open files, fewer
// are opened than the promise is about.
func benchServeIdle(ctx context.Context, b *bench) (err error) {
	const subscribers, promised = 8000, 10_000
	eng, _, err := openSQLite(ctx, b.file("idle.db"), sqlite.Config{})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, eng.Close()) }()
	srv, err := server.New(server.Config{Engine: eng})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(serving, l) }()
	defer func() {
		stop()
		err = firstError(err, <-served)
	}()
	before := memoryNow()
	for range subscribers {
		conn, err := subscribeIdle(l.Addr().String())
		if err != nil {
			return err
		}
		defer conn.Close()
	}
	each := float64(memoryNow()-before) / subscribers
	b.atMost(400, Line{
		Name: "10,000 idle subscribers of events, memory of all", Ours: (float64(before) + each*promised) / (1 << 20), Unit: "MB",
		Against: fmt.Sprintf("absolute, from %d subscribers", subscribers),
	})
	return nil
}

// subscribeIdle opens a stream of events and reads its beginning.
func subscribeIdle(address string) (net.Conn, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(conn, "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"); err != nil {
		return nil, firstError(err, conn.Close())
	}
	status, err := bufio.NewReaderSize(conn, 16).ReadString('\n')
	if err == nil && !strings.Contains(status, " 200 ") {
		err = fmt.Errorf("subscription: %s", status)
	}
	if err != nil {
		return nil, firstError(err, conn.Close())
	}
	return conn, nil
}

// memoryNow is what the process has from the system and uses.
func memoryNow() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse + m.MSpanInuse + m.MCacheInuse + m.GCSys + m.OtherSys)
}
