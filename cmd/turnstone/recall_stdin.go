package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/turnstone-dev/turnstone/recall"
)

// recallLine is a line of what recall --stdin reads: a turn, or a query.
type recallLine struct {
	ID, Session, Time, Speaker, Text string
	Query                            *string
}

// maxRecallLine bounds a line of input: a turn has at most 4 MiB of text, and JSON may need six bytes for one.
const maxRecallLine = 32 << 20

// recallStdin answers the queries on standard input about the turns before them. It uses no store.
func (a *app) recallStdin(ctx context.Context) error {
	var turns []recall.Line
	var transcript *recall.Transcript
	seen := make(map[string]bool)
	n := 0
	for line, err := range a.lines(ctx, maxRecallLine) {
		n++
		if errors.Is(err, errLongLine) {
			return usage("give shorter turns", "line %d is longer than %d bytes", n, maxRecallLine)
		}
		if err != nil {
			return err
		}
		if len(line) == 0 {
			continue
		}
		var in recallLine
		if err := json.Unmarshal(line, &in); err != nil {
			return usage("give JSON Lines: turns, then queries", "line %d: %v", n, err)
		}
		if in.Query == nil {
			if in.ID == "" || seen[in.ID] || transcript != nil {
				return usage(`give turns, each with an "id" of its own, then queries`, "line %d: is no turn that can be told from the others", n)
			}
			seen[in.ID] = true
			turns = append(turns, recall.Line{ID: in.ID, Session: in.Session, Time: in.Time, Speaker: in.Speaker, Text: in.Text})
			continue
		}
		if transcript == nil {
			transcript = recall.NewTranscript(turns)
		}
		ids, err := transcript.Search(ctx, *in.Query)
		if err != nil {
			return err
		}
		if ids == nil {
			ids = []string{}
		}
		if err := a.printJSON(struct {
			IDs []string `json:"ids"`
		}{ids}); err != nil {
			return err
		}
	}
	return nil
}
