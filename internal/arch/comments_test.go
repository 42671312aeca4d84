package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// packageComment says what is wrong with the package comments of p; empty when there is exactly
// one and it begins as it should.
func packageComment(p *pkg) string {
	var in []string
	var text string
	for _, f := range p.code {
		if f.ast.Doc != nil {
			in = append(in, f.path)
			text = f.ast.Doc.Text()
		}
	}
	if len(in) != 1 {
		return fmt.Sprintf("%d package comments %v, want one", len(in), in)
	}
	if begin := "Package " + p.name() + " "; p.name() != "main" && !strings.HasPrefix(text, begin) {
		return fmt.Sprintf("%s: the package comment does not begin %q", in[0], begin)
	}
	return ""
}

// declared is a name a file declares at its top level, methods as Type.Method.
type declared struct {
	name string
	doc  string
}

// declarations lists the exported names of a file with their doc comments. A comment on a group
// of constants or variables counts for each of them.
func declarations(f *file) []declared {
	var all []declared
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if name := functionName(d); name != "" {
				all = append(all, declared{name, d.Doc.Text()})
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				all = append(all, specNames(d, spec)...)
			}
		}
	}
	return all
}

// understood are methods whose contract is the standard library's; a comment would repeat it.
var understood = []string{"Error", "String", "Unwrap"}

// functionName is empty for what needs no comment.
func functionName(d *ast.FuncDecl) string {
	if !d.Name.IsExported() {
		return ""
	}
	if d.Recv == nil {
		return d.Name.Name
	}
	if slices.Contains(understood, d.Name.Name) {
		return ""
	}
	receiver := d.Recv.List[0].Type
	for {
		switch e := receiver.(type) {
		case *ast.StarExpr:
			receiver = e.X
			continue
		case *ast.IndexExpr:
			receiver = e.X
			continue
		case *ast.IndexListExpr:
			receiver = e.X
			continue
		case *ast.Ident:
			if e.IsExported() {
				return e.Name + "." + d.Name.Name
			}
		}
		return ""
	}
}

func specNames(group *ast.GenDecl, spec ast.Spec) []declared {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			doc := s.Doc.Text()
			if doc == "" && len(group.Specs) == 1 {
				doc = group.Doc.Text()
			}
			return []declared{{s.Name.Name, doc}}
		}
	case *ast.ValueSpec:
		doc := s.Doc.Text()
		if doc == "" {
			doc = s.Comment.Text()
		}
		if doc == "" && (group.Tok == token.CONST || group.Tok == token.VAR) {
			doc = group.Doc.Text()
		}
		var all []declared
		for _, name := range s.Names {
			if name.IsExported() {
				all = append(all, declared{name.Name, doc})
			}
		}
		return all
	}
	return nil
}

func TestComments(t *testing.T) {
	for dir, p := range module(t) {
		if len(p.code) == 0 {
			continue
		}
		if complaint := packageComment(p); complaint != "" {
			t.Errorf("%s: %s", dir, complaint)
		}
		for _, f := range p.code {
			for _, d := range declarations(f) {
				if d.doc == "" {
					t.Errorf("%s: %s has no doc comment", f.path, d.name)
				}
			}
		}
	}
}

func TestPackageCommentBites(t *testing.T) {
	for _, test := range []struct {
		name    string
		sources []string
		want    string
	}{
		{"one", []string{"// Package turn is what was said.\npackage turn", "package turn"}, ""},
		{"command", []string{"// Command turnstone talks.\npackage main"}, ""},
		{"none", []string{"package turn"}, "0 package comments"},
		{"detached", []string{"// Package turn is what was said.\n\npackage turn"}, "0 package comments"},
		{"two", []string{"// Package turn is.\npackage turn", "// Package turn is.\npackage turn"}, "2 package comments"},
		{"other name", []string{"// Package turns is.\npackage turn"}, `does not begin "Package turn "`},
	} {
		p := &pkg{dir: "turn"}
		for i, source := range test.sources {
			p.code = append(p.code, snippet(t, fmt.Sprintf("turn/%d.go", i), source))
		}
		got := packageComment(p)
		if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestDeclarationsBite(t *testing.T) {
	f := snippet(t, "turn/turn.go", `package turn

type Bare struct{}
// Said is documented.
type Said struct{}
type hidden struct{}
// A comment on several types is on none of them.
type (
	// One is documented.
	One int
	Two int
)
func Loose() {}
// Do does.
func Do() {}
func (b *Bare) Run() {}
// Stop stops.
func (b Bare) Stop() {}
func (b Bare) String() string { return "" }
func (h hidden) Show() string { return "" }
func String() {}
func (g *Generic[K, V]) Load() {}
func private() {}

// The roles.
const (
	User = iota
	Agent
)
const (
	Lone = 1
	Same = 2 // Same says so on its line.
	// Own has a comment.
	Own, Pair = 3, 4
	small = 5
)
var Err error
`)
	want := map[string]bool{
		"Bare": false, "Said": true, "One": true, "Two": false, "Loose": false, "Do": true,
		"Bare.Run": false, "Bare.Stop": true, "User": true, "Agent": true, "Lone": false,
		"Same": true, "Own": true, "Pair": true, "Err": false, "Generic.Load": false,
		"String": false,
	}
	got := map[string]bool{}
	for _, d := range declarations(f) {
		got[d.name] = d.doc != ""
	}
	for name, documented := range want {
		if g, found := got[name]; !found || g != documented {
			t.Errorf("%s: found %v, documented %v, want %v", name, found, g, documented)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %v", got)
	}
}
