//go:build unix

package procgroup_test

import (
	"bufio"
	"io"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/pgtest/procgroup"
)

func TestSignalReachesTheWholeGroup(t *testing.T) {
	reader, writer := io.Pipe()
	cmd := exec.Command("sh", "-c", `sleep 600 & echo ready; wait`)
	cmd.Stdout = writer
	p, err := procgroup.Start(cmd, syscall.SIGTERM)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(reader).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Done():
		t.Fatal("ended before it was signalled")
	default:
	}
	if err := p.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// The sleep holds the output open: this hangs if only the shell was signalled.
	<-p.Done()
	exit, ok := p.Wait().(*exec.ExitError)
	if !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("Wait = %v, want killed", p.Wait())
	}
	if err := p.Signal(syscall.SIGKILL); err != nil {
		t.Errorf("signal to an ended group: %v", err)
	}
}

func TestStartOfMissingProgram(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	if _, err := procgroup.Start(exec.Command(missing), syscall.SIGTERM); err == nil {
		t.Error("no error for a program that is not there")
	}
}
