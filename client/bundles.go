package client

import (
	"context"
	"io"
	"net/http"
)

// Bundle is the whole session as one file, packed with zstd. It is sent while it is read; the caller closes it. One that
// was cut off is not whole, which every reader of bundles finds.
func (s *Session) Bundle(ctx context.Context) (io.ReadCloser, error) {
	answer, err := s.client.send(ctx, call{
		method: http.MethodGet, path: path("/sessions/%s/bundle", s.id), query: asked("compress", true), again: true,
	})
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

// Import makes a session of a bundle, packed or not, which is sent while it is read. Its id is the bundle's where none is
// given. [Conflict] where there is such a session, [Damaged] where the bundle is not whole; nothing is stored then. A file
// stays open: who opened it closes it.
func (c *Client) Import(ctx context.Context, bundle io.Reader, id string) (*Session, error) {
	made, err := ask[SessionInfo](ctx, c, call{
		method: http.MethodPost, path: "/bundles", query: asked("as", id), body: unclosed(bundle),
	})
	if err != nil {
		return nil, err
	}
	return &Session{client: c, id: made.ID}, nil
}

// unclosed keeps net/http from closing a file that is sent.
func unclosed(file io.Reader) io.Reader {
	if _, closes := file.(io.Closer); closes {
		return struct{ io.Reader }{file}
	}
	return file
}

// HistoryImport says what a history becomes. The zero value is ready for use.
type HistoryImport struct {
	ID           string // of the new session. Defaults to the file's, or a new one.
	Format       string // "session", "lines", "openai", "anthropic" or "tau". Defaults to what the content looks like.
	Index        int    // which trajectory of a tau file, from 1
	SkipTooLarge bool   // put a text in the place of what is larger than a turn may be
	About               // what the session is described with. Defaults to what the file says.
}

// Imported is a session that was made of a history.
type Imported struct {
	SessionInfo
	Format string  `json:"format"`
	Pinned []int64 `json:"pinned"` // the turns that are pinned, since the system opens with them
	Losses []Loss  `json:"losses"` // what could not be carried as it was
}

// Loss is something of a history that could not be carried.
type Loss struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
	First string `json:"first"` // where it was met first
	Done  string `json:"done"`  // what was done instead
}

// ImportHistory makes a session of a conversation that another program wrote, packed with zstd or not, which is sent while it
// is read. [Conflict] where there is such a session, [Invalid] where the file cannot be read; nothing is stored then. A file
// stays open: who opened it closes it.
func (c *Client) ImportHistory(ctx context.Context, file io.Reader, o HistoryImport) (*Session, Imported, error) {
	made, err := ask[Imported](ctx, c, call{
		method: http.MethodPost, path: "/histories", body: unclosed(file), query: asked(
			"as", o.ID, "format", o.Format, "index", o.Index, "skip_too_large", o.SkipTooLarge,
			"user", o.User, "title", o.Title, "model", o.Model, "mode", o.Mode,
		),
	})
	if err != nil {
		return nil, Imported{}, err
	}
	return &Session{client: c, id: made.ID}, made, nil
}
