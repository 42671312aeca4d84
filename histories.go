package turnstone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/replay/history"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// ExportHistory writes the whole log of the session as it is now in a format of others, and returns what the
// format has no place for. Compression never touches it.
func (s *Session) ExportHistory(ctx context.Context, w io.Writer, f history.Format) (report history.Report, err error) {
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) (err error) {
		header, err := s.header(ctx, tx, info)
		if err != nil {
			return err
		}
		report, err = history.Export(ctx, w, f, header, turnsOf(ctx, tx, info), func(ctx context.Context, sha256 string) (turn.Blob, error) {
			return tx.Log().Blob(ctx, s.key.Tenant, sha256)
		})
		return err
	})
	if err != nil {
		return history.Report{}, fmt.Errorf("export of %s: %w", s.key.Session, err)
	}
	return report, nil
}

// header is what is known of the whole conversation; of its prompts, what the last one was.
func (s *Session) header(ctx context.Context, tx store.Tx, info turn.SessionInfo) (history.Header, error) {
	call, err := lastCall(ctx, tx, info)
	if err != nil {
		return history.Header{}, err
	}
	model := info.Model
	if model == "" {
		model = call.Model
	}
	profile, _ := s.engine.Profile(model)
	h := history.Header{
		Session: info.Session, Title: info.Title, Model: model, Provider: profile.Provider, User: info.User,
		Started: info.CreatedAt, LastActivity: info.LastActivity,
		Tokens: call.Tokens, Compressions: int(call.Passes),
	}
	return h, nil
}

// turnsOf reads the turns of a session, oldest first, page by page.
func turnsOf(ctx context.Context, tx store.Tx, info turn.SessionInfo) iter.Seq2[turn.Turn, error] {
	const page = 256
	return func(yield func(turn.Turn, error) bool) {
		for _, span := range info.Spans(info.Head) {
			for !span.Empty() {
				turns, err := tx.Log().Scan(ctx, info.Tenant, span, turn.RowFilter{}, page)
				if err != nil {
					yield(turn.Turn{}, err)
					return
				}
				for _, t := range turns {
					t.Session = info.Session
					if !yield(t, nil) {
						return
					}
				}
				if len(turns) < page {
					break
				}
				span.From = turns[len(turns)-1].Seq + 1
			}
		}
	}
}

// ImportOptions say what is read and what becomes of it.
type ImportOptions struct {
	// Format is what is read. Defaults to what the content looks like.
	Format history.Format
	// Session describes the session that is made. What it leaves empty is taken from the input; an id that
	// neither gives is made.
	Session turn.SessionInfo
	// Trajectory and SkipTooLarge are as in [history.Options].
	Trajectory   int
	SkipTooLarge bool
	// MaxTurns is how many turns the input may have. Defaults to no bound.
	MaxTurns int64
	// Progress is told now and then how many turns were read. Every input is read twice. Nil: nobody is told.
	Progress func(turns int64)
}

// ImportHistory makes a session of a conversation in a format of others, and says what could not be carried.
// Words that the system opens it with are pinned, since they are its rules.
//
// The whole input is read and checked first. Then it is written in pieces that appear at once at their end. After an error nothing of
// it is there, and what a crash leaves is swept. Open is called once for each reading, and its answer is closed.
//
// turn.ErrExists if the session is there already.
func (e *Engine) ImportHistory(ctx context.Context, open func() (io.ReadCloser, error), o ImportOptions) (*Session, history.Imported, error) {
	in := &historyInput{open: open, options: o, limits: e.config.Limits}
	got, err := in.read(ctx, e.Blob, func(history.Entry) error { return nil })
	if err != nil {
		return nil, got, fmt.Errorf("import: %w", err)
	}
	if got.Report.Turns == 0 {
		return nil, got, invalid.New("input", "has no turns", "give a conversation that somebody takes part in")
	}
	in.options.Format = got.Format
	session, err := e.imported(o.Session, got.Header)
	if err != nil {
		return nil, got, fmt.Errorf("import: %w", err)
	}
	pieces := replay.NewStagedImport(e.store, session, insertSession)
	w := &historyWriter{engine: e, pieces: pieces}
	again, err := in.read(ctx, e.Blob, func(entry history.Entry) error { return w.take(ctx, entry) })
	if err == nil && again.Report.Turns != got.Report.Turns {
		err = errors.New("the input changed while it was read; try again")
	}
	if err == nil {
		err = w.write(ctx, true)
	}
	if err != nil {
		_ = pieces.Drop(ctx) // what is left is swept
		return nil, got, fmt.Errorf("import of session %s: %w", session.Session, err)
	}
	return &Session{engine: e, key: session.Key}, got, nil
}

// historyInput is an input that can be read more than once.
type historyInput struct {
	open    func() (io.ReadCloser, error)
	options ImportOptions
	limits  turn.Limits
}

