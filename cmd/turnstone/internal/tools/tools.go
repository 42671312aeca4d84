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

const (
	// maxRead is how much of a file a model reads at once, and maxOutput how much of what a command prints.
	maxRead   = 64 << 10
	maxOutput = 32 << 10
	// maxListed is how many files are listed.
	maxListed = 500
)

// bench is a folder that is worked in.
type bench struct{ dir string }

// Files returns the tools for the text files of a folder and those below it. Nothing leads out of it.
func Files(dir string) ([]agent.Tool, error) {
	b := bench{dir}
	list, err1 := agent.NewTool("list_files", "List the files of a folder below the working folder", b.list)
	read, err2 := agent.NewTool("read_file", "Read a text file below the working folder", b.read)
	write, err3 := agent.NewTool("write_file", "Write a text file below the working folder, over what is there", b.write)
	return []agent.Tool{list, read, write}, errors.Join(err1, err2, err3)
}

// Shell returns the tool that runs command lines in a folder. They can do whatever the user can.
func Shell(dir string) (agent.Tool, error) {
	return agent.NewTool("run", "Run a command line in a shell in the working folder", bench{dir}.run)
}

type folderArguments struct {
	Path string `json:"path,omitempty" doc:"the folder; the working folder if it is left out"`
}

type fileArguments struct {
	Path string `json:"path" doc:"the file, relative to the working folder"`
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
			case len(list.Files) == maxListed:
				list.More = true
				return fs.SkipAll
			}
			list.Files = append(list.Files, name)
			return nil
		})
	})
	return list, err
}

func (b bench) read(_ context.Context, a fileArguments) (text string, err error) {
	err = b.open(func(root *os.Root) error {
		f, err := root.Open(a.Path)
		if err != nil {
			return err
		}
		data, err := io.ReadAll(io.LimitReader(f, maxRead+1))
		text = string(data)
		return errors.Join(err, f.Close())
	})
	switch {
	case err != nil:
		return "", err
	case !utf8.ValidString(text) && len(text) <= maxRead:
		return "", fmt.Errorf("%s is no text file", a.Path)
	case len(text) > maxRead:
		return strings.ToValidUTF8(text[:maxRead], "") + fmt.Sprintf("\n[cut after %d bytes]", maxRead), nil
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
	// Whoever holds the pipe of a command that was killed is not waited for.
	cmd.WaitDelay = time.Second
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		return ran{}, errors.Join(ctx.Err(), err)
	}
	text := strings.ToValidUTF8(string(output), "?")
	if len(text) > maxOutput {
		// Errors stand at the end.
		text = fmt.Sprintf("[the first %d bytes are left out]\n", len(text)-maxOutput) + strings.ToValidUTF8(text[len(text)-maxOutput:], "")
	}
	r := ran{Output: text}
	if exit != nil {
		r.Exit = exit.ExitCode()
	}
	return r, nil
}
