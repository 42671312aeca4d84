package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/turn"
)

func (a *app) sessionShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "show SESSION",
		Short:             "Show what is known of a session",
		Example:           "  turnstone session show tidewatch",
		Args:              arguments("SESSION"),
		ValidArgsFunction: a.completeSessions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSession(cmd.Context(), args[0], func(s *turnstone.Session) error {
				return a.showSession(cmd.Context(), s)
			})
		},
	}
}

type shownJSON struct {
	sessionJSON
	Bookmarks      []bookmarkJSON `json:"bookmarks"`
	CompletedFlows []string       `json:"completed_flows"`
	Summary        []string       `json:"summary,omitempty"`
	Topics         []string       `json:"topics,omitempty"`
	Decisions      []decidedJSON  `json:"decisions,omitempty"`
}

type decidedJSON struct {
	Seq    int64  `json:"seq"`
	TurnID string `json:"turn_id"`
	Text   string `json:"text"`
}

func (a *app) showSession(ctx context.Context, s *turnstone.Session) error {
	info, err := s.Info(ctx)
	if err != nil {
		return err
	}
	bookmarks, err := s.Bookmarks(ctx)
	if err != nil {
		return err
	}
	flows, err := s.CompletedFlows(ctx)
	if err != nil {
		return err
	}
	digest, err := s.Digest(ctx)
	if err != nil {
		return err
	}
	summaries, err := summariesIn(ctx, s, 1, info.Head, anyTurn)
	if err != nil {
		return err
	}
	words, err := firstWords(ctx, s)
	if err != nil {
		return err
	}
	if a.json {
		shown := newShownJSON(info, digest)
		shown.Summaries, shown.FirstWords = summaries, short(words, maxLine)
		for _, b := range bookmarks {
			shown.Bookmarks = append(shown.Bookmarks, newBookmarkJSON(b))
		}
		shown.CompletedFlows = append(shown.CompletedFlows, flows...)
		return a.printJSON(shown)
	}
	format := a.format()
	pairs := [][2]string{
		{"session", info.Session}, {"tenant", info.Tenant}, {"status", string(info.Status)},
		{"turns", countedTurns(info.Head, summaries)},
		{"user", info.User}, {"title", info.Title}, {"begins", short(words, mostWords)}, {"model", info.Model}, {"mode", info.Mode},
		{"created", format.Time(info.CreatedAt)}, {"last activity", format.Time(info.LastActivity)},
		{"forked from", origin(info)}, {"bookmarks", names(bookmarks)},
		{"completed flows", strings.Join(flows, ", ")}, {"topics", strings.Join(topics(digest), ", ")},
	}
	var decided []string
	for _, d := range digest.Decisions {
		decided = append(decided, fmt.Sprintf("%s (turn %d)", d.Text, d.Seq))
	}
	return a.fields(append(pairs, listed("decisions", decided)...)...)
}

func newShownJSON(info turn.SessionInfo, digest memory.Digest) shownJSON {
	shown := shownJSON{sessionJSON: newSessionJSON(info), Bookmarks: []bookmarkJSON{}, CompletedFlows: []string{}, Topics: topics(digest)}
	for _, line := range digest.Rolling.Lines {
		shown.Summary = append(shown.Summary, line.Text)
	}
	for _, d := range digest.Decisions {
		shown.Decisions = append(shown.Decisions, decidedJSON(d))
	}
	return shown
}

func topics(digest memory.Digest) []string {
	list := make([]string, len(digest.Topics))
	for i, t := range digest.Topics {
		list[i] = t.Word
	}
	return list
}

func origin(info turn.SessionInfo) string {
	if info.Parent == "" {
		return ""
	}
	return fmt.Sprintf("%s after turn %d", info.Parent, info.ForkSeq)
}

func names(bookmarks []turn.Bookmark) string {
	list := make([]string, len(bookmarks))
	for i, b := range bookmarks {
		list[i] = fmt.Sprintf("%s (turn %d)", b.Name, b.Seq)
	}
	return strings.Join(list, ", ")
}
