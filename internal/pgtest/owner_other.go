//go:build !unix

package pgtest

import "os/exec"

// owner is the user the server runs as: here always the user of this process.
type owner struct{}

func serverOwner() (owner, error) { return owner{}, nil }

func (owner) own(string) error { return nil }

func (owner) run(*exec.Cmd) {}
