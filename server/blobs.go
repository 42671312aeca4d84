package server

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone"
)

const binary = "application/octet-stream"

func (s *Server) registerBlobs(api huma.API) {
	handle(s, api, route{
		method: http.MethodGet, path: "/blobs/{sha256}", id: "getBlob", tag: "turns",
		summary: "The bytes of an image or a recording",
		about:   "They are sent as bytes of no type, whatever they are: the turn says what.",
		answers: map[string]*huma.MediaType{binary: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
	}, showBlob)
}

type blobInput struct {
	SHA256 string `path:"sha256" pattern:"^[0-9a-fA-F]{64}$" doc:"the hash that the turn shows"`
	IfNoneMatch
}

// blobAnswer says nothing about the bytes that would have a browser run them.
type blobAnswer struct {
	Status      int
	ContentType string `header:"Content-Type"`
	Sniff       string `header:"X-Content-Type-Options"`
	Disposition string `header:"Content-Disposition"`
	Cache       string `header:"Cache-Control"`
	ETag        string `header:"ETag"`
	Body        []byte
}

func showBlob(ctx context.Context, eng *turnstone.Engine, in *blobInput) (*blobAnswer, error) {
	blob, err := eng.Blob(ctx, strings.ToLower(in.SHA256))
	if err != nil {
		return nil, err
	}
	shown := newer(in.IfNoneMatch, tag(blob.SHA256), blob.Data)
	return &blobAnswer{
		Status: shown.Status, ContentType: binary, Sniff: "nosniff", Disposition: "attachment",
		Cache: "private, max-age=31536000, immutable", ETag: shown.ETag, Body: shown.Body,
	}, nil
}
