package record

import "sync"

// buffers are kept from one record to the next: what is written ends as a string, and a buffer that is
// made for it would be thrown away at once.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// keep is how large a buffer may be to be kept.
const keep = 1 << 20

// String returns what write appends. The buffer is not write's to keep.
func String(write func(dst []byte) []byte) string {
	b := buffers.Get().(*[]byte)
	dst := write((*b)[:0])
	s := string(dst)
	if cap(dst) <= keep {
		*b = dst
		buffers.Put(b)
	}
	return s
}
