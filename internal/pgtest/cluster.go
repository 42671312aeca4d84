// Package pgtest gives tests and benchmarks a PostgreSQL of their own: a private cluster in a
// temporary folder, and a private schema on it for each test.
package pgtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/turnstone-dev/turnstone/internal/pgtest/procgroup"
	"github.com/turnstone-dev/turnstone/internal/porttest"
)

const (
	superuser = "turnstone"
	// startTimeout covers crash recovery after Kill, not only a clean start.
	startTimeout = 3 * time.Minute
	stopTimeout  = time.Minute
	portTries    = 5
)

// Options says how a cluster treats its data.
type Options struct {
	// Durable keeps fsync and full_page_writes on, as a production server has them.
	// Defaults to false: a cluster that survives kill -9 but not a power failure.
	Durable bool
}

// Mode is the way a server is stopped.
type Mode int

const (
	// Fast rolls back open transactions, disconnects clients and shuts down cleanly.
	Fast Mode = iota
	// Immediate drops everything at once; the next start recovers as after a crash.
	Immediate
)

func (m Mode) signal() syscall.Signal {
	if m == Immediate {
		return syscall.SIGQUIT
	}
	return syscall.SIGINT
}

// Cluster is a private PostgreSQL server and its folder. It listens on a loopback port and on a
// unix socket inside its folder, only for whoever knows its URL. Its methods may be called
// concurrently.
type Cluster struct {
	bin      programs
	owner    owner
	dir      string
	settings []string
	password string
	port     int

	// mu guards server and log.
	mu     sync.Mutex
	server *procgroup.Process
	log    *journal
}

// Start makes a cluster and returns when it accepts connections. A cancelled ctx ends the
// attempt, not the started cluster: the caller ends that with Stop. It also ends, on Linux,
// when this process is killed. An error carries the end of PostgreSQL's own output; nothing
// is left behind then.
func Start(ctx context.Context, opts Options) (*Cluster, error) {
	bin, err := installedPrograms()
	if err != nil {
		return nil, err
	}
	own, err := serverOwner()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "turnstone-pg-")
	if err != nil {
		return nil, fmt.Errorf("folder of PostgreSQL cluster: %w", err)
	}
	c := &Cluster{bin: bin, owner: own, dir: dir, password: rand.Text(), settings: settings(dir, opts)}
	if err := c.create(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	for range portTries {
		if c.port, err = porttest.Free(); err != nil {
			break
		}
		if err = c.launch(ctx); !errors.Is(err, errPortTaken) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return c, nil
}

func settings(dir string, opts Options) []string {
	s := []string{
		"listen_addresses=127.0.0.1",
		"max_connections=300",
		"lc_messages=C",
		"log_destination=stderr",
		"logging_collector=off",
	}
	if runtime.GOOS != "windows" {
		// mmap keeps dynamic shared memory inside the folder, so that a killed server leaves
		// nothing in /dev/shm.
		s = append(s, "unix_socket_directories="+dir, "dynamic_shared_memory_type=mmap")
	}
	if !opts.Durable {
		s = append(s, "fsync=off", "full_page_writes=off")
	}
	return s
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

func (c *Cluster) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(c.bin.path(program), args...)
	// PG* variables of the caller would redirect the server; its working folder may be closed
	// to the server's user.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	cmd.Dir = c.dir
	c.owner.run(cmd)
	return cmd
}

// create runs initdb.
func (c *Cluster) create(ctx context.Context) error {
	passwordFile := filepath.Join(c.dir, "password")
	if err := os.WriteFile(passwordFile, []byte(c.password+"\n"), 0o600); err != nil {
		return fmt.Errorf("password of PostgreSQL cluster: %w", err)
	}
	for _, path := range []string{c.dir, passwordFile} {
		if err := c.owner.own(path); err != nil {
			return fmt.Errorf("owner of PostgreSQL cluster: %w", err)
		}
	}
	major, err := c.bin.major(ctx)
	if err != nil {
		return err
	}
	args := []string{
		"--pgdata", c.data(), "--username", superuser, "--pwfile", passwordFile,
		"--auth-local=trust", "--encoding=UTF8", "--locale=C", "--no-sync",
	}
	// Tests open thousands of connections: a password is not hashed thousands of times for each.
	if major >= 16 {
		args = append(args, "--auth-host=scram-sha-256", "--set=scram_iterations=1")
	} else {
		args = append(args, "--auth-host=md5")
	}
	if major >= 15 {
		// A language's order differs from the order of bytes: a query that forgot
		// COLLATE "C" is found out here instead of on a user's database.
		args = append(args, "--locale-provider=icu", "--icu-locale=en")
	}
	cmd := c.command("initdb", args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	initdb, err := procgroup.Start(cmd, syscall.SIGINT)
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: the server's user must be able to reach %s: set TMPDIR to another folder", err, c.dir)
	}
	if err != nil {
		return err
	}
	select {
	case <-initdb.Done():
	case <-ctx.Done():
		err := initdb.Signal(syscall.SIGKILL)
		<-initdb.Done()
		return errors.Join(fmt.Errorf("initdb: %w", context.Cause(ctx)), err)
	}
	if err := initdb.Wait(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, bytes.TrimSpace(out.Bytes()))
	}
	return nil
}

