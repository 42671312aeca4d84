package replay

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/turnstone-dev/turnstone/turn"
)

// The windows bound what a compressor or decompressor holds of the stream.
const (
	writeWindow = 8 << 20
	readWindow  = 32 << 20
)

// keptBuffer is how large a line's buffer may be to be used again.
const keptBuffer = 1 << 20

// Encoder writes one bundle, record by record, and refuses what would make a bundle that cannot be
// read. Most callers want [Write]. An Encoder must not be used concurrently.
type Encoder struct {
	bundle Bundle
	check  *checker
	sum    hash.Hash
	line   []byte
	size   int64 // of all lines so far
	out    *bufio.Writer
	zstd   *zstd.Encoder // nil where nothing is compressed
	err    error         // the first one; nothing is written after it
}

// NewEncoder begins a bundle of the session with its first line. Of the Bundle, CreatedAt and
// Session are used. The caller closes w, after Close.
func NewEncoder(w io.Writer, b Bundle, compress bool) (*Encoder, error) {
	b.Session.Segment, b.Session.Inherited = 0, nil
	b = Bundle{Version: Version, CreatedAt: b.CreatedAt, Session: b.Session}
	if err := checkSession(&b.Session); err != nil {
		return nil, fmt.Errorf("bundle of %s: %w", b.Session.Session, err)
	}
	e := &Encoder{bundle: b, check: newChecker(b, noLimits), sum: sha256.New()}
	if compress {
		// One block after the other, so that equal input gives equal output.
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(writeWindow))
		if err != nil {
			return nil, fmt.Errorf("compressor: %w", err)
		}
		e.zstd, w = z, z
	}
	e.out = bufio.NewWriterSize(w, 64<<10)
	e.line = appendManifest(e.line[:0], b)
	if err := e.flushLine(); err != nil {
		return nil, err
	}
	return e, nil
}

// Encode writes the next record. The error says what is wrong with the record or with its place;
// after one, the bundle cannot be completed.
func (e *Encoder) Encode(r Record) error {
	if e.err != nil {
		return e.err
	}
	if e.err = e.check.record(r); e.err != nil {
		return e.err
	}
	e.bundle.count(r)
	e.line = r.append(e.line[:0])
	e.err = e.flushLine()
	return e.err
}

// hasBlob reports whether the blob was written.
func (e *Encoder) hasBlob(b turn.Blob) bool {
	_, there := e.check.blobs[b.SHA256]
	return there
}

// Close writes the last line and everything that is still held back, and returns what the bundle
// says of itself.
func (e *Encoder) Close() (Bundle, error) {
	if e.err == nil {
		e.err = e.check.end()
	}
	if e.err != nil {
		return Bundle{}, e.err
	}
	e.bundle.SHA256 = hex.EncodeToString(e.sum.Sum(nil))
	e.line = appendEnd(e.line[:0], e.bundle)
	if e.err = e.flushLine(); e.err != nil {
		return Bundle{}, e.err
	}
	if e.err = e.out.Flush(); e.err != nil {
		return Bundle{}, fmt.Errorf("bundle: %w", e.err)
	}
	if e.zstd != nil {
		if e.err = e.zstd.Close(); e.err != nil {
			return Bundle{}, fmt.Errorf("bundle: %w", e.err)
		}
	}
	return e.bundle, nil
}

func (e *Encoder) flushLine() error {
	e.line = append(e.line, '\n')
	e.sum.Write(e.line)
	e.size += int64(len(e.line))
	if _, err := e.out.Write(e.line); err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	if cap(e.line) > keptBuffer {
		e.line = nil
	}
	return nil
}
