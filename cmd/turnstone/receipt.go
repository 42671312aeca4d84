package main

import (
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/compress"
)

// receiptLines say in few words what was checked in a summary.
func receiptLines(r *compress.Receipt) []string {
	var checked []string
	if r.Facts > 0 {
		checked = append(checked, progress.Thousands(r.Facts)+" of "+progress.Count(r.Facts, "fact"))
	}
	if r.Literals > 0 {
		checked = append(checked, progress.Thousands(r.Held)+" of "+progress.Count(r.Literals, "literal"))
	}
	lines := []string{"nothing had to be in the summary"}
	if len(checked) > 0 {
		lines[0] = strings.Join(checked, " and ") + " that had to be in the summary"
	}
	for _, l := range []struct {
		list []string
		what string
	}{
		{r.Patched, "added to it word for word"}, {r.Missing, "missing"}, {r.Omitted, "left out for want of room"},
	} {
		if len(l.list) > 0 {
			lines = append(lines, fmt.Sprintf("%d %s", len(l.list), l.what))
		}
	}
	return lines
}

// checkedOf says how many of those that had to be in a summary are.
func checkedOf(held, all int64) string {
	if all == 0 {
		return "none had to be in the summary"
	}
	return fmt.Sprintf("%s of %s that had to be in the summary", progress.Thousands(held), progress.Thousands(all))
}

// receiptFields are everything that a receipt says.
func receiptFields(c *compress.Checkpoint) [][2]string {
	r := &c.Receipt
	asked := "nobody was: no model took part"
	switch {
	case r.Tries > 0 && r.Repaired:
		asked = progress.Count(r.Tries, "time") + "; the answer was repaired"
	case r.Tries > 0:
		asked = progress.Count(r.Tries, "time")
	}
	pairs := [][2]string{
		{"checkpoint", fmt.Sprintf("%d, version %d, %s", c.Number, c.Version, c.Level)},
		{"of", turnsIn(c.Range)},
		{"made by", maker(r)},
		{"asked", asked},
		{"tokens", fmt.Sprintf("%s -> %s", progress.Thousands(r.Before), progress.Thousands(r.After))},
		{"facts", checkedOf(r.Facts, r.Facts)},
		{"literals", checkedOf(r.Held, r.Literals)},
	}
	for _, l := range []struct {
		name string
		list []string
	}{{"added", r.Patched}, {"missing", r.Missing}, {"left out", r.Omitted}, {"refused", r.Refused}} {
		pairs = append(pairs, listed(l.name, l.list)...)
	}
	if r.More > 0 {
		pairs = append(pairs, [2]string{"more", fmt.Sprintf("%s in no list, since they got too long", progress.Thousands(r.More))})
	}
	return append(pairs, [2]string{"source sha256", r.SourceHash})
}

// receiptJSON is a receipt on the command line.
type receiptJSON struct {
	Session    string   `json:"session_id"`
	Number     int64    `json:"compression_number"`
	Version    int64    `json:"version"`
	By         string   `json:"by"`
	Tries      int64    `json:"tries"`
	Repaired   bool     `json:"repaired"`
	Before     int64    `json:"before"`
	After      int64    `json:"after"`
	Facts      int64    `json:"facts"`
	Literals   int64    `json:"literals"`
	Held       int64    `json:"held"`
	Patched    []string `json:"patched"`
	Missing    []string `json:"missing"`
	Omitted    []string `json:"omitted"`
	Refused    []string `json:"refused"`
	More       int64    `json:"more"`
	SourceHash string   `json:"source_hash"`
}

func newReceiptJSON(session string, c *compress.Checkpoint) receiptJSON {
	r := c.Receipt
	all := func(list []string) []string { return append([]string{}, list...) }
	return receiptJSON{
		Session: session, Number: c.Number, Version: c.Version, By: r.By, Tries: r.Tries, Repaired: r.Repaired, Before: r.Before, After: r.After,
		Facts: r.Facts, Literals: r.Literals, Held: r.Held, Patched: all(r.Patched), Missing: all(r.Missing), Omitted: all(r.Omitted),
		Refused: all(r.Refused), More: r.More, SourceHash: r.SourceHash,
	}
}
