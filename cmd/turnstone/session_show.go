package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/turn"
)

func (a *app) sessionShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "show SESSION",
		Short:             "Show what is known of a session",
		Example:           "  turnstone session show demo",
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
	if a.json {
		shown := shownJSON{sessionJSON: newSessionJSON(info), Bookmarks: []bookmarkJSON{}, CompletedFlows: []string{}}
		for _, b := range bookmarks {
			shown.Bookmarks = append(shown.Bookmarks, newBookmarkJSON(b))
		}
		shown.CompletedFlows = append(shown.CompletedFlows, flows...)
		return a.printJSON(shown)
	}
	format := a.format()
	return a.fields(
		[2]string{"session", info.Session}, [2]string{"tenant", info.Tenant}, [2]string{"status", string(info.Status)},
		[2]string{"turns", strconv.FormatInt(info.Head, 10)},
		[2]string{"user", info.User}, [2]string{"title", info.Title}, [2]string{"model", info.Model}, [2]string{"mode", info.Mode},
		[2]string{"created", format.Time(info.CreatedAt)}, [2]string{"last activity", format.Time(info.LastActivity)},
		[2]string{"forked from", origin(info)}, [2]string{"bookmarks", names(bookmarks)},
		[2]string{"completed flows", strings.Join(flows, ", ")},
	)
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
