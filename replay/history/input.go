package history

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/turn"
)

// window is how much of an input is looked at to tell its format.
const window = 64 << 10

// input reads lines or JSON values, one at a time and each within a bound, and counts lines.
type input struct {
	in    *bufio.Reader
	line  int64 // the line that is read next or now, from 1
	began int64 // the line in which the last value began
	limit int   // bytes of one line or value
}

func newInput(r io.Reader, l turn.Limits) (*input, error) {
	in := &input{in: bufio.NewReaderSize(r, window), line: 1, limit: valueLimit(l)}
	head, err := in.in.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("input: %w", err)
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		if _, err := in.in.Discard(3); err != nil {
			return nil, fmt.Errorf("input: %w", err)
		}
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return nil, invalid.New("input", "is UTF-16", "convert it to UTF-8")
	}
	return in, nil
}

// valueLimit is how long a line or a message may be: 100 MiB, or more where the limits allow a turn
// that needs it. Base64 makes four bytes of three, and escapes at most seven of one.
func valueLimit(l turn.Limits) int {
	const most = 1 << 40
	return int(max(100<<20, 2*min(l.Blob, most), 8*min(l.Text, most)))
}

// prefix returns the beginning of what was not read yet, at most window bytes.
func (in *input) prefix() (string, error) {
	head, err := in.in.Peek(window)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("input: %w", err)
	}
	return string(head), nil
}

// nextLine returns the next line that is not blank, without its ending, and io.EOF after the last.
func (in *input) nextLine() (string, place, error) {
	for {
		at := place{unit: "line", number: in.line}
		text, err := in.wholeLine()
		if errors.Is(err, errTooLong) {
			return "", at, in.tooLong(at)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return "", at, fmt.Errorf("%v: %w", at, err)
		}
		in.line++
		if text = strings.Trim(text, " \t\r\n"); text != "" {
			return text, at, nil
		}
		if err != nil {
			return "", at, io.EOF
		}
	}
}

var errTooLong = errors.New("too long")

func (in *input) tooLong(at place) error {
	return invalid.New(at.String(), fmt.Sprintf("is longer than %d bytes", in.limit), "shorten it, or raise the limits where that is meant")
}

func (in *input) wholeLine() (string, error) {
	piece, err := in.in.ReadSlice('\n')
	if err == nil {
		return string(piece), nil
	}
	var long strings.Builder
	for {
		if long.Len()+len(piece) > in.limit {
			return "", errTooLong
		}
		long.Write(piece)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return long.String(), err
		}
		piece, err = in.in.ReadSlice('\n')
	}
}

// peek skips white space and returns the next byte without taking it.
func (in *input) peek() (byte, error) {
	for {
		c, err := in.in.ReadByte()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return 0, in.broken("the input ends here")
			}
			return 0, fmt.Errorf("line %d: %w", in.line, err)
		}
		switch c {
		case '\n':
			in.line++
		case ' ', '\t', '\r':
		default:
			return c, in.in.UnreadByte()
		}
	}
}

// broken says that the document is no JSON.
func (in *input) broken(problem string) error {
	return invalid.New(fmt.Sprintf("line %d", in.line), problem, "correct the JSON; nothing was imported")
}

// take skips white space and takes the next byte, which must be one of those wanted.
func (in *input) take(wanted string) (byte, error) {
	c, err := in.peek()
	if err != nil {
		return 0, err
	}
	if strings.IndexByte(wanted, c) < 0 {
		return 0, in.broken(fmt.Sprintf("expected %q, found %q", wanted, c))
	}
	_, err = in.in.Discard(1)
	return c, err
}

// object calls member with the name of each member of the object that comes next. Member must take
// the value.
func (in *input) object(member func(name string) error) error {
	if _, err := in.take("{"); err != nil {
		return err
	}
	return in.list('}', func() error {
		raw, err := in.value()
		if err != nil {
			return err
		}
		name, err := raw.String()
		if err != nil {
			return in.broken(err.Error())
		}
		if _, err := in.take(":"); err != nil {
			return err
		}
		return member(name)
	})
}

// array calls element before each element of the array that comes next. Element must take it.
func (in *input) array(element func() error) error {
	if _, err := in.take("["); err != nil {
		return err
	}
	return in.list(']', element)
}

func (in *input) list(end byte, item func() error) error {
	c, err := in.peek()
	if err != nil {
		return err
	}
	if c == end {
		_, err := in.in.Discard(1)
		return err
	}
	for {
		if err := item(); err != nil {
			return err
		}
		c, err := in.take("," + string(end))
		if err != nil || c == end {
			return err
		}
	}
}

