package sse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// DefaultSize is how many bytes one event, or one line, may have for a [Reader].
const DefaultSize = 16 << 20

// ErrTooLong says that an event has more bytes than the reader takes.
var ErrTooLong = errors.New("the event is too long")

// Reader reads the events of a stream, as a browser would. It is for one goroutine.
type Reader struct {
	from  *bufio.Reader
	size  int
	begun bool
	lf    bool // the last line ended with \r, so that a \n right behind it belongs to that end
	id    string
	retry time.Duration
}

// NewReader reads from r. An event may have up to size bytes, 0 for [DefaultSize].
func NewReader(r io.Reader, size int) *Reader {
	if size <= 0 {
		size = DefaultSize
	}
	return &Reader{from: bufio.NewReader(r), size: size}
}

// LastID is the id to resume after: that of the last event that ended, also where it said nothing else.
func (r *Reader) LastID() string { return r.id }

// Retry is how long the server wants a client to wait before it connects again, 0 where it did not say.
func (r *Reader) Retry() time.Duration { return r.retry }

// Next returns the next event, whose ID is the one in force. Comments are passed over, and so are events that say
// nothing. At the end of the stream it is [io.EOF], [io.ErrUnexpectedEOF] where that is in the middle of an event, of
// which nothing is told then; [ErrTooLong] where an event has more than the reader takes.
func (r *Reader) Next() (Event, error) {
	var e Event
	var data []byte
	id, told, used := r.id, false, 0
	for {
		line, err := r.line(r.size - used)
		if err != nil {
			if errors.Is(err, io.EOF) && (used > 0 || len(line) > 0) {
				err = io.ErrUnexpectedEOF
			}
			return Event{}, err
		}
		if len(line) == 0 {
			r.id, used = id, 0
			if told {
				e.ID, e.Data = id, string(data[:len(data)-1])
				return e, nil
			}
			e = Event{}
			continue
		}
		used += len(line)
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "data":
			data, told = append(append(data, value...), '\n'), true
		case "event":
			e.Name = string(value)
		case "id":
			if bytes.IndexByte(value, 0) < 0 {
				id = string(value)
			}
		case "retry":
			if wait, ok := milliseconds(string(value)); ok {
				r.retry, e.Retry = wait, wait
			}
		case "":
			used -= len(line) // a comment is no part of an event
		}
	}
}

// milliseconds reads a number of digits only.
func milliseconds(text string) (time.Duration, bool) {
	const longest = 9 // digits of what is taken for a time
	if text == "" || len(text) > longest || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	var n time.Duration
	for _, digit := range text {
		n = n*10 + time.Duration(digit-'0')
	}
	return n * time.Millisecond, true
}

// line reads a line without its end, which is \n, \r or \r\n. With [io.EOF] comes what there was of one.
func (r *Reader) line(most int) ([]byte, error) {
	var line []byte
	for {
		c, err := r.from.ReadByte()
		if err != nil {
			return line, err
		}
		behindCR := r.lf
		r.lf = c == '\r'
		switch {
		case c == '\n' && behindCR:
		case c == '\n' || c == '\r':
			return r.first(line), nil
		case len(line) == most:
			return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLong, r.size)
		default:
			line = append(line, c)
		}
	}
}

// first takes the byte order mark from the stream's first line.
func (r *Reader) first(line []byte) []byte {
	if r.begun {
		return line
	}
	r.begun = true
	return bytes.TrimPrefix(line, []byte("\ufeff"))
}
