package turn

// Limits bounds what one turn may hold. Past a bound an append is refused and nothing is stored.
type Limits struct {
	// Text bounds the bytes of all text of a turn together: text, thinking and tool-call
	// arguments, transcript, payload or result. Defaults to 4 MiB.
	Text int64
	// Blob bounds the bytes of an image or of recorded audio. Defaults to 20 MiB.
	Blob int64
	// Calls bounds the tool calls of one agent turn. Defaults to 256.
	Calls int
}

// maxName bounds names and keys for good, so that they always fit an index.
const maxName = 256

// WithDefaults returns the limits with zero fields set to their defaults. The error names a field
// that is negative.
func (l Limits) WithDefaults() (Limits, error) {
	if l.Text < 0 || l.Blob < 0 || l.Calls < 0 {
		return l, fieldErrorf("limits", "use 0 for the default or a positive number", "negative limit %+v", l)
	}
	if l.Text == 0 {
		l.Text = 4 << 20
	}
	if l.Blob == 0 {
		l.Blob = 20 << 20
	}
	if l.Calls == 0 {
		l.Calls = 256
	}
	return l, nil
}
