package server

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/turn"
)

// shownSession is a session with what is known of its content.
type shownSession struct {
	Session
	Bookmarks      []bookmark `json:"bookmarks"`
	CompletedFlows []string   `json:"completed_flows" doc:"ids of the flows that were completed during the session"`
	Summary        []string   `json:"summary,omitempty" doc:"the rolling summary, line by line"`
	Topics         []string   `json:"topics,omitempty"`
	Decisions      []decided  `json:"decisions,omitempty"`
}

type decided struct {
	Seq    int64  `json:"seq"`
	TurnID string `json:"turn_id"`
	Text   string `json:"text"`
}

type showSessionInput struct {
	InSession
	IfNoneMatch
}

func showSession(ctx context.Context, s *turnstone.Session, in *showSessionInput) (*tagged[shownSession], error) {
	shown, tag, err := shownOf(ctx, s)
	if err != nil {
		return nil, err
	}
	return newer(in.IfNoneMatch, tag, shown), nil
}

// shownOf is a session as it is shown, and its tag.
func shownOf(ctx context.Context, s *turnstone.Session) (shown shownSession, tag string, err error) {
	info, err := s.Info(ctx)
	if err != nil {
		return shown, "", err
	}
	bookmarks, err := s.Bookmarks(ctx)
	if err != nil {
		return shown, "", err
	}
	flows, err := s.CompletedFlows(ctx)
	if err != nil {
		return shown, "", err
	}
	digest, err := s.Digest(ctx)
	if err != nil {
		return shown, "", err
	}
	shown = shownSession{
		Session: newSession(info), Bookmarks: pageOf(bookmarks, newBookmark).Items, CompletedFlows: listOf(flows),
	}
	for _, line := range digest.Rolling.Lines {
		shown.Summary = append(shown.Summary, line.Text)
	}
	for _, topic := range digest.Topics {
		shown.Topics = append(shown.Topics, topic.Word)
	}
	for _, d := range digest.Decisions {
		shown.Decisions = append(shown.Decisions, decided(d))
	}
	tag, err = tagOf(shown)
	return shown, tag, err
}

type describeSessionInput struct {
	InSession
	IfMatch
	Body description
}

// description is what a session may be described with.
type description struct {
	User  string `json:"user,omitempty" doc:"who talks"`
	Title string `json:"title,omitempty" doc:"what it is about"`
	Model string `json:"model,omitempty" doc:"which model answers"`
	Mode  string `json:"mode,omitempty" doc:"what summaries preserve: developer, planning, assistant or debugger"`
}

func describeSession(ctx context.Context, s *turnstone.Session, in *describeSessionInput) (*tagged[shownSession], error) {
	if in.Body == (description{}) {
		return nil, invalid.New("body", "has nothing to set", "give title, user, model or mode")
	}
	was, before, err := shownOf(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := in.check(before); err != nil {
		return nil, err
	}
	about := turn.SessionInfo{User: in.Body.User, Title: in.Body.Title, Model: in.Body.Model, Mode: in.Body.Mode}
	err = s.DescribeIf(ctx, about, func(now turn.SessionInfo) error {
		if !in.named() || newSession(now) == was.Session {
			return nil
		}
		return in.failed("another")
	})
	if err != nil {
		return nil, err
	}
	shown, after, err := shownOf(ctx, s)
	if err != nil {
		return nil, err
	}
	return newer(IfNoneMatch{}, after, shown), nil
}

type ended struct {
	Session  string `json:"session_id"`
	Bundle   string `json:"bundle,omitempty" doc:"the name of the bundle that was written, in the server's folder for bundles"`
	Document string `json:"document,omitempty" doc:"the name of the session document that was written"`
}

func endSession(ctx context.Context, s *turnstone.Session, _ *struct{ InSession }) (*answer[ended], error) {
	bundle, err := s.End(ctx)
	if err != nil {
		return nil, err
	}
	// Where the server has its folders is none of its clients' business.
	return answered(ended{s.ID(), fileName(bundle), fileName(s.DocumentPath())}), nil
}

func fileName(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Base(path)
}

type forkSessionInput struct {
	InSession
	Body struct {
		SessionDraft
		At       *int64 `json:"at,omitempty" minimum:"0" doc:"the last turn to share; the newest if it is left out"`
		Bookmark string `json:"bookmark,omitempty" doc:"fork at this bookmark in the place of a turn"`
	}
}

func forkSession(ctx context.Context, s *turnstone.Session, in *forkSessionInput) (*answer[Session], error) {
	if in.Body.At != nil && in.Body.Bookmark != "" {
		return nil, invalid.New("bookmark", "is given beside at", "give one of them")
	}
	at, err := reach(ctx, s, in.Body.At)
	if err == nil && in.Body.Bookmark != "" {
		at, err = bookmarked(ctx, s, in.Body.Bookmark)
	}
	if err != nil {
		return nil, err
	}
	fork, err := s.Fork(ctx, at, in.Body.info())
	if err != nil {
		return nil, asSent(err)
	}
	info, err := fork.Info(ctx)
	if err != nil {
		return nil, err
	}
	return answered(newSession(info)), nil
}

// reach is the turn that is named, or the head where none is. One that the session has not come to is refused.
func reach(ctx context.Context, s *turnstone.Session, at *int64) (int64, error) {
	if at == nil {
		return turnstone.Head, nil
	}
	info, err := s.Info(ctx)
	if err != nil {
		return 0, err
	}
	if *at < 0 || *at > info.Head {
		return 0, fmt.Errorf("turn %d of %s: %w; the last is %d", *at, s.ID(), turn.ErrNotFound, info.Head)
	}
	return *at, nil
}

func bookmarked(ctx context.Context, s *turnstone.Session, name string) (int64, error) {
	list, err := s.Bookmarks(ctx)
	if err != nil {
		return 0, err
	}
	for _, b := range list {
		if b.Name == name {
			return b.Seq, nil
		}
	}
	return 0, fmt.Errorf("bookmark %s of %s: %w", name, s.ID(), turn.ErrNotFound)
}

// bookmark is a position of a session that has a name.
type bookmark struct {
	Name      string `json:"name"`
	Seq       int64  `json:"seq"`
	CreatedAt string `json:"created_at" format:"date-time"`
}

func newBookmark(b turn.Bookmark) bookmark {
	return bookmark{Name: b.Name, Seq: b.Seq, CreatedAt: timeText(b.At)}
}

func listBookmarks(ctx context.Context, s *turnstone.Session, _ *struct{ InSession }) (*answer[page[bookmark]], error) {
	list, err := s.Bookmarks(ctx)
	if err != nil {
		return nil, err
	}
	return answered(pageOf(list, newBookmark)), nil
}

type createBookmarkInput struct {
	InSession
	Body struct {
		Name string `json:"name"`
		At   *int64 `json:"at,omitempty" minimum:"0" doc:"the turn to name; the newest if it is left out"`
	}
}

func createBookmark(ctx context.Context, s *turnstone.Session, in *createBookmarkInput) (*answer[bookmark], error) {
	at, err := reach(ctx, s, in.Body.At)
	if err != nil {
		return nil, err
	}
	made, err := s.Bookmark(ctx, in.Body.Name, at)
	if err != nil {
		return nil, err
	}
	return answered(newBookmark(made)), nil
}
