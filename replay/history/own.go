package history

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/turn"
)

// own takes turns that we wrote ourselves.
type own struct {
	*sink
	seqs   []int64 // of the turns that were handed out, rising
	places []int64 // where they stand among the entries, from 1
	seen   map[uint64]bool
}

// once returns an id or key unless it was there before: no log takes one twice. What is kept of it is
// a hash, as the worst that two equal ones can do is to lose one that could have stayed.
func (o *own) once(p place, kind, id string) string {
	if id == "" {
		return ""
	}
	h := fnv.New64a()
	// Writing to a hash never fails.
	if _, err := io.WriteString(h, kind+id); err != nil || o.seen[h.Sum64()] {
		o.report.lose(kind+" that stand twice", p, "left out")
		return ""
	}
	if o.seen == nil {
		o.seen = map[uint64]bool{}
	}
	o.seen[h.Sum64()] = true
	return id
}

// turn hands out a turn as it was. Its seq may be 0 where the input does not say.
func (o *own) turn(ctx context.Context, p place, t turn.Turn) error {
	if n := len(o.seqs); n > 0 && t.Seq <= o.seqs[n-1] {
		return invalid.New(p.String()+": seq", fmt.Sprintf("%d comes after %d", t.Seq, o.seqs[n-1]), "give the turns of one session, oldest first")
	}
	d := turn.Draft{
		ID: t.ID, Role: t.Role, Kind: t.Kind, Content: t.Content, Covers: t.Covers,
		MessageID: t.MessageID, IdempotencyKey: t.IdempotencyKey, Meta: t.Meta,
	}
	if t.Gone() {
		o.report.lose("what was forgotten", p, "kept as "+turn.ForgottenText)
		d.Content = turn.Text{Text: turn.ForgottenText}
	}
	if d.ID != "" && !ids.Valid(d.ID) {
		o.report.lose("turn ids that are no ULIDs", p, "left out")
		d.ID = ""
	}
	d.ID, d.IdempotencyKey = o.once(p, "turn ids", d.ID), o.once(p, "idempotency keys", d.IdempotencyKey)
	if d.Kind == turn.KindSummary {
		o.renumber(p, &d)
	}
	var err error
	if d.Content, err = o.bytes(ctx, p, d.Content); err != nil {
		return err
	}
	o.seqs, o.places = append(o.seqs, t.Seq), append(o.places, int64(o.report.Turns)+1)
	at := t.CreatedAt.UTC().Truncate(time.Microsecond)
	if c, ok := d.Content.(turn.Result); ok {
		out := outcome{id: c.CallID, name: c.Name, status: c.Status, result: c.Result, synthetic: c.Synthetic, envelope: d}
		return o.result(p, out, at)
	}
	return o.say(p, d, at)
}

// renumber makes the range of a summary count from the first turn of the import.
func (o *own) renumber(p place, d *turn.Draft) {
	from, _ := slices.BinarySearch(o.seqs, d.Covers.From)
	to, found := slices.BinarySearch(o.seqs, d.Covers.To)
	if found {
		to++
	}
	if from >= to {
		o.report.lose("summaries of turns that are not there", p, "kept as texts of the system")
		d.Kind, d.Covers = turn.KindTurn, turn.Range{}
		return
	}
	d.Covers = turn.Range{From: o.places[from], To: o.places[to-1]}
}

// bytes looks for bytes that the content names by their hash alone.
func (o *own) bytes(ctx context.Context, p place, c turn.Content) (turn.Content, error) {
	b, ok := turn.BlobOf(c)
	if !ok || b.Data != nil {
		return c, nil
	}
	if o.options.Blobs != nil {
		stored, err := o.options.Blobs(ctx, b.SHA256)
		if err != nil && !errors.Is(err, turn.ErrNotFound) {
			return nil, fmt.Errorf("%v: blob %s: %w", p, b.SHA256, err)
		}
		if err == nil {
			return withBlob(c, stored), nil
		}
	}
	o.report.lose("images and recordings without their bytes", p, "images replaced by a text, recordings left out")
	return withoutBlob(c, fmt.Sprintf("[image %.60s of %d bytes left out: only its hash is given, %.64s]", mediaType(c), b.Size, b.SHA256)), nil
}

// withBlob is the content with other bytes.
func withBlob(c turn.Content, b turn.Blob) turn.Content {
	switch c := c.(type) {
	case turn.Image:
		c.Blob = b
		return c
	case turn.Speech:
		audio := *c.Audio
		audio.Blob = b
		c.Audio = &audio
		return c
	}
	return c
}
