package agent_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/prompt"
)

// counted counts how often each file is read, and may break.
type counted struct {
	fstest.MapFS
	opened map[string]int
	broken error
	locked bool
}

func (c *counted) Open(name string) (fs.File, error) {
	c.opened[name]++
	if c.locked {
		return nil, fs.ErrPermission
	}
	file, err := c.MapFS.Open(name)
	if err == nil && c.broken != nil {
		return brokenFile{file, c.broken}, nil
	}
	return file, err
}

// Stat does not count as opening.
func (c *counted) Stat(name string) (fs.FileInfo, error) { return c.MapFS.Stat(name) }

type brokenFile struct {
	fs.File
	err error
}

func (b brokenFile) Read([]byte) (int, error) { return 0, b.err }

func shown(files []prompt.Material, problems []*agent.StickyError) string {
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "%s=%.20s ", f.Name, f.Text)
	}
	for _, p := range problems {
		fmt.Fprintf(&b, "!%s ", p.Name)
	}
	return strings.TrimSpace(b.String())
}

func TestStickyFilesAreReadWhenTheyChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := &counted{MapFS: fstest.MapFS{}, opened: map[string]int{}}
		put := func(name, text string) {
			files.MapFS[name] = &fstest.MapFile{Data: []byte(text), ModTime: time.Now()}
		}
		put("a.md", "one")
		put("b/c.md", "two")
		s, err := agent.NewSticky(agent.StickyConfig{Files: files, Names: []string{"b/c.md", "a.md"}})
		if err != nil {
			t.Fatal(err)
		}
		expect := func(what, reads string) {
			t.Helper()
			if got := shown(s.Read()); got != what {
				t.Error(got)
			}
			if got := fmt.Sprintf("%d %d", files.opened["a.md"], files.opened["b/c.md"]); got != reads {
				t.Errorf("%s reads, want %s", got, reads)
			}
		}
		<-time.After(time.Minute)
		expect("b/c.md=two a.md=one", "1 1")
		expect("b/c.md=two a.md=one", "1 1")
		put("a.md", "three")
		expect("b/c.md=two a.md=three", "2 1")
		// The same time and the same size again: too fresh to be told apart.
		put("a.md", "seven")
		expect("b/c.md=two a.md=seven", "3 1")
		<-time.After(time.Minute)
		expect("b/c.md=two a.md=seven", "4 1")
		expect("b/c.md=two a.md=seven", "4 1")
		delete(files.MapFS, "a.md")
		expect("b/c.md=two !a.md", "4 1")
		put("a.md", "back")
		expect("b/c.md=two a.md=back", "5 1")
		<-time.After(time.Minute)
		expect("b/c.md=two a.md=back", "6 1")
		put("a.md", "rest")
		expect("b/c.md=two a.md=rest", "7 1")
	})
}

func TestStickyFilesHaveABudget(t *testing.T) {
	files := fstest.MapFS{
		"four":  {Data: []byte("1234")},
		"three": {Data: []byte("123")},
		"six":   {Data: []byte("123456")},
	}
	for _, test := range []struct {
		budget int
		count  func(string) int
		want   string
	}{
		{7, nil, "four=1234 three=123 !six"},
		{9, nil, "four=1234 three=123 !six"},
		{10, nil, "four=1234 six=123456 !three"},
		{0, nil, "four=1234 six=123456 three=123"},
		{2, func(string) int { return 1 }, "four=1234 six=123456 !three"},
	} {
		s, err := agent.NewSticky(agent.StickyConfig{Files: files, Names: []string{"four", "six", "three"}, Budget: test.budget, Count: test.count})
		if err != nil {
			t.Fatal(err)
		}
		shownFiles, problems := s.Read()
		if got := shown(shownFiles, problems); got != test.want {
			t.Errorf("%d: %s", test.budget, got)
		}
		if test.budget == 7 && problems[0].Error() != "sticky file six: needs 6 of the budget of 7, and 3 is left; shorten it, or raise the budget" {
			t.Error(problems)
		}
	}
}

