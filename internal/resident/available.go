package resident

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// available is how much memory the machine has, or the container or unit that the process is in, if one of them says so.
// Only Linux does: elsewhere none of the files is there.
func available(root string) (bytes uint64, known bool) {
	least := func(n uint64, ok bool) {
		if ok && (!known || n < bytes) {
			bytes, known = n, true
		}
	}
	least(machine(filepath.Join(root, "proc/meminfo")))
	for _, h := range hierarchies {
		for _, group := range groups(filepath.Join(root, "proc/self/cgroup"), h.names) {
			least(limit(filepath.Join(root, h.at, group, h.file)))
		}
	}
	return bytes, known
}

// hierarchies are where control groups say how much memory they have: those of today, and those of before, which many machines
// still have.
var hierarchies = []struct {
	names    func(line string) (group string, ok bool) // by a line of the process's groups
	at, file string
}{
	{func(line string) (string, bool) { return strings.CutPrefix(line, "0::") }, "sys/fs/cgroup", "memory.max"},
	{func(line string) (string, bool) {
		_, rest, _ := strings.Cut(line, ":")
		controllers, group, ok := strings.Cut(rest, ":")
		return group, ok && slices.Contains(strings.Split(controllers, ","), "memory")
	}, "sys/fs/cgroup/memory", "memory.limit_in_bytes"},
}

func machine(meminfo string) (bytes uint64, known bool) {
	text, err := os.ReadFile(meminfo)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == "MemTotal:" && words[2] == "kB" {
			kB, err := strconv.ParseUint(words[1], 10, 54)
			return kB * 1024, err == nil
		}
	}
	return 0, false
}

// groups are the process's control group and those around it, from the outermost: each may have a limit.
func groups(file string, names func(line string) (string, bool)) (all []string) {
	all = []string{"/"}
	text, err := os.ReadFile(file)
	if err != nil {
		return all
	}
	for line := range strings.Lines(string(text)) {
		path, ok := names(strings.TrimSpace(line))
		if !ok {
			continue
		}
		for i, c := range path {
			if c == '/' && i > 0 {
				all = append(all, path[:i])
			}
		}
		return append(all, path)
	}
	return all
}

// limit is what a file of a control group says; one without a limit says "max", or a number that no machine has.
func limit(file string) (bytes uint64, known bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	bytes, err = strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return bytes, err == nil
}
