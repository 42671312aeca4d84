package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/resident"
	"github.com/turnstone-dev/turnstone/server"
)

// serveHere serves an engine in this process, whose garbage is collected as the command has it, and returns where it is.
func serveHere(ctx context.Context, eng *turnstone.Engine) (addr string, stop func() error, err error) {
	srv, err := server.New(server.Config{Engine: eng})
	if err != nil {
		return "", nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	served, leave := make(chan error, 1), resident.Spread(resident.Room())
	go func() { served <- srv.Serve(ctx, l) }()
	return l.Addr().String(), func() error {
		cancel()
		defer leave()
		return <-served
	}, nil
}

// buildProgram builds the command as it is offered.
func buildProgram(ctx context.Context, b *bench) (program string, err error) {
	program = b.file("turnstone")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./cmd/turnstone")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build of the servers: %w: %s", err, out)
	}
	return program, nil
}

// child is a server in a process of its own.
type child struct {
	addr string
	cmd  *exec.Cmd
}

// startServer starts a server and returns when it serves.
func startServer(ctx context.Context, program string, arguments ...string) (*child, error) {
	cmd := exec.CommandContext(ctx, program, append([]string{"serve", "--addr", "127.0.0.1:0", "--no-bundle"}, arguments...)...)
	dir := filepath.Dir(program)
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+dir, "XDG_CACHE_HOME="+dir)
	var says strings.Builder
	cmd.Stderr = &says
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("start of a server: %w, %w: %s", err, cmd.Wait(), says.String())
	}
	return &child{strings.TrimPrefix(strings.TrimSpace(line), "http://"), cmd}, nil
}

func (c *child) stop() error {
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return c.cmd.Wait()
}
