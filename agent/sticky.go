package agent

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/prompt"
)

// settled is how old a file must be for its time and size to tell that it is the same: file systems count in steps of
// up to two seconds, and what is written twice within one looks unchanged.
const settled = 2 * time.Second

// StickyConfig says which files are sticky.
type StickyConfig struct {
	// Files is where they are.
	Files fs.FS
	// Names are their paths in Files, in the order in which they stand in the prompt.
	Names []string
	// Budget is how much they may take together, in what Count counts. A file that does not fit stays out as a
	// whole, and others after it may still fit. Defaults to 64 KiB of text.
	Budget int
	// Count says how much a text takes. Defaults to its bytes; a counter of tokens fits too.
	Count func(text string) int
}

const defaultSticky = 64 << 10

// Sticky is a set of context files that stand in every prompt, never compressed, and are read again when they change.
// It is safe for concurrent use.
type Sticky struct {
	config StickyConfig

	mu    sync.Mutex // guards all below, while files are read
	files map[string]stickyFile
}

type stickyFile struct {
	text     string
	size     int64
	modified time.Time
	cost     int
	sure     bool // the file was old enough when it was read
}

// NewSticky returns the set. Nothing is read yet. A *[FieldError] names the field that is wrong.
func NewSticky(c StickyConfig) (*Sticky, error) {
	if c.Files == nil {
		return nil, invalid.New("Files", "is missing", "say where the files are, as with os.DirFS")
	}
	if c.Budget < 0 {
		return nil, invalid.New("Budget", fmt.Sprintf("%d is negative", c.Budget), "use 0 for the default or a positive value")
	}
	if c.Budget == 0 {
		c.Budget = defaultSticky
	}
	if c.Count == nil {
		c.Count = func(text string) int { return len(text) }
	}
	c.Names = slices.Clone(c.Names)
	err := record.CheckList("Names", c.Names, prompt.MaxDefinitions, func(name string) string { return name }, func(name string) error {
		if !fs.ValidPath(name) || name == "." {
			return invalid.New("", fmt.Sprintf("%q is no path of a file", name), "use a path within Files, with slashes and without ..")
		}
		return record.CheckLine("", name, prompt.MaxName)
	})
	if err != nil {
		return nil, err
	}
	return &Sticky{config: c, files: map[string]stickyFile{}}, nil
}

// StickyError says why a file is not in the prompt. It is always handled as *StickyError.
type StickyError struct {
	Name string
	Err  error
}

// Error is one line: which file, and why.
func (e *StickyError) Error() string { return fmt.Sprintf("sticky file %s: %v", e.Name, e.Err) }

// Unwrap returns the reason.
func (e *StickyError) Unwrap() error { return e.Err }

// Read returns the files as they are now, and an error for each that cannot be shown: it is gone, cannot be read, is
// not text or does not fit. Files that did not change since the last time are not read again.
func (s *Sticky) Read() (files []prompt.Material, problems []*StickyError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.config.Budget
	for _, name := range s.config.Names {
		f, err := s.read(name)
		if err == nil && f.cost > left {
			err = fmt.Errorf("needs %d of the budget of %d, and %d is left; shorten it, or raise the budget", f.cost, s.config.Budget, left)
		}
		if err != nil {
			problems = append(problems, &StickyError{Name: name, Err: err})
			continue
		}
		left -= f.cost
		files = append(files, prompt.Material{Name: name, Text: f.text})
	}
	return files, problems
}

// read returns a file, from memory where it did not change.
func (s *Sticky) read(name string) (stickyFile, error) {
	info, err := fs.Stat(s.config.Files, name)
	// Whoever opens a pipe waits for somebody who writes into it.
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("is no regular file")
	}
	if err != nil {
		delete(s.files, name)
		return stickyFile{}, err
	}
	known, found := s.files[name]
	if found && known.sure && known.size == info.Size() && known.modified.Equal(info.ModTime()) {
		return known, nil
	}
	delete(s.files, name)
	text, err := s.load(name)
	if err != nil {
		return stickyFile{}, err
	}
	f := stickyFile{
		text: text, size: info.Size(), modified: info.ModTime(), cost: s.config.Count(text),
		sure: time.Since(info.ModTime()) > settled,
	}
	s.files[name] = f
	return f, nil
}

// load reads a file as far as the prompt could hold it.
func (s *Sticky) load(name string) (text string, err error) {
	file, err := s.config.Files.Open(name)
	if err != nil {
		return "", err
	}
	defer func() {
		if closed := file.Close(); err == nil {
			err = closed
		}
	}()
	data, err := io.ReadAll(io.LimitReader(file, prompt.MaxSystem+1))
	switch {
	case err != nil:
		return "", err
	case len(data) > prompt.MaxSystem:
		return "", fmt.Errorf("has more than %d bytes; shorten it", prompt.MaxSystem)
	case !utf8.Valid(data) || strings.IndexByte(string(data), 0) >= 0:
		return "", fmt.Errorf("is not text in UTF-8")
	}
	return string(data), nil
}
