package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

func (a *app) sessionCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "session",
		Short: "Create, list, show, change, end, fork, bookmark and repair sessions",
		Long: `A session is one conversation. Its id is yours to choose, 1 to 128 letters, digits
and . _ : - or is made for you.`,
		Example: "  turnstone session create trip --title \"First steps\"\n  turnstone session list",
	}, a.sessionCreateCommand(), a.sessionListCommand(), a.sessionShowCommand(), a.sessionSetCommand(), a.sessionEndCommand(),
		a.sessionForkCommand(), a.sessionBookmarkCommand(), a.sessionRepairCommand())
}

// description is what a session may be described with.
type description struct{ user, title, model, mode string }

func (d *description) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&d.user, "user", "", "who talks")
	flags.StringVar(&d.title, "title", "", "what it is about")
	flags.StringVar(&d.model, "model", "", "which model answers")
	flags.StringVar(&d.mode, "mode", "", "what summaries preserve: "+strings.Join(compress.Modes(), ", "))
	choices(cmd, "mode", compress.Modes()...)
}

// check refuses what is given and says nothing.
func (d *description) check(cmd *cobra.Command) error {
	for _, name := range []string{"user", "title", "model", "mode"} {
		if flag := cmd.Flags().Lookup(name); flag.Changed && flag.Value.String() == "" {
			return usage("leave it out to keep what is there", "--%s: is empty", name)
		}
	}
	return nil
}

func (d *description) info(id string) turn.SessionInfo {
	return turn.SessionInfo{Key: turn.Key{Session: id}, User: d.user, Title: d.title, Model: d.model, Mode: d.mode}
}

// sessionJSON is a session on the command line.
type sessionJSON struct {
	Session      string `json:"session_id"`
	Tenant       string `json:"tenant"`
	User         string `json:"user,omitempty"`
	Title        string `json:"title,omitempty"`
	Model        string `json:"model,omitempty"`
	Mode         string `json:"mode,omitempty"`
	Status       string `json:"status"`
	Parent       string `json:"parent,omitempty"`
	ForkSeq      int64  `json:"fork_seq,omitempty"`
	Turns        int64  `json:"turns"`               // with the summaries, which have numbers like all others
	Summaries    int64  `json:"summaries,omitempty"` // where sessions are listed or shown
	FirstWords   string `json:"first_words,omitempty"`
	CreatedAt    string `json:"created_at"`
	LastActivity string `json:"last_activity"`
}

func newSessionJSON(s turn.SessionInfo) sessionJSON {
	return sessionJSON{
		Session: s.Session, Tenant: s.Tenant, User: s.User, Title: s.Title, Model: s.Model, Mode: s.Mode,
		Status: string(s.Status), Parent: s.Parent, ForkSeq: s.ForkSeq, Turns: s.Head,
		CreatedAt: timeJSON(s.CreatedAt), LastActivity: timeJSON(s.LastActivity),
	}
}

// printMade answers with a session that was just made or changed: its id, for scripts to catch.
func (a *app) printMade(cmd *cobra.Command, s *turnstone.Session) error {
	a.stored = "session " + s.ID() + " is stored"
	if !a.json {
		return a.printf("%s", s.ID())
	}
	info, err := s.Info(cmd.Context())
	if err != nil {
		return err
	}
	return a.printJSON(newSessionJSON(info))
}

// fields writes names and values in two columns, without those that are empty.
func (a *app) fields(pairs ...[2]string) error {
	width := 0
	for _, p := range pairs {
		if p[1] != "" {
			width = max(width, len(p[0]))
		}
	}
	style := a.style()
	for _, p := range pairs {
		if p[1] == "" {
			continue
		}
		name := style.Dim(fmt.Sprintf("%-*s", width, p[0]))
		if err := a.printf("%s  %s", name, terminal.CleanLine(p[1])); err != nil {
			return err
		}
	}
	return nil
}
