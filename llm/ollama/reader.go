package ollama

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// maxText bounds a text that is kept. Tokens of vocabularies have a few hundred bytes.
	maxText = 64 << 10
	// maxNumber bounds the digits of a number.
	maxNumber = 64
)

// errNotJSON is wrapped with the place where it shows.
var errNotJSON = errors.New("it is not JSON")

// reader reads JSON as it comes. It keeps one text or number at a time, and its time is linear in what it
// reads, which encoding/json's decoder of tokens promises neither of: an answer may be a lie of any shape.
type reader struct {
	in     *bufio.Reader
	text   []byte
	offset int64
}

func newReader(in io.Reader) *reader { return &reader{in: bufio.NewReaderSize(in, 64<<10)} }

func (r *reader) next() (byte, error) {
	c, err := r.in.ReadByte()
	if err != nil {
		return 0, err
	}
	r.offset++
	return c, nil
}

// peek returns the next character that is no space, and leaves it there.
func (r *reader) peek() (byte, error) {
	for {
		c, err := r.next()
		if err != nil {
			return 0, err
		}
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		}
		r.offset--
		return c, r.in.UnreadByte()
	}
}

func (r *reader) wrong(c byte) error {
	return fmt.Errorf("%w: %q at offset %d", errNotJSON, c, r.offset-1)
}

// expect reads one character.
func (r *reader) expect(want byte) error {
	if _, err := r.peek(); err != nil {
		return err
	}
	c, err := r.next()
	if err != nil {
		return err
	}
	if c != want {
		return r.wrong(c)
	}
	return nil
}

// kind names the value that comes next.
func (r *reader) kind() (string, error) {
	c, err := r.peek()
	if err != nil {
		return "", err
	}
	switch {
	case c == '{':
		return "an object", nil
	case c == '[':
		return "an array", nil
	case c == '"':
		return "a string", nil
	case c == '-' || c >= '0' && c <= '9':
		return "a number", nil
	case c == 'n':
		return "null", nil
	case c == 't' || c == 'f':
		return "true or false", nil
	}
	r.offset++
	return "", r.wrong(c)
}

// be refuses a value of another kind.
func (r *reader) be(field, want string) error {
	is, err := r.kind()
	if err == nil && is != want {
		return unlike(field, "is "+is+", not "+want)
	}
	return err
}

// members calls member for each member of the object that comes next; member must read its value.
func (r *reader) members(field string, member func(name string) error) error {
	if err := r.be(field, "an object"); err != nil {
		return err
	}
	return r.list('}', func() error {
		name, err := r.string(field)
		if err != nil {
			return err
		}
		if err := r.expect(':'); err != nil {
			return err
		}
		return member(name)
	})
}

// elements calls element for each element of the array that comes next, at most most of them; null has none.
// element must read its value.
func (r *reader) elements(field string, most int, element func() error) error {
	if is, err := r.kind(); err == nil && is == "null" {
		return r.skip()
	}
	if err := r.be(field, "an array"); err != nil {
		return err
	}
	n := 0
	return r.list(']', func() error {
		if n++; n > most {
			return unlike(field, "has more than "+strconv.Itoa(most)+" elements")
		}
		return element()
	})
}

// list reads what stands between brackets and commas.
func (r *reader) list(end byte, item func() error) error {
	if _, err := r.next(); err != nil {
		return err
	}
	c, err := r.peek()
	if err != nil {
		return err
	}
	if c == end {
		return r.expect(end)
	}
	for {
		if err := item(); err != nil {
			return err
		}
		c, err := r.peek()
		if err != nil {
			return err
		}
		if c == end {
			return r.expect(end)
		}
		if err := r.expect(','); err != nil {
			return err
		}
	}
}

