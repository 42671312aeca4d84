package compress

import (
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/compress/literal"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/turn"
)

// A call changes a file if a word of the tool's name is one of changing and its arguments name a path
// under one of pathNames. Patches name their files in their text.
var (
	changing = []string{
		"write", "edit", "create", "update", "modify", "replace", "insert", "append", "patch", "delete", "remove",
		"rename", "move", "save", "put", "touch", "mkdir",
	}
	pathNames  = []string{"path", "file", "file_path", "filepath", "filename", "file_name", "target_file", "new_path", "notebook_path", "destination", "target", "to"}
	patchNames = []string{"patch", "diff", "input"}
	patchHeads = []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ b/", "rename to "}
)

// call adds the files that a tool call changes.
func (f *finder) call(c turn.ToolCall) {
	if !hasWord(c.Name, changing) {
		return
	}
	// Arguments that are no object name no path: the log keeps whatever the model wrote.
	var paths []string
	err := strictjson.Object(c.Arguments, func(name string, v strictjson.Raw) error {
		text, err := v.String()
		if err != nil {
			return nil
		}
		switch name = strings.ToLower(name); {
		case slices.Contains(pathNames, name):
			if literal.Of(text) == literal.Path || file(text) {
				paths = append(paths, text)
			}
		case slices.Contains(patchNames, name):
			paths = append(paths, patched(text)...)
		}
		return nil
	})
	if err != nil {
		return
	}
	for _, p := range paths {
		if strings.IndexByte(p, 0) < 0 { // no file has such a name
			f.add(FactFile, p)
		}
	}
}

// file reports whether the value of an argument that is called a path can be one.
func file(text string) bool {
	return text != "" && len(text) <= maxSentence && !strings.ContainsAny(text, "\n\r\t ")
}

// patched are the files that a patch in one of the usual forms changes.
func patched(patch string) []string {
	var files []string
	for line := range strings.SplitSeq(patch, "\n") {
		for _, head := range patchHeads {
			if name, ok := strings.CutPrefix(line, head); ok && file(strings.TrimSpace(name)) {
				files = append(files, strings.TrimSpace(name))
			}
		}
	}
	return files
}

// hasWord reports whether one of the words of a name is among the words: write_file, writeFile and
// fs.write all have write.
func hasWord(name string, among []string) bool {
	start := 0
	for i := 0; i <= len(name); i++ {
		upper := i < len(name) && 'A' <= name[i] && name[i] <= 'Z' && i > 0 && letter(name[i-1])
		if i == len(name) || upper || !letter(name[i]|0x20) {
			if slices.Contains(among, strings.ToLower(name[start:i])) {
				return true
			}
			start = i
			if !upper {
				start++
			}
		}
	}
	return false
}