func TestStickyFilesThatCannotBeShown(t *testing.T) {
	disk := errors.New("disk")
	files := &counted{opened: map[string]int{}, MapFS: fstest.MapFS{
		"binary": {Data: []byte("\xff")},
		"nul":    {Data: []byte("a\x00")},
		"huge":   {Data: make([]byte, prompt.MaxSystem+1)},
		"dir":    {Mode: fs.ModeDir},
		"pipe":   {Mode: fs.ModeNamedPipe, Data: []byte("whoever opens it may wait for ever")},
	}}
	s, err := agent.NewSticky(agent.StickyConfig{Files: files, Names: []string{"binary", "nul", "huge", "dir", "gone", "pipe"}, Budget: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	shownFiles, problems := s.Read()
	if got := shown(shownFiles, problems); got != "!binary !nul !huge !dir !gone !pipe" || !errors.Is(problems[4], fs.ErrNotExist) {
		t.Error(got)
	}
	if files.opened["pipe"] > 0 {
		t.Error("the pipe was opened")
	}
	files.MapFS["binary"] = &fstest.MapFile{Data: []byte("text")}
	files.broken = disk
	if _, problems = s.Read(); !errors.Is(problems[0], disk) {
		t.Error(problems)
	}
	files.locked = true
	if _, problems = s.Read(); !errors.Is(problems[0], fs.ErrPermission) {
		t.Error(problems)
	}
	for field, c := range map[string]agent.StickyConfig{
		"Files":    {},
		"Budget":   {Files: files, Budget: -1},
		"Names[0]": {Files: files, Names: []string{"../x"}},
		"Names[1]": {Files: files, Names: []string{"a", "."}},
		"Names[2]": {Files: files, Names: []string{"a", "b", "a"}},
		"Names[3]": {Files: files, Names: []string{"a", "b", "c", "a\nb"}},
	} {
		if _, err := agent.NewSticky(c); !isField(err, field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestTheLoopOffersStickyFiles(t *testing.T) {
	files := fstest.MapFS{"a.md": {Data: []byte("one")}}
	s, err := agent.NewSticky(agent.StickyConfig{Files: files, Names: []string{"a.md", "gone.md"}})
	if err != nil {
		t.Fatal(err)
	}
	greeting := tool(t, "greet", func(ctx context.Context, a nameArgs) (string, error) {
		files["a.md"] = &fstest.MapFile{Data: []byte("changed")}
		return greet(ctx, a)
	})
	log := &ledger{}
	w := agent.NewWorker("1", "one", llmtest.Replies(calls(call("a", "greet", `{"name":"x"}`)), says("done")))
	if _, err := w.Ask(t.Context(), newLoop(t, agent.Config{Sticky: s, Tools: []agent.Tool{greeting}}), log, "go"); err != nil {
		t.Fatal(err)
	}
	if len(log.offers) != 2 || shown(log.offers[0].Sticky, nil) != "a.md=one" || shown(log.offers[1].Sticky, nil) != "a.md=changed" ||
		len(log.offers[0].Tools) != 1 || log.offers[0].Tools[0] != (llm.Tool)(greeting.Definition()) {
		t.Errorf("%+v", log.offers)
	}
	if w := log.last().Warnings; len(w) != 1 || !strings.HasPrefix(w[0], "sticky file gone.md: ") {
		t.Error(w)
	}
}

// hung is where files are on a disk that does not answer.
type hung struct{ free chan struct{} }

func (h hung) Open(string) (fs.File, error) {
	<-h.free
	return nil, fs.ErrNotExist
}

func TestADiskThatHangsDoesNotHoldTheWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := hung{make(chan struct{})}
		s, err := agent.NewSticky(agent.StickyConfig{Files: disk, Names: []string{"a.md"}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin := time.Now()
		time.AfterFunc(time.Hour, func() { close(disk.free) })
		log, l := &ledger{}, newLoop(t, agent.Config{Sticky: s})
		_, err = agent.NewWorker("1", "one", llmtest.NewScript("unasked")).Ask(ctx, l, log, "go")
		if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) || took != time.Minute+time.Second {
			t.Errorf("%v after %s", err, took)
		}
		log.check(t)
		if err := l.Drain(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
