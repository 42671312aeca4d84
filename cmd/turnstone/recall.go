package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/recall"
)

type recallOptions struct {
	session             string
	user, tenant, stdin bool
	recall              turnstone.RecallOptions
}

func (a *app) recallCommand() *cobra.Command {
	var o recallOptions
	cmd := &cobra.Command{
		Use:   "recall [QUERY]...",
		Short: "Find what answers a question, best first",
		Long: `Find what was said in a session, and what was remembered of it, that answers a question, best first.
With --user it looks in all sessions of the session's user, and with --tenant-wide in all there are, which needs no --session.
The question may be in any words. A tool call comes with its results and a message with all its parts.
Each hit names the words of the question that were found in it; one that is "nearby" holds none of them and stands beside
turns that do, as an answer does that does not repeat its question.

With --unseen what the next prompt shows anyway is left out. With --tokens the hits fit into a prompt, and are
counted; one that is too large by itself ends with a note of how much is missing.

With --stdin neither a store nor a QUERY is used. Standard input is JSON Lines: turns such as
{"id": "1", "session": "a", "time": "8 May 2023", "speaker": "Ann", "text": "Hello"}, then queries such as
{"query": "Who said hello?"}, each of which is answered with a line {"ids": ["1"]}, best first.`,
		Example: `  turnstone recall --session tidewatch which port did we choose
  turnstone recall --session tidewatch --tokens 500 "What does she like to eat?" --json
  turnstone recall --tenant-wide which port did we choose`,
		Args:              arguments("[QUERY]..."),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			query := strings.Join(args, " ")
			if o.stdin {
				if query != "" {
					return usage("leave one of them out", "recall: QUERY and --stdin do not go together")
				}
				return a.recallStdin(cmd.Context())
			}
			if o.user && o.tenant {
				return usage("leave one of them out", "recall: --user and --tenant-wide do not go together")
			}
			everywhere := o.session == "" && o.tenant && !o.recall.Unseen
			if !everywhere {
				if err := required(cmd, "session"); err != nil {
					return err
				}
			}
			if strings.TrimSpace(query) == "" {
				return usage("see turnstone recall --help", "recall: QUERY is missing")
			}
			if everywhere {
				return a.recallEverywhere(cmd.Context(), query, o)
			}
			return a.withSession(cmd.Context(), o.session, func(s *turnstone.Session) error {
				return a.recallHits(cmd.Context(), s, query, o)
			})
		},
	}
	a.addSessionFlag(cmd, &o.session)
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&o.user, "user", false, "in all sessions of the session's user")
	flags.BoolVar(&o.tenant, "tenant-wide", false, "in all sessions of the tenant")
	flags.IntVar(&o.recall.Tokens, "tokens", 0, "how many `tokens` the hits may have together (default: no limit)")
	flags.IntVar(&o.recall.Limit, "limit", 10, "how many hits at most, up to 100")
	flags.BoolVar(&o.recall.Unseen, "unseen", false, "only what the next prompt does not show")
	flags.BoolVar(&o.stdin, "stdin", false, "answer the queries on standard input about the turns before them")
	addAllFlag(cmd, &o.recall.All)
	return cmd
}

func (a *app) recallHits(ctx context.Context, s *turnstone.Session, query string, o recallOptions) error {
	switch {
	case o.user:
		o.recall.Scope = recall.OfUser
	case o.tenant:
		o.recall.Scope = recall.OfTenant
	}
	return a.printHits(o, func() ([]recall.Hit, error) { return s.Recall(ctx, query, o.recall) })
}

// recallEverywhere looks in all sessions of the tenant.
func (a *app) recallEverywhere(ctx context.Context, query string, o recallOptions) error {
	return a.withEngine(ctx, toUse, turnstone.Config{}, func(eng *turnstone.Engine) error {
		return a.printHits(o, func() ([]recall.Hit, error) { return eng.Recall(ctx, "", query, o.recall) })
	})
}

func (a *app) printHits(o recallOptions, find func() ([]recall.Hit, error)) error {
	if o.recall.Limit == 0 {
		return usage("give 1 to 100", "--limit: 0 is out of range")
	}
	hits, err := find()
	if errors.Is(err, recall.ErrEmbedder) {
		a.note("%v", err)
		err = nil
	}
	if err != nil {
		return err
	}
	for _, h := range hits {
		if err := a.printHit(h); err != nil {
			return err
		}
	}
	if len(hits) == 0 {
		a.note("nothing answers that")
	}
	return nil
}

// printHit writes a hit as two lines or more, or as one of JSON.
func (a *app) printHit(h recall.Hit) error {
	if a.json {
		line := recallHit{
			Session: h.Session, Seqs: []int64{}, Item: h.Item, Time: h.Time, Role: string(h.Role), Text: h.Text, Score: h.Score,
			Why: append([]string{}, h.Why...), Nearby: h.Nearby(), Citation: h.Citation, Tokens: h.Tokens, Clipped: h.Clipped,
		}
		for _, t := range h.Turns {
			line.Seqs = append(line.Seqs, t.Seq)
		}
		return a.printJSON(line)
	}
	style, format := a.style(), a.format()
	about := format.Time(h.Time)
	if h.Role != "" {
		about += "  " + string(h.Role)
	}
	about += fmt.Sprintf("  %.2f", h.Score)
	if h.Nearby() {
		about += "  nearby"
	} else {
		about += "  found: " + strings.Join(h.Why, ", ")
	}
	text := h.Text
	if format.Most > 0 {
		text = short(text, format.Most)
	}
	return a.printf("%s  %s\n    %s", style.Strong(h.Citation), style.Dim(terminal.CleanLine(about)), terminal.CleanLine(text))
}

type recallHit struct {
	Session  string    `json:"session_id"`
	Seqs     []int64   `json:"seqs"`
	Item     string    `json:"item_id,omitempty"`
	Time     time.Time `json:"created_at"`
	Role     string    `json:"role,omitempty"`
	Text     string    `json:"text"`
	Score    float64   `json:"score"`
	Why      []string  `json:"why"`
	Nearby   bool      `json:"nearby,omitempty"`
	Citation string    `json:"citation"`
	Tokens   int       `json:"tokens,omitempty"` // where they are bounded
	Clipped  bool      `json:"clipped,omitempty"`
}
