package turn_test

import (
	"errors"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/turn"
)

func TestATombstoneReadsUnderEveryRoleAndForm(t *testing.T) {
	for role, forms := range map[turn.Role][]turn.Form{
		turn.Agent: {turn.FormText}, turn.System: {turn.FormText, turn.FormAction},
		turn.User: {turn.FormText, turn.FormSpeech, turn.FormImage, turn.FormAction},
	} {
		for _, form := range forms {
			said := turn.Turn{
				ID: "01JZZZZZZZZZZZZZZZZZZZZZZZ", Seq: 7, Role: role, Form: form, Kind: turn.KindTurn, Content: turn.Text{Text: "a secret"},
				CreatedAt: time.Unix(1, 0).UTC(), IdempotencyKey: "secret", Meta: turn.Meta{Model: "secret"}, MessageID: "m", Unit: 7,
			}
			if said.Gone() {
				t.Fatal("what was said is gone")
			}
			stone := said.Tombstone()
			line := string(stone.AppendJSON(nil))
			got, err := turn.DecodeTurn(line)
			if err != nil || got != stone || !got.Gone() || got.Content.Searchable() != "" {
				t.Errorf("%s/%s: %s became %+v, %v", role, form, line, got, err)
			}
			if stone.Seq != 7 || stone.Unit != 7 || stone.MessageID != "m" || stone.Role != role || stone.Form != form {
				t.Errorf("%s/%s: the tombstone lost its place: %+v", role, form, stone)
			}
			if err := stone.CheckTombstone(); err != nil {
				t.Errorf("%s/%s: %v", role, form, err)
			}
			if _, blob := turn.BlobOf(stone.Content); blob {
				t.Errorf("%s/%s: it refers to bytes", role, form)
			}
		}
	}
}

func TestATombstoneIsNeverAppended(t *testing.T) {
	d := turn.Draft{ID: "01JZZZZZZZZZZZZZZZZZZZZZZZ", Role: turn.User, Content: turn.Forgotten{}}
	var field *turn.FieldError
	if _, err := d.Seal(turn.Limits{}); !errors.As(err, &field) {
		t.Errorf("sealed: %v", err)
	}
	d, err := turn.DecodeDraft(`{"role":"user","content":{"forgotten":true}}`)
	if err == nil {
		d.ID = "01JZZZZZZZZZZZZZZZZZZZZZZZ"
		_, err = d.Seal(turn.Limits{})
	}
	if !errors.As(err, &field) {
		t.Errorf("read and sealed: %v", err)
	}
}

func TestWhatNoForgettingLeaves(t *testing.T) {
	stone := turn.Turn{ID: "01JZZZZZZZZZZZZZZZZZZZZZZZ", Role: turn.User, Form: turn.FormText, Kind: turn.KindTurn, Content: turn.Forgotten{}}
	for name, spoil := range map[string]func(*turn.Turn){
		"a key": func(t *turn.Turn) { t.IdempotencyKey = "k" }, "meta": func(t *turn.Turn) { t.Meta.Tokens = 1 },
		"an id": func(t *turn.Turn) { t.ID = "x" }, "a form": func(t *turn.Turn) { t.Role, t.Form = turn.Agent, turn.FormImage },
		"covers": func(t *turn.Turn) { t.Covers = turn.Range{From: 1, To: 2} },
	} {
		bad := stone
		spoil(&bad)
		var field *turn.FieldError
		if err := bad.CheckTombstone(); !errors.As(err, &field) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
