package sse_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/internal/sse"
)

// read reads all events and returns the error at the end.
func read(r *sse.Reader) (events []sse.Event, err error) {
	for {
		e, err := r.Next()
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
}

func TestReader(t *testing.T) {
	for _, test := range []struct {
		name   string
		stream string
		want   []sse.Event
		err    error
		lastID string
	}{
		{name: "nothing", err: io.EOF},
		{
			name: "fields", stream: "retry: 20\nid: 1\nevent: a\ndata: x\n\n", err: io.EOF, lastID: "1",
			want: []sse.Event{{ID: "1", Name: "a", Data: "x", Retry: 20 * time.Millisecond}},
		},
		{
			name: "lines that end in every way", stream: "data: a\rdata: b\r\ndata: c\n\r\ndata: d\r\r", err: io.EOF,
			want: []sse.Event{{Data: "a\nb\nc"}, {Data: "d"}},
		},
		{
			name: "an id stays in force", stream: "id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n", err: io.EOF,
			want: []sse.Event{{ID: "1", Data: "a"}, {ID: "1", Data: "b"}, {Data: "c"}},
		},
		{name: "an id without data", stream: "id: 5\nevent: a\n\n", err: io.EOF, lastID: "5"},
		{name: "its name is not kept", stream: "event: a\n\ndata: b\n\n", err: io.EOF, want: []sse.Event{{Data: "b"}}},
		{name: "an id with a NUL", stream: "id: 5\n\nid: 6\x00\n\n", err: io.EOF, lastID: "5"},
		{name: "an id whose event does not end", stream: "id: 5\n\nid: 6\n", err: io.ErrUnexpectedEOF, lastID: "5"},
		{name: "in the middle of a line", stream: "data: a\n\ndata", err: io.ErrUnexpectedEOF, want: []sse.Event{{Data: "a"}}},
		{name: "comments", stream: ": alive\n\n:\ndata: a\n: b\n\n: alive\n", err: io.EOF, want: []sse.Event{{Data: "a"}}},
		{name: "unknown fields", stream: "color: red\nDATA: b\ndata\n\n", err: io.EOF, want: []sse.Event{{}}},
		{name: "spaces", stream: "data:a\ndata:  b\n\n", err: io.EOF, want: []sse.Event{{Data: "a\n b"}}},
		{name: "a byte order mark", stream: "\ufeffdata: a\n\n\ufeffdata: b\n\n", err: io.EOF, want: []sse.Event{{Data: "a"}}},
		{name: "no times", stream: "retry: -1\nretry: 1s\nretry:\nretry: 9999999999\ndata: a\n\n", err: io.EOF, want: []sse.Event{{Data: "a"}}},
		{name: "as long as it may be", stream: "data: " + strings.Repeat("a", 94) + "\n\n", err: io.EOF, want: []sse.Event{{Data: strings.Repeat("a", 94)}}},
		{name: "too long a line", stream: "data: " + strings.Repeat("a", 95) + "\n\n", err: sse.ErrTooLong},
		{name: "too long an event", stream: strings.Repeat("data: a\n", 15) + "\n", err: sse.ErrTooLong},
		{name: "comments are no part of it", stream: strings.Repeat(": aaaaaaaaaa\n", 15) + "data: a\n\n", err: io.EOF, want: []sse.Event{{Data: "a"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := sse.NewReader(iotest.OneByteReader(strings.NewReader(test.stream)), 100)
			got, err := read(r)
			if d := cmp.Diff(test.want, got); d != "" || !errors.Is(err, test.err) {
				t.Errorf("%v, want %v%s", err, test.err, d)
			}
			if test.lastID != "" && r.LastID() != test.lastID {
				t.Errorf("goes on after %q, want %q", r.LastID(), test.lastID)
			}
		})
	}
}

func TestReaderRetry(t *testing.T) {
	r := sse.NewReader(strings.NewReader("retry: 250\n\ndata: a\n\n"), 0)
	if got, err := r.Next(); err != nil || got.Retry != 0 || r.Retry() != 250*time.Millisecond {
		t.Errorf("%+v, %v, retry after %s", got, err, r.Retry())
	}
}

// A client sees an event as soon as its last byte is there, whatever ends its lines.
func TestReaderWaitsForNothingBehindAnEvent(t *testing.T) {
	for _, end := range []string{"\n", "\r", "\r\n"} {
		from, to := io.Pipe()
		stop := errors.New("asked for more than it needs")
		go func() {
			if _, err := to.Write([]byte("data: a" + end + strings.TrimSuffix(end, "\n"))); err != nil {
				t.Error(err)
			}
			if end == "\n" {
				if _, err := to.Write([]byte(end)); err != nil {
					t.Error(err)
				}
			}
			to.CloseWithError(stop)
		}()
		r := sse.NewReader(from, 0)
		if got, err := r.Next(); err != nil || got.Data != "a" {
			t.Errorf("%q: %+v, %v", end, got, err)
		}
		if _, err := r.Next(); !errors.Is(err, stop) {
			t.Errorf("%q: %v", end, err)
		}
	}
}

// What is written is read again, but for how lines end, and what events there are does not depend on what is in them.
func FuzzRoundTrip(f *testing.F) {
	f.Add("1", "undone", "{}", uint16(3))
	f.Add("", "", "a\r\nb\rc\n", uint16(0))
	f.Add("x", "y", "", uint16(0))
	ends := strings.NewReplacer("\r\n", "\n", "\r", "\n")
	f.Fuzz(func(t *testing.T, id, name, data string, retry uint16) {
		e := sse.Event{ID: id, Name: name, Data: data, Retry: time.Duration(retry) * time.Millisecond}
		wire, err := sse.Append(nil, e)
		if err != nil {
			if !strings.ContainsAny(id+name, "\r\n\x00") {
				t.Fatal(err)
			}
			return
		}
		wire, err = sse.Append(wire, sse.Event{Data: "behind"})
		if err != nil {
			t.Fatal(err)
		}
		want := []sse.Event{{ID: id, Data: "behind"}}
		if data != "" {
			e.Data = ends.Replace(data)
			want = append([]sse.Event{e}, want...)
		}
		got, err := read(sse.NewReader(strings.NewReader(string(wire)), 0))
		if d := cmp.Diff(want, got); d != "" || !errors.Is(err, io.EOF) {
			t.Errorf("%v%s", err, d)
		}
	})
}

// Whatever comes, the reader ends with an error of its own, and cutting the stream into pieces changes nothing.
func FuzzReader(f *testing.F) {
	f.Add([]byte("id: 1\ndata: a\r\n\r\n: b\n\ndata: c"))
	f.Add([]byte("\ufeffretry: 10\rdata\r\rid\x00: 1\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		whole, err := read(sse.NewReader(strings.NewReader(string(stream)), 64))
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, sse.ErrTooLong) {
			t.Fatal(err)
		}
		pieces, perr := read(sse.NewReader(iotest.OneByteReader(strings.NewReader(string(stream))), 64))
		if d := cmp.Diff(whole, pieces); d != "" || err.Error() != perr.Error() {
			t.Errorf("%v, in pieces %v%s", err, perr, d)
		}
		for _, e := range whole {
			if len(e.Data) > 64 || strings.ContainsAny(e.ID+e.Name, "\r\n") {
				t.Errorf("%+v", e)
			}
		}
	})
}
