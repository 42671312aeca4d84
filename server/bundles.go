package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/turn"
)

// Media types of bundles.
const (
	bundleLines  = "application/x-ndjson"
	bundlePacked = "application/zstd"
)

func (s *Server) registerBundles(api huma.API) {
	file := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	handleSession(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}/bundle", id: "getBundle", tag: "bundles",
		summary: "A whole session as one file, to move it or to keep it", pace: slow,
		about:   "One that is cut off is not whole, which every reader finds.",
		answers: map[string]*huma.MediaType{bundleLines: file, bundlePacked: file},
	}, writeBundle)
	handle(s, api, route{
		method: http.MethodPost, path: "/bundles", id: "importBundle", tag: "bundles", status: http.StatusCreated, pace: endless,
		upload: true, accepts: []string{binary, bundleLines, bundlePacked}, body: s.config.Limits.Bundle,
		summary: "Make a session of a bundle",
		about: "Turns keep their ids, numbers and times; the tenant is the caller's, whatever the bundle's was. A bundle that is damaged or " +
			"of a newer version is refused, and nothing of it is stored.",
	}, s.importBundle)
}

func writeBundle(ctx context.Context, session *turnstone.Session, in *struct {
	InSession
	Compress bool `query:"compress" doc:"packed with zstd"`
}) (*streamed, error) {
	media := bundleLines
	if in.Compress {
		media = bundlePacked
	}
	return spooled(ctx, media, func(w io.Writer) error {
		_, err := session.WriteBundle(ctx, w, replay.WriteOptions{Compress: in.Compress})
		return err
	})
}

type importBundleInput struct {
	As string `query:"as" maxLength:"128" doc:"the new session's id, in the place of the bundle's"`
	Upload
}

// importBundle keeps the file in the folder for temporary files while it is read: twice, so that nothing is written of one that is
// damaged.
func (s *Server) importBundle(ctx context.Context, eng *turnstone.Engine, in *importBundleInput) (_ *answer[Session], err error) {
	kept, err := s.keep(ctx, in.from, s.config.Limits.Bundle)
	if err != nil {
		return nil, err
	}
	defer func() {
		if gone := os.Remove(kept); gone != nil && err == nil {
			err = gone
		}
	}()
	made, err := eng.ImportBundle(ctx, func() (io.ReadCloser, error) { return unpack(kept, s.config.Limits.Bundle) },
		replay.ImportOptions{As: in.As, MaxTurns: s.config.Limits.ImportTurns})
	if errors.Is(err, turn.ErrExists) {
		err = fmt.Errorf("%w; give it another id with ?as=", err)
	}
	if err != nil {
		return nil, err
	}
	info, err := made.Info(ctx)
	if err != nil {
		return nil, err
	}
	return answered(newSession(info)), nil
}
