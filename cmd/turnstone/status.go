package main

import (
	"fmt"
	"math"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
)

func (a *app) statusCommand() *cobra.Command {
	var session string
	var to addressee
	var c modelFlags
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say how full a session's window is and how far to rely on it",
		Long: `Say in one line how full a session's window is and how far to rely on what the model sees of it:

  Context: 5,234/6,963 medium 65% (2 compressions), 3/3 pins

These are the tokens of the prompt, the usable window, the reliability, how many times turns have left the
prompt, and how many of the pinned turns it shows. The reliability comes of the model's size and of how
much of the conversation the model still sees: high from 85%, medium from 60%, low from 40%, and critical.
For the last two, standard error says what to do. Nothing is noted of it; see also turnstone prompt --explain.`,
		Example: "  turnstone status --session demo\n  turnstone status --session demo --model llama3.2:3b --context 4096 --json",
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "session"); err != nil {
				return err
			}
			if err := to.check(cmd); err != nil {
				return err
			}
			return a.withPrompts(cmd.Context(), session, to, c, func(_ *turnstone.Engine, s *turnstone.Session, to addressee) error {
				status, err := s.Status(cmd.Context(), turnstone.PromptOptions{Model: to.model, Context: to.context})
				if err != nil {
					return a.unprompted(err)
				}
				return a.printStatus(s.ID(), status)
			})
		},
	}
	a.addSessionFlag(cmd, &session)
	a.addAddresseeFlags(cmd, &to)
	c.addFlags(cmd)
	return cmd
}

type statusJSON struct {
	Session     string          `json:"session_id"`
	Model       string          `json:"model,omitempty"`
	Reliability reliabilityJSON `json:"reliability"`
	Passes      int64           `json:"compressions"`
	Pins        int             `json:"pins"`
	PinsShown   int             `json:"pins_shown"`
	Turns       int64           `json:"turns"`
	Shown       int64           `json:"turns_shown"`
	Epoch       int64           `json:"epoch"`
	Account     accountJSON     `json:"account"`
}

type reliabilityJSON struct {
	Score   float64  `json:"score"`
	Level   string   `json:"level"`
	Meaning string   `json:"meaning"`
	Advice  []string `json:"advice,omitempty"`
}

func (a *app) printStatus(session string, s turnstone.Status) error {
	if a.json {
		level := s.Reliability.Level
		return a.printJSON(statusJSON{
			Session: session, Model: s.Prompt.Model, Passes: s.Passes, Pins: s.Pins, PinsShown: s.Pins, Turns: s.Turns, Shown: s.Shown,
			Reliability: reliabilityJSON{math.Round(1e4*s.Reliability.Score) / 1e4, string(level), level.Meaning(), level.Advice()},
			Epoch:       s.Prompt.Epoch, Account: newAccountJSON(s.Prompt.Account),
		})
	}
	icons := terminal.Is(a.stdout) && !a.plain() && unicodeLocale(runtime.GOOS, a.getenv)
	if err := a.printf("%s", statusLine(s, icons)); err != nil {
		return err
	}
	for _, line := range reliabilityWarning(s) {
		a.note("%s", line)
	}
	return nil
}

// statusLine is the seed's one line, in plain ASCII without icons.
func statusLine(s turnstone.Status, icons bool) string {
	level, dot := string(s.Reliability.Level), ","
	if icons {
		level, dot = s.Reliability.Level.Icon(), " \u00b7"
	}
	return fmt.Sprintf("Context: %s/%s %s %s (%s)%s %d/%d pins",
		tokensOf(s.Prompt.Count.Tokens), tokensOf(s.Prompt.Window.Usable), level, percent(s.Reliability.Score),
		progress.Count(s.Passes, "compression"), dot, s.Pins, s.Pins)
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

// reliabilityWarning is what to say about a conversation that cannot be relied on; nothing of others.
func reliabilityWarning(s turnstone.Status) []string {
	advice := s.Reliability.Level.Advice()
	if len(advice) == 0 {
		return nil
	}
	model := s.Prompt.Model
	if model == "" {
		model = "none is named"
	}
	model = terminal.CleanLine(model)
	lines := []string{"Context Compression Warning"}
	if s.Passes > 0 {
		lines = append(lines, fmt.Sprintf("Your model (%s) has compressed the conversation %s.", model, times(s.Passes)),
			"Small models may lose context accuracy after multiple compressions.")
	} else {
		lines = append(lines, fmt.Sprintf("Your model (%s) is small, or its size is not known. The conversation is not compressed yet.", model),
			"Small models may lose context accuracy once it is.")
	}
	lines = append(lines, "Recommendations:")
	for _, line := range advice {
		lines = append(lines, "- "+line)
	}
	return lines
}

func times(n int64) string { return progress.Count(n, "time") }
