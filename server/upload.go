package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/turnstone-dev/turnstone/replay"
)

const (
	// uploadRate is how many bytes a second a client sends at least, once its first time is over.
	uploadRate = 32 << 10
	// unpackWindow is how much memory unpacking takes.
	unpackWindow = 32 << 20
	// maxRatio is how many bytes one packed byte may become, beyond the first ones: conversations shrink to a tenth or so.
	maxRatio  = 256
	ratioFrom = 1 << 20
)

// Upload is the part of a request that is too large to be held: its body, read as it comes. It is exported for huma,
// which fills it.
type Upload struct{ from io.Reader }

// Resolve is for huma.
func (u *Upload) Resolve(ctx huma.Context) []error {
	u.from = ctx.BodyReader()
	return nil
}

// noTemporary is what a client is told where the server cannot write a file that it needs for a moment.
func noTemporary(what string, err error) error {
	return fmt.Errorf("%s: %w: %w", what,
		refuse(http.StatusServiceUnavailable, "the server cannot write a temporary file; make room on the disk that TMPDIR names, or name another"), err)
}

// keep writes a body to a file of its own and returns its path; the caller removes it. A client that sends more than
// that, or slower than it must, is refused.
func (s *Server) keep(ctx context.Context, from io.Reader, limit int64) (path string, err error) {
	f, err := os.CreateTemp("", "turnstone-upload-*")
	if err != nil {
		return "", noTemporary("upload", err)
	}
	body := &steady{ctx: ctx, from: from, first: s.config.Limits.Read, began: time.Now()}
	n, err := io.Copy(f, io.LimitReader(body, limit+1))
	switch {
	case err != nil && body.failed == nil:
		err = noTemporary("upload", err) // the file took no more
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = refuse(http.StatusRequestTimeout, "the body comes too slowly: send at least %d bytes a second", uploadRate)
	case err != nil:
		err = refuse(http.StatusBadRequest, "the body broke off")
	case n > limit:
		err = refuse(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes, the most that is taken here; serve with a larger --max-bundle", limit)
	}
	if err == nil {
		err = awaited(ctx)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// steady is a body that must not come too slowly.
type steady struct {
	ctx   context.Context
	from  io.Reader
	first time.Duration
	began time.Time
	read  int64
	// failed is why it broke off.
	failed error
}

func (p *steady) Read(b []byte) (int, error) {
	if control := RecordOf(p.ctx).control; control != nil {
		until := p.began.Add(p.first + time.Duration(p.read)*time.Second/uploadRate)
		if err := control.SetReadDeadline(until); err != nil && !isUnsupported(err) {
			p.failed = err
			return 0, err
		}
	}
	n, err := p.from.Read(b)
	p.read += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		p.failed = err
	}
	return n, err
}

// unpack opens a file that may be packed. What unpacks to more than the limit is refused where it does.
func unpack(path string, limit int64) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	in := bufio.NewReader(f)
	head, err := in.Peek(4)
	if err != nil || !bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
		return &unpacked{Reader: in, close: f.Close}, nil // whoever reads it says what is wrong with so short a file
	}
	z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(unpackWindow))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	remedy := "the most that is taken here; serve with a larger --max-bundle"
	if short := ratioFrom + maxRatio*info.Size(); short < limit {
		limit, remedy = short, "the most that is taken of so short a body; send it less tightly packed"
	}
	return &unpacked{Reader: &bounded{from: z, left: limit, limit: limit, remedy: remedy}, close: func() error {
		z.Close()
		return f.Close()
	}}, nil
}

type unpacked struct {
	io.Reader
	close func() error
}

func (u *unpacked) Close() error { return u.close() }

// bounded unpacks no more than its limit.
type bounded struct {
	from        io.Reader
	left, limit int64
	remedy      string // where it is more
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, refuse(http.StatusRequestEntityTooLarge, "the body unpacks to more than %d bytes, %s", b.limit, b.remedy)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", replay.ErrDamaged, err)
	}
	return n, err
}
