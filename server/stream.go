package server

import (
	"bufio"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// streamed is an answer that is written as it is made.
type streamed struct {
	ContentType string `header:"Content-Type"`
	Body        func(huma.Context)
}

// stream is an answer of that media type. An error before anything was sent is told as any other; afterwards the
// connection is broken off, so that nobody takes a part for the whole.
func (s *Server) stream(media string, write func(w io.Writer) error) *streamed {
	return &streamed{ContentType: media, Body: func(ctx huma.Context) {
		out := &begun{w: ctx.BodyWriter()}
		buffered := bufio.NewWriterSize(out, 32<<10)
		err := write(buffered)
		if err == nil {
			err = buffered.Flush()
		}
		switch {
		case err == nil:
		case !out.begun:
			s.refused(ctx, err)
		default:
			url := ctx.URL()
			s.problem(ctx.Context(), url.Path, err)
			panic(http.ErrAbortHandler)
		}
	}}
}

// written is an answer of that media type that is there already.
func written(media string, body []byte) *streamed {
	return &streamed{ContentType: media, Body: func(ctx huma.Context) {
		if _, err := ctx.BodyWriter().Write(body); err != nil {
			RecordOf(ctx.Context()).Err = err
		}
	}}
}

// begun notes whether anything was written.
type begun struct {
	w     io.Writer
	begun bool
}

func (b *begun) Write(p []byte) (int, error) {
	b.begun = true
	return b.w.Write(p)
}
