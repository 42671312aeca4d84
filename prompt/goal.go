package prompt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/cortex"
)

// goalBlock renders the active goal for the beginning of the prompt: everything about it that is never
// compressed.
func goalBlock(g *cortex.Goal) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Active goal\n\n%s\nPriority: %s. Status: %s. Progress: %s.\n", g.Title, g.Priority, g.Status, progress(g))
	if g.Description != "" {
		fmt.Fprintf(&b, "\n%s\n", g.Description)
	}
	list := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(&b, "\n%s:\n%s\n", title, strings.Join(lines, "\n"))
		}
	}
	list("Milestones", linesOf(g.Milestones, milestoneLine))
	list("Decisions", linesOf(g.Decisions, decisionLine))
	list("Artifacts", linesOf(g.Artifacts, artifactLine))
	list("Next steps", linesOf(g.NextSteps, func(s string) string { return "- " + s }))
	return strings.TrimRight(b.String(), "\n")
}

// goalProgress says what changed about a goal since it was as before; empty where nothing did.
func goalProgress(before, now *cortex.Goal) string {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if before.Title != now.Title {
		say("Title: %s", now.Title)
	}
	if before.Status != now.Status {
		say("Status: %s", now.Status)
	}
	if before.Priority != now.Priority {
		say("Priority: %s", now.Priority)
	}
	if progress(before) != progress(now) {
		say("Progress: %s", progress(now))
	}
	if before.Description != now.Description {
		say("Description: %s", now.Description)
	}
	lines = append(lines, linesOf(added(before.Milestones, now.Milestones), milestoneLine)...)
	lines = append(lines, linesOf(added(before.Decisions, now.Decisions), func(d cortex.Decision) string { return "Decision: " + decisionLine(d)[2:] })...)
	lines = append(lines, linesOf(added(before.Artifacts, now.Artifacts), func(a cortex.Artifact) string { return "Artifact: " + artifactLine(a)[2:] })...)
	for _, gone := range removed(before, now) {
		say("No longer: %s", gone)
	}
	if !slices.Equal(before.NextSteps, now.NextSteps) {
		say("Next steps: %s", strings.Join(now.NextSteps, "; "))
	}
	if len(lines) == 0 {
		return ""
	}
	return "Progress on the active goal since it was shown above:\n" + strings.Join(lines, "\n")
}

// added returns what is in now and was not, or was otherwise, before.
func added[E comparable](before, now []E) []E {
	var list []E
	for _, e := range now {
		if !slices.Contains(before, e) {
			list = append(list, e)
		}
	}
	return list
}

// removed names what a goal had and has no more.
func removed(before, now *cortex.Goal) []string {
	var gone []string
	for _, m := range before.Milestones {
		if !slices.ContainsFunc(now.Milestones, func(o cortex.Milestone) bool { return o.Description == m.Description }) {
			gone = append(gone, m.Description)
		}
	}
	for _, d := range before.Decisions {
		if _, ok := now.Decision(d.Description); !ok {
			gone = append(gone, d.Description)
		}
	}
	for _, a := range before.Artifacts {
		if !slices.ContainsFunc(now.Artifacts, func(o cortex.Artifact) bool { return o.Path == a.Path }) {
			gone = append(gone, a.Path)
		}
	}
	return gone
}

func linesOf[E any](list []E, line func(E) string) []string {
	lines := make([]string, len(list))
	for i, e := range list {
		lines[i] = line(e)
	}
	return lines
}

func milestoneLine(m cortex.Milestone) string {
	switch m.Status {
	case cortex.MilestoneCompleted:
		return "[x] " + m.Description
	case cortex.MilestoneInProgress:
		return "[~] " + m.Description
	}
	return "[ ] " + m.Description
}

func decisionLine(d cortex.Decision) string {
	line := "- " + d.Description
	if d.Locked {
		line += " (locked)"
	}
	if d.Rationale != "" {
		line += ": " + d.Rationale
	}
	return line
}

func artifactLine(a cortex.Artifact) string {
	return "- " + a.Path + " (" + a.Type + ", " + string(a.Action) + ")"
}

func progress(g *cortex.Goal) string {
	return strconv.Itoa(int(g.Progress*100+0.5)) + " %"
}
