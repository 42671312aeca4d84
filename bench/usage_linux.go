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

// measure adds what f uses.
func (u *usage) measure(f func() error) error {
	before, err := used()
	if err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	after, err := used()
	u.cpu += after.cpu - before.cpu
	u.written += after.written - before.written
	return err
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

// processors is how the machine's processors spent their time since it was started: the time they had work, and the part of
// it that the machine around this one gave to others.
func processors() (busy, stolen float64) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0
	}
	line, _, _ := strings.Cut(string(data), "\n")
	for i, field := range strings.Fields(line) {
		n, _ := strconv.ParseFloat(field, 64)
		switch i {
		case 4, 5: // idle, and waiting for a disk
		case 8:
			stolen = n
			busy += n
		case 1, 2, 3, 6, 7:
			busy += n
		}
	}
	return busy, stolen
}
