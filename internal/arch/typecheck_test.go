package arch

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"strings"
)

// checker tells what names in the module mean. It reads packages of the module and of the standard library without the
// bodies of their functions. All others are empty to it, so that what stands on them has no type.
type checker struct {
	fset    *token.FileSet
	context build.Context
	root    string
	known   map[string]*types.Package
}

func newChecker(root string) *checker {
	c := &checker{
		fset:    token.NewFileSet(),
		context: build.Default,
		root:    root,
		known:   map[string]*types.Package{"unsafe": types.Unsafe},
	}
	c.context.CgoEnabled = false
	return c
}

// Import implements [types.Importer].
func (c *checker) Import(importPath string) (*types.Package, error) {
	if p, ok := c.known[importPath]; ok {
		return p, nil
	}
	p, err := c.read(importPath)
	if err != nil {
		return nil, fmt.Errorf("import %s: %w", importPath, err)
	}
	c.known[importPath] = p
	return p, nil
}

func (c *checker) read(importPath string) (*types.Package, error) {
	folder, ours := strings.CutPrefix(importPath, modulePath)
	dir := filepath.Join(c.root, folder)
	if !ours {
		if first, _, _ := strings.Cut(importPath, "/"); strings.Contains(first, ".") {
			empty := types.NewPackage(importPath, path.Base(importPath))
			empty.MarkComplete()
			return empty, nil
		}
		dir = filepath.Join(c.context.GOROOT, "src", importPath)
	}
	found, err := c.context.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	files, err := c.parse(dir, found.GoFiles)
	if err != nil {
		return nil, err
	}
	return c.check(importPath, files, &types.Config{IgnoreFuncBodies: true}, nil), nil
}

func (c *checker) parse(dir string, names []string) ([]*ast.File, error) {
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(c.fset, filepath.Join(dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// check finds out as much as can be known: code that the compiler refuses is the compiler's to tell.
func (c *checker) check(importPath string, files []*ast.File, config *types.Config, info *types.Info) *types.Package {
	config.Importer = c
	config.Error = func(error) {}
	p := types.NewPackage(importPath, files[0].Name.Name)
	if err := types.NewChecker(config, c.fset, p, info).Files(files); err != nil {
		p.MarkComplete()
	}
	return p
}
