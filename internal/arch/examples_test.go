package arch

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shownInExamples are the packages of which every exported name is in use in an example.
var shownInExamples = []string{
	".", "agent", "client",
	"llm", "llm/ollama", "llm/openai",
	"budget/bpe", "compress/extract", "compress/literal", "prompt/wire", "replay/history", "store/doctor",
}

// calledForUs are methods that a package of the standard library calls: examples show them by using that.
var calledForUs = []string{"MarshalJSON", "UnmarshalJSON"}

// exampleGaps says which exported names of a package no example uses, and which of its examples are not run since they
// do not say what comes out.
func exampleGaps(c *checker, dir string) ([]string, error) {
	folder, importPath := filepath.Join(c.root, dir), path.Join(modulePath, dir)
	found, err := c.context.ImportDir(folder, 0)
	if err != nil {
		return nil, err
	}
	code, err := c.parse(folder, found.GoFiles)
	if err != nil {
		return nil, err
	}
	inside, err := c.parse(folder, found.TestGoFiles)
	if err != nil {
		return nil, err
	}
	outside, err := c.parse(folder, found.XTestGoFiles)
	if err != nil {
		return nil, err
	}
	var gaps []string
	shown := map[string]bool{}
	use := func(examples []*doc.Example, importPath string, files []*ast.File) {
		if len(examples) == 0 {
			return
		}
		bodiesOf(examples, files)
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
		c.check(importPath, files, &types.Config{}, info)
		for _, e := range examples {
			if e.Output == "" && !e.EmptyOutput {
				gaps = append(gaps, fmt.Sprintf("Example%s is not run: it has no Output comment", e.Name))
			}
			inUse(e.Code, info, strings.TrimSuffix(importPath, "_test"), shown)
		}
	}
	use(doc.Examples(inside...), importPath, slices.Concat(code, inside))
	use(doc.Examples(outside...), importPath+"_test", outside)
	for _, f := range code {
		for _, d := range declarations(&file{ast: f}) {
			_, method, _ := strings.Cut(d.name, ".")
			if !shown[d.name] && !slices.Contains(calledForUs, method) {
				gaps = append(gaps, d.name+" is in no example")
			}
		}
	}
	return gaps, nil
}

// bodiesOf leaves no other functions their bodies: most of a package's tests are of no use here and take long to check.
func bodiesOf(examples []*doc.Example, files []*ast.File) {
	keep := map[ast.Node]bool{}
	for _, e := range examples {
		keep[e.Code] = true // the body, or the file where an example is shown as a whole
	}
	for _, f := range files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && !keep[f] && !keep[fn.Body] {
				fn.Body = nil
			}
		}
	}
}

// inUse marks the names of a package that a piece of code uses, methods as Type.Method. A type is in use where there is
// a value of it.
func inUse(code ast.Node, info *types.Info, importPath string, shown map[string]bool) {
	mark := func(o types.Object) {
		if o.Pkg() == nil || o.Pkg().Path() != importPath {
			return
		}
		if o.Parent() == o.Pkg().Scope() {
			shown[o.Name()] = true
		} else if f, ok := o.(*types.Func); ok && f.Signature().Recv() != nil {
			for _, receiver := range named(f.Signature().Recv().Type()) {
				shown[receiver.Name()+"."+f.Name()] = true
			}
		}
	}
	ast.Inspect(code, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && info.Uses[id] != nil {
			mark(info.Uses[id])
		}
		if e, ok := n.(ast.Expr); ok {
			for _, o := range named(info.TypeOf(e)) {
				mark(o)
			}
		}
		return true
	})
}

// named returns the named types that a value of a type is of or holds: behind a pointer, in a slice, or as one of
// several results.
func named(t types.Type) []*types.TypeName {
	switch t := t.(type) {
	case *types.Alias:
		return append(named(t.Rhs()), t.Obj())
	case *types.Named:
		return []*types.TypeName{t.Obj()}
	case *types.Pointer:
		return named(t.Elem())
	case *types.Slice:
		return named(t.Elem())
	case *types.Tuple:
		var all []*types.TypeName
		for v := range t.Variables() {
			all = append(all, named(v.Type())...)
		}
		return all
	}
	return nil
}

func TestExamples(t *testing.T) {
	c := newChecker(moduleRoot)
	for _, dir := range shownInExamples {
		gaps, err := exampleGaps(c, dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, gap := range gaps {
			t.Errorf("%s: %s", dir, gap)
		}
	}
}

func TestExamplesBite(t *testing.T) {
	root := t.TempDir()
	for name, source := range map[string]string{
		"turn/turn.go": `package turn

import "example.org/elsewhere"

type Log struct{ Size, Unused int }
type Row struct{}
type Key = string
type Page struct{ elsewhere.Page }
type Filter func(Row) bool
type Unused struct{}
const First = 1
const Last = 2
var ErrEmpty error
func Open() (*Log, error) { return nil, nil }
func Drop() {}
func (l *Log) Rows() []Row { return nil }
func (l Log) Drop() {}
func (Row) Drop() {}
func (Row) String() string { return "" }
func (Row) MarshalJSON() ([]byte, error) { return nil, nil }
func hidden() {}
`,
		"turn/inside_test.go": `package turn

import "fmt"

func ExampleFirst() {
	fmt.Println(First)
	// Output: 1
}
`,
		"turn/example_test.go": `package turn_test

import (
	"fmt"

	"example.org/elsewhere"
	"` + modulePath + `/turn"
)

func must[T any](v T, err error) T { return v }

func ExampleOpen() {
	log := must(turn.Open())
	for _, row := range log.Rows() {
		row.Drop()
	}
	var key turn.Key
	fmt.Println(key, elsewhere.Anything(turn.ErrEmpty), log.Size+log.Unused)
	// Output:
}

func ExamplePage() {
	fmt.Println(turn.Page{}.Number)
}

func drop() {
	turn.Drop()
	_ = turn.Last
}
`,
	} {
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := exampleGaps(newChecker(root), "turn")
	want := []string{
		"ExamplePage is not run: it has no Output comment",
		"Filter is in no example", "Unused is in no example", "Last is in no example",
		"Drop is in no example", "Log.Drop is in no example",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := exampleGaps(newChecker(root), "nowhere"); err == nil {
		t.Error("a folder that is not there has no gaps")
	}
}
