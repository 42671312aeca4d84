package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/turn"
)

func (a *app) sessionBookmarkCommand() *cobra.Command {
	var at int64
	cmd := &cobra.Command{
		Use:     "bookmark SESSION [NAME]",
		Short:   "Name a position of a session, or list the names",
		Long:    "Name a position of a session. A bookmark never moves. Without NAME the bookmarks are listed.",
		Example: "  turnstone session bookmark tidewatch before-the-change --at 12\n  turnstone session bookmark tidewatch",
		Args:    arguments("SESSION", "[NAME]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSession(cmd.Context(), args[0], func(s *turnstone.Session) error {
				if len(args) == 1 {
					return a.listBookmarks(cmd.Context(), s)
				}
				point, err := position(cmd, at)
				if err != nil {
					return err
				}
				if _, err := reach(cmd.Context(), s, point); err != nil {
					return err
				}
				b, err := s.Bookmark(cmd.Context(), args[1], point)
				if err != nil {
					return err
				}
				a.stored = "bookmark " + b.Name + " is stored"
				return a.printBookmark(b)
			})
		},
		ValidArgsFunction: a.completeSessions,
	}
	addAtFlag(cmd, &at, "the `turn` to name (default the newest)")
	return cmd
}

type bookmarkJSON struct {
	Name      string `json:"name"`
	Seq       int64  `json:"seq"`
	CreatedAt string `json:"created_at"`
}

func newBookmarkJSON(b turn.Bookmark) bookmarkJSON {
	return bookmarkJSON{Name: b.Name, Seq: b.Seq, CreatedAt: timeJSON(b.At)}
}

func (a *app) listBookmarks(ctx context.Context, s *turnstone.Session) error {
	list, err := s.Bookmarks(ctx)
	if err != nil {
		return err
	}
	for _, b := range list {
		if err := a.printBookmark(b); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		a.note("no bookmarks; make one with: %s", a.line("session bookmark "+s.ID()+" NAME"))
	}
	return nil
}

func (a *app) printBookmark(b turn.Bookmark) error {
	if a.json {
		return a.printJSON(newBookmarkJSON(b))
	}
	return a.printf("%s  turn %d  %s", a.style().Strong(b.Name), b.Seq, a.style().Dim(a.format().Time(b.At)))
}
