package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

func TestDataDir(t *testing.T) {
	for _, test := range []struct {
		goos string
		env  map[string]string
		want string
	}{
		{"linux", map[string]string{"HOME": "/h"}, "/h/.local/share/turnstone"},
		{"linux", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/x"}, "/x/turnstone"},
		{"linux", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "relative"}, "/h/.local/share/turnstone"},
		{"freebsd", map[string]string{"HOME": "/h"}, "/h/.local/share/turnstone"},
		{"darwin", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/x"}, "/h/Library/Application Support/turnstone"},
		{"windows", map[string]string{"LocalAppData": "/l", "HOME": "/h"}, "/l/turnstone"},
		{"linux", nil, ""},
		{"darwin", nil, ""},
		{"windows", map[string]string{"HOME": "/h"}, ""},
	} {
		got, err := dataDir(test.goos, func(name string) string { return test.env[name] })
		if got != filepath.FromSlash(test.want) || (err == nil) != (test.want != "") {
			t.Errorf("%s %v: got %q, %v, want %q", test.goos, test.env, got, err, test.want)
		}
		var bad *usageError
		if err != nil && !errors.As(err, &bad) {
			t.Errorf("%s: got %v, want an error of usage", test.goos, err)
		}
	}
}

func TestOtherFolders(t *testing.T) {
	for _, test := range []struct {
		folder folder
		goos   string
		env    map[string]string
		want   string
	}{
		{configFolder, "linux", map[string]string{"HOME": "/h"}, "/h/.config/turnstone"},
		{configFolder, "linux", map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/x/turnstone"},
		{configFolder, "darwin", map[string]string{"HOME": "/h"}, "/h/Library/Application Support/turnstone"},
		{configFolder, "windows", map[string]string{"AppData": "/a", "LocalAppData": "/l"}, "/a/turnstone"},
		{cacheFolder, "linux", map[string]string{"HOME": "/h"}, "/h/.cache/turnstone"},
		{cacheFolder, "linux", map[string]string{"HOME": "/h", "XDG_CACHE_HOME": "/x"}, "/x/turnstone"},
		{cacheFolder, "darwin", map[string]string{"HOME": "/h"}, "/h/Library/Caches/turnstone"},
		{cacheFolder, "windows", map[string]string{"AppData": "/a", "LocalAppData": "/l"}, "/l/turnstone"},
	} {
		got, err := test.folder.dir(test.goos, func(name string) string { return test.env[name] })
		if got != filepath.FromSlash(test.want) || err != nil {
			t.Errorf("%s on %s: got %q, %v, want %q", test.folder.kind, test.goos, got, err, test.want)
		}
	}
}

func TestDefaultFolderIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "share", "turnstone", "turnstone.db")
	st, err := place{path: path}.open(t.Context(), toUse)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); os.PathSeparator == '/' && got != 0o700 {
		t.Errorf("the folder's mode is %o, want 700", got)
	}
}

// Whoever reads while somebody else is making the file waits for its first bytes, and not for those of one that stays empty.
func TestAFileThatIsBeingMade(t *testing.T) {
	for name, test := range map[string]struct {
		age    time.Duration // of the empty file
		made   time.Duration // after which it is one
		why    purpose
		waited time.Duration
		empty  bool
	}{
		"is waited for":                  {made: 95 * time.Millisecond, why: toFind, waited: 100 * time.Millisecond},
		"is waited for by others too":    {made: 95 * time.Millisecond, why: toUse, waited: 100 * time.Millisecond},
		"by one who makes it is not":     {made: time.Hour, why: toMake},
		"is not waited for for ever":     {made: time.Hour, why: toFind, waited: makingWait, empty: true},
		"long ago, by somebody who left": {age: time.Minute, made: time.Hour, why: toFind, empty: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "store.db")
				begin := time.Now()
				if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, begin.Add(-test.age), begin.Add(-test.age))); err != nil {
					t.Fatal(err)
				}
				maker := time.AfterFunc(test.made, func() {
					if err := os.WriteFile(path, []byte("SQLite format 3\x00"), 0o600); err != nil {
						t.Error(err)
					}
				})
				err := place{path: path, given: true}.prepare(t.Context(), test.why)
				maker.Stop()
				if as[emptyFile](err) != test.empty || !test.empty && err != nil {
					t.Errorf("after it was waited for: %v", err)
				}
				if got := time.Since(begin); got != test.waited {
					t.Errorf("it was waited for for %s, want %s", got, test.waited)
				}
			})
		})
	}
}
