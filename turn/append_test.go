package turn_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// The rules of appending that every store must hold are in store/storetest.

func (b *book) try(t tester, d turn.Draft) error {
	t.Helper()
	b.ids++
	d.ID = turngen.ID(b.ids)
	sealed, err := d.Seal(limits(t))
	if err != nil {
		t.Fatalf("seal: %v", err)
	}
	return b.store.Update(t.Context(), func(tx store.Tx) error {
		_, err := turn.Append(t.Context(), tx.Log(), b.key, noon, sealed)
		return err
	})
}

func TestASummaryCoversTurnsThatAreInTheLog(t *testing.T) {
	b := newBook(t)
	b.append(t, said(turn.User, "one"), said(turn.User, "two"))
	summary := func(from, to int64) turn.Draft {
		return turn.Draft{Role: turn.System, Kind: turn.KindSummary, Content: turn.Text{Text: "so far"}, Covers: turn.Range{From: from, To: to}}
	}
	refused(t, "itself", b.try(t, summary(1, 3)), "covers", "1–3 goes past turn 2")
	refused(t, "the future", b.try(t, summary(9, 9)), "covers", "9–9 goes past turn 2")
	if err := b.try(t, summary(1, 2)); err != nil {
		t.Error(err)
	}
}

func TestBytesThatAreNotStoredAreRefusedWhereTheyAreNamed(t *testing.T) {
	b := newBook(t)
	unknown := turn.Blob{SHA256: pngHash, Size: 3}
	image := turn.Draft{Role: turn.User, Content: turn.Image{MediaType: "image/png", Blob: unknown}}
	speech := turn.Draft{Role: turn.User, Content: turn.Speech{Transcript: "x", Audio: &turn.Audio{MediaType: "audio/ogg", Blob: unknown}}}
	refused(t, "image", b.try(t, image), "content.sha256", "no bytes with this hash")
	refused(t, "audio", b.try(t, speech), "content.audio.sha256", "no bytes with this hash")
	b.append(t, turn.Draft{Role: turn.User, Content: turn.Image{MediaType: "image/png", Blob: turn.Blob{Data: []byte("png")}}})
	if err := errors.Join(b.try(t, image), b.try(t, speech)); err != nil {
		t.Error(err)
	}
	unknown.Size = 4
	refused(t, "size", b.try(t, turn.Draft{Role: turn.User, Content: turn.Image{MediaType: "image/png", Blob: unknown}}), "content.size", "3 bytes are stored under this hash, not 4")
}

func TestAUsedKeySaysWhatToDo(t *testing.T) {
	b := newBook(t)
	d := said(turn.User, "pay")
	d.IdempotencyKey = "order-1"
	b.append(t, d)
	d.Content = turn.Text{Text: "pay twice"}
	err := b.try(t, d)
	if !errors.Is(err, turn.ErrConflict) || !strings.Contains(err.Error(), `"order-1" was used for turn 1 with another body: conflict; use a new key`) {
		t.Errorf("got %v", err)
	}
}

func TestRawJSONThatDiffersOnlyInTheSpaceAroundItIsTheSameBody(t *testing.T) {
	b := newBook(t)
	d := turn.Draft{Role: turn.User, Content: turn.Action{Name: "x", Payload: " {} "}, IdempotencyKey: "k"}
	b.append(t, d)
	d.Content = turn.Action{Name: "x", Payload: "{}\n"}
	if err := b.try(t, d); err != nil {
		t.Error(err)
	}
}

func TestHistoryRefusesANegativeNumberOfTurns(t *testing.T) {
	b := newBook(t)
	b.read(t, func(rows turn.Rows, info turn.SessionInfo) error {
		_, err := turn.History(t.Context(), rows, info, turn.HistoryOptions{Turns: -1})
		refused(t, "history", err, "turns", "-1 is negative")
		return nil
	})
}

func TestALeaseNeedsATokenThatFitsItsColumn(t *testing.T) {
	b := newBook(t)
	for token, problem := range map[string]string{"": "is missing", long(257): "257 bytes", "\xff": "UTF-8"} {
		err := b.store.Update(t.Context(), func(tx store.Tx) error {
			_, err := turn.Acquire(t.Context(), tx.Log(), b.key, token, noon)
			return err
		})
		refused(t, "token", err, "token", problem)
	}
}

func TestAHeldLeaseSaysUntilWhen(t *testing.T) {
	err := &turn.LeaseHeldError{Session: "s", Until: noon.In(time.FixedZone("", 3600))}
	if got := err.Error(); !strings.Contains(got, "session s") || !strings.Contains(got, "2024-02-29T12:00:00Z; try again then") {
		t.Errorf("got %q", got)
	}
	err.Session = turn.ImportKey("", "01").Session
	if got := err.Error(); got != "an import is under way until 2024-02-29T12:00:00Z; try again then" {
		t.Errorf("got %q", got)
	}
}
