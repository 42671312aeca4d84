package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	modulePath = "github.com/turnstone-dev/turnstone"
	moduleRoot = "../.."
)

// file is one parsed Go file; path is relative to the module, with slashes.
type file struct {
	path  string
	lines int
	ast   *ast.File
}

func (f *file) test() bool { return strings.HasSuffix(f.path, "_test.go") }

// imports returns the import paths of the file.
func (f *file) imports() []string {
	var paths []string
	for _, spec := range f.ast.Imports {
		// The parser has checked that it is a string.
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// pkg is the Go files of one folder, tests apart.
type pkg struct {
	dir   string
	code  []*file
	tests []*file
}

// name is the name in the package clauses, empty for a folder of tests only.
func (p *pkg) name() string {
	if len(p.code) == 0 {
		return ""
	}
	return p.code[0].ast.Name.Name
}

// parse reads Go source as the file at the given path.
func parse(filePath string, source []byte) (*file, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), filePath, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	return &file{path: filePath, lines: bytes.Count(source, []byte("\n")), ast: parsed}, nil
}

// snippet is parse for the made-up code of the rules' own tests.
func snippet(t *testing.T, filePath, source string) *file {
	t.Helper()
	f, err := parse(filePath, []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// load parses the module under root, without testdata and modules nested in it.
func load(root string) (map[string]*pkg, error) {
	packages := map[string]*pkg{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		if entry.IsDir() {
			return enter(name, relative)
		}
		if !strings.HasSuffix(relative, ".go") {
			return nil
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f, err := parse(relative, source)
		if err != nil {
			return err
		}
		dir := path.Dir(relative)
		p := packages[dir]
		if p == nil {
			p = &pkg{dir: dir}
			packages[dir] = p
		}
		if f.test() {
			p.tests = append(p.tests, f)
		} else {
			p.code = append(p.code, f)
		}
		return nil
	})
	return packages, err
}

// enter is fs.SkipDir for folders whose Go files are not the module's.
func enter(name, relative string) error {
	if relative == "." {
		return nil
	}
	base := path.Base(relative)
	if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "node_modules" {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

var loadModule = sync.OnceValues(func() (map[string]*pkg, error) { return load(moduleRoot) })

// module is the code under test, parsed once.
func module(t *testing.T) map[string]*pkg {
	t.Helper()
	packages, err := loadModule()
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

func TestLoad(t *testing.T) {
	root := t.TempDir()
	for name, source := range map[string]string{
		"go.mod":               "module m\n",
		"door.go":              "package m\n",
		"turn/turn.go":         "package turn\n\nimport \"fmt\"\n\nvar _ = fmt.Sprint\n",
		"turn/turn_test.go":    "package turn_test\n",
		"turn/testdata/bad.go": "not Go",
		".hidden/bad.go":       "not Go",
		"peers/go.mod":         "module peers\n",
		"peers/bad.go":         "not Go",
	} {
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	packages, err := load(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) != 2 || packages["."].name() != "m" || packages["turn"].name() != "turn" {
		t.Fatalf("packages: %v", packages)
	}
	turn := packages["turn"]
	if len(turn.code) != 1 || len(turn.tests) != 1 || turn.code[0].lines != 5 {
		t.Errorf("turn: %+v", turn)
	}
	if got := turn.code[0].imports(); len(got) != 1 || got[0] != "fmt" {
		t.Errorf("imports: %v", got)
	}
}
