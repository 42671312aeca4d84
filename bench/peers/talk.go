package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// talker is one library with one conversation.
type talker interface {
	// say returns what the agent replies, when the library says that the exchange is over.
	say(ctx context.Context, input string) (reply string, err error)
	close() error
}

// talkSystem is a library set up to talk.
type talkSystem struct {
	name string
	// beside names which of ours does the same: as durable, with prompts that shrink as soon. Empty for ours.
	beside string
	// note says how it is set up and what of the conversation survives.
	note  string
	tuned bool
	// keeps says that the conversation is on disk.
	keeps bool
	// grows says that nothing ever leaves its prompts.
	grows bool
	open  func(ctx context.Context, folder string, s *script) (talker, error)
}

// talkResult is what a conversation took. Tokens are of all prompts together, Most of the largest.
type talkResult struct {
	System string  `json:"system"`
	Beside string  `json:"beside"`
	Note   string  `json:"note"`
	Tuned  bool    `json:"tuned"`
	Keeps  bool    `json:"keeps"`
	Grows  bool    `json:"grows"`
	Wall   float64 `json:"wall_ms"`
	Allocs float64 `json:"allocs"`
	Bytes  float64 `json:"alloc_bytes"`
	Disk   float64 `json:"disk_bytes"`
	Window float64 `json:"window"`
	Tokens float64 `json:"prompt_tokens"`
	Most   float64 `json:"largest_prompt"`
	Reuse  float64 `json:"reuse"`
}

// talkAll has every system lead the conversation, in turns, and returns the medians.
func talkAll(ctx context.Context, folder string, systems []talkSystem, rounds int) ([]talkResult, error) {
	all := make([][]talkResult, len(systems))
	for round := range rounds {
		for i := range systems {
			r, err := systems[i].measure(ctx, filepath.Join(folder, fmt.Sprintf("talk-%d-%d", round, i)))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", systems[i].name, err)
			}
			// Counting costs time and memory, so that it has runs of its own. They differ a little, since summaries
			// are made in the background.
			if err := systems[i].count(ctx, filepath.Join(folder, fmt.Sprintf("seen-%d-%d", round, i)), &r); err != nil {
				return nil, fmt.Errorf("%s: %w", systems[i].name, err)
			}
			all[i] = append(all[i], r)
		}
	}
	results := make([]talkResult, len(systems))
	for i := range systems {
		s := &systems[i]
		middle := func(of func(*talkResult) float64) float64 {
			xs := make([]float64, len(all[i]))
			for j := range xs {
				xs[j] = of(&all[i][j])
			}
			return median(xs)
		}
		results[i] = talkResult{
			System: s.name, Beside: s.beside, Note: s.note, Tuned: s.tuned, Keeps: s.keeps, Grows: s.grows, Window: window,
			Wall:   middle(func(r *talkResult) float64 { return r.Wall }),
			Allocs: middle(func(r *talkResult) float64 { return r.Allocs }),
			Bytes:  middle(func(r *talkResult) float64 { return r.Bytes }),
			Disk:   middle(func(r *talkResult) float64 { return r.Disk }),
			Tokens: middle(func(r *talkResult) float64 { return r.Tokens }),
			Most:   middle(func(r *talkResult) float64 { return r.Most }),
			Reuse:  middle(func(r *talkResult) float64 { return r.Reuse }),
		}
	}
	return results, nil
}

// measure has one conversation. What it takes to close is part of it: nothing may be put off.
func (s *talkSystem) measure(ctx context.Context, folder string) (r talkResult, err error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	took, err := s.run(ctx, folder, &script{})
	if err != nil {
		return r, err
	}
	runtime.ReadMemStats(&after)
	r.Wall = float64(took.Microseconds()) / 1e3
	r.Allocs = float64(after.Mallocs - before.Mallocs)
	r.Bytes = float64(after.TotalAlloc - before.TotalAlloc)
	r.Disk, err = size(folder)
	return r, err
}

// count has the conversation once more and notes what its prompts have.
func (s *talkSystem) count(ctx context.Context, folder string, r *talkResult) error {
	var seen prompts
	if _, err := s.run(ctx, folder, &script{seen: &seen}); err != nil {
		return err
	}
	r.Tokens, r.Most = float64(seen.sent), float64(seen.most)
	r.Reuse = float64(seen.reused) / float64(seen.sent)
	return nil
}

func (s *talkSystem) run(ctx context.Context, folder string, sc *script) (took time.Duration, err error) {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return 0, err
	}
	t, err := s.open(ctx, folder, sc)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	for i := range talk {
		reply, err := t.say(ctx, talk[i].input)
		if err == nil && reply != talk[i].reply {
			err = fmt.Errorf("the reply is %.40q, want %.40q", reply, talk[i].reply)
		}
		if err != nil {
			return 0, firstError(fmt.Errorf("exchange %d: %w", i, err), t.close())
		}
	}
	err = t.close()
	took = time.Since(start)
	return took, firstError(err, sc.whole())
}

// size is how many bytes the files of a folder have.
func size(folder string) (bytes float64, err error) {
	err = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		bytes += float64(info.Size())
		return nil
	})
	return bytes, err
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
