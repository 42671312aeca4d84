// Command withpg runs a program with a private PostgreSQL cluster, whose URL the program finds
// in TURNSTONE_TEST_POSTGRES, and stops the cluster whatever becomes of the program:
//
//	withpg [-bound 10m] [-grace 5s] program [argument ...]
//
// The exit code is the program's, 128 + n when signal n ended it, 124 when it was still running
// at the bound, and 125 when the cluster or the program could not be started.
// SIGINT, SIGTERM and SIGHUP are handed on to the program and all its children, which get
// the grace time to end. The program runs in a process group of its own and so cannot read from a
// terminal.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/internal/pgtest/procgroup"
)

const (
	exitBound  = 124
	exitFailed = 125
	exitSignal = 128
)

func main() {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	os.Exit(run(os.Args[1:], signals, os.Stdout, os.Stderr))
}

// run returns the exit code. The program writes to stdout and stderr, withpg itself to stderr.
func run(args []string, signals <-chan os.Signal, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("withpg", flag.ContinueOnError)
	flags.SetOutput(stderr)
	bound := flags.Duration("bound", 0, "end the program after this `time`; 0 means never")
	grace := flags.Duration("grace", 5*time.Second, "kill the program this `time` after it was asked to end")
	if err := flags.Parse(args); err != nil {
		return exitFailed
	}
	if flags.NArg() == 0 {
		fmt.Fprintln(stderr, "withpg: no program given: withpg [-bound 10m] program [argument ...]")
		return exitFailed
	}
	cluster, sig, err := start(signals)
	if err != nil {
		fmt.Fprintf(stderr, "withpg: PostgreSQL cannot be started: %v\n", err)
		return exitFailed
	}
	if sig != nil {
		return exitSignal + number(sig)
	}
	cmd := exec.Command(flags.Arg(0), flags.Args()[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, stdout, stderr
	cmd.Env = append(os.Environ(), pgtest.Variable+"="+cluster.URL())
	code := runProgram(cmd, signals, *bound, *grace)
	if err := cluster.Stop(); err != nil {
		fmt.Fprintf(stderr, "withpg: %v\n", err)
		return exitFailed
	}
	return code
}

// start returns no cluster but the signal, when one came before the cluster was ready.
func start(signals <-chan os.Signal) (*pgtest.Cluster, os.Signal, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	type result struct {
		cluster *pgtest.Cluster
		err     error
	}
	started := make(chan result, 1)
	go func() {
		cluster, err := pgtest.Start(ctx, pgtest.Options{})
		started <- result{cluster, err}
	}()
	select {
	case r := <-started:
		return r.cluster, nil, r.err
	case sig := <-signals:
		cancel()
		switch r := <-started; {
		case r.cluster != nil:
			return nil, sig, r.cluster.Stop()
		case errors.Is(r.err, context.Canceled):
			return nil, sig, nil
		default:
			return nil, sig, r.err
		}
	}
}

func runProgram(cmd *exec.Cmd, signals <-chan os.Signal, bound, grace time.Duration) int {
	program, err := procgroup.Start(cmd, syscall.SIGTERM)
	if err != nil {
		fmt.Fprintf(cmd.Stderr, "withpg: %v\n", err)
		return exitFailed
	}
	tell := func(sig os.Signal) {
		if err := program.Signal(sig); err != nil {
			fmt.Fprintf(cmd.Stderr, "withpg: %v\n", err)
		}
	}
	// Whatever the program left running would go on without a database.
	defer tell(syscall.SIGKILL)

	ended := 0
	var expired, kill <-chan time.Time
	if bound > 0 {
		expired = time.After(bound)
	}
	for {
		select {
		case <-program.Done():
			if ended != 0 {
				return ended
			}
			return exitCode(program.Wait())
		case sig := <-signals:
			ended = exitSignal + number(sig)
			tell(sig)
			kill = time.After(grace)
		case <-expired:
			fmt.Fprintf(cmd.Stderr, "withpg: %s is still running after %v and is ended\n", cmd.Path, bound)
			ended = exitBound
			tell(syscall.SIGTERM)
			kill = time.After(grace)
		case <-kill:
			tell(syscall.SIGKILL)
		}
	}
}

func number(sig os.Signal) int {
	if n, ok := sig.(syscall.Signal); ok {
		return int(n)
	}
	return int(syscall.SIGTERM)
}

func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		return exitFailed
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitSignal + int(status.Signal())
	}
	return exit.ExitCode()
}
