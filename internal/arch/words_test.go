package arch

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// machineWords are traces of the machine or the process a file was written on. They mean nothing
// to whoever reads the file elsewhere.
var machineWords = []struct {
	what    string
	pattern *regexp.Regexp
}{
	{"a path of somebody's own folder", regexp.MustCompile(`(?:^|[^\w.~)}\]-])/(?:root|work|home/\w+|Users/\w+)(?:$|[^\w-])`)},
	{"a path of somebody's own folder", regexp.MustCompile(`\b[A-Z]:\\{1,2}Users\\`)},
	{"a folder beside the repository", regexp.MustCompile(`(?:^|[^\w-])share[d]/|\.\./share[d]\b`)},
	{"who wrote it", regexp.MustCompile(`(?i)\bsub-?agents?\b|co-authored-b[y]:|generated (?:by|with) (?:an? )?(?:ai|llm)\b`)},
	{"a package registry's host", regexp.MustCompile(`(?:proxy|sum)[.]golang[.]org|registry[.](?:npmjs|yarnpkg)[.]|pypi[.]org|pythonhosted[.]org|deb[.]debian[.]org|crates[.]io`)},
}

// notOurWords are files whose text comes from elsewhere.
var notOurWords = []string{"LICENSE", "go.sum"}

// traces lists the machine words in a text, each with what it is.
func traces(text []byte) []string {
	var found []string
	for _, word := range machineWords {
		if match := word.pattern.Find(text); match != nil {
			found = append(found, word.what+": "+strings.TrimSpace(string(match)))
		}
	}
	return found
}

// trackedFiles asks git, since what is ignored may hold anything.
func trackedFiles(t *testing.T) []string {
	t.Helper()
	if _, err := os.Stat(filepath.Join(moduleRoot, ".git")); err != nil {
		t.Skip("not a git checkout")
	}
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = moduleRoot
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
}

func TestPortableWords(t *testing.T) {
	for _, name := range trackedFiles(t) {
		if slices.Contains(notOurWords, filepath.Base(name)) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(moduleRoot, name))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if bytes.IndexByte(text, 0) >= 0 {
			continue
		}
		for number, line := range bytes.Split(text, []byte("\n")) {
			for _, trace := range traces(line) {
				t.Errorf("%s:%d: %s", name, number+1, trace)
			}
		}
	}
}

func TestPortableWordsBite(t *testing.T) {
	// Written in pieces, as this file is read by the test above too.
	const slash = "/"
	for _, bad := range []string{
		slash + "root" + slash + "go",
		"cd " + slash + "work" + slash + "main",
		"see " + slash + "work",
		`"` + slash + "home" + slash + `alice/x.go"`,
		"`" + slash + "Users" + slash + "alice`",
		`C:\Us` + `ers\alice`,
		".." + slash + "shared" + slash + "SYSTEM.md",
		"in shared" + slash + "data",
		"a sub" + "agent did it",
		"Co-authored-" + "by: someone",
		"https://proxy." + "golang.org",
		"registry." + "npmjs.org",
	} {
		if len(traces([]byte(bad))) == 0 {
			t.Errorf("%q is not found", bad)
		}
	}
	for _, good := range []string{
		"the root of the tree, at work, at home",
		"/usr/lib/postgresql/15/bin",
		"/sessions/{id}/work",
		"./root/x and a/home/b",
		"https://example.com/home/index",
		"/rooted /homework /worker",
		"memory shared by two stores",
		"an agent and its worker",
		"golang.org/x/text",
	} {
		if found := traces([]byte(good)); len(found) != 0 {
			t.Errorf("%q: %v", good, found)
		}
	}
}
