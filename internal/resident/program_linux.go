package resident

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// releaseProgram gives back the pages of the program's file. Only what was never written is: pages that were would come
// back as they stand in the file.
func releaseProgram() (err error) {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("pages of the program: %w", err)
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return fmt.Errorf("pages of the program: %w", err)
	}
	defer func() { err = errors.Join(err, maps.Close()) }()
	all, err := clean(maps, program)
	if err != nil {
		return fmt.Errorf("pages of the program: %w", err)
	}
	for _, p := range all {
		if _, _, refused := syscall.Syscall(syscall.SYS_MADVISE, p.from, p.length, syscall.MADV_DONTNEED); refused != 0 {
			return fmt.Errorf("pages of the program: %w", refused)
		}
	}
	return nil
}

// pages are a part of the memory.
type pages struct{ from, length uintptr }

// clean are the pages of a program that are as they stand in its file. Some of those that cannot be written any more were
// written when it was loaded: in a program that may be loaded anywhere they have addresses.
func clean(smaps io.Reader, program string) (all []pages, err error) {
	inside := false
	lines := bufio.NewScanner(smaps)
	for lines.Scan() {
		if from, length, ok := unwritten(lines.Text(), program); ok {
			all, inside = append(all, pages{from, length}), true
			continue
		}
		switch name, size, _ := strings.Cut(lines.Text(), ":"); name {
		case "Anonymous", "Swap":
			if inside && strings.TrimSpace(size) != "0 kB" {
				all, inside = all[:len(all)-1], false
			}
		case "VmFlags":
			inside = false
		}
	}
	return all, lines.Err()
}

// unwritten is where a line of /proc/self/smaps says that pages of a program are which cannot be written.
func unwritten(line, program string) (from, length uintptr, ok bool) {
	// 00400000-019d6000 r-xp 00000000 fe:00 10069818     /usr/local/bin/turnstone
	place, rest, _ := strings.Cut(line, " ")
	mode, rest, _ := strings.Cut(rest, " ")
	slash := strings.IndexByte(rest, '/')
	if slash < 0 || rest[slash:] != program || len(mode) != 4 || mode[0] != 'r' || mode[1] != '-' {
		return 0, 0, false
	}
	first, last, _ := strings.Cut(place, "-")
	begin, err := strconv.ParseUint(first, 16, strconv.IntSize)
	if err != nil {
		return 0, 0, false
	}
	end, err := strconv.ParseUint(last, 16, strconv.IntSize)
	return uintptr(begin), uintptr(end - begin), err == nil && end > begin
}

func processorTime() (time.Duration, bool) {
	var r syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), err == nil
}
