package resident

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAvailable(t *testing.T) {
	const machine = "MemTotal:        1000 kB\nMemFree:          10 kB\n"
	for name, test := range map[string]struct {
		files map[string]string
		want  uint64
		known bool
	}{
		"nothing is said": {},
		"a machine":       {map[string]string{"proc/meminfo": machine}, 1024_000, true},
		"a container": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "5000\n"},
			5000, true},
		"a unit within a slice": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "1:cpu:/\n0::/a.slice/b.service\n",
			"sys/fs/cgroup/a.slice/memory.max": "7000\n", "sys/fs/cgroup/a.slice/b.service/memory.max": "6000\n"}, 6000, true},
		"a slice with less than its unit": {map[string]string{"proc/self/cgroup": "0::/a.slice/b.service\n",
			"sys/fs/cgroup/a.slice/memory.max": "7000\n", "sys/fs/cgroup/a.slice/b.service/memory.max": "max\n"}, 7000, true},
		"a limit above the machine": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "9000000\n"}, 1024_000, true},
		"no groups are known": {map[string]string{"sys/fs/cgroup/memory.max": "5000\n"}, 5000, true},
		"a container of before": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "4:memory:/docker/a\n0::/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "5000\n"}, 5000, true},
		"a unit of before": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "5:cpu,memory:/a/b\n1:name=systemd:/c\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n", "sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "6000\n",
			"sys/fs/cgroup/memory/c/memory.limit_in_bytes": "10\n"}, 6000, true},
		"nonsense": {map[string]string{"proc/meminfo": "MemTotal: x kB\n", "sys/fs/cgroup/memory.max": "?\n"}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for file, text := range test.files {
				path := filepath.Join(root, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got, known := available(root); got != test.want || known != test.known {
				t.Errorf("%d, %v, want %d, %v", got, known, test.want, test.known)
			}
		})
	}
}
