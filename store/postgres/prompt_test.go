package postgres_test

import (
	"errors"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/turn"
)

// A database of the second version is brought to the newest one, keeps what is in it and holds prompts.
func TestADatabaseOfTheSecondVersion(t *testing.T) {
	alone(t)
	address := pgtest.URL(t)
	admin := connect(t, address)
	ofVersion(t, admin, 2)
	execute(t, admin, `
		INSERT INTO sessions VALUES ('default', 's', 1, '', '', '', '', 'active', NULL, 0, 1, 0, 0);
		INSERT INTO turns (tenant, segment, seq, turn_id, role, form, created_at, content)
			VALUES ('default', 1, 1, '01J00000000000000000000000', 'user', 'text', 0, '{"text":"from before"}');
		INSERT INTO digests VALUES ('default', 1, 1, '{}', 0)`, simple)
	s := open(t, address, postgres.Config{})
	if turns := log(t, s, turn.Key{Tenant: "default", Session: "s"}); len(turns) != 1 || turns[0].Content.(turn.Text).Text != "from before" {
		t.Errorf("turns %+v", turns)
	}
	along, noon := []span.Span{{Segment: 1, From: 1, To: 1}}, time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	e := prompt.EpochRow{Number: 1, AfterSeq: 1, Doc: `{}`, At: noon}
	c := prompt.CallRow{Number: 1, End: 1, Epoch: 1, Doc: `{}`, SHA256: "x", At: noon}
	err := s.Update(t.Context(), func(tx store.Tx) error {
		if _, ok, err := tx.Memory().Digest(t.Context(), "default", 1); !ok || err != nil {
			t.Errorf("the digest from before: %v, %v", ok, err)
		}
		return errors.Join(
			tx.Prompt().InsertEpoch(t.Context(), "default", 1, e), tx.Prompt().InsertCall(t.Context(), "default", 1, c),
			tx.Prompt().InsertPin(t.Context(), "default", 1, prompt.PinRow{Number: 1, AfterSeq: 1, Seq: 1, Pinned: true, At: noon}),
			tx.Prompt().PutMaterial(t.Context(), "default", "x", "text", noon),
			tx.Budget().PutCalibration(t.Context(), "default", budget.CalibrationRow{Model: "m", Doc: `{}`, At: noon}))
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.View(t.Context(), func(tx store.Tx) error {
		epoch, err := tx.Prompt().LastEpoch(t.Context(), "default", along)
		call, err2 := tx.Prompt().LastCall(t.Context(), "default", along, 1)
		if epoch != e || call != c {
			t.Errorf("epoch %+v, call %+v", epoch, call)
		}
		return errors.Join(err, err2)
	})
	if err != nil {
		t.Error(err)
	}
}

// The last prompt before a turn, and the last epoch, are found among many without looking at the others.
func TestTheLastPromptIsFoundAmongMany(t *testing.T) {
	alone(t)
	address := pgtest.URL(t)
	s := open(t, address, postgres.Config{})
	admin := connect(t, address)
	fill := func(from, to int) {
		execute(t, admin, `INSERT INTO epochs SELECT 'default', 1, n, n, repeat('d', 500), 0 FROM generate_series($1::bigint, $2) n`, from, to)
		execute(t, admin, `INSERT INTO prompts SELECT 'default', 1, n, n, 1, repeat('d', 500), 'x', 0 FROM generate_series($1::bigint, $2) n`, from, to)
		execute(t, admin, `TRUNCATE prompt_ends`)
		execute(t, admin, postgres.LoadEnds)
	}
	for round, analyzed := range []bool{false, true} {
		fill(round*20_000+1, round*20_000+20_000)
		if analyzed {
			execute(t, admin, `INSERT INTO epochs SELECT 'default', 2 + n / 2, n % 2 + 1, n, repeat('d', 500), 0 FROM generate_series(1, 20000) n`)
			execute(t, admin, `ANALYZE epochs, prompts, prompt_ends`)
		}
		for _, end := range []int64{1, 10_000, 1<<63 - 1} {
			if n := pages(t, s, postgres.LastCallSQL, "default", []int64{1, 2}, []int64{1<<63 - 1, 9}, end); n > 20 {
				t.Errorf("analyzed %v, up to turn %d: %d pages were looked at for a prompt", analyzed, end, n)
			}
		}
		for _, end := range []int64{1, 10_000, 1<<63 - 1} {
			if n := pages(t, s, postgres.LastEpochSQL, "default", []int64{1, 2}, []int64{end, 9}); n > 20 {
				t.Errorf("analyzed %v, up to turn %d: %d pages were looked at for an epoch", analyzed, end, n)
			}
		}
	}
}

// Two that note calls of different numbers which end with the same turn wait for each other, and the
// highest is the last one.
func TestTwoPromptsEndWithOneTurn(t *testing.T) {
	alone(t)
	address := pgstore.URL(t)
	s := open(t, address, postgres.Config{})
	admin := connect(t, address)
	along := []span.Span{{Segment: 1, From: 1, To: 9}}
	note := func(number int64, then func(store.Tx) error) error {
		return s.Update(t.Context(), func(tx store.Tx) error {
			c := prompt.CallRow{Number: number, End: 5, Epoch: 1, Doc: `{}`, At: time.UnixMicro(0).UTC()}
			if err := tx.Prompt().InsertCall(t.Context(), "default", 1, c); err != nil {
				return err
			}
			return then(tx)
		})
	}
	other := make(chan error, 1)
	err := note(2, func(tx store.Tx) error {
		if _, err := tx.Prompt().LastCall(t.Context(), "default", along, 9); err != nil {
			return err
		}
		go func() { other <- note(1, func(store.Tx) error { return nil }) }()
		await(t, admin, 1, `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO prompt_ends%'`)
		return nil
	})
	if err := errors.Join(err, <-other); err != nil {
		t.Fatal(err)
	}
	err = s.View(t.Context(), func(tx store.Tx) error {
		c, err := tx.Prompt().LastCall(t.Context(), "default", along, 9)
		if c.Number != 2 {
			t.Errorf("the last one is %d", c.Number)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
