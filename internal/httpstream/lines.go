package httpstream

import (
	"bytes"
	"errors"
	"io"
)

// firstSize is how much of an answer is read at once, unless a line is longer.
const firstSize = 16 << 10

// Lines reads an answer by whole lines, as many at a time as have come. It is for one goroutine.
type Lines struct {
	from io.Reader
	most int
	left int64
	err  error // of from

	buf       []byte
	next, end int // what has come and was not returned yet
	searched  int // up to where there is no end of a line
}

// NewLines returns the lines of an answer, of which each may have limits.Line bytes and all of them limits.Total.
func NewLines(from io.Reader, limits Limits) *Lines {
	limits = limits.withDefaults()
	return &Lines{from: from, most: limits.Line, left: limits.Total, buf: make([]byte, firstSize)}
}

// Next waits for a line and returns it with all that came with it: one line or more, each with its end, which only the
// last line of the answer may lack. The bytes are the caller's until the next call. Behind the last line it returns
// [io.EOF]; a line that passes the limits is [ErrTooLong], and other errors are the reader's own.
func (l *Lines) Next() ([]byte, error) {
	for {
		if at := bytes.LastIndexByte(l.buf[l.searched:l.end], '\n'); at >= 0 {
			return l.take(l.searched + at + 1)
		}
		if l.searched = l.end; l.end-l.next > l.most {
			return nil, ErrTooLong
		}
		if l.err != nil {
			if l.next == l.end || !errors.Is(l.err, io.EOF) {
				return nil, l.err
			}
			return l.take(l.end)
		}
		l.fill()
	}
}

// take returns what has come up to an offset, as far as the limits allow.
func (l *Lines) take(to int) ([]byte, error) {
	come := l.buf[l.next:to]
	if len(come) > l.most || int64(len(come)) > l.left {
		fits := 0
		for line := range bytes.Lines(come) {
			if len(line) > l.most || int64(fits+len(line)) > l.left {
				break
			}
			fits += len(line)
		}
		if come = come[:fits]; fits == 0 {
			return nil, ErrTooLong
		}
	}
	l.left -= int64(len(come))
	l.next += len(come)
	l.searched = l.next
	return come, nil
}

// fill reads more behind what was not returned yet.
func (l *Lines) fill() {
	if l.next > 0 {
		l.end = copy(l.buf, l.buf[l.next:l.end])
		l.next, l.searched = 0, l.end
	}
	if l.end == len(l.buf) {
		l.buf = append(l.buf, make([]byte, len(l.buf))...)
	}
	n, err := l.from.Read(l.buf[l.end:])
	l.end += n
	l.err = err
}

// Rest reads the end of an answer that is complete, so that its connection can be used again: a little of it, since the
// server may go on for ever. Whatever ends it, it is no error.
func (l *Lines) Rest() []byte {
	var rest []byte
	for len(rest) < restSize {
		come, err := l.Next()
		if err != nil {
			break
		}
		rest = append(rest, come...)
	}
	return rest
}
