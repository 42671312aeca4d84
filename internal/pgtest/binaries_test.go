package pgtest

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestFindPrograms(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the made-up programs have no .exe")
	}
	for _, test := range []struct {
		name       string
		files      []string
		links      map[string]string
		searchPath []string
		want       string
	}{
		{
			name: "newest version, by number",
			files: []string{
				"lib/9.6/bin/initdb", "lib/9.6/bin/postgres",
				"lib/15/bin/initdb", "lib/15/bin/postgres",
				"lib/14/bin/initdb", "lib/14/bin/postgres",
			},
			want: "lib/15/bin",
		},
		{
			name:  "client only is passed over",
			files: []string{"lib/16/bin/initdb", "lib/15/bin/initdb", "lib/15/bin/postgres"},
			want:  "lib/15/bin",
		},
		{
			name:       "installed before PATH",
			files:      []string{"lib/15/bin/initdb", "lib/15/bin/postgres", "bin/initdb", "bin/postgres"},
			searchPath: []string{"bin"},
			want:       "lib/15/bin",
		},
		{
			name:       "PATH, wrapper of initdb passed over",
			files:      []string{"wrappers/initdb", "real/initdb", "real/postgres"},
			searchPath: []string{"wrappers", "real"},
			want:       "real",
		},
		{
			name:       "link in PATH followed",
			files:      []string{"elsewhere/initdb", "elsewhere/postgres"},
			links:      map[string]string{"bin/initdb": "elsewhere/initdb"},
			searchPath: []string{"bin"},
			want:       "elsewhere",
		},
		{name: "nothing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range test.files {
				path := filepath.Join(root, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, nil, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for link, target := range test.links {
				path := filepath.Join(root, link)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(filepath.Join(root, target), path); err != nil {
					t.Fatal(err)
				}
			}
			var search []string
			for _, dir := range test.searchPath {
				search = append(search, filepath.Join(root, dir))
			}
			got, err := findPrograms(
				[]string{filepath.Join(root, "lib/*/bin")},
				strings.Join(search, string(filepath.ListSeparator)),
			)
			if test.want == "" {
				if !errors.Is(err, errNoServer) {
					t.Errorf("got %q, %v; want %v", got, err, errNoServer)
				}
				return
			}
			if want := filepath.Join(root, test.want); err != nil || string(got) != want {
				t.Errorf("got %q, %v; want %q", got, err, want)
			}
		})
	}
}

func TestVersionIn(t *testing.T) {
	for dir, want := range map[string]float64{
		"/usr/lib/postgresql/15/bin":             15,
		"/usr/lib/postgresql/9.6/bin":            9.6,
		"/usr/pgsql-17/bin":                      17,
		"/opt/homebrew/opt/postgresql@16/bin":    16,
		"/opt/homebrew/opt/postgresql@trunk/bin": 0,
	} {
		if got := versionIn(dir); got != want {
			t.Errorf("versionIn(%q) = %v, want %v", dir, got, want)
		}
	}
}
