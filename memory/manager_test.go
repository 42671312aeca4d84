package memory_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/turn"
)

// manager makes turn summaries; it keeps nothing.
var manager = memory.NewManager(memory.ManagerConfig{})

// fold summarises an exchange and folds it into the digest.
func fold(d memory.Digest, t memory.Turn) memory.Digest {
	return manager.Fold(d, t.Seq, manager.Turn(t), opening(t))
}

// opening cites the turn for everything.
func opening(t memory.Turn) memory.Cite {
	return func(string) (int64, string) { return t.Seq, t.TurnID }
}

// talk is a source of some turns of the agent.
func talk(from, to int64) compress.Source {
	var turns []turn.Turn
	for seq := from; seq <= to; seq++ {
		turns = append(turns, turn.Turn{Seq: seq, Role: turn.Agent, Kind: turn.KindTurn, Content: turn.Text{
			Text: fmt.Sprintf("[DECISION] Use port %d\n", 8000+seq) + strings.Repeat("The harbour was quiet that day and nobody went out. ", 8),
		}})
	}
	return compress.NewSource(turn.Range{From: from, To: to}, turns, nil)
}

// fullJob is a pass that adds a checkpoint and lets one age.
func fullJob(t *testing.T) *compress.Job {
	t.Helper()
	w, err := budget.WindowOf(16384)
	if err != nil {
		t.Fatal(err)
	}
	first := compress.NewJob(compress.Pass{Number: 1, Range: turn.Range{From: 1, To: 10}, Tokens: 400}, nil, w, 1024)
	first.New, first.Count = talk(1, 10), tokens
	m := memory.NewManager(memory.ManagerConfig{NewID: func() string { return "first" }})
	out, err := m.Extract(t.Context(), first)
	if err != nil || len(out.Made) != 1 {
		t.Fatalf("%v, %+v", err, out)
	}
	j := compress.NewJob(compress.Pass{Number: 4, Range: turn.Range{From: 11, To: 20}, Tokens: 400}, out.Live, w, 1024)
	j.Sources, j.New, j.Count = []compress.Source{talk(1, 10)}, talk(11, 20), tokens
	if len(j.Steps) != 1 {
		t.Fatalf("%d steps", len(j.Steps))
	}
	return j
}

func tokens(text string) int { return (len(text) + 3) / 4 }

// summariser is one that is a function.
type summariser func(context.Context, compress.Request) (string, error)

func (f summariser) Summarise(ctx context.Context, r compress.Request) (string, error) {
	return f(ctx, r)
}

// able summarises well: with the extractive summariser, which it calls its own.
func able(ctx context.Context, r compress.Request) (string, error) {
	return compress.Extractive{}.Summarise(ctx, r)
}

var errDown = errors.New("the model is down")

func down(context.Context, compress.Request) (string, error) { return "", errDown }

func TestManagerRuns(t *testing.T) {
	const model = "qwen"
	for _, tt := range []struct {
		name       string
		summariser compress.Summariser
		breaker    compress.Breaker
		modelled   bool
		by         string
		tries      int64
	}{
		{"nobody", nil, compress.Breaker{}, false, compress.ByExtract, 0},
		{"the extractive one", compress.Extractive{}, compress.Breaker{}, false, compress.ByExtract, 0},
		{"a model", summariser(able), compress.Breaker{}, true, model, 1},
		{"a model behind an open breaker", summariser(able), compress.Breaker{Failures: 3}, true, compress.ByExtract, 0},
		{"a model that is down", summariser(down), compress.Breaker{}, true, compress.ByExtract, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := memory.NewManager(memory.ManagerConfig{
				Summariser: tt.summariser, Name: model, NewID: func() string { return "new" }, Clock: func() time.Time { return noon },
			})
			if m.Modelled() != tt.modelled {
				t.Errorf("modelled is %v", m.Modelled())
			}
			out, err := m.Run(t.Context(), fullJob(t), tt.breaker)
			if err != nil || len(out.Made) != 2 || len(out.Live) != 2 {
				t.Fatalf("%v, %+v", err, out)
			}
			for _, c := range out.Made {
				if c.Receipt.By != tt.by || c.Receipt.Tries != tt.tries || !c.CompressedAt.Equal(noon) {
					t.Errorf("%+v", c)
				}
			}
			if out.Live[1].ID != "new" {
				t.Errorf("the id is %q", out.Live[1].ID)
			}

			out, err = m.Extract(t.Context(), fullJob(t))
			if err != nil || len(out.Made) != 2 || out.Made[0].Receipt.Tries != 0 || out.Made[1].ID != "new" || !out.Made[1].CompressedAt.Equal(noon) {
				t.Errorf("%v, %+v", err, out)
			}
		})
	}
}

func TestManagerRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := memory.NewManager(memory.ManagerConfig{Summariser: summariser(able), NewID: func() string { return "new" }})
	if out, err := m.Run(ctx, fullJob(t), compress.Breaker{}); !errors.Is(err, context.Canceled) || out.Live != nil {
		t.Errorf("%v, %+v", err, out)
	}
}

