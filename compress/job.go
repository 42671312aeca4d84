package compress

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cortex"
)

// Job is a pass with everything that it reads, so that it can be run without a store: the checkpoint that it
// adds and the steps in which the others age.
type Job struct {
	Pass       Pass
	Window     budget.Window
	SummaryMax int
	// Live are the checkpoints that stand before the pass, oldest first.
	Live []Checkpoint
	// Steps are what happens to them, and Sources what each step is made of, in the same order.
	Steps   []Step
	Sources []Source
	// New is what the checkpoint that the pass adds is made of. It has no turns where the pass adds none.
	New Source
	// Versions are the last versions of checkpoints that were ever made, by their numbers. Those that an undo
	// took out of the prompt stay, and a next version comes after them.
	Versions map[int64]int64

	Goal     *cortex.Goal
	Insights []string
	Mode     string
	Model    string   // see [Request]
	Quoted   []string // see [Request]
	Count    func(string) int
}

// NewJob returns the job of a pass, but for its sources: those of the steps are the turns that
// [Step.Sources] names.
func NewJob(p Pass, live []Checkpoint, w budget.Window, summaryMax int) *Job {
	return &Job{Pass: p, Window: w, SummaryMax: summaryMax, Live: live, Steps: Aging(live, p, w, summaryMax)}
}

// Outcome is what came of a job.
type Outcome struct {
	// Live are the checkpoints that stand afterwards, oldest first, and Made those among them that are new.
	Live, Made []Checkpoint
}

// Run makes the summaries of the job; see [Run] of one. What takes no more room than a summary of it would
// is left as it is, and then there may be nothing new; where the prompt misses tokens it goes, see [Pass]. The ids of the checkpoints that are added come from
// newID. The error is that of ctx when it ended.
func (j *Job) Run(ctx context.Context, s Summariser, o Options, newID func() string, at time.Time) (Outcome, error) {
	var out Outcome
	replaced := map[int64]bool{}
	added := len(j.New.Turns) == 0
	for i := range j.Steps {
		step := &j.Steps[i]
		r := j.request(j.Sources[i], step.Budget)
		r.Guide = step.Guide()
		summary, receipt, err := Run(ctx, s, r, o)
		if errors.Is(err, ErrTooSmall) {
			if j.Pass.Missing > 0 && len(step.Of) == len(j.Live) {
				return Outcome{}, nil
			}
			continue
		}
		if err != nil {
			return Outcome{}, err
		}
		id := step.Of[len(step.Of)-1].ID
		if step.New {
			id = newID()
		}
		c := step.Next(id, j.Pass, &r, summary, receipt, at)
		c.Version = max(c.Version, j.Versions[c.Number]+1)
		added = added || step.New
		for k := range step.Of {
			replaced[step.Of[k].Range.From] = true
		}
		out.Made = append(out.Made, c)
	}
	if !added {
		r := j.request(j.New, j.Pass.Tokens)
		summary, receipt, err := Run(ctx, s, r, o)
		switch {
		case err == nil:
			c := First(newID(), j.Pass, &r, summary, receipt, at)
			c.Version = max(c.Version, j.Versions[c.Number]+1)
			out.Made = append(out.Made, c)
		case !errors.Is(err, ErrTooSmall):
			return Outcome{}, err
		}
	}
	for _, c := range j.Live {
		if !replaced[c.Range.From] {
			out.Live = append(out.Live, c)
		}
	}
	out.Live = append(out.Live, out.Made...)
	slices.SortFunc(out.Live, func(a, b Checkpoint) int { return cmp.Compare(a.Range.From, b.Range.From) })
	return out, nil
}

func (j *Job) request(s Source, limit int) Request {
	return Request{Source: s, Goal: j.Goal, Insights: j.Insights, Mode: j.Mode, Model: j.Model, Window: j.Window.Usable, Quoted: j.Quoted, Budget: limit, Count: j.Count}
}
