package main

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	service "github.com/turnstone-dev/turnstone/server"
)

func (a *app) statusCommand() *cobra.Command {
	var session string
	var to addressee
	var f compressionFlags
	var c modelFlags
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say how full a session's window is and how far to rely on it",
		Long: `Say in one line how full a session's window is and how far to rely on what the model sees of it:

  Context: 5,234/6,963 medium 65% (2 compressions), 3/3 pins, 61/64 facts, 9 of them only named

These are the tokens of the prompt, the usable window, the reliability, how many times turns have left the
prompt, how many of the pinned turns it shows, and how much of what matters in the turns that left it still holds
or names: decisions, requests, files, next steps, and literals such as numbers, paths and errors. What is only named is not
told there: the prompt has the numbers of its turns, so that it can be looked up. The reliability
comes of the model's size, of these, and of how many parts of the active goal the prompt holds, which --json tells
too: its title, milestones, decisions, artifacts and next steps. It is high from 85%, medium from 60%, low from 40%,
and critical. In place of the last two it says whole while nothing is missing from the prompt, and how a model of that size is
rated, where its size is known. Otherwise standard error says what to do. Nothing is noted of it; see also turnstone prompt --explain.`,
		Example: "  turnstone status --session tidewatch\n  turnstone status --session tidewatch --model llama3.2:3b --context 4096 --json",
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "session"); err != nil {
				return err
			}
			if err := errors.Join(to.check(cmd), f.check()); err != nil {
				return err
			}
			return a.withCompression(cmd.Context(), session, to, c, f, func(p *prompting) error {
				status, err := p.session.Status(cmd.Context(), p.options())
				if err != nil {
					return a.unprompted(p, err, true)
				}
				return a.printStatus(p, status)
			})
		},
	}
	a.addSessionFlag(cmd, &session)
	a.addAddresseeFlags(cmd, &to)
	f.addFlags(cmd)
	f.addOffFlags(cmd)
	c.addFlags(cmd)
	return cmd
}

type statusJSON struct {
	Session     string          `json:"session_id"`
	Model       string          `json:"model,omitempty"`
	Reliability reliabilityJSON `json:"reliability"`
	Passes      int64           `json:"compressions"`
	Generations int             `json:"generations"`
	Pins        int             `json:"pins"`
	PinsShown   int             `json:"pins_shown"`
	Facts       int             `json:"facts"`
	FactsHeld   int             `json:"facts_held"`
	FactsNamed  int             `json:"facts_named"`
	Goals       int             `json:"goal_parts"`
	GoalsHeld   int             `json:"goal_parts_held"`
	Turns       int64           `json:"turns"`
	Shown       int64           `json:"turns_shown"`
	Whole       bool            `json:"whole"`
	Epoch       int64           `json:"epoch"`
	Account     service.Account `json:"account"`
}

type reliabilityJSON struct {
	Score   float64  `json:"score"`
	Level   string   `json:"level"`
	Meaning string   `json:"meaning"`
	Advice  []string `json:"advice,omitempty"`
}

func (a *app) printStatus(p *prompting, s turnstone.Status) error {
	profile, known := p.profiles.Find(s.Prompt.Model)
	advice := service.Advice(s, profile, known, "--context")
	if a.json {
		level := s.Reliability.Level
		return a.printJSON(statusJSON{
			Session: p.session.ID(), Model: s.Prompt.Model, Passes: s.Passes, Generations: s.Generations, Goals: s.Goals, GoalsHeld: s.GoalsHeld, Pins: s.Pins, PinsShown: s.PinsHeld, Facts: s.Facts, FactsHeld: s.FactsHeld, FactsNamed: s.FactsNamed,
			Turns: s.Turns, Shown: s.Shown, Whole: s.Whole,
			Reliability: reliabilityJSON{math.Round(1e4*s.Reliability.Score) / 1e4, string(level), level.Meaning(), advice},
			Epoch:       s.Prompt.Epoch, Account: service.NewAccount(s.Prompt.Account),
		})
	}
	icons := terminal.Is(a.stdout) && !a.plain() && unicodeLocale(runtime.GOOS, a.getenv)
	if err := a.printf("%s", statusLine(s, profile, icons)); err != nil {
		return err
	}
	for _, line := range warningOf(s, profile, advice) {
		a.note("%s", line)
	}
	return nil
}

// statusLine is the seed's one line about a prompt for a model, in plain ASCII without icons.
func statusLine(s turnstone.Status, model budget.Profile, icons bool) string {
	rated, icon, dot := string(s.Reliability.Level)+" ", s.Reliability.Level.Icon()+" ", ","
	score := percent(s.Reliability.Score)
	// A small model is no reason to be alarmed about a conversation of which it sees every word, and one of which nobody
	// knows whether it is small even less.
	if alarming := len(s.Reliability.Level.Advice()) > 0; alarming && s.Whole {
		rated, icon, score = "", "\u26aa ", "whole, model rated "+score
		if model.RatedSize() == 0 {
			score = "whole, model of unknown size"
		}
	}
	if icons {
		rated, dot = icon, " \u00b7"
	}
	rated += score
	passes := progress.Count(s.Passes, "compression")
	line := fmt.Sprintf("Context: %s/%s %s (%s)%s %d/%d pins",
		tokensOf(s.Prompt.Count.Tokens), tokensOf(s.Prompt.Window.Usable), rated, passes, dot, s.PinsHeld, s.Pins)
	if s.Facts > 0 {
		line += fmt.Sprintf(", %s/%s facts", tokensOf(s.FactsHeld), tokensOf(s.Facts))
	}
	if s.FactsNamed > 0 {
		line += fmt.Sprintf(", %s of them only named", tokensOf(s.FactsNamed))
	}
	return line
}

// unicodeLocale reports whether a terminal can be taken to show more than ASCII.
func unicodeLocale(goos string, getenv func(string) string) bool {
	if goos == "windows" {
		return getenv("WT_SESSION") != "" // the old console has no such letters
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := getenv(name); value != "" {
			value = strings.ToLower(value)
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return goos == "darwin"
}

// warningOf is what people are told of a conversation that cannot be relied on because turns have left its prompt, with the
// advice; nothing of others.
func warningOf(s turnstone.Status, p budget.Profile, advice []string) []string {
	if len(advice) == 0 {
		return nil
	}
	model := terminal.CleanLine(strings.Join(s.Prompt.Summarisers, ", "))
	_, text, _ := strings.Cut(budget.Warning(model, int(s.Passes), s.Reliability), " ") // the icon, which not every terminal shows
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		return line == "" || strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "Small models") && !p.Small()
	})
	for _, line := range advice {
		lines = append(lines, "- "+line)
	}
	return lines
}