// string reads a string of at most maxText bytes.
func (r *reader) string(field string) (string, error) {
	if err := r.be(field, "a string"); err != nil {
		return "", err
	}
	r.text = r.text[:0]
	err := r.quoted(func(c rune, raw bool) error {
		if len(r.text) >= maxText {
			return unlike(field, "has a text of more than "+strconv.Itoa(maxText)+" bytes")
		}
		if raw {
			r.text = append(r.text, byte(c))
		} else {
			r.text = utf8.AppendRune(r.text, c)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if !utf8.Valid(r.text) {
		return "", unlike(field, "has a text that is not UTF-8")
	}
	return string(r.text), nil
}

// quoted reads a string and hands over its bytes as they are (raw), and its escapes decoded.
func (r *reader) quoted(put func(c rune, raw bool) error) error {
	if err := r.expect('"'); err != nil {
		return err
	}
	for {
		c, err := r.next()
		switch {
		case err != nil:
			return err
		case c == '"':
			return nil
		case c < ' ':
			return r.wrong(c)
		case c == '\\':
			var decoded rune
			if decoded, err = r.escape(); err == nil {
				err = put(decoded, false)
			}
		default:
			err = put(rune(c), true)
		}
		if err != nil {
			return err
		}
	}
}

// escape reads what follows a backslash. Half of a surrogate pair is the replacement character, as
// encoding/json has it.
func (r *reader) escape() (rune, error) {
	c, err := r.next()
	if err != nil {
		return 0, err
	}
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		first, err := r.hex()
		if err != nil || !utf16.IsSurrogate(first) {
			return first, err
		}
		ahead, err := r.in.Peek(2)
		if err != nil || string(ahead) != `\u` {
			return utf8.RuneError, nil // what is wrong shows with the next character
		}
		return r.pair(first)
	}
	return 0, r.wrong(c)
}

// pair reads the second half of a surrogate pair if it is one.
func (r *reader) pair(first rune) (rune, error) {
	ahead, err := r.in.Peek(6)
	if err != nil {
		return 0, err
	}
	second, err := strconv.ParseUint(string(ahead[2:]), 16, 16)
	if err != nil {
		return utf8.RuneError, nil // as above
	}
	whole := utf16.DecodeRune(first, rune(second))
	if whole != utf8.RuneError {
		n, err := r.in.Discard(len(ahead))
		r.offset += int64(n)
		return whole, err
	}
	return whole, nil
}

func (r *reader) hex() (rune, error) {
	var n rune
	for range 4 {
		c, err := r.next()
		if err != nil {
			return 0, err
		}
		digit, err := strconv.ParseUint(string(rune(c)), 16, 8)
		if err != nil {
			return 0, r.wrong(c)
		}
		n = n<<4 | rune(digit)
	}
	return n, nil
}

// word reads letters, digits and signs up to the next other character: a number, true, false or null.
func (r *reader) word() (string, error) {
	if _, err := r.peek(); err != nil {
		return "", err
	}
	r.text = r.text[:0]
	for {
		c, err := r.next()
		if err == io.EOF && len(r.text) > 0 {
			break
		}
		if err != nil {
			return "", err
		}
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-' || c == '+' || c == '.' || c == 'E') {
			r.offset--
			if err := r.in.UnreadByte(); err != nil {
				return "", err
			}
			break
		}
		if r.text = append(r.text, c); len(r.text) > maxNumber {
			return "", r.wrong(c)
		}
	}
	return string(r.text), nil
}

// number reads a number, as it is written.
func (r *reader) number(field string) (string, error) {
	if err := r.be(field, "a number"); err != nil {
		return "", err
	}
	word, err := r.word()
	if err == nil && strings.Trim(word, "0123456789+-.eE") != "" {
		return "", unlike(field, fmt.Sprintf("%.40s is no number", word))
	}
	return word, err
}

// whole reads a whole number of the given bits.
func (r *reader) whole(field string, bits int) (int64, error) {
	n, err := r.number(field)
	if err != nil {
		return 0, err
	}
	i, err := strconv.ParseInt(n, 10, bits)
	if err != nil {
		return 0, unlike(field, fmt.Sprintf("%.40s is no whole number of %d bits", n, bits))
	}
	return i, nil
}

// truth reads true or false.
func (r *reader) truth(field string) (bool, error) {
	if err := r.be(field, "true or false"); err != nil {
		return false, err
	}
	word, err := r.word()
	if err != nil {
		return false, err
	}
	if word != "true" && word != "false" {
		return false, fmt.Errorf("%w: %q at offset %d", errNotJSON, word, r.offset-int64(len(word)))
	}
	return word == "true", nil
}

// skip reads a value that nobody wants without keeping any of it, however deep it is. What stands inside it
// is only held to its brackets and strings.
func (r *reader) skip() error {
	for depth := 0; ; {
		c, err := r.peek()
		if err != nil {
			return err
		}
		switch c {
		case '"':
			err = r.quoted(func(rune, bool) error { return nil })
		case '{', '[':
			depth++
			err = r.expect(c)
		case '}', ']':
			depth--
			err = r.expect(c)
		case ',', ':':
			if depth == 0 {
				r.offset++
				return r.wrong(c)
			}
			err = r.expect(c)
		default:
			var word string
			if word, err = r.word(); err == nil && word == "" {
				r.offset++
				err = r.wrong(c)
			}
		}
		if err != nil {
			return err
		}
		if depth < 0 {
			return r.wrong(c)
		}
		if depth == 0 {
			return nil
		}
	}
}
