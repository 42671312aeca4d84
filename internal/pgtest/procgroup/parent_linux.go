package procgroup

import "syscall"

func dieWithParent(attr *syscall.SysProcAttr, orphaned syscall.Signal) { attr.Pdeathsig = orphaned }
