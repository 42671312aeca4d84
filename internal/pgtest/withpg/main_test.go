//go:build unix

package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/internal/pgtest"
)

const actAsCommand = "WITHPG_TEST_ACT_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(actAsCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// command is withpg itself as a process, with a temporary folder of its own.
func command(t *testing.T, args ...string) (cmd *exec.Cmd, tmp string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tmp = openFolder(t)
	cmd = exec.Command(self, args...)
	cmd.Env = append(os.Environ(), actAsCommand+"=1", "TMPDIR="+tmp)
	return cmd, tmp
}

// openFolder is a temporary folder that the server's user can reach, unlike t.TempDir as root.
func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "withpg-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func exitOf(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	exit, ok := err.(*exec.ExitError)
	if !ok {
		t.Fatalf("withpg: %v", err)
	}
	return exit.ExitCode()
}

func requireServer(t *testing.T) {
	t.Helper()
	err := serverStarts()
	if err != nil && os.Getenv("CI") != "true" {
		t.Skipf("needs the PostgreSQL server: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

var serverStarts = sync.OnceValue(func() error {
	cluster, err := pgtest.Start(context.Background(), pgtest.Options{})
	if err != nil {
		return err
	}
	return cluster.Stop()
})

func listening(t *testing.T, clusterURL string) bool {
	t.Helper()
	u, err := url.Parse(clusterURL)
	if err != nil || u.Host == "" {
		t.Fatalf("cluster URL %q: %v", clusterURL, err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		return false
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	return true
}

func TestClusterEndsWithProgram(t *testing.T) {
	requireServer(t)
	for _, test := range []struct {
		name   string
		flags  []string
		script string
		send   syscall.Signal
		want   int
	}{
		{name: "failure", script: `exit 7`, want: 7},
		{name: "crash", script: `kill -9 $$`, want: 137},
		{name: "terminated", script: `exec sleep 600`, send: syscall.SIGTERM, want: 143},
		{name: "interrupted", script: `exec sleep 600`, send: syscall.SIGINT, want: 130},
		{name: "deaf", flags: []string{"-grace", "50ms"}, script: `trap "" TERM; while :; do sleep 600; done`, send: syscall.SIGTERM, want: 143},
		{name: "past its bound", flags: []string{"-bound", "5s"}, script: `exec sleep 600`, want: 124},
		{name: "success with a child left behind", script: `sleep 600 & exit 0`, want: 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			script := `echo "$TURNSTONE_TEST_POSTGRES"; ` + test.script
			cmd, tmp := command(t, append(test.flags, "sh", "-c", script)...)
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			out := bufio.NewReader(stdout)
			line, err := out.ReadString('\n')
			if err != nil {
				t.Fatalf("cluster URL: %v", err)
			}
			if test.send != 0 {
				if err := cmd.Process.Signal(test.send); err != nil {
					t.Fatal(err)
				}
			}
			// The program and its children hold this pipe: its end is theirs.
			if _, err := io.Copy(io.Discard, out); err != nil {
				t.Fatal(err)
			}
			if got := exitOf(t, cmd.Wait()); got != test.want {
				t.Errorf("exit code %d, want %d", got, test.want)
			}
			if listening(t, strings.TrimSpace(line)) {
				t.Error("the cluster still listens")
			}
			if left, err := os.ReadDir(tmp); err != nil || len(left) != 0 {
				t.Errorf("left in the temporary folder: %v, %v", left, err)
			}
		})
	}
}

func TestSignalBeforeTheClusterIsReady(t *testing.T) {
	requireServer(t)
	cmd, tmp := command(t, "sh", "-c", `exit 1`)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "withpg makes no folder", func() bool {
		made, err := os.ReadDir(tmp)
		return err == nil && len(made) == 1
	})
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := exitOf(t, cmd.Wait()); got != 143 {
		t.Errorf("exit code %d, want 143", got)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) != 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
}

// await asks every few milliseconds, as there is nothing of another process to wait on.
func await(t *testing.T, complaint string, happened func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(2 * time.Minute)
	for !happened() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal(complaint)
		}
	}
}

func TestClusterEndsWithKilledCommand(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells a child that its parent died")
	}
	requireServer(t)
	cmd, tmp := command(t, "sh", "-c", `echo ready; exec sleep 600`)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(stdout)
	if _, err := out.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	pids, err := filepath.Glob(filepath.Join(tmp, "*", "data", "postmaster.pid"))
	if err != nil || len(pids) != 1 {
		t.Fatalf("running servers: %v, %v", pids, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Fatalf("end of the program: %v", err)
	}
	if got := exitOf(t, cmd.Wait()); got != -1 {
		t.Fatalf("exit code %d, want -1 for killed", got)
	}
	await(t, "the server outlived withpg", func() bool {
		// The server removes this file as its last act.
		_, err := os.Stat(pids[0])
		return os.IsNotExist(err)
	})
}

func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		tmp  string
		want string
	}{
		{name: "no program", want: "withpg: no program given"},
		{name: "unknown flag", args: []string{"-nope", "true"}, want: "flag provided but not defined: -nope"},
		{name: "no cluster", args: []string{"true"}, tmp: "/nonexistent", want: "withpg: PostgreSQL cannot be started: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd, _ := command(t, test.args...)
			if test.tmp != "" {
				cmd.Env = append(cmd.Env, "TMPDIR="+test.tmp)
			}
			var stderr strings.Builder
			cmd.Stderr = &stderr
			if got := exitOf(t, cmd.Run()); got != exitFailed {
				t.Errorf("exit code %d, want %d", got, exitFailed)
			}
			if !strings.HasPrefix(stderr.String(), test.want) {
				t.Errorf("stderr %q, want it to begin %q", stderr.String(), test.want)
			}
		})
	}
}

func TestProgramThatCannotStart(t *testing.T) {
	requireServer(t)
	cmd, tmp := command(t, filepath.Join(t.TempDir(), "missing"))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if got := exitOf(t, cmd.Run()); got != exitFailed {
		t.Errorf("exit code %d, want %d", got, exitFailed)
	}
	if !strings.Contains(stderr.String(), "missing") {
		t.Errorf("stderr %q does not name the program", stderr.String())
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) != 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
}
