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
	if _, closes := bundle.(io.Closer); closes {
		bundle = struct{ io.Reader }{bundle} // net/http would close it
	}
	made, err := ask[SessionInfo](ctx, c, call{
		method: http.MethodPost, path: "/bundles", query: asked("as", id), body: bundle,
	})
	if err != nil {
		return nil, err
	}
	return &Session{client: c, id: made.ID}, nil
}
