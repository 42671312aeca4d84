//go:build unix

package tools

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// together has a command end with all that it started. It gets a session of its own, and so no terminal: what asks
// for a password there would take the keys from whoever talks.
func together(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}
