package arch

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

const maxLines = 800

// vagueNames say nothing about what a package provides.
var vagueNames = []string{
	"util", "utils", "common", "helper", "helpers", "model", "models", "misc", "types",
}

// habits lists what one non-test file of a package does that it should not.
func habits(f *file) []string {
	var found []string
	if f.lines > maxLines {
		found = append(found, fmt.Sprintf("%d lines, at most %d", f.lines, maxLines))
	}
	name := f.ast.Name.Name
	if slices.Contains(vagueNames, name) || slices.Contains(vagueNames, path.Base(path.Dir(f.path))) {
		found = append(found, "a package named for what it provides is not called "+name)
	}
	if f.test() {
		return found
	}
	for _, d := range f.ast.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			found = append(found, "init()")
		}
	}
	if name != "main" {
		for _, call := range ownContexts(f) {
			found = append(found, call+" in a library: the context comes from the caller")
		}
	}
	return found
}

// ownContexts finds context.Background and context.TODO, under whatever name the file imports
// the package, called or handed on.
func ownContexts(f *file) []string {
	local := ""
	for _, spec := range f.ast.Imports {
		if spec.Path.Value == `"context"` {
			local = "context"
			if spec.Name != nil {
				local = spec.Name.Name
			}
		}
	}
	var found []string
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == local && (n.Sel.Name == "Background" || n.Sel.Name == "TODO") {
				found = append(found, "context."+n.Sel.Name)
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && local == "." && (id.Name == "Background" || id.Name == "TODO") {
				found = append(found, "context."+id.Name)
			}
		}
		return true
	})
	return found
}

// reservedTypes may be declared in one folder only, or nowhere.
var reservedTypes = map[string]string{"Checkpoint": "compress", "Context": ""}

func reserved(dir string, f *file) []string {
	var found []string
	for _, d := range f.ast.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range group.Specs {
			s, ok := spec.(*ast.TypeSpec)
			if !ok {
				continue
			}
			if home, listed := reservedTypes[s.Name.Name]; listed && dir != home {
				found = append(found, "type "+s.Name.Name+" does not belong here: see GLOSSARY.md")
			}
		}
	}
	return found
}

func TestHabits(t *testing.T) {
	for dir, p := range module(t) {
		for _, f := range slices.Concat(p.code, p.tests) {
			for _, habit := range append(habits(f), reserved(dir, f)...) {
				t.Errorf("%s: %s", f.path, habit)
			}
		}
	}
}

func TestHabitsBite(t *testing.T) {
	const long = "package turn\n"
	for _, test := range []struct {
		name, path, source string
		want               string
	}{
		{"clean", "turn/turn.go", "package turn\n\nimport \"context\"\n\nfunc F(ctx context.Context) { context.WithoutCancel(ctx) }", ""},
		{"at the limit", "turn/turn.go", long + strings.Repeat("\n", maxLines-1), ""},
		{"too long", "turn/turn.go", long + strings.Repeat("\n", maxLines), "801 lines"},
		{"too long a test", "turn/turn_test.go", long + strings.Repeat("\n", maxLines), "801 lines"},
		{"vague package", "internal/util/x.go", "package util", "not called util"},
		{"vague folder", "internal/common/x.go", "package ids", "not called"},
		{"init", "turn/turn.go", "package turn\nfunc init() {}", "init()"},
		{"init of a command", "cmd/turnstone/main.go", "package main\nfunc init() {}", "init()"},
		{"method init", "turn/turn.go", "package turn\nfunc (t T) init() {}", ""},
		{"background", "turn/turn.go", "package turn\nimport \"context\"\nvar c = context.Background()", "context.Background"},
		{"to do", "turn/turn.go", "package turn\nimport \"context\"\nvar c = context.TODO()", "context.TODO"},
		{"handed on", "turn/turn.go", "package turn\nimport \"context\"\nvar c = context.Background", "context.Background"},
		{"renamed import", "turn/turn.go", "package turn\nimport c \"context\"\nvar x = c.Background()", "context.Background"},
		{"dot import", "turn/turn.go", "package turn\nimport . \"context\"\nvar x = Background()", "context.Background"},
		{"another Background", "turn/turn.go", "package turn\nimport \"image\"\nvar x = image.Background()", ""},
		{"background of a command", "cmd/turnstone/main.go", "package main\nimport \"context\"\nvar c = context.Background()", ""},
		{"background of a test", "turn/turn_test.go", "package turn\nimport \"context\"\nvar c = context.Background()", ""},
		{"Checkpoint at home", "compress/checkpoint.go", "package compress\ntype Checkpoint struct{}", ""},
		{"Checkpoint elsewhere", "replay/x.go", "package replay\ntype Checkpoint struct{}", "type Checkpoint"},
		{"Context", "prompt/x.go", "package prompt\ntype (\n\tContext struct{}\n)", "type Context"},
		{"LightContext", "dialogue/x.go", "package dialogue\ntype LightContext struct{}", ""},
	} {
		f := snippet(t, test.path, test.source)
		got := strings.Join(append(habits(f), reserved(path.Dir(test.path), f)...), "; ")
		if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
