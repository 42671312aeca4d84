package history

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/turnstone-dev/turnstone/turn"
)

// Header is what a format says of the whole conversation. Zero fields are unknown.
type Header struct {
	Session, Title, Model, Provider, User string
	Started, LastActivity                 time.Time
	Compressions                          int
	Tokens                                int64
}

// Blobs returns the bytes behind a hash, and turn.ErrNotFound where there are none. What it returns is
// only read.
type Blobs func(ctx context.Context, sha256 string) (turn.Blob, error)

// Entry is an imported turn on its way into a log.
type Entry struct {
	// Draft is ready to be appended once it has an ID. ID and IdempotencyKey are set where the input
	// is our own and names them: whoever appends may keep or replace them. The range of a summary
	// counts from the first entry of the import, which is 1; in a session that has turns already,
	// their number is to be added.
	turn.Draft
	// At is when it was said, zero where the input does not say.
	At time.Time
	// Place says where in the input it stands, for people: "line 7", "message 12".
	Place string
}

// Imported is what an import learned besides the turns.
type Imported struct {
	Format Format // the one that was read
	Header Header
	Report Report
}

// Options says how [Import] reads.
type Options struct {
	// Limits bounds what one turn may hold. Zero fields default to those of [turn.Limits].
	Limits turn.Limits
	// SkipTooLarge puts a text that says so in the place of what is larger than the limits, and
	// reports it. Otherwise the first such turn is an error.
	SkipTooLarge bool
	// Trajectory chooses one of the trajectories of a tau file, from 1. It may be 0 where there is
	// one only.
	Trajectory int
	// Blobs looks for the bytes of images and recordings that the input names by their hash alone.
	// What it does not find, and everything when it is nil, is replaced by a text and reported.
	Blobs Blobs
}

// Import reads a conversation and hands its turns to take, in order. An empty format is told from
// the content. What is held in memory is one line or message, the calls that are open and, of a
// session document that is not ours, its whole text, which may be 100 MiB.
//
// Errors are terminal: bad input is a *[turn.FieldError] that names the place, an error of take is
// returned as it is, and what was handed out until then is to be dropped. To know that all of an input
// is good before the first turn is written, read it twice.
func Import(ctx context.Context, r io.Reader, f Format, o Options, take func(Entry) error) (Imported, error) {
	if f != "" && !f.Reads() {
		return Imported{}, f.unusable("read", Format.Reads)
	}
	limits, err := o.Limits.WithDefaults()
	if err != nil {
		return Imported{}, err
	}
	o.Limits = limits
	in, err := newInput(r, limits)
	if err != nil {
		return Imported{}, err
	}
	shape, err := in.shape()
	if err != nil {
		return Imported{}, err
	}
	if f == "" {
		if f, err = shape.format(); err != nil {
			return Imported{}, err
		}
	}
	im := &importer{in: in, shape: shape, got: Imported{Format: f}}
	im.sink = sink{options: o, report: &im.got.Report, take: func(e Entry) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		im.spanned(e.At)
		return take(e)
	}}
	if err := im.read(ctx); err != nil {
		return Imported{}, err
	}
	return im.got, nil
}

// importer reads one input.
type importer struct {
	in    *input
	shape shape
	sink  sink
	got   Imported
	said  Header // the times that the input gives for the whole
}

func (im *importer) read(ctx context.Context) error {
	var err error
	switch {
	case im.got.Format == Session:
		err = im.session(ctx)
	case im.got.Format == Tau:
		err = im.trajectories()
	case im.got.Format == Lines || im.shape.lines():
		err = im.lines(ctx)
	default:
		err = im.document()
	}
	if err != nil {
		return err
	}
	if err := im.sink.finish(); err != nil {
		return err
	}
	h := &im.got.Header
	if !im.said.Started.IsZero() {
		h.Started = im.said.Started
	}
	if !im.said.LastActivity.IsZero() {
		h.LastActivity = im.said.LastActivity
	}
	return nil
}

// Export writes the turns of a conversation, which come in the order of the log, and returns what the
// format has no place for. The same turns always give the same bytes. Blobs is asked for images and,
// by the lossless formats, for recordings; it may be nil where there are none.
//
// A message and the results of its calls are written together: turns that stand between them in the
// log are held back, without their bytes. The session document needs two passes: turns is ranged over
// twice and must give the same both times. Errors are terminal; what was written until then is no
// whole document.
func Export(ctx context.Context, w io.Writer, f Format, h Header, turns iter.Seq2[turn.Turn, error], blobs Blobs) (Report, error) {
	if !f.Writes() {
		return Report{}, f.unusable("written", Format.Writes)
	}
	e := &exporter{out: bufio.NewWriterSize(w, 64<<10), header: h, turns: turns, blobs: blobs}
	var err error
	switch f {
	case Session:
		err = e.session(ctx)
	case Lines:
		err = e.lines(ctx)
	case OpenAI:
		e.talk = true
		err = e.openAI(ctx)
	case Anthropic:
		e.talk = true
		err = e.anthropic(ctx)
	default:
		err = e.markdown(ctx)
	}
	if err == nil {
		err = e.out.Flush()
	}
	if err != nil {
		return Report{}, fmt.Errorf("export %s: %w", f, err)
	}
	return e.report, nil
}

// exporter writes one conversation.
type exporter struct {
	out    *bufio.Writer
	header Header
	turns  iter.Seq2[turn.Turn, error]
	blobs  Blobs
	report Report
	talk   bool // only what was said and done
}

// spanned widens the header's times to one more turn's.
func (im *importer) spanned(at time.Time) {
	h := &im.got.Header
	if at.IsZero() {
		return
	}
	if h.Started.IsZero() {
		h.Started = at
	}
	h.LastActivity = at
}
