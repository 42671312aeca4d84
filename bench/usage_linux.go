package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// usage is what the process used: time on the processors and bytes handed to write calls.
type usage struct {
	cpu     time.Duration
	written int64
}

func (u usage) since(before usage) usage {
	return usage{cpu: u.cpu - before.cpu, written: u.written - before.written}
}

func (u *usage) add(more usage) {
	u.cpu += more.cpu
	u.written += more.written
}

func used() (usage, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return usage{}, err
	}
	u := usage{cpu: time.Duration(r.Utime.Nano() + r.Stime.Nano())}
	f, err := os.Open("/proc/self/io")
	if err != nil {
		return usage{}, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if value, ok := strings.CutPrefix(s.Text(), "wchar: "); ok {
			u.written, err = strconv.ParseInt(value, 10, 64)
			return u, err
		}
	}
	return usage{}, fmt.Errorf("/proc/self/io does not say how much was written")
}
