// Package procgroup runs a program in a process group of its own that does not outlive its
// parent: the whole group can be signalled at once, and on Linux the kernel signals the program
// when this process dies, even by kill -9.
package procgroup

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// Process is a started program. Its methods may be called concurrently.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// Start starts cmd, which must not have been started, and waits for it in the background.
// orphaned is the signal the program gets when this process dies before it (Linux only).
// It sets cmd.SysProcAttr; a Credential already there is kept. Where cmd's output goes to a
// writer that is not a file, the process counts as ended only when every descendant that
// inherited the output has ended too.
func Start(cmd *exec.Cmd, orphaned syscall.Signal) (*Process, error) {
	isolate(cmd, orphaned)
	p := &Process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		defer close(p.done)
		// The parent-death signal is bound to the thread that forked, so that thread has to
		// live as long as the child. Never unlocking ends the thread with this goroutine.
		runtime.LockOSThread()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		started <- nil
		p.err = cmd.Wait()
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return p, nil
}

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait blocks until the program has ended and returns what exec.Cmd.Wait returned.
func (p *Process) Wait() error {
	<-p.done
	return p.err
}

// Signal sends sig to every process of the group; a group without processes is no error.
// Where the system has no such signals, every signal ends the program at once.
func (p *Process) Signal(sig os.Signal) error {
	if err := signal(p.cmd.Process, sig); err != nil {
		return fmt.Errorf("signal %v to process group %d: %w", sig, p.cmd.Process.Pid, err)
	}
	return nil
}
