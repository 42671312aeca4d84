//go:build !unix

package procgroup

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

func isolate(*exec.Cmd, syscall.Signal) {}

func signal(p *os.Process, _ os.Signal) error {
	if err := p.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}
