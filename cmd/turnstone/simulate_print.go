package main

import (
	"fmt"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/simulate"
)

type simulationJSON struct {
	Conversation string    `json:"conversation"`
	Model        string    `json:"model,omitempty"`
	Turns        int       `json:"turns"`
	Tokens       int       `json:"tokens"`
	Window       int       `json:"window"`
	Room         int       `json:"room"`
	Late         bool      `json:"late"`
	Prompts      int       `json:"prompts"`
	Refused      int       `json:"refused"`
	Passes       int64     `json:"passes"`
	Checkpoints  int       `json:"checkpoints"`
	Summarised   int       `json:"checkpoint_tokens"`
	Ways         []wayJSON `json:"ways"`
	Said         kept      `json:"user_messages"`
	Literals     kept      `json:"literals"`
}

type wayJSON struct {
	Name    string  `json:"name"`
	Tokens  int     `json:"tokens"`
	Mean    float64 `json:"mean"`
	Largest int     `json:"largest"`
	Reuse   float64 `json:"reuse"`
	Billed  float64 `json:"billed"`
	Breaks  int     `json:"breaks"`
}

type kept struct {
	Verbatim int `json:"verbatim"`
	Handle   int `json:"by_handle"`
	Lost     int `json:"lost"`
}

// ours is what the engine's own way is called beside the others.
const ours = "turnstone"

// ways are all ways to fit the conversation, ours first.
func ways(r *simulate.Report) []wayJSON {
	all := []wayJSON{newWayJSON(ours, r.Ours)}
	for i, name := range simulate.Baselines() {
		all = append(all, newWayJSON(name, r.Baselines[i]))
	}
	return all
}

func newWayJSON(name string, u simulate.Usage) wayJSON {
	return wayJSON{name, u.Tokens, u.Mean(), u.Largest, u.Reuse(), u.Billed(), u.Breaks}
}

func newSimulationJSON(o simulateOptions, r *simulate.Report) simulationJSON {
	return simulationJSON{
		Conversation: o.name, Model: o.model, Turns: r.Turns, Tokens: r.Tokens, Window: r.Window.Context,
		Room: r.Window.Usable - r.Window.Reserve, Late: o.late, Prompts: r.Ours.Calls, Refused: r.Refused, Passes: r.Passes,
		Checkpoints: r.Checkpoints, Summarised: r.Summarised,
		Ways: ways(r), Said: kept(r.Survived.Said), Literals: kept(r.Survived.Literals),
	}
}

func (a *app) printSimulation(o simulateOptions, r *simulate.Report) error {
	number := func(n float64) string { return progress.Thousands(int64(n + 0.5)) }
	fields := [][2]string{
		{"conversation", fmt.Sprintf("%s: %s, %s", o.name, progress.Count(int64(r.Turns), "turn"), progress.Count(int64(r.Tokens), "token"))},
		{"window", fmt.Sprintf("%s tokens, of which a prompt may take %s", tokensOf(r.Window.Context), tokensOf(r.Window.Usable-r.Window.Reserve))},
		{"prompts", fmt.Sprintf("%s, %s tokens on average, %s at most", progress.Thousands(int64(r.Ours.Calls)), number(r.Ours.Mean()), tokensOf(r.Ours.Largest))},
		{"passes", progress.Thousands(r.Passes)},
		{"checkpoints", fmt.Sprintf("%s in the last prompt, %s", progress.Thousands(int64(r.Checkpoints)), progress.Count(int64(r.Summarised), "token"))},
		{"user's messages", keptLine(r.Survived.Said)},
		{"names, numbers", keptLine(r.Survived.Literals)},
	}
	if r.Refused > 0 {
		fields = append(fields, [2]string{"refused", progress.Count(int64(r.Refused), "prompt") + " that could not fit"})
	}
	if err := a.fields(fields...); err != nil {
		return err
	}
	if err := a.printf(""); err != nil {
		return err
	}
	head := []string{"way", "mean", "largest", "reuse", "billed", "ours is"}
	var rows [][]string
	for _, w := range ways(r) {
		row := []string{w.Name, number(w.Mean), tokensOf(w.Largest), fmt.Sprintf("%.1f %%", 100*w.Reuse), number(w.Billed), ""}
		if w.Name != ours && w.Billed > 0 {
			row[5] = fmt.Sprintf("%.2f x", r.Ours.Billed()/w.Billed)
		}
		rows = append(rows, row)
	}
	alignRight(head, rows, 1, 2, 3, 4, 5)
	return a.table(head, rows)
}

func keptLine(k simulate.Kept) string {
	return fmt.Sprintf("%s: %s word for word, %s by handle, %s lost", progress.Thousands(int64(k.All())),
		progress.Thousands(int64(k.Verbatim)), progress.Thousands(int64(k.Handle)), progress.Thousands(int64(k.Lost)))
}
