//go:build unix

package procgroup

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

func isolate(cmd *exec.Cmd, orphaned syscall.Signal) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	dieWithParent(cmd.SysProcAttr, orphaned)
}

func signal(p *os.Process, sig os.Signal) error {
	number, ok := sig.(syscall.Signal)
	if !ok {
		return errors.New("not a signal of this system")
	}
	if err := syscall.Kill(-p.Pid, number); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}
