package arch

import (
	"errors"
	"fmt"
	"go/doc"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// entry is one row of the glossary.
type entry struct {
	seed   string // the seed's word
	goName string // pkg.Name or pkg.Type.Method
	dir    string // the folder the name lives in
	toCome bool
	says   string // what the first sentence of its doc comment contains; empty for no demand
}

var glossaryHeader = []string{"seed word", "Go name", "where", "doc comment says"}

const (
	toComeMark = "(to come)"
	noDemand   = "–"
)

// parseGlossary reads the one table with the glossary's header out of Markdown.
func parseGlossary(markdown string) ([]entry, error) {
	var entries []entry
	inTable := false
	for number, line := range strings.Split(markdown, "\n") {
		cells, isRow := tableRow(line)
		switch {
		case !isRow:
			inTable = false
		case !inTable:
			inTable = strings.Join(cells, "|") == strings.Join(glossaryHeader, "|")
		case strings.Trim(cells[0], "-: ") == "":
		default:
			e, err := parseEntry(cells)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number+1, err)
			}
			entries = append(entries, e)
		}
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("no table with the columns %s", strings.Join(glossaryHeader, ", "))
	}
	return entries, nil
}

func tableRow(line string) (cells []string, ok bool) {
	line = strings.TrimSpace(line)
	if len(line) < 2 || !strings.HasPrefix(line, "|") || !strings.HasSuffix(line, "|") {
		return nil, false
	}
	for cell := range strings.SplitSeq(line[1:len(line)-1], "|") {
		cells = append(cells, strings.TrimSpace(cell))
	}
	return cells, true
}

func parseEntry(cells []string) (entry, error) {
	if len(cells) != len(glossaryHeader) {
		return entry{}, fmt.Errorf("%d cells, want %d", len(cells), len(glossaryHeader))
	}
	e := entry{seed: cells[0], goName: strings.Trim(cells[1], "`"), says: cells[3]}
	where, mark, marked := strings.Cut(cells[2], " ")
	e.dir = path.Clean(strings.Trim(where, "`"))
	e.toCome = marked
	if marked && mark != toComeMark {
		return entry{}, fmt.Errorf("where: %q is neither empty nor %s", mark, toComeMark)
	}
	if strings.Count(e.goName, ".") == 0 {
		return entry{}, fmt.Errorf("Go name: %q has no package", e.goName)
	}
	switch e.says {
	case "":
		return entry{}, errors.New("doc comment says: empty; write a word or " + noDemand)
	case noDemand:
		e.says = ""
	}
	return e, nil
}

// complaint holds an entry against the code; empty when they agree.
func (e entry) complaint(packages map[string]*pkg) string {
	text, exists := lookUp(packages, e.dir, e.goName)
	switch {
	case e.toCome && exists:
		return fmt.Sprintf("%s exists now: take %s away", e.goName, toComeMark)
	case e.toCome:
		return ""
	case !exists:
		return fmt.Sprintf("%s does not exist in %s/", e.goName, e.dir)
	}
	sentence := new(doc.Package).Synopsis(text)
	if !strings.Contains(strings.ToLower(sentence), strings.ToLower(e.says)) {
		return fmt.Sprintf("the first sentence of %s does not say %q: %q", e.goName, e.says, sentence)
	}
	return ""
}

// lookUp finds an exported name in the package of one folder, and its doc comment.
func lookUp(packages map[string]*pkg, dir, goName string) (text string, exists bool) {
	qualifier, name, _ := strings.Cut(goName, ".")
	p := packages[dir]
	if p == nil || p.name() != qualifier {
		return "", false
	}
	for _, f := range p.code {
		for _, d := range declarations(f) {
			if d.name == name {
				return d.doc, true
			}
		}
	}
	return "", false
}

func TestGlossary(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(moduleRoot, "GLOSSARY.md"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := parseGlossary(string(text))
	if err != nil {
		t.Fatalf("GLOSSARY.md: %v", err)
	}
	seen := map[string]bool{}
	for _, e := range entries {
		if seen[e.goName] {
			t.Errorf("GLOSSARY.md: two rows for %s: one name, one row", e.goName)
		}
		seen[e.goName] = true
		if complaint := e.complaint(module(t)); complaint != "" {
			t.Errorf("GLOSSARY.md: %s: %s", e.seed, complaint)
		}
	}
}

func TestGlossaryBites(t *testing.T) {
	code := map[string]*pkg{
		"replay": {dir: "replay", code: []*file{snippet(t, "replay/bundle.go", `package replay

// Bundle is a whole session, the seed's Checkpoint. It says snapshot later.
type Bundle struct{}

// Write writes.
func (b *Bundle) Write() {}

type hidden struct{}
`)}},
		".": {dir: ".", code: []*file{snippet(t, "engine.go", "package turnstone\n\ntype Engine struct{}\n")}},
	}
	for _, test := range []struct {
		name, row string
		want      string
	}{
		{"there", "| bundle | `replay.Bundle` | `replay/` | – |", ""},
		{"method", "| write | `replay.Bundle.Write` | `replay/` | – |", ""},
		{"root", "| engine | `turnstone.Engine` | `./` | – |", ""},
		{"word in first sentence", "| checkpoint | `replay.Bundle` | `replay/` | checkpoint |", ""},
		{"word in second sentence", "| snapshot | `replay.Bundle` | `replay/` | snapshot |", `does not say "snapshot"`},
		{"no comment at all", "| engine | `turnstone.Engine` | `./` | motor |", `does not say "motor"`},
		{"not there", "| run | `replay.Run` | `replay/` | – |", "does not exist"},
		{"not exported", "| hidden | `replay.hidden` | `replay/` | – |", "does not exist"},
		{"other folder", "| bundle | `replay.Bundle` | `turn/` | – |", "does not exist"},
		{"other package", "| bundle | `turn.Bundle` | `replay/` | – |", "does not exist"},
		{"to come", "| snapshot | `snapshot.Snapshot` | `snapshot/` (to come) | snapshot |", ""},
		{"to come in a package that is there", "| run | `replay.Run` | `replay/` (to come) | – |", ""},
		{"has come", "| bundle | `replay.Bundle` | `replay/` (to come) | – |", "exists now"},
		{"other mark", "| bundle | `replay.Bundle` | `replay/` soon | – |", "neither empty nor (to come)"},
		{"no package", "| bundle | `Bundle` | `replay/` | – |", "has no package"},
		{"no demand left empty", "| bundle | `replay.Bundle` | `replay/` | |", "doc comment says: empty"},
		{"cells", "| bundle | `replay.Bundle` | `replay/` |", "3 cells, want 4"},
		{"no rows", "", "no table"},
	} {
		markdown := "# Glossary\n\n| other | table |\n|---|---|\n| a | b |\n\n| " +
			strings.Join(glossaryHeader, " | ") + " |\n|---|---|---|---|\n" + test.row + "\n"
		got := ""
		entries, err := parseGlossary(markdown)
		if err != nil {
			got = err.Error()
		}
		for _, e := range entries {
			got += e.complaint(code)
		}
		if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
