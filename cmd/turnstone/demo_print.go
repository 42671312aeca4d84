package main

import (
	"fmt"
	"os/exec"
	"time"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/demo"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
)

type demoThereJSON struct {
	Session  string `json:"session_id"`
	Replayed bool   `json:"replayed"`
	Turns    int64  `json:"turns"`
}

type demoJSON struct {
	Session     string          `json:"session_id"`
	Replayed    bool            `json:"replayed"`
	Exchanges   int             `json:"exchanges"`
	Turns       int             `json:"turns"`
	Calls       int             `json:"tool_calls"`
	Tokens      int             `json:"tokens"`
	Window      int             `json:"window"`
	Prompts     int             `json:"prompts"`
	Largest     int             `json:"largest"`
	Mean        float64         `json:"mean"`
	Reuse       float64         `json:"reuse"`
	Passes      int64           `json:"passes"`
	Last        int             `json:"last_prompt"`
	Checkpoints int             `json:"checkpoints"`
	Facts       int             `json:"facts"`
	Held        int             `json:"facts_held"`
	Remembered  int             `json:"remembered"`
	Goals       int             `json:"goals"`
	Completed   int             `json:"goals_completed"`
	Trace       string          `json:"last_export_id"`
	Found       []demoFoundJSON `json:"found"`
	Took        int64           `json:"duration_ms"`
}

type demoFoundJSON struct {
	Turn   int64  `json:"turn"`
	Text   string `json:"text"`
	Place  string `json:"place"`
	Pinned bool   `json:"pinned"`
}

func newDemoJSON(session string, r *demo.Report, took time.Duration) demoJSON {
	out := demoJSON{
		Session: session, Replayed: true, Exchanges: r.Exchanges, Turns: r.Turns, Calls: r.Calls, Tokens: r.Said, Window: r.Window.Context,
		Prompts: r.Prompts.Calls, Largest: r.Prompts.Largest, Mean: r.Prompts.Mean(), Reuse: r.Prompts.Reuse(),
		Passes: r.Passes, Last: r.Last, Checkpoints: r.Checkpoints, Facts: r.Facts, Held: r.Held, Remembered: r.Remembered, Goals: r.Goals, Completed: r.Done,
		Trace: r.Trace, Took: took.Milliseconds(),
	}
	for _, f := range r.Found {
		out.Found = append(out.Found, demoFoundJSON{f.Turn, f.Text, string(f.Place), f.Pinned})
	}
	return out
}

func (a *app) printDemo(session string, r *demo.Report, took time.Duration) error {
	count := func(n int, thing string) string { return progress.Count(int64(n), thing) }
	where, err := a.storePlace()
	if err != nil {
		return err
	}
	if err := a.fields(
		[2]string{"replayed", fmt.Sprintf("%s, %s and %s in %.1f s, into the session %s", count(r.Exchanges, "exchange"), count(r.Turns, "turn"), count(r.Calls, "tool call"), took.Seconds(), session)},
		[2]string{"conversation", fmt.Sprintf("%s in a context of %s, as %s has it; no model was asked", count(r.Said, "token"), tokensOf(r.Window.Context), demoModel)},
		[2]string{"prompts", fmt.Sprintf("%s, %s tokens on average, %s at most", tokensOf(r.Prompts.Calls), tokensOf(int(r.Prompts.Mean()+0.5)), tokensOf(r.Prompts.Largest))},
		[2]string{"reuse", fmt.Sprintf("%.1f %% of their tokens stood at the same place in the prompt before", 100*r.Prompts.Reuse())},
		[2]string{"passes", fmt.Sprintf("%s: older turns left the prompt, and %s in the last one", progress.Thousands(r.Passes), stand(r.Checkpoints))},
		[2]string{"facts", fmt.Sprintf("%s of the %s in what left the prompt, it still holds or names; the log has all", tokensOf(r.Held), tokensOf(r.Facts))},
		[2]string{"came of it", fmt.Sprintf("%s of memory, %s of which %s completed, %s for daemons", count(r.Remembered, "item"), count(r.Goals, "goal"), areDone(r.Done), count(r.Exchanges, "export"))},
		[2]string{"store", a.redact(where.String())},
	); err != nil {
		return err
	}
	if err := a.printf("\nWhat was said early, looked for at the end:\n"); err != nil {
		return err
	}
	if err := a.printFound(r.Found); err != nil {
		return err
	}
	if err := a.printf(""); err != nil {
		return err
	}
	return a.printNext(session, r.Trace)
}

func stand(checkpoints int) string {
	if checkpoints == 1 {
		return "1 checkpoint stands for them"
	}
	return fmt.Sprintf("%d checkpoints stand for them", checkpoints)
}

func areDone(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}

// placeWords say where something was found.
var placeWords = map[demo.Place]string{
	demo.Verbatim: "is still in the prompt, word for word",
	demo.Kept:     "is still in the prompt, in the words of the goal or a checkpoint",
	demo.Recalled: "has left the prompt; turnstone recall finds it",
	demo.Logged:   "has left the prompt; it stands in the log",
}

func (a *app) printFound(found []demo.Finding) error {
	for _, f := range found {
		pinned := ""
		if f.Pinned {
			pinned = ", pinned"
		}
		if err := a.printf("  %-8s  \"%s\"\n            %s%s", fmt.Sprintf("turn %d", f.Turn), a.style().Strong(f.Text), placeWords[f.Place], pinned); err != nil {
			return err
		}
	}
	return nil
}

// printNext shows the commands that look at the session.
func (a *app) printNext(session, trace string) error {
	name := quoted(session)
	next := [][2]string{
		{"history --session " + name + " --turns 6", "how it ended"},
		{"prompt --session " + name + " --explain", "what a model would see now, and where every token goes"},
		{"status --session " + name, "how far to rely on it"},
		{"checkpoints list " + name, "what stands for the turns that left"},
		{"recall \"which tidal constants did we use\" --session " + name, "what was said about something"},
		{"goal list --all --session " + name, "what came of the goals"},
	}
	if trace != "" {
		next = append(next, [2]string{"trace " + trace, "what happened in the last exchange"})
	}
	if err := a.printf("Look at it:"); err != nil {
		return err
	}
	for _, n := range next {
		if err := a.printf("  %s\n      %s", a.line(n[0]), a.style().Dim(n[1])); err != nil {
			return err
		}
	}
	if _, err := exec.LookPath("turnstone"); err != nil {
		if err := a.out.Flush(); err != nil {
			return err
		}
		a.note("turnstone is not on your path yet: go install ./cmd/turnstone puts it there")
	}
	return nil
}
