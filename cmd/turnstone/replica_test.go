package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/porttest"
)

// replica is turnstone serve as a process that is killed and started again at its address.
type replica struct {
	args []string
	dir  string // for its settings
	log  *os.File
	base string // the same after every start

	mu  sync.Mutex // guards cmd
	cmd *exec.Cmd  // nil while it is down
}

// newReplica starts a server, which ends with the test.
func newReplica(t *testing.T, args ...string) *replica {
	t.Helper()
	r := &replica{args: args, dir: t.TempDir()}
	var err error
	if r.log, err = os.Create(filepath.Join(r.dir, "log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(r.kill(), r.log.Close()); err != nil {
			t.Error(err)
		}
		if said, err := os.ReadFile(r.log.Name()); t.Failed() {
			t.Logf("%s said: %s %v", r.base, said, err)
		}
	})
	for range 5 { // until the port is still free
		port, free := porttest.Free()
		if free != nil {
			t.Fatal(free)
		}
		r.base = fmt.Sprint("http://127.0.0.1:", port)
		if err = r.start(); err == nil {
			return r
		}
	}
	t.Fatal(err)
	return nil
}

// start starts it where it is down, and returns when it serves.
func (r *replica) start() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cmd != nil {
		return nil
	}
	cmd := exec.Command("turnstone", append([]string{"serve", "--addr", strings.TrimPrefix(r.base, "http://")}, r.args...)...)
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+r.dir, "XDG_CACHE_HOME="+r.dir, "TURNSTONE_UPSTREAM=", "TURNSTONE_BUS=")
	cmd.Stderr = r.log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return fmt.Errorf("start of a replica: %w, %w", err, cmd.Wait())
	}
	r.cmd = cmd
	return nil
}

// kill ends it as kill -9 does, and returns when it is gone.
func (r *replica) kill() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cmd == nil {
		return nil
	}
	err := r.cmd.Process.Kill()
	var killed *exec.ExitError
	if ended := r.cmd.Wait(); !errors.As(ended, &killed) || killed.Exited() {
		err = errors.Join(err, fmt.Errorf("a replica ended by itself: %v", ended))
	}
	r.cmd = nil
	return err
}