// URL returns the address of the cluster's database as its superuser, password included.
// It stays the same over restarts.
func (c *Cluster) URL() string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(superuser, c.password),
		Host:     "127.0.0.1:" + strconv.Itoa(c.port),
		Path:     "/postgres",
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Restart stops the server in the given mode and starts it again at the same URL. A server that
// is not running, after Kill, is only started.
func (c *Cluster) Restart(ctx context.Context, mode Mode) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.end(mode.signal()); err != nil {
		return err
	}
	return c.launch(ctx)
}

// Kill ends the server with SIGKILL and returns when the last of its processes is gone. The
// data stays; Restart recovers it.
func (c *Cluster) Kill() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end(syscall.SIGKILL)
}

// Stop ends the server and removes the cluster's folder. Stopping a stopped cluster does
// nothing.
func (c *Cluster) Stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.end(Immediate.signal()); err != nil {
		return err
	}
	if err := os.RemoveAll(c.dir); err != nil {
		return fmt.Errorf("folder of PostgreSQL cluster: %w", err)
	}
	return nil
}

var errPortTaken = errors.New("port is taken")

// launch starts the server and waits until it accepts connections.
func (c *Cluster) launch(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("not ready after %v", startTimeout))
	defer cancel()
	args := []string{"-D", c.data(), "-p", strconv.Itoa(c.port)}
	for _, setting := range c.settings {
		args = append(args, "-c", setting)
	}
	log := newJournal()
	cmd := c.command("postgres", args...)
	cmd.Stdout, cmd.Stderr = log, log
	server, err := procgroup.Start(cmd, Immediate.signal())
	if err != nil {
		return err
	}
	c.server, c.log = server, log
	select {
	case <-log.ready:
		return nil
	case <-server.Done():
		c.server = nil
		if strings.Contains(log.String(), "could not bind") {
			return fmt.Errorf("start of PostgreSQL on port %d: %w", c.port, errPortTaken)
		}
		return fmt.Errorf("start of PostgreSQL: %v\n%s", server.Wait(), log)
	case <-ctx.Done():
		err := fmt.Errorf("start of PostgreSQL: %w\n%s", context.Cause(ctx), log)
		return errors.Join(err, c.end(syscall.SIGKILL))
	}
}

// end signals a running server and waits until all its processes are gone. They hold its log
// open, which is how procgroup knows. A server deaf to sig is killed.
func (c *Cluster) end(sig syscall.Signal) error {
	if c.server == nil {
		return nil
	}
	timeout := time.NewTimer(stopTimeout)
	defer timeout.Stop()
	if err := c.server.Signal(sig); err != nil {
		return fmt.Errorf("stop of PostgreSQL: %w", err)
	}
	select {
	case <-c.server.Done():
		c.server = nil
		return nil
	case <-timeout.C:
	}
	if err := c.server.Signal(syscall.SIGKILL); err != nil {
		return fmt.Errorf("stop of PostgreSQL: %w", err)
	}
	timeout.Reset(stopTimeout)
	select {
	case <-c.server.Done():
		c.server = nil
		return nil
	case <-timeout.C:
		return fmt.Errorf("stop of PostgreSQL: processes left %v after SIGKILL\n%s", stopTimeout, c.log)
	}
}
