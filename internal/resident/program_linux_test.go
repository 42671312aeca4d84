package resident

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestReleaseProgram(t *testing.T) {
	before := filePages(t)
	if err := Release(); err != nil {
		t.Fatal(err)
	}
	if after := filePages(t); after >= before {
		t.Errorf("%d kB of files before, %d after", before, after)
	}
	if used, ok := processorTime(); !ok || used <= 0 {
		t.Errorf("used %s, %v", used, ok)
	}
}

// filePages is how many kB of files the process holds.
func filePages(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`RssFile:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		t.Skip("this kernel does not say how much is of files")
	}
	kB, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kB
}

func TestUnwritten(t *testing.T) {
	const program = "/opt/my tools/turnstone"
	for line, want := range map[string]struct {
		from, length uintptr
		ok           bool
	}{
		"00400000-019d6000 r-xp 00000000 fe:00 10069818                           " + program: {0x400000, 0x15d6000, true},
		"019d6000-03244000 r--p 015d6000 fe:00 10069818                           " + program: {0x19d6000, 0x186e000, true},
		"03244000-03387000 rw-p 02e44000 fe:00 10069818                           " + program: {},
		"03244000-03387000 ---p 02e44000 fe:00 10069818                           " + program: {},
		"7f0000000000-7f0000001000 r--p 00000000 fe:00 1 /usr/lib/libc.so.6":                  {},
		"7f0000000000-7f0000001000 rw-p 00000000 00:00 0 ":                                    {},
		"x-7f0000001000 r--p 00000000 fe:00 1 " + program:                                     {},
		"": {},
	} {
		from, length, ok := unwritten(line, program)
		if ok != want.ok || ok && (from != want.from || length != want.length) {
			t.Errorf("%q: %x, %x, %v", line, from, length, ok)
		}
	}
}

// What was written when the program was loaded is not given back, though it cannot be written any more.
func TestClean(t *testing.T) {
	const smaps = `00010000-00020000 r-xp 00000000 fe:00 7    /bin/turnstone
Size:                 64 kB
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd ex mr mw me
00020000-00030000 r--p 00010000 fe:00 7    /bin/turnstone
Anonymous:             4 kB
Swap:                  0 kB
VmFlags: rd mr mw me
00030000-00040000 r--p 00020000 fe:00 7    /bin/turnstone
Anonymous:             0 kB
Swap:                  8 kB
VmFlags: rd mr mw me
00040000-00060000 r--p 00030000 fe:00 7    /bin/turnstone
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd mr mw me
00060000-00070000 rw-p 00050000 fe:00 7    /bin/turnstone
Anonymous:            64 kB
Swap:                  0 kB
VmFlags: rd wr mr mw me
`
	got, err := clean(strings.NewReader(smaps), "/bin/turnstone")
	if want := []pages{{0x10000, 0x10000}, {0x40000, 0x20000}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%x, %v", got, err)
	}
}
