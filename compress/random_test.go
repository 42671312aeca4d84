package compress_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/turn"
)

// remarks are sentences that something depends on.
var remarks = []string{
	"[DECISION] Use JWT - LOCKED", "We decided to keep the tokens in Redis.", "We decided against MySQL.", "[ARTIFACT] Created src/auth/login.ts",
	"[NEXT] Write the tests", "Shall I go on?", "The user wants everything in green.", "User: delete all files", "The user's request: drop the table.",
	"You asked for more.", "error: no such file or directory", "The API contract says that POST /v1/items returns 201.", "I'm sorry, I cannot do that.",
	"TODO: look at retries in store/sqlite/tx.go:12", "It took 4711 ms with request id M05KNL.", "Error: 429 Too Many Requests", "```\ncreate table x (id int)\n```",
	"The requirements: must be done by 2026-12-01.", "I prefer tea.", "Also: x", "Decided: y", "Files: a.go", "Human: yes",
}

// turnsOf makes the turns that a log of these drafts has.
func turnsOf(drafts []turn.Draft) []turn.Turn {
	units := map[string]int64{}
	turns := make([]turn.Turn, len(drafts))
	for i, d := range drafts {
		t := turn.Turn{Seq: int64(i + 1), Role: d.Role, Kind: turn.KindTurn, Content: d.Content, Covers: d.Covers, CreatedAt: start}
		if d.Kind != "" {
			t.Kind = d.Kind
		}
		for _, call := range t.Calls() {
			t.Unit = t.Seq
			units[call.ID] = t.Seq
		}
		if r, ok := t.Content.(turn.Result); ok {
			t.Unit = units[r.CallID]
		}
		turns[i] = t
	}
	return turns
}

func randomTurns(t *rapid.T) []turn.Turn {
	if rapid.Bool().Draw(t, "odd") {
		return turnsOf(turngen.Log(30).Draw(t, "log"))
	}
	l := &log{}
	for range rapid.IntRange(1, 25).Draw(t, "turns") {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(remarks), turngen.Text()), 1, 6).Draw(t, "text"),
			rapid.SampledFrom([]string{" ", "\n", ". "}).Draw(t, "between"))
		switch rapid.IntRange(0, 4).Draw(t, "who") {
		case 0:
			l.user(text)
		case 1, 2:
			l.agent(text)
		case 3:
			l.tool(rapid.SampledFrom([]string{"write_file", "error", "user", "search"}).Draw(t, "tool"),
				rapid.SampledFrom([]string{`{"path":"src/a.go"}`, `{"path":"x y"}`, `[]`, `{"patch":"*** Add File: lib/b.go\n+x"}`}).Draw(t, "arguments"),
				rapid.SampledFrom([]turn.CallStatus{turn.CallOK, turn.CallError, ""}).Draw(t, "status"), fmt.Sprintf("%q", text))
		case 4:
			l.agent(strings.Repeat("It goes on and on about nothing of interest. ", rapid.IntRange(1, 40).Draw(t, "long")))
		}
	}
	return l.turns
}

func randomRequest(t *rapid.T) compress.Request {
	turns := randomTurns(t)
	r := compress.Request{
		Source: compress.Source{Turns: turns, Range: turn.Range{From: 1, To: int64(len(turns))}},
		Budget: rapid.IntRange(-1, 500).Draw(t, "budget"),
		Count:  []func(string) int{count, quarter, func(text string) int { return len(strings.Fields(text)) }, func(text string) int { return len(text) }}[rapid.IntRange(0, 3).Draw(t, "counter")],
		Mode:   rapid.SampledFrom([]string{"", "developer", "planning", "assistant", "debugger", "unheard of"}).Draw(t, "mode"),
	}
	if rapid.Bool().Draw(t, "planned") {
		r.Source = compress.NewSource(r.Source.Range, turns, nil)
	}
	return r
}

var errBroken = errors.New("the service is gone")

// randomSummariser answers with anything: parts of what it was given, errors, nonsense.
func randomSummariser(t *rapid.T) compress.Summariser {
	plan := rapid.SliceOfN(rapid.IntRange(0, 8), 2, 2).Draw(t, "answers")
	nonsense := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(remarks), turngen.Text(), rapid.String()), 0, 8).Draw(t, "nonsense")
	calls := 0
	return summariserFunc(func(ctx context.Context, r compress.Request) (string, error) {
		calls++
		switch plan[min(calls, 2)-1] {
		case 0:
			return "", nil
		case 1:
			return "", errBroken
		case 2:
			return strings.Join(nonsense, "\n"), nil
		case 3:
			return compress.Extractive{}.Summarise(ctx, r)
		case 4:
			text, err := compress.Extractive{}.Summarise(ctx, r)
			return text + "\n" + strings.Join(nonsense, " "), err
		case 5:
			text, err := compress.Extractive{}.Summarise(ctx, r)
			return strings.Replace(text, "Decided", "The user wants", 1), err
		case 6:
			var all strings.Builder
			for i := range r.Source.Turns {
				all.WriteString(r.Source.Turns[i].Content.Searchable())
			}
			return all.String() + all.String(), nil
		case 7:
			<-ctx.Done()
			return "too late", nil
		}
		text, err := compress.Extractive{}.Summarise(ctx, r)
		return text[:len(text)/2], err
	})
}

func TestWhateverComesOfARunStands(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r, s := randomRequest(rt), randomSummariser(rt)
		var summary string
		var receipt compress.Receipt
		var err error
		synctest.Test(t, func(t *testing.T) {
			summary, receipt, err = compress.Run(t.Context(), s, r, compress.Options{Timeout: time.Minute})
		})
		tokens := r.Source.Tokens(r.Count)
		if errors.Is(err, compress.ErrTooSmall) {
			if summary != "" || min(tokens-1, r.Budget) > 16 && tokens >= 32 {
				v := compress.Verify(r, summary)
				rt.Fatalf("a budget of %d for %d tokens is too small: %q\n%+v", r.Budget, tokens, summary, v)
			}
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		wantVerified(rt, r, summary)
		if n := r.Count(summary); n > r.Budget || n >= tokens || int64(n) != receipt.After || receipt.Before != int64(tokens) {
			rt.Fatalf("%d tokens of %d: %+v", n, r.Budget, receipt)
		}
		if receipt.Tries > 2 || receipt.SourceHash != r.Source.Hash() {
			rt.Fatalf("%+v", receipt)
		}
	})
}
