package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/budget/bpe"
)

// encodings by the names that everyone has for them.
var encodings = []struct {
	name string
	get  func() *bpe.Encoding
}{
	{"o200k_base", bpe.O200k},
	{"cl100k_base", bpe.Cl100k},
}

// benchTokens: counting tokens beside npm tiktoken, texts without an end, and what the embedded
// vocabularies cost.
func benchTokens(ctx context.Context, b *bench) error {
	if err := benchMixed(ctx, b); err != nil {
		return err
	}
	if err := benchEndless(b); err != nil {
		return err
	}
	return benchEmbedded(ctx, b)
}

// benchMixed counts this project's own files and a few languages besides.
func benchMixed(ctx context.Context, b *bench) error {
	texts, size, err := mixedTexts()
	if err != nil {
		return err
	}
	data, err := json.Marshal(texts)
	if err != nil {
		return err
	}
	file := b.file("texts.json")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return err
	}
	missing := installTiktoken(ctx)
	for _, e := range encodings {
		speed := Line{Name: "count mixed text, " + e.name, Unit: "MB/s", Against: "npm tiktoken"}
		if missing != nil {
			speed.Against += ": " + missing.Error()
			b.atLeast(4, speed)
			continue
		}
		encoding := e.get()
		differ := 0
		rates, err := b.interleave(func() (float64, error) {
			start := time.Now()
			for _, text := range texts {
				encoding.Count(text)
			}
			return size / 1e6 / time.Since(start).Seconds(), nil
		}, func() (float64, error) {
			other, err := runTiktoken(ctx, e.name, file)
			if err != nil {
				return 0, err
			}
			differ = max(differ, other.differences(encoding, texts))
			return size / 1e3 / other.Ms, nil
		})
		if err != nil {
			return err
		}
		speed.Ours, speed.Baseline = rates[0], rates[1]
		b.atLeast(4, speed)
		b.atMost(0, Line{Name: "texts with other tokens, " + e.name, Ours: float64(differ), Unit: "texts", Against: fmt.Sprintf("npm tiktoken, of %d", len(texts))})
	}
	return nil
}

// mixedTexts returns texts as long as a message, about 2 MB in all, and their size.
func mixedTexts() (texts []string, size float64, err error) {
	const message, total = 8 << 10, 2 << 20
	languages := strings.Repeat("今天我们讨论了接口的设计，没有空格。日本語の文章も混ざっています。한국어도 있습니다. Привет, как дела? Γειά σου! नमस्ते दुनिया 😀👍🏽 e\u0301 naïve café\r\n    \r\n", 8)
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "bin" || len(d.Name()) > 1 && d.Name()[0] == '.') {
			return filepath.SkipDir
		}
		if !slices.Contains([]string{".go", ".md", ".json", ".sql", ".txtar"}, filepath.Ext(path)) || size > total {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := string(data) + languages
		for i := 0; i < len(text); {
			end := min(i+message, len(text))
			for end < len(text) && !utf8.RuneStart(text[end]) {
				end++
			}
			texts = append(texts, text[i:end])
			size += float64(end - i)
			i = end
		}
		return nil
	})
	return texts, size, err
}

// installTiktoken says why npm tiktoken cannot be run.
func installTiktoken(ctx context.Context) error {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s is not installed", program)
		}
	}
	if _, err := os.Stat("bench/tiktoken/node_modules/tiktoken/package.json"); err == nil {
		return nil
	}
	cmd := exec.CommandContext(ctx, "npm", "ci", "--silent", "--no-audit", "--no-fund")
	cmd.Dir = "bench/tiktoken"
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("npm ci in bench/tiktoken: %w", err)
	}
	return nil
}

// tiktokenResult is what bench/tiktoken prints.
type tiktokenResult struct {
	Ms      float64
	Results []struct {
		Count int
		Sum   uint32
	}
}

func runTiktoken(ctx context.Context, encoding, file string) (*tiktokenResult, error) {
	cmd := exec.CommandContext(ctx, "node", "bench/tiktoken/count.mjs", encoding, file)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("bench/tiktoken: %w", err)
	}
	r := new(tiktokenResult)
	if err := json.Unmarshal(out, r); err != nil {
		return nil, fmt.Errorf("bench/tiktoken: %w", err)
	}
	return r, nil
}

