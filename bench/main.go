// Command bench measures what Turnstone promises about speed and size, each as a ratio against a
// baseline measured in the same run, and writes bench/results.json.
//
// Where two things are compared they are run in turns, five rounds each, and the medians are
// compared: the machine's noise then falls on both. Where a bound is absolute the best of five
// rounds counts, and growth with the length of a text is told by the processor's time. Beside each
// line stands how long a fixed piece of work took on the machine at that time, and how much of its
// processors' busy time the machine around it gave to others. An absolute bound says as much of the
// machine as of Turnstone, and an older or busier one misses it; where it bounds the processor's time, a
// bound against a bare table beside it holds on every machine. Exit code 1 means that a bound was missed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"strings"
)

func main() {
	only := flag.String("only", "", "run only the benchmarks whose name begins with this")
	out := flag.String("out", "bench/results.json", "where to write the results")
	rounds := flag.Int("rounds", 5, "rounds per measurement")
	profile := flag.String("cpuprofile", "", "write a profile of the processor's time to this file")
	flag.Parse()
	stopProfile, err := startProfile(*profile)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	missed, err := run(ctx, *only, *out, *rounds)
	err = firstError(err, stopProfile())
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	if missed > 0 {
		fmt.Fprintf(os.Stderr, "bench: %d bounds missed\n", missed)
		os.Exit(1)
	}
}

// suites in the order they run.
var suites = []struct {
	name string
	run  func(context.Context, *bench) error
}{
	{"append", benchAppend},
	{"group", benchGroup},
	{"commit", benchCommit},
	{"commits", benchCommits},
	{"commitgrowth", benchCommitGrowth},
	{"relay", benchRelay},
	{"serve", benchServe},
	{"serveidle", benchServeIdle},
	{"postgres", benchPostgres},
	{"replicas", benchReplicas},
	{"window", benchWindow},
	{"history", benchHistory},
	{"disk", benchDisk},
	{"light", benchLight},
	{"prompt", benchPrompt},
	{"compress", benchCompress},
	{"prefix", benchPrefix},
	{"transcripts", benchTranscripts},
	{"same", benchSame},
	{"tokens", benchTokens},
	{"firsttoken", benchFirstToken},
	{"live", benchLive},
	{"front", benchFront},
	{"peers", benchPeers},
}

func run(ctx context.Context, only, out string, rounds int) (missed int, err error) {
	dir, err := os.MkdirTemp("", "turnstone-bench-")
	if err != nil {
		return 0, err
	}
	defer func() {
		if rerr := os.RemoveAll(dir); err == nil {
			err = rerr
		}
	}()
	b := &bench{dir: dir, rounds: rounds}
	for _, s := range suites {
		if !strings.HasPrefix(s.name, only) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s …\n", s.name)
		if err := b.around(func() error { return s.run(ctx, b) }); err != nil {
			return 0, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	if len(b.lines) == 0 {
		return 0, fmt.Errorf("no benchmark begins with %q", only)
	}
	b.print(os.Stdout)
	return b.missed(), b.save(out)
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