// finish refuses anything after the document.
func (in *input) finish() error {
	for {
		c, err := in.in.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("line %d: %w", in.line, err)
		case c == '\n':
			in.line++
		case c != ' ' && c != '\t' && c != '\r':
			return in.broken(fmt.Sprintf("expected nothing after the document, found %q", c))
		}
	}
}

// value takes the next value whole. Of what it is, only where it ends is known: whoever reads it
// checks the rest.
func (in *input) value() (strictjson.Raw, error) {
	c, err := in.peek()
	if err != nil {
		return "", err
	}
	start := in.line
	in.began = start
	e := extent{scalar: strings.IndexByte(`{["`, c) < 0}
	var b strings.Builder
	for {
		piece, err := in.buffered()
		if err != nil {
			if errors.Is(err, io.EOF) && e.scalar {
				return strictjson.Raw(b.String()), nil
			}
			if errors.Is(err, io.EOF) {
				return "", in.broken(fmt.Sprintf("the input ends inside the value of line %d", start))
			}
			return "", fmt.Errorf("line %d: %w", in.line, err)
		}
		n, done := e.scan(piece)
		in.line += int64(bytes.Count(piece[:n], []byte("\n")))
		if e.depth > strictjson.MaxDepth {
			return "", in.broken(fmt.Sprintf("nested more than %d deep", strictjson.MaxDepth))
		}
		if b.Len()+n > in.limit {
			return "", in.tooLong(place{unit: "line", number: start})
		}
		b.Write(piece[:n])
		if _, err := in.in.Discard(n); err != nil {
			return "", err
		}
		if done {
			return strictjson.Raw(b.String()), nil
		}
	}
}

// buffered returns the bytes that are at hand, at least one.
func (in *input) buffered() ([]byte, error) {
	if _, err := in.in.Peek(1); err != nil {
		return nil, err
	}
	return in.in.Peek(in.in.Buffered())
}

// extent finds the end of a value that comes in pieces.
type extent struct {
	depth           int
	inside, escaped bool // of a string
	scalar          bool // neither string, array nor object
}

// scan returns how many bytes of the piece belong to the value and whether it ends with them.
func (e *extent) scan(piece []byte) (n int, done bool) {
	for i := 0; i < len(piece); i++ {
		c := piece[i]
		switch {
		case e.escaped:
			e.escaped = false
		case e.inside:
			if c != '"' && c != '\\' {
				i += plain(piece[i:]) - 1
				continue
			}
			e.escaped, e.inside = c == '\\', c == '\\'
			if c == '"' && e.depth == 0 {
				return i + 1, true
			}
		case e.scalar:
			if strings.IndexByte(",]}: \t\r\n", c) >= 0 {
				return i, true
			}
		case c == '"':
			e.inside = true
		case c == '{' || c == '[':
			if e.depth++; e.depth > strictjson.MaxDepth {
				return i, false
			}
		case c == '}' || c == ']':
			if e.depth--; e.depth <= 0 {
				return i + 1, true
			}
		}
	}
	return len(piece), false
}

// plain is how many bytes of a string come before the next quote or backslash. It does not look far,
// as it would look for the quote again behind every backslash.
func plain(piece []byte) int {
	piece = piece[:min(len(piece), 256)]
	end := bytes.IndexByte(piece, '"')
	if end < 0 {
		end = len(piece)
	}
	if slash := bytes.IndexByte(piece[:end], '\\'); slash >= 0 {
		end = slash
	}
	return end
}

// decode checks a value and calls set for each of its members. Bytes that are no UTF-8 are replaced
// and reported.
func (r *Report) decode(at place, raw strictjson.Raw, set func(name string, v strictjson.Raw) error) error {
	return located(at, strictjson.Object(r.utf8(at, raw), set))
}

// utf8 is a value with what is no UTF-8 replaced.
func (r *Report) utf8(at place, raw strictjson.Raw) string {
	text := string(raw)
	if utf8.ValidString(text) {
		return text
	}
	r.lose("bytes that are not UTF-8", at, "replaced by U+FFFD")
	return strings.ToValidUTF8(text, "\ufffd")
}

// located says where the JSON is broken, unless the error says it itself.
func located(at place, err error) error {
	var bad *invalid.Field
	if err == nil || errors.As(err, &bad) {
		return err
	}
	return invalid.New(at.String(), err.Error(), "correct the JSON; nothing was imported")
}