func TestAfter(t *testing.T) {
	fine := compress.Receipt{By: "qwen", Tries: 1}
	failed := compress.Receipt{By: compress.ByExtract, Tries: 2, Refused: []string{"it is empty"}}
	quiet := compress.Receipt{By: compress.ByExtract}
	for _, tt := range []struct {
		name     string
		receipts []compress.Receipt
		before   compress.Breaker
		want     compress.Breaker
	}{
		{"nothing was made", nil, compress.Breaker{Failures: 3, Skipped: 1}, compress.Breaker{Failures: 3, Skipped: 1}},
		{"fine", []compress.Receipt{fine, fine}, compress.Breaker{Failures: 2}, compress.Breaker{}},
		{"failed once however often", []compress.Receipt{failed, failed, failed}, compress.Breaker{}, compress.Breaker{Failures: 1}},
		{"first fine, then failed", []compress.Receipt{fine, failed}, compress.Breaker{Failures: 1}, compress.Breaker{Failures: 2}},
		{"first failed, then fine", []compress.Receipt{failed, fine}, compress.Breaker{Failures: 1}, compress.Breaker{Failures: 2}},
		{"skipped once however often", []compress.Receipt{quiet, quiet}, compress.Breaker{Failures: 3}, compress.Breaker{Failures: 3, Skipped: 1}},
		{"nobody was asked", []compress.Receipt{quiet}, compress.Breaker{Failures: 2}, compress.Breaker{Failures: 2}},
		{"one was too small to ask", []compress.Receipt{quiet, fine}, compress.Breaker{Failures: 2}, compress.Breaker{}},
		{"and another way round", []compress.Receipt{fine, quiet}, compress.Breaker{Failures: 2}, compress.Breaker{}},
	} {
		var out compress.Outcome
		for _, r := range tt.receipts {
			out.Made = append(out.Made, compress.Checkpoint{Receipt: r})
		}
		if diff := cmp.Diff(tt.want, memory.After(tt.before, out)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, diff)
		}
	}
}

// TestBreakerOpensAndTriesAgain makes passes with a model that is down: it is asked three times, then left
// alone for eight passes, then asked again.
func TestBreakerOpensAndTriesAgain(t *testing.T) {
	asked := 0
	m := memory.NewManager(memory.ManagerConfig{NewID: func() string { return "new" }, Summariser: summariser(func(context.Context, compress.Request) (string, error) {
		asked++
		return "", errDown
	})})
	var b compress.Breaker
	var log []int
	for range 13 {
		out, err := m.Run(t.Context(), fullJob(t), b)
		if err != nil || len(out.Made) != 2 {
			t.Fatalf("%v, %+v", err, out)
		}
		b = memory.After(b, out)
		log = append(log, asked)
	}
	if diff := cmp.Diff([]int{2, 4, 6, 6, 6, 6, 6, 6, 6, 6, 6, 8, 8}, log); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// page holds an insight for each text, the first the oldest.
func page(t *testing.T, insights ...scratch.Observation) *scratch.Page {
	t.Helper()
	rows := scratchRows{}
	for i, o := range insights {
		o.ID, o.Status = fmt.Sprintf("o%02d", i), scratch.Active
		o.CreatedAt = noon.Add(time.Duration(i) * time.Minute)
		o.UpdatedAt, o.ExpiresAt = o.CreatedAt, noon.Add(24*time.Hour)
		if o.Type == "" {
			o.Type, o.ContextRefs = scratch.FlowInsight, []string{scratch.FlowRef(fmt.Sprintf("f%d", i%3))}
		}
		rows.all = append(rows.all, scratch.Row{ID: o.ID, Type: o.Type, Status: o.Status, Doc: record.String(o.AppendJSON), At: o.UpdatedAt, Expires: o.ExpiresAt})
	}
	p, err := scratch.Load(t.Context(), rows, "default", 1, noon)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// scratchRows are the rows of one page.
type scratchRows struct {
	scratch.Rows
	all []scratch.Row
}

func (r scratchRows) Observations(context.Context, string, int64, time.Time, bool) ([]scratch.Row, error) {
	return r.all, nil
}

func TestInsights(t *testing.T) {
	insight := func(confidence float64, text string) scratch.Observation {
		return scratch.Observation{Confidence: confidence, Content: text}
	}
	got := manager.Insights(page(t,
		insight(0.5, "old"), insight(0.9, "certain\nof this"), insight(0.5, "new"), insight(0.2, "a guess"), insight(0.3, "old"),
		scratch.Observation{Type: "note", Confidence: 1, Content: "no insight"},
		insight(0.1, strings.Repeat("very long ", 60)),
	))
	want := []string{"certain of this", "new", "old", "a guess"}
	if len(got) != 5 || cmp.Diff(want, got[:4]) != "" {
		t.Fatalf("%q", got)
	}
	if long := got[4]; len(long) > 240 || !strings.HasSuffix(long, " very…") {
		t.Errorf("%d bytes: %s", len(long), long)
	}

	var many []scratch.Observation
	for i := range 40 {
		many = append(many, insight(0.5, fmt.Sprint("insight ", i)))
	}
	got = manager.Insights(page(t, many...))
	if len(got) != 12 || got[0] != "insight 39" || got[11] != "insight 28" {
		t.Errorf("%q", got)
	}
	if got := manager.Insights(&scratch.Page{}); got != nil {
		t.Errorf("of nothing: %q", got)
	}
}
