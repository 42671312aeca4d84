package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/tools"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// caller is a model that calls one tool, and then says nothing more.
type caller struct {
	name, arguments string
	called          bool
}

func (c *caller) Stream(context.Context, llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if c.called {
			yield(llm.Chunk{Text: "Done.", Stop: llm.StopEnd}, nil)
			return
		}
		c.called = true
		yield(llm.Chunk{Calls: []llm.Call{{ID: "c1", Name: c.name, Arguments: c.arguments}}, Stop: llm.StopCalls}, nil)
	}
}

// call has a model call a tool in a folder, as it does in a conversation.
func call(t *testing.T, ctx context.Context, dir, name string, arguments any) (turn.Result, error) {
	t.Helper()
	all, err := tools.Files(dir, most)
	if err != nil {
		t.Fatal(err)
	}
	shell, err := tools.Shell(dir, most)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	eng, err := turnstone.Open(t.Context(), mem.New(mem.Config{}), turnstone.Config{
		Model: &caller{name: name, arguments: string(text)}, Agent: agent.Config{Tools: append(all, shell)},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	}()
	s, err := eng.Session(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	var result turn.Result
	for piece, err := range s.Stream(ctx, "Do it") {
		if err != nil {
			return result, err
		}
		if piece.Result != nil {
			result = *piece.Result
		}
	}
	return result, nil
}

type arguments map[string]any

// most is what results may have.
const most = 4000

func TestTools(t *testing.T) {
	outside := t.TempDir()
	dir := filepath.Join(outside, "work")
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(outside, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(outside, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("secret.txt", "outside")
	write("work/a.txt", "inside")
	write("work/sub/b.txt", "below")
	write("work/.git/config", "hidden")
	write("work/picture", "\xff\xfe")
	write("work/umlaut.txt", strings.Repeat("x", most-1)+"\u00e4\u00e4")
	write("work/long.txt", strings.Repeat("0123456789", 7000))
	if err := os.Symlink(filepath.Join(outside, "secret.txt"), filepath.Join(dir, "link")); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		tool   string
		args   arguments
		status turn.CallStatus
		want   string
	}{
		{"list", "list_files", arguments{}, turn.CallOK, `{"files":["a.txt",`},
		{"list hides", "list_files", arguments{"path": "sub"}, turn.CallOK, `{"files":["sub/b.txt"]}`},
		{"list outside", "list_files", arguments{"path": ".."}, turn.CallError, ""},
		{"read", "read_file", arguments{"path": "sub/b.txt"}, turn.CallOK, `"below"`},
		{"read outside", "read_file", arguments{"path": "../secret.txt"}, turn.CallError, "escapes"},
		{"read a link outside", "read_file", arguments{"path": "link"}, turn.CallError, "escapes"},
		{"read nothing", "read_file", arguments{"path": "none"}, turn.CallError, "no such file"},
		{"read no text", "read_file", arguments{"path": "picture"}, turn.CallError, "picture is no text file"},
		{"read much", "read_file", arguments{"path": "long.txt"}, turn.CallOK, `789\n[there is more: go on from byte 4000]"`},
		{"read on", "read_file", arguments{"path": "long.txt", "from": 69998}, turn.CallOK, `"89"`},
		{"read half a character", "read_file", arguments{"path": "umlaut.txt"}, turn.CallOK, `x\n[there is more: go on from byte 3999]"`},
		{"write", "write_file", arguments{"path": "new/c.txt", "text": "made"}, turn.CallOK, `"4 bytes written"`},
		{"write outside", "write_file", arguments{"path": "../c.txt", "text": "made"}, turn.CallError, "escapes"},
		{"run", "run", arguments{"command": "echo so && exit 3"}, turn.CallOK, `{"exit":3,"output":"so\n"}`},
		{"run in the folder", "run", arguments{"command": "cat a.txt"}, turn.CallOK, `{"exit":0,"output":"inside"}`},
		{"run much", "run", arguments{"command": "cat long.txt; echo the end"}, turn.CallOK, `the end\n"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.tool == "run" && runtime.GOOS == "windows" {
				t.Skip("these are commands of another shell")
			}
			got, err := call(t, t.Context(), dir, test.tool, test.args)
			if err != nil || got.Status != test.status || !strings.Contains(got.Result, test.want) {
				t.Errorf("got %s %.200s, %v", got.Status, got.Result, err)
			}
			if strings.Contains(got.Result, "hidden") || strings.Contains(got.Result, "outside") && test.want == "" || strings.Contains(got.Result, ".git") {
				t.Errorf("it shows %s", got.Result)
			}
			if len(got.Result) > most+200 {
				t.Errorf("%d bytes", len(got.Result))
			}
		})
	}
	if made, err := os.ReadFile(filepath.Join(dir, "new", "c.txt")); err != nil || string(made) != "made" {
		t.Errorf("new/c.txt holds %q, %v", made, err)
	}
	if _, err := os.Stat(filepath.Join(outside, "c.txt")); err == nil {
		t.Error("something was written outside")
	}
}

func TestListEndsSomewhere(t *testing.T) {
	dir := t.TempDir()
	for i := range 700 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%03d", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := call(t, t.Context(), dir, "list_files", arguments{})
	if err != nil || strings.Count(got.Result, `"f`) < 450 || len(got.Result) > most+50 || !strings.HasSuffix(got.Result, `"more":true}`) {
		t.Errorf("got %.100s, %v", got.Result, err)
	}
}

// A command ends with the exchange, and leaves nothing running that the exchange waits for.
func TestRunEndsWithItsExchange(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("these are commands of another shell")
	}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun := filepath.Join(dir, "begun")
	// The command itself says that it runs: opening a pipe waits for the other end.
	if err := mkfifo(begun); err != nil {
		t.Skip(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := call(t, ctx, dir, "run", arguments{"command": "echo on > begun; sleep 600"})
		ended <- err
	}()
	if _, err := os.ReadFile(begun); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// What a command started ends with it: who cancels a build does not expect it to go on.
func TestRunEndsWithAllItStarted(t *testing.T) {
	dir := t.TempDir()
	held := filepath.Join(dir, "held")
	if err := mkfifo(held); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := call(t, ctx, dir, "run", arguments{"command": "sleep 600 > held; echo over"})
		ended <- err
	}()
	// Opening waits until the command has the other end.
	f, err := os.Open(held)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := f.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Skip(err)
	}
	if _, err := io.ReadAll(f); err != nil {
		t.Errorf("it still runs: %v", err)
	}
}
