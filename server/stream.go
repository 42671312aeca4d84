package server

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

// streamed is an answer that is written as it is made.
type streamed struct {
	ContentType string `header:"Content-Type"`
	Body        func(huma.Context)
}

// spooled is an answer of that media type that write makes, of any size. It is kept in a file until the client has taken it:
// a store has a few readers for everybody, and who takes an answer slowly would hold one of them all the while. Where the
// client does not get the whole, the connection is broken off, so that nobody takes a part for it.
func spooled(ctx context.Context, media string, write func(w io.Writer) error) (*streamed, error) {
	f, err := os.CreateTemp("", "turnstone-download-*")
	if err != nil {
		return nil, noTemporary("download", err)
	}
	// It loses its name at once where the system allows that: what was said must not be left behind by a crash.
	named := os.Remove(f.Name()) != nil
	remove := sync.OnceValue(func() error {
		err := f.Close()
		if named {
			err = errors.Join(err, os.Remove(f.Name()))
		}
		return err
	})
	size, err := fill(f, write)
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	// Where the time to begin is over just now, nobody runs the body below.
	context.AfterFunc(ctx, func() {
		if err := remove(); err != nil {
			return // the system removes it some time
		}
	})
	return &streamed{ContentType: media, Body: func(c huma.Context) {
		c.SetHeader("Content-Length", strconv.FormatInt(size, 10))
		_, err := io.Copy(c.BodyWriter(), f)
		record := RecordOf(c.Context())
		if record.Err = errors.Join(record.Err, err, remove()); err != nil {
			panic(http.ErrAbortHandler)
		}
	}}, nil
}

// fill has write write to a file, and returns to its beginning.
func fill(f *os.File, write func(w io.Writer) error) (size int64, err error) {
	to := &sink{f: f}
	buffered := bufio.NewWriterSize(to, 64<<10)
	if err = write(buffered); err == nil {
		err = buffered.Flush()
	}
	if to.failed != nil {
		err = noTemporary("download", to.failed)
	}
	if err != nil {
		return 0, err
	}
	_, err = f.Seek(0, io.SeekStart)
	return to.size, err
}

// sink notes why a file takes no more.
type sink struct {
	f      *os.File
	size   int64
	failed error
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.f.Write(p)
	s.size += int64(n)
	s.failed = err
	return n, err
}

// written is an answer of that media type that is there already.
func written(media string, body []byte) *streamed {
	return &streamed{ContentType: media, Body: func(ctx huma.Context) {
		if _, err := ctx.BodyWriter().Write(body); err != nil {
			RecordOf(ctx.Context()).Err = err
		}
	}}
}
