// Command peers runs Turnstone and other Go libraries that keep conversations on the same work, each as it comes or
// as its guide has it.
//
// The log: 2,000 events appended to one session, one after the other, then the last 50 read. Each writes to SQLite,
// every append on disk before the next; the others are also run with a write-ahead log, which their users can turn on
// by hand, and marked as tuned.
//
// The talk: a conversation of 200 exchanges with a model that follows a script, each a question, a call of a tool,
// its result and a reply. Time and memory are those of the library, since the model takes none. The tokens of all
// prompts that the model is sent, those that ask for summaries too, are counted with one vocabulary, o200k.
//
// It prints a JSON line per system and work, ours first; the numbers are medians of interleaved rounds. A library
// that does not build is left out with the build tag without_adk, without_langchain or without_trpc.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
)

// line is one line of the output. One of its fields is set.
type line struct {
	Log  *logResult  `json:"log,omitempty"`
	Talk *talkResult `json:"talk,omitempty"`
}

func main() {
	rounds := flag.Int("rounds", 5, "rounds per system")
	only := flag.String("only", "", "log or talk; both if empty")
	system := flag.String("system", "", "run only the systems whose name begins with this")
	folder := flag.String("folder", "", "keep the files in this folder; in one that is deleted if empty")
	profile := flag.String("cpuprofile", "", "write a profile of the processor's time to this file")
	flag.Parse()
	stop, err := startProfile(*profile)
	if err == nil {
		err = run(context.Background(), *rounds, *only, *system, *folder)
		err = firstError(err, stop())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, rounds int, only, system, folder string) (err error) {
	if folder == "" {
		if folder, err = os.MkdirTemp("", "turnstone-peers-"); err != nil {
			return err
		}
		defer func() { err = firstError(err, os.RemoveAll(folder)) }()
	}
	var lines []line
	if only != "talk" {
		chosen := slices.Concat(ourLogs, adkLogs, langchainLogs)
		chosen = slices.DeleteFunc(chosen, func(s logSystem) bool { return !strings.HasPrefix(s.name, system) })
		results, err := logAll(ctx, folder, chosen, rounds)
		if err != nil {
			return err
		}
		for i := range results {
			lines = append(lines, line{Log: &results[i]})
		}
	}
	if only != "log" {
		chosen := slices.Concat(ourTalks, adkTalks, trpcTalks)
		chosen = slices.DeleteFunc(chosen, func(s talkSystem) bool { return !strings.HasPrefix(s.name, system) })
		results, err := talkAll(ctx, folder, chosen, rounds)
		if err != nil {
			return err
		}
		for i := range results {
			lines = append(lines, line{Talk: &results[i]})
		}
	}
	out := json.NewEncoder(os.Stdout)
	for _, l := range lines {
		if err := out.Encode(l); err != nil {
			return err
		}
	}
	return nil
}

// startProfile begins a profile if a file is named, and returns what ends it.
func startProfile(path string) (stop func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, firstError(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}
