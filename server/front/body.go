package front

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// bodies are the bodies of calls: a long conversation is sent again with each of them, and making that room anew every
// time would have the collector work for it.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

// maxKept is how large a body may be whose memory is used again.
const maxKept = 8 << 20

// read reads the body of a call, which is good until it is released.
func (f *Front) read(w http.ResponseWriter, r *http.Request) (body []byte, release func(), err error) {
	kept := bodies.Get().(*[]byte)
	release = func() {
		if cap(*kept) <= maxKept {
			bodies.Put(kept)
		}
	}
	control := http.NewResponseController(w)
	// What has no deadlines is not of the network.
	bounded := control.SetReadDeadline(time.Now().Add(f.config.Limits.Read)) == nil
	from := http.MaxBytesReader(w, r.Body, f.config.Limits.Body)
	data := (*kept)[:0]
	if n := r.ContentLength; n >= int64(cap(data)) && n <= f.config.Limits.Body {
		data = make([]byte, 0, n+n/8+1) // the next call of the conversation is a little longer
	}
	for {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := from.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		*kept = data
		var large *http.MaxBytesError
		switch {
		case err == nil:
		case errors.Is(err, io.EOF) && bounded:
			// Otherwise the deadline would be taken for the client's end.
			return data, release, control.SetReadDeadline(time.Time{})
		case errors.Is(err, io.EOF):
			return data, release, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, release, errSlow
		case errors.As(err, &large):
			return nil, release, err
		default:
			return nil, release, &badCall{err}
		}
	}
}
