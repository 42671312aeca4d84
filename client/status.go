package client

import (
	"context"
	"net/http"
)

// StatusOptions say for which model the status is. The zero value is for the session's.
type StatusOptions struct {
	Model   string
	Context int // the size of the model's context in tokens
}

// Status is how full a session's window is, and how far to rely on what the model sees.
type Status struct {
	Session     string      `json:"session_id"`
	Model       string      `json:"model"`
	Reliability Reliability `json:"reliability"`
	Passes      int64       `json:"compressions"` // those in force: one that was undone is not
	Generations int         `json:"generations"`  // how many lossy ones lie between the log and the prompt
	Pins        int         `json:"pins"`
	PinsShown   int         `json:"pins_shown"`
	Facts       int         `json:"facts"`
	FactsHeld   int         `json:"facts_held"`
	FactsNamed  int         `json:"facts_named"` // how many of those held the prompt only names, so that they can be looked up
	Goals       int         `json:"goal_parts"`
	GoalsHeld   int         `json:"goal_parts_held"`
	Turns       int64       `json:"turns"` // how many have a number: turns, and the summaries in the log, which prompts do not show
	Shown       int64       `json:"turns_shown"`
	Whole       bool        `json:"whole"` // nothing is missing from the prompt
	Epoch       int64       `json:"epoch"`
	Account     Account     `json:"account"`
}

// Reliability is how far to rely on a prompt.
type Reliability struct {
	Score   float64  `json:"score"` // from 0 to 1
	Level   string   `json:"level"` // "high", "medium", "low" or "critical"
	Meaning string   `json:"meaning"`
	Advice  []string `json:"advice"` // what can be done, where it is low or critical and turns have left the prompt
}

// Status says how full the session's window is. Nothing is noted of it.
func (s *Session) Status(ctx context.Context, o StatusOptions) (Status, error) {
	return ask[Status](ctx, s.client, call{
		method: http.MethodGet, path: path("/sessions/%s/status", s.id), query: asked("model", o.Model, "context", o.Context), again: true,
	})
}
