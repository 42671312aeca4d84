package pgtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// installations are the folders where packages put the server's programs, which distributions
// keep out of PATH.
var installations = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/opt/homebrew/opt/postgresql@*/bin",
	"/usr/local/opt/postgresql@*/bin",
}

var errNoServer = errors.New("PostgreSQL server programs (initdb, postgres) not found: install the package postgresql")

// programs is a folder that holds initdb and postgres of one version.
type programs string

func (p programs) path(name string) string { return filepath.Join(string(p), name) }

func (p programs) complete() bool {
	for _, name := range []string{"initdb", "postgres"} {
		if _, err := exec.LookPath(p.path(name)); err != nil {
			return false
		}
	}
	return true
}

// major asks the server for its major version.
func (p programs) major(ctx context.Context) (int, error) {
	out, err := exec.CommandContext(ctx, p.path("postgres"), "--version").Output()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return 0, fmt.Errorf("version of %s: %w", p.path("postgres"), err)
	}
	number := firstNumber.FindString(string(out))
	if number == "" {
		return 0, fmt.Errorf("version of %s: no number in %q", p.path("postgres"), out)
	}
	return strconv.Atoi(number)
}

// findPrograms prefers the newest version among the folders that match patterns, then the
// folder of the first postgres and of the first initdb in searchPath. What stands in PATH may
// be a link or a wrapper without the other program beside it.
func findPrograms(patterns []string, searchPath string) (programs, error) {
	var found []string
	for _, pattern := range patterns {
		match, err := filepath.Glob(pattern)
		if err != nil {
			return "", fmt.Errorf("pattern of PostgreSQL folders: %w", err)
		}
		found = append(found, match...)
	}
	slices.SortStableFunc(found, func(a, b string) int { return cmp.Compare(versionIn(b), versionIn(a)) })
	for _, name := range []string{"postgres", "initdb"} {
		for _, dir := range filepath.SplitList(searchPath) {
			real, err := filepath.EvalSymlinks(filepath.Join(dir, name))
			if err == nil {
				found = append(found, filepath.Dir(real))
			}
		}
	}
	for _, dir := range found {
		if p := programs(dir); p.complete() {
			return p, nil
		}
	}
	return "", errNoServer
}

func installedPrograms() (programs, error) {
	return findPrograms(installations, os.Getenv("PATH"))
}

var firstNumber = regexp.MustCompile(`[0-9]+`)

// versionIn reads the version out of a folder such as …/postgresql/15/bin; 0 when it has none.
func versionIn(dir string) float64 {
	parent := filepath.Base(filepath.Dir(dir))
	version, err := strconv.ParseFloat(parent[strings.LastIndexAny(parent, "@-")+1:], 64)
	if err != nil {
		return 0
	}
	return version
}
