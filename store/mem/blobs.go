package mem

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/turn"
)

// PutBlob implements [turn.BlobRows].
func (r logRows) PutBlob(ctx context.Context, tenant string, b turn.Blob, at time.Time, segment, seq int64) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	key := blobKey{tenant, b.SHA256}
	kept, there := r.data.blobs[key]
	if !there {
		if b.Data == nil {
			return turn.ErrNotFound
		}
		kept.data = bytes.Clone(b.Data)
	}
	kept.wanted = at
	if i, there := findRef(kept.refs, place{segment, seq}); !there {
		kept.refs = insertAt(kept.refs, i, place{segment, seq})
	}
	put(r.tx, r.data.blobs, key, kept)
	return nil
}

func findRef(refs []place, p place) (int, bool) {
	return slices.BinarySearchFunc(refs, p, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.segment, b.segment), cmp.Compare(a.seq, b.seq))
	})
}

// Blob implements [turn.BlobRows].
func (r logRows) Blob(ctx context.Context, tenant, sha256 string) (turn.Blob, error) {
	if err := r.reading(ctx); err != nil {
		return turn.Blob{}, err
	}
	b, ok := r.data.blobs[blobKey{tenant, sha256}]
	if !ok {
		return turn.Blob{}, turn.ErrNotFound
	}
	return turn.Blob{SHA256: sha256, Size: int64(len(b.data)), Data: bytes.Clone(b.data)}, nil
}

// BlobSize implements [turn.BlobRows].
func (r logRows) BlobSize(ctx context.Context, tenant, sha256 string) (int64, error) {
	if err := r.reading(ctx); err != nil {
		return 0, err
	}
	b, ok := r.data.blobs[blobKey{tenant, sha256}]
	if !ok {
		return 0, turn.ErrNotFound
	}
	return int64(len(b.data)), nil
}

// LooseBlobs implements [turn.BlobRows].
func (r logRows) LooseBlobs(ctx context.Context, wantedBefore time.Time, limit int) ([]turn.BlobKey, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var found []turn.BlobKey
	for key, b := range r.data.blobs {
		if len(found) >= limit {
			break
		}
		if b.looseSince(wantedBefore) {
			found = append(found, turn.BlobKey{Tenant: key.tenant, SHA256: key.sha256})
		}
	}
	return found, nil
}

// SweepBlobs implements [turn.BlobRows].
func (r logRows) SweepBlobs(ctx context.Context, wantedBefore time.Time, blobs []turn.BlobKey) (int64, error) {
	if err := r.writing(ctx); err != nil {
		return 0, err
	}
	var swept int64
	for _, b := range blobs {
		key := blobKey{b.Tenant, b.SHA256}
		if kept, there := r.data.blobs[key]; there && kept.looseSince(wantedBefore) {
			remove(r.tx, r.data.blobs, key)
			swept++
		}
	}
	return swept, nil
}

func (b blob) looseSince(t time.Time) bool { return len(b.refs) == 0 && b.wanted.Before(t) }

// TextMark implements [turn.TextRows]. Nothing is ever indexed: a search reads every turn with the
// analyser itself. That makes this store the measure of the others, whose indexes must find
// exactly the same, and it spares memory that nothing would ever give back.
func (r logRows) TextMark(ctx context.Context, _ string, _ int64) (int64, error) {
	return 0, r.reading(ctx)
}

// TextHits implements [turn.TextRows]. No turn is indexed.
func (r logRows) TextHits(ctx context.Context, _ string, _ turn.Span, _ []string, _ turn.RowFilter, _ int) ([]turn.Turn, error) {
	return nil, r.reading(ctx)
}

// TextTails implements [turn.TextRows]. Everything is a tail.
func (r logRows) TextTails(ctx context.Context, _ string, spans []turn.Span) ([]turn.Span, error) {
	return slices.DeleteFunc(slices.Clone(spans), turn.Span.Empty), r.reading(ctx)
}

// TextPlaces implements [turn.TextRows]. No turn is indexed.
func (r logRows) TextPlaces(ctx context.Context, _ string, _ []turn.Span, _ string, _ int) ([]turn.Place, error) {
	return nil, r.reading(ctx)
}
