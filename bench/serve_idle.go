package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// benchServeIdle: what a server holds of the machine's memory that nobody asks anything, and what subscribers of events
// cost that nothing happens for.
func benchServeIdle(ctx context.Context, b *bench) error {
	return firstError(benchIdleServer(ctx, b), benchIdleSubscribers(ctx, b))
}

// benchIdleServer starts the program as it is offered, on a new store, and asks the system what it has in memory after a
// while, pages of the program's file included; and once more after it has worked and rested.
func benchIdleServer(ctx context.Context, b *bench) (err error) {
	const settled, rested = 5 * time.Second, 25 * time.Second
	program, err := buildProgram(ctx, b)
	if err != nil {
		return err
	}
	server, err := startServer(ctx, program, "--store", b.file("idle.db"))
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, server.stop()) }()
	time.Sleep(settled)
	started, err := residentOf(server.cmd.Process.Pid)
	if err != nil {
		return err
	}
	b.atMost(40, Line{Name: "idle server, resident after its start", Ours: started, Unit: "MB", Against: "absolute, SQLite"})
	client, err := dialAppender(server.addr, "idle")
	if err != nil {
		return err
	}
	defer client.conn.Close()
	for range 5000 {
		if err := client.append(); err != nil {
			return err
		}
	}
	for _, path := range []string{"/api/v1/openapi.json", "/api/v1/sessions", "/api/v1/sessions/idle/turns", "/metrics"} {
		if err := ask(ctx, "http://"+server.addr+path); err != nil {
			return err
		}
	}
	time.Sleep(rested)
	worked, err := residentOf(server.cmd.Process.Pid)
	if err != nil {
		return err
	}
	b.atMost(40, Line{Name: "idle server, resident after 5,000 turns of 2 KB and a rest", Ours: worked, Unit: "MB", Against: "absolute, SQLite"})
	return nil
}

func ask(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, answer.Status)
	}
	return firstError(err, answer.Body.Close())
}

// residentOf is how much memory a process holds, in MB.
func residentOf(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("what a process holds is measured on Linux only: %w", err)
	}
	_, rest, _ := bytes.Cut(status, []byte("VmRSS:"))
	value, _, _ := bytes.Cut(rest, []byte("kB"))
	kB, err := strconv.ParseFloat(strings.TrimSpace(string(value)), 64)
	return kB / 1024, err
}

// benchIdleSubscribers measures the memory that the process has from the system, with the clients' connections, which are in
// it too. As both ends of a connection count as open files, fewer are opened than the promise is about.
func benchIdleSubscribers(ctx context.Context, b *bench) (err error) {
	const subscribers, promised = 8000, 10_000
	eng, _, err := openSQLite(ctx, b.file("subscribed.db"), sqlite.Config{})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, eng.Close()) }()
	addr, stop, err := serveHere(ctx, eng)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, stop()) }()
	before := memoryNow()
	for range subscribers {
		conn, err := subscribeIdle(addr)
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
