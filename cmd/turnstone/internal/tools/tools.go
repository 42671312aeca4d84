// Package tools is what a model may use on the user's machine when it is allowed to: the files of one folder, and a
// shell in it. Whether a call is allowed is for others to ask.
package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/agent"
)

// minBytes is how much a tool returns at least: less tells a model nothing.
const minBytes = 1 << 10

// bench is a folder that is worked in.
type bench struct {
	dir  string
	most int
}

func newBench(dir string, most int) bench { return bench{dir, max(most, minBytes)} }

// Files returns the tools for the text files of a folder and those below it. Nothing leads out of it. A result has
// about most bytes at most, so that it fits the model's window.
func Files(dir string, most int) ([]agent.Tool, error) {
	b := newBench(dir, most)
	list, err1 := agent.NewTool("list_files", "List the files of a folder below the working folder", b.list)
	read, err2 := agent.NewTool("read_file", "Read a text file below the working folder", b.read)
	write, err3 := agent.NewTool("write_file", "Write a text file below the working folder, over what is there", b.write)
	return []agent.Tool{list, read, write}, errors.Join(err1, err2, err3)
}

// Shell returns the tool that runs command lines in a folder. They can do whatever the user can. Of what they print
// about most bytes are kept, the last ones.
func Shell(dir string, most int) (agent.Tool, error) {
	return agent.NewTool("run", "Run a command line in a shell in the working folder", newBench(dir, most).run)
}

type folderArguments struct {
	Path string `json:"path,omitempty" doc:"the folder; the working folder if it is left out"`
}

type readArguments struct {
	Path string `json:"path" doc:"the file, relative to the working folder"`
	From int64  `json:"from,omitempty" doc:"the byte to begin at, for a file that is too long to be read at once"`
}

type writeArguments struct {
	Path string `json:"path" doc:"the file, relative to the working folder"`
	Text string `json:"text" doc:"all that it is to hold"`
}

type runArguments struct {
	Command string `json:"command" doc:"the command line"`
}

// open runs fn on the folder, which nothing leads out of.
func (b bench) open(fn func(*os.Root) error) (err error) {
	root, err := os.OpenRoot(b.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return fn(root)
}

type listing struct {
	Files []string `json:"files"`
	More  bool     `json:"more,omitempty"`
}

func (b bench) list(ctx context.Context, a folderArguments) (list listing, err error) {
	size := 0
	from := path.Clean(strings.ReplaceAll(a.Path, `\`, "/"))
	err = b.open(func(root *os.Root) error {
		return fs.WalkDir(root.FS(), from, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case ctx.Err() != nil:
				return ctx.Err()
			case d.IsDir() && name != from && strings.HasPrefix(d.Name(), "."):
				return fs.SkipDir
			case d.IsDir():
				return nil
			}
			if size += len(name) + len(`"",`); size > b.most {
				list.More = true
				return fs.SkipAll
			}
			list.Files = append(list.Files, name)
			return nil
		})
	})
	return list, err
}

func (b bench) read(_ context.Context, a readArguments) (text string, err error) {
	err = b.open(func(root *os.Root) error {
		f, err := root.Open(a.Path)
		if err != nil {
			return err
		}
		data, err := io.ReadAll(io.NewSectionReader(f, a.From, int64(b.most)+1))
		text = string(data)
		return errors.Join(err, f.Close())
	})
	if err != nil {
		return "", err
	}
	whole := len(text) <= b.most
	if !whole {
		text = text[:b.most]
		for end := 1; end < utf8.UTFMax && !utf8.ValidString(text); end++ {
			text = text[:len(text)-1] // the last character may be cut in two
		}
	}
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "", fmt.Errorf("%s is no text file, or byte %d is in the middle of a character", a.Path, a.From)
	}
	if !whole {
		text += fmt.Sprintf("\n[there is more: go on from byte %d]", a.From+int64(len(text)))
	}
	return text, nil
}

func (b bench) write(_ context.Context, a writeArguments) (string, error) {
	err := b.open(func(root *os.Root) error {
		if dir := path.Dir(a.Path); dir != "." {
			if err := root.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
		return root.WriteFile(a.Path, []byte(a.Text), 0o644)
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d bytes written", len(a.Text)), nil
}

type ran struct {
	Exit   int    `json:"exit"`
	Output string `json:"output"`
}

// run runs a command. One that fails is a result like any other: the model reads why.
func (b bench) run(ctx context.Context, a runArguments) (ran, error) {
	shell := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/c"}
	}
	cmd := exec.CommandContext(ctx, shell[0], shell[1], a.Command)
	cmd.Dir = b.dir
	together(cmd)
	// Whoever holds the pipe of a command that was killed is not waited for.
	cmd.WaitDelay = time.Second
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		return ran{}, errors.Join(ctx.Err(), err)
	}
	text := strings.ToValidUTF8(string(output), "?")
	if left := len(text) - b.most; left > 0 {
		// Errors stand at the end.
		text = fmt.Sprintf("[the first %d bytes are left out]\n", left) + strings.ToValidUTF8(text[left:], "")
	}
	r := ran{Output: text}
	if exit != nil {
		r.Exit = exit.ExitCode()
	}
	return r, nil
}
