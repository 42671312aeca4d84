package httpstream_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/turnstone-dev/turnstone/internal/httpstream"
)

// parts is a reader of which each read returns one part.
type parts []string

func (p *parts) Read(b []byte) (int, error) {
	if len(*p) == 0 {
		return 0, io.EOF
	}
	n := copy(b, (*p)[0])
	if (*p)[0] = (*p)[0][n:]; (*p)[0] == "" {
		*p = (*p)[1:]
	}
	return n, nil
}

func TestLinesComeTogether(t *testing.T) {
	long := strings.Repeat("x", 40_000)
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		from   io.Reader
		limits httpstream.Limits
		want   []string
		err    error
	}{
		"those that came at once": {&parts{"a\nb\nc", "d\n\ne\n"}, httpstream.Limits{}, []string{"a\nb\n", "cd\n\ne\n"}, io.EOF},
		"a line in pieces":        {&parts{"a", "b", "c\nd"}, httpstream.Limits{}, []string{"abc\n", "d"}, io.EOF},
		"a line that is long":     {&parts{"a\n" + long, long + "\nb\n"}, httpstream.Limits{}, []string{"a\n", long + long + "\nb\n"}, io.EOF},
		"up to one too long":      {&parts{"a\nabcd\nb\n"}, httpstream.Limits{Line: 4}, []string{"a\n"}, httpstream.ErrTooLong},
		"one without an end":      {&parts{"a\nabcde"}, httpstream.Limits{Line: 4}, []string{"a\n"}, httpstream.ErrTooLong},
		"as many as may be":       {&parts{"ab\ncd\nef\n"}, httpstream.Limits{Total: 6}, []string{"ab\ncd\n"}, httpstream.ErrTooLong},
		"half of a line":          {io.MultiReader(&parts{"a\nb"}, iotest.ErrReader(broken)), httpstream.Limits{}, []string{"a\n"}, broken},
		"byte by byte":            {iotest.OneByteReader(strings.NewReader("a\n\nb\n")), httpstream.Limits{}, []string{"a\n", "\n", "b\n"}, io.EOF},
		"with the end":            {iotest.DataErrReader(strings.NewReader("a\nb\n")), httpstream.Limits{}, []string{"a\nb\n"}, io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			lines := httpstream.NewLines(test.from, test.limits)
			var got []string
			for {
				come, err := lines.Next()
				if err != nil {
					if !errors.Is(err, test.err) {
						t.Errorf("it ends with %v", err)
					}
					break
				}
				got = append(got, string(come))
			}
			if strings.Join(got, "|") != strings.Join(test.want, "|") {
				t.Errorf("got %.80q, want %.80q", got, test.want)
			}
		})
	}
}

func TestRest(t *testing.T) {
	for name, test := range map[string]struct {
		from io.Reader
		want int
	}{
		"little":       {strings.NewReader("a\nb\nc"), 5},
		"nothing":      {strings.NewReader(""), 0},
		"what is left": {io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(errors.New("broken"))), 2},
	} {
		if got := httpstream.NewLines(test.from, httpstream.Limits{}).Rest(); len(got) != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	endless := httpstream.NewLines(iotest.OneByteReader(strings.NewReader(strings.Repeat("a\n", 1<<20))), httpstream.Limits{})
	if got := len(endless.Rest()); got != 4<<10 {
		t.Errorf("%d bytes are read behind the end", got)
	}
}