func (in *historyInput) read(ctx context.Context, blobs history.Blobs, take func(history.Entry) error) (got history.Imported, err error) {
	file, err := in.open()
	if err != nil {
		return got, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	options := history.Options{
		Limits: in.limits, Trajectory: in.options.Trajectory, SkipTooLarge: in.options.SkipTooLarge, Blobs: blobs,
	}
	turns := int64(0)
	return history.Import(ctx, file, in.options.Format, options, func(entry history.Entry) error {
		if turns++; in.options.Progress != nil && turns%1000 == 0 {
			in.options.Progress(turns)
		}
		if most := in.options.MaxTurns; most > 0 && turns > most {
			return invalid.New("turns", fmt.Sprintf("there are more than %d", most), "raise MaxTurns")
		}
		return take(entry)
	})
}

// imported describes the session that an input becomes.
func (e *Engine) imported(wanted turn.SessionInfo, h history.Header) (turn.SessionInfo, error) {
	if err := checkDescription(wanted); err != nil {
		return wanted, err
	}
	info := turn.SessionInfo{User: h.User, Title: h.Title, Model: h.Model}.Described(wanted)
	info.Session = cmp.Or(wanted.Session, h.Session, e.newID())
	s, err := e.handle(info.Session)
	if err != nil {
		return info, err
	}
	info.Key, info.Status = s.key, turn.Active
	info.CreatedAt = h.Started.UTC()
	return info, info.CheckInfo()
}

// historyWriter appends imported turns, a piece in each update. The session's row is brought up to date at the end of a piece
// only: a row that one transaction changes for every turn costs more with each change.
type historyWriter struct {
	engine *Engine
	pieces *replay.StagedImport
	piece  []history.Entry // not written yet
	size   int             // of it, about, in bytes
	text   []byte
	opened opened
}

// opened is what is known of how the conversation began.
type opened struct {
	pins int64
	talk bool // somebody other than the system has spoken
}

// take collects turns, and writes a piece that is full.
func (w *historyWriter) take(ctx context.Context, entry history.Entry) error {
	w.text = turn.AppendContent(w.text[:0], entry.Content)
	if len(w.piece) >= replay.PieceRows || w.size+len(w.text) > replay.PieceBytes && len(w.piece) > 0 {
		if err := w.write(ctx, false); err != nil {
			return err
		}
	}
	w.piece, w.size = append(w.piece, entry), w.size+len(w.text)
	return nil
}

func (w *historyWriter) write(ctx context.Context, last bool) error {
	opened := w.opened
	err := w.pieces.Write(ctx, last, func(tx store.Tx, session turn.SessionInfo) error {
		p := historyPiece{Rows: tx.Log(), engine: w.engine, prompts: tx.Prompt(), now: tx.Now(), session: session, opened: w.opened}
		for _, entry := range w.piece {
			if err := p.write(ctx, entry); err != nil {
				return err
			}
		}
		opened = p.opened
		return p.flush(ctx)
	})
	w.opened, w.piece, w.size = opened, w.piece[:0], 0
	return err
}

// historyPiece is the update of one piece.
type historyPiece struct {
	turn.Rows
	engine  *Engine
	prompts prompt.Rows
	now     time.Time
	session turn.SessionInfo
	opened
}

// Advance notes what flush writes.
func (w *historyPiece) Advance(_ context.Context, _ turn.Key, head int64, at time.Time) error {
	w.session.Head, w.session.LastActivity = head, at
	return nil
}

// write appends a turn at the time it was said, where the input tells.
func (w *historyPiece) write(ctx context.Context, entry history.Entry) error {
	if entry.ID == "" {
		entry.ID = w.engine.newID()
	}
	sealed, err := entry.Seal(w.engine.config.Limits)
	if err != nil {
		return fmt.Errorf("%s: %w", entry.Place, err)
	}
	at := w.now
	if !entry.At.IsZero() && entry.At.Before(at) {
		at = entry.At.UTC().Truncate(time.Microsecond)
	}
	if _, err := turn.Extend(ctx, w, w.session, at, sealed); err != nil {
		return fmt.Errorf("%s: %w", entry.Place, err)
	}
	return w.pin(ctx, entry)
}

// pin keeps the words that the system opens a conversation with in its prompts: they are its rules.
func (w *historyPiece) pin(ctx context.Context, entry history.Entry) error {
	_, text := entry.Content.(turn.Text)
	if w.talk = w.talk || entry.Role != turn.System; w.talk || !text || entry.Kind == turn.KindSummary || w.pins == prompt.MaxPins {
		return nil
	}
	w.pins++
	return w.prompts.InsertPin(ctx, w.session.Tenant, w.session.Segment, prompt.PinRow{
		Number: w.pins, AfterSeq: w.session.Head, Seq: w.session.Head, Pinned: true, At: w.now,
	})
}

// flush writes the session's row.
func (w *historyPiece) flush(ctx context.Context) error {
	return w.Rows.Advance(ctx, w.session.Key, w.session.Head, w.session.LastActivity)
}

// keepHistory writes the session document into the configured folder, whole or not at all.
func (s *Session) keepHistory(ctx context.Context) error {
	if s.DocumentPath() == "" {
		return nil
	}
	return s.writeDocument(ctx, s.DocumentPath())
}

// writeDocument puts the session document at path.
func (s *Session) writeDocument(ctx context.Context, path string) error {
	err := s.keepFile(ctx, path, func(f *os.File) error {
		_, err := s.ExportHistory(ctx, f, history.Session)
		return err
	})
	if err != nil {
		return fmt.Errorf("session document of %s: %w", s.key.Session, err)
	}
	return nil
}
