package replay

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/turnstone-dev/turnstone/turn"
)

// zstdMagic are the first bytes of every zstd frame.
const zstdMagic = "\x28\xb5\x2f\xfd"

// lines reads the lines of a bundle, compressed or not, and sums them up.
type lines struct {
	source *source
	in     *bufio.Reader
	zstd   *zstd.Decoder // nil where nothing is compressed
	limit  int64
	number int64 // of the line that was read last, from 1
	sum    hash.Hash
	bytes  [8 << 10]byte // a piece of a line on its way to the sum
}

// source remembers how reading the file itself failed, to tell that from a file that is damaged.
type source struct {
	io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

func newLines(r io.Reader, l turn.Limits) (*lines, error) {
	s := &source{Reader: r}
	in := bufio.NewReaderSize(s, 64<<10)
	ls := &lines{source: s, in: in, limit: lineLimit(l), sum: sha256.New()}
	if magic, err := in.Peek(len(zstdMagic)); err == nil && string(magic) == zstdMagic {
		// Without concurrency there are no goroutines and no blocks decoded ahead.
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(readWindow), zstd.WithDecoderMaxMemory(readWindow))
		if err != nil {
			return nil, ls.broken(err)
		}
		ls.zstd, ls.in = z, bufio.NewReaderSize(z, 64<<10)
	}
	return ls, nil
}

// lineLimit is how long a line may be: 64 MiB, or more where the limits allow a turn that needs
// it. Base64 makes four bytes of three, and JSON in a JSON string at most seven of one.
func lineLimit(l turn.Limits) int64 {
	const most = 1 << 40
	return max(64<<20, 2*min(l.Blob, most), 8*min(l.Text, most))
}

func (l *lines) close() {
	if l.zstd != nil {
		l.zstd.Close()
	}
}

// next returns the next line without its line feed. It is not part of the sum until add is called.
func (l *lines) next() (string, error) {
	l.number++
	piece, err := l.in.ReadSlice('\n')
	if err == nil {
		return string(piece[:len(piece)-1]), nil
	}
	var long strings.Builder
	for {
		if int64(long.Len()+len(piece)) > l.limit {
			return "", damage(l.number, "is longer than %d bytes; where that is meant, raise the limits", l.limit)
		}
		if spare := long.Cap() - long.Len(); spare < len(piece) {
			long.Grow(int(min(max(int64(long.Cap()), 128<<10), l.limit-int64(long.Len()))))
		}
		long.Write(piece)
		switch {
		case err == nil:
			text := long.String()
			return text[:len(text)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", l.broken(err)
		}
		piece, err = l.in.ReadSlice('\n')
	}
}

// add makes a line part of the sum.
func (l *lines) add(line string) {
	for len(line) > 0 {
		n := copy(l.bytes[:], line)
		l.sum.Write(l.bytes[:n])
		line = line[n:]
	}
	l.bytes[0] = '\n'
	l.sum.Write(l.bytes[:1])
}

// finish refuses anything after the last line.
func (l *lines) finish() error {
	_, err := l.in.ReadByte()
	switch {
	case err == nil:
		return damage(l.number+1, "something follows the end")
	case errors.Is(err, io.EOF):
		return nil
	}
	return l.broken(err)
}

// broken says why no further line can be read.
func (l *lines) broken(err error) error {
	switch {
	case l.source.err != nil:
		return fmt.Errorf("bundle: %w", l.source.err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return damage(l.number, "the file is cut off here")
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return damage(l.number, "unpacking needs more than %d MiB; compress it with a smaller window (zstd -19 or less)", readWindow>>20)
	}
	return damage(l.number, "zstd: %w", err)
}
