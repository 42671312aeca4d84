package replay

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/turnstone-dev/turnstone/turn"
)

// Decoder reads a bundle record by record, compressed or not, and checks all of it on the way.
//
// A line may be 64 MiB long, or twice the limit of a blob or eight times the limit of a turn's text
// where that is more. A Decoder must not be used concurrently.
type Decoder struct {
	lines  *lines
	check  *checker
	bundle Bundle
	ended  bool
}

// NewDecoder reads the first line of a bundle. Zero limits are the default ones. Close must be
// called in the end; the caller closes r.
//
// Here and in all that follows, a file that is cut off, changed or made against the rules is an
// error that wraps [ErrDamaged], one of a newer format version a *[NewerVersionError], and a turn or
// blob past the limits an error that says so.
func NewDecoder(r io.Reader, l turn.Limits) (*Decoder, error) {
	l, err := l.WithDefaults()
	if err != nil {
		return nil, err
	}
	in, err := newLines(r, l)
	if err != nil {
		return nil, err
	}
	d := &Decoder{lines: in}
	if err := d.manifest(); err != nil {
		in.close()
		return nil, err
	}
	d.check = newChecker(d.bundle, l)
	return d, nil
}

func (d *Decoder) manifest() error {
	line, err := d.lines.next()
	if err != nil {
		return err
	}
	d.lines.add(line)
	d.bundle, err = decodeManifest(line)
	var newer *NewerVersionError
	if err != nil && !errors.As(err, &newer) {
		return damage(1, "%w", err)
	}
	return err
}

// Bundle returns what the bundle says of itself: Version, CreatedAt and Session from the
// beginning, the rest once all records were read.
func (d *Decoder) Bundle() Bundle { return d.bundle }

// Close releases the decompressor.
func (d *Decoder) Close() { d.lines.close() }

// Records returns the records in the order of the file. When it ends without an error the bundle is
// whole; an error is the last thing yielded. It can be ranged over once.
func (d *Decoder) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for {
			r, err := d.next()
			if err == io.EOF || !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// next returns io.EOF after the last record, once the bundle was found to be whole.
func (d *Decoder) next() (Record, error) {
	if d.ended {
		return Record{}, io.EOF
	}
	line, err := d.lines.next()
	if err != nil {
		return Record{}, err
	}
	kind, value, err := split(line)
	if err != nil {
		return Record{}, d.damage(err)
	}
	if kind == "end" {
		if err := d.end(line); err != nil {
			return Record{}, err
		}
		return Record{}, io.EOF
	}
	r, err := decodeRecord(d.bundle.Version, kind, value)
	if err == nil {
		err = d.check.record(r)
	}
	if err != nil {
		return Record{}, d.damage(err)
	}
	d.lines.add(line)
	d.bundle.count(r)
	return r, nil
}

// end holds the last line against what was read.
func (d *Decoder) end(line string) error {
	if err := d.check.end(); err != nil {
		return d.damage(err)
	}
	d.bundle.SHA256 = hex.EncodeToString(d.lines.sum.Sum(nil))
	if want := string(appendEnd(nil, d.bundle)); line != want {
		return d.damage(errors.New("the bundle was changed after it was written: its checksum does not match, or its end is missing"))
	}
	if err := d.lines.finish(); err != nil {
		return err
	}
	d.ended = true
	return nil
}

func (d *Decoder) damage(err error) error {
	var over *overLimit
	if errors.As(err, &over) {
		return fmt.Errorf("bundle: line %d: %w", d.lines.number, err)
	}
	return damage(d.lines.number, "%w", err)
}
