//go:build unix && !linux

package procgroup

import "syscall"

// Only Linux tells a child that its parent died.
func dieWithParent(*syscall.SysProcAttr, syscall.Signal) {}
