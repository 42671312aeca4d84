package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

// The kinds that can be asked for are those that the package of events names, each once.
func TestEventKinds(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../event/event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Kind" {
			for _, value := range spec.Values {
				name, err := strconv.Unquote(value.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				named = append(named, name)
			}
		}
		return true
	})
	slices.Sort(named)
	if asked := slices.Sorted(slices.Values(eventKinds)); len(named) < 10 || !slices.Equal(asked, named) {
		t.Errorf("can be asked for: %v; there are: %v", asked, named)
	}
}