// differences is how many of the texts have other tokens than ours.
func (r *tiktokenResult) differences(e *bpe.Encoding, texts []string) int {
	if len(r.Results) != len(texts) {
		return len(texts)
	}
	n := 0
	var tokens []uint32
	for i, text := range texts {
		tokens = e.Append(tokens[:0], text)
		sum := uint32(0)
		for _, t := range tokens {
			sum = sum*31 + t
		}
		if r.Results[i].Count != len(tokens) || r.Results[i].Sum != sum || e.Count(text) != len(tokens) {
			n++
		}
	}
	return n
}

// endless are texts that do not fall into pieces, of any size.
var endless = []struct {
	name string
	make func(size int) string
}{
	{"one letter", func(size int) string { return strings.Repeat("a", size) }},
	{"spaces", func(size int) string { return strings.Repeat(" ", size) }},
	{"CJK without spaces", func(size int) string {
		rng := rand.New(rand.NewPCG(1, 1))
		var b strings.Builder
		for b.Len() < size {
			b.WriteRune(rune(0x4E00 + rng.IntN(0x5000)))
		}
		return b.String()
	}},
	{"base64", func(size int) string {
		rng := rand.New(rand.NewPCG(1, 1))
		raw := make([]byte, size/4*3)
		for i := range raw {
			raw[i] = byte(rng.Uint32())
		}
		return base64.StdEncoding.EncodeToString(raw)
	}},
	{`\r\n \t`, func(size int) string { return strings.Repeat("\r\n \t", size/4) }},
}

// benchEndless shows the slower of the encodings, and the one that grows more. How it grows is
// told by the least time on the processor, which others at work on the machine lengthen little.
func benchEndless(b *bench) error {
	const size = 1 << 20
	for _, text := range endless {
		once, twice := text.make(size), text.make(2*size)
		slowest := Line{Name: "count 1 MB of " + text.name, Unit: "s", Against: "absolute, the slower encoding"}
		steepest := Line{Name: "count 2 MB of " + text.name, Unit: "s cpu", Against: "1 MB of it, the steeper encoding"}
		for _, e := range encodings {
			encoding := e.get()
			took, err := b.best(func() (float64, error) {
				start := time.Now()
				encoding.Count(once)
				return time.Since(start).Seconds(), nil
			})
			if err != nil {
				return err
			}
			slowest.Ours = max(slowest.Ours, took)
			short, long := math.Inf(1), math.Inf(1)
			for range 3 * b.rounds {
				cpuOnce, err := countCPU(encoding, once)
				if err != nil {
					return err
				}
				cpuTwice, err := countCPU(encoding, twice)
				if err != nil {
					return err
				}
				short, long = min(short, cpuOnce), min(long, cpuTwice)
			}
			if steepest.Baseline == 0 || long/short > steepest.Ours/steepest.Baseline {
				steepest.Baseline, steepest.Ours = short, long
			}
		}
		b.atMost(3, slowest)
		b.atMost(2.3, steepest)
	}
	return nil
}

// countCPU returns the seconds of processor time that counting takes.
func countCPU(e *bpe.Encoding, text string) (float64, error) {
	var u usage
	err := u.measure(func() error {
		e.Count(text)
		return nil
	})
	return u.cpu.Seconds(), err
}

// benchEmbedded builds a program with and without the vocabularies, and runs it.
func benchEmbedded(ctx context.Context, b *bench) error {
	with, without := b.file("with"), b.file("without")
	for path, tags := range map[string]string{with: "", without: "without"} {
		cmd := exec.CommandContext(ctx, "go", "build", "-tags", tags, "-ldflags", "-s -w", "-o", path, "./bench/firstuse")
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("bench/firstuse: %w", err)
		}
	}
	for _, e := range encodings {
		ms := math.Inf(1)
		for range 4 * b.rounds {
			out, err := exec.CommandContext(ctx, with, e.name).Output()
			if err != nil {
				return fmt.Errorf("bench/firstuse: %w", err)
			}
			took, err := strconv.ParseFloat(string(bytes.TrimSpace(out)), 64)
			if err != nil {
				return fmt.Errorf("bench/firstuse: %w", err)
			}
			ms = min(ms, took)
		}
		b.atMost(60, Line{Name: "first count with " + e.name, Ours: ms, Unit: "ms", Against: "absolute, best of many new processes"})
	}
	large, errWith := os.Stat(with)
	small, errWithout := os.Stat(without)
	if err := errors.Join(errWith, errWithout); err != nil {
		return err
	}
	b.atMost(3, Line{Name: "both encodings in a binary", Ours: float64(large.Size()-small.Size()) / 1e6, Unit: "MB", Against: "absolute, beyond the same without them"})
	return nil
}
