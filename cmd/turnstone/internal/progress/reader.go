package progress

import "io"

// Reader returns r with a bar that follows what is read from it.
func (b *Bar) Reader(r io.Reader) io.Reader { return &reader{r: r, bar: b} }

type reader struct {
	r   io.Reader
	bar *Bar
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.bar.Add(int64(n))
	return n, err
}
