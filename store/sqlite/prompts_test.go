package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// A file of the second version is brought to the newest one, keeps what is in it and holds prompts.
func TestAFileOfTheSecondVersion(t *testing.T) {
	alone(t)
	path := filepath.Join(t.TempDir(), "old.db")
	var old strings.Builder
	for _, name := range []string{"0001_log.sql", "0002_commit.sql"} {
		text, err := os.ReadFile("migrations/" + name)
		if err != nil {
			t.Fatal(err)
		}
		old.Write(text)
	}
	rawSQL(t, path, old.String()+`
		CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL);
		INSERT INTO schema_migrations VALUES (1, 'log', 0), (2, 'commit', 0);
		INSERT INTO sessions VALUES (1, 'default', 's', '', '', '', '', 'active', NULL, 0, 1, 0, 0);
		INSERT INTO turns (tenant, segment, seq, turn_id, role, form, created_at, content)
			VALUES ('default', 1, 1, '01J00000000000000000000000', 'user', 'text', 0, '{"text":"from before"}');
		INSERT INTO digests (tenant, segment, through_seq, changed_at, doc) VALUES ('default', 1, 1, 0, '{}');`)
	s := open(t, path, sqlite.Config{})
	if diff := cmp.Diff([]string{"from before"}, texts(log(t, s, key("s")))); diff != "" {
		t.Error(diff)
	}
	along := []span.Span{{Segment: 1, From: 1, To: 1}}
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

// No query over prompts walks a whole table or sorts.
func TestPlansOfPrompts(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	create(t, s, key("s"))
	plans, err := s.Plans(t.Context(), func(tx store.Tx) error {
		ctx, spans := t.Context(), []span.Span{{Segment: 1, From: 1, To: 9}, {Segment: 2, From: 1, To: 9}}
		missing := func(err error) error {
			if errors.Is(err, prompt.ErrNotFound) {
				return nil
			}
			return fmt.Errorf("nothing is there: %w", err)
		}
		_, err := tx.Prompt().LastEpoch(ctx, "default", spans)
		_, err2 := tx.Prompt().Epoch(ctx, "default", spans, 1)
		_, err3 := tx.Prompt().LastCall(ctx, "default", spans, 9)
		_, err4 := tx.Prompt().Material(ctx, "default", "x")
		errs := []error{missing(err), missing(err2), missing(err3), missing(err4)}
		_, err = tx.Prompt().Epochs(ctx, "default", spans, 0, 10)
		_, err2 = tx.Prompt().Calls(ctx, "default", spans, 0, 10)
		_, err3 = tx.Prompt().Pins(ctx, "default", spans)
		_, _, err4 = tx.Budget().Calibration(ctx, "default", "m")
		_, err5 := tx.Budget().Calibrations(ctx, "default")
		return errors.Join(append(errs, err, err2, err3, err4, err5)...)
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for sql, plan := range plans {
		for _, line := range plan {
			if strings.HasPrefix(line, "SCAN") || strings.Contains(line, "TEMP B-TREE") {
				t.Errorf("%s\n\t%s", sql, line)
			}
			if strings.Contains(line, "prompt_ends") && strings.Contains(line, "end_seq<?") {
				seen++
			}
		}
	}
	if len(plans) < 9 || seen != 2 {
		t.Errorf("%d statements were looked at, %d of them look for an end", len(plans), seen)
	}
}

// The last prompt and the last epoch before a turn are found among many without looking at those after it.
func TestTheLastPromptIsFoundAmongMany(t *testing.T) {
	alone(t)
	const n = 5000
	s := openNew(t, sqlite.Config{})
	info := create(t, s, key("s"))
	err := s.Update(t.Context(), func(tx store.Tx) error {
		for i := range int64(n) {
			c := prompt.CallRow{Number: i + 1, End: 2 * (i + 1), Epoch: 1, Doc: `{}`, SHA256: "x", At: noon}
			if err := tx.Prompt().InsertCall(t.Context(), info.Tenant, info.Segment, c); err != nil {
				return err
			}
			e := prompt.EpochRow{Number: i + 1, AfterSeq: 2 * (i + 1), Doc: `{}`, At: noon}
			if err := tx.Prompt().InsertEpoch(t.Context(), info.Tenant, info.Segment, e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range []int64{3, n, 3 * n} {
		ctx := &countedContext{Context: t.Context()}
		err := s.View(ctx, func(tx store.Tx) error {
			c, err := tx.Prompt().LastCall(ctx, info.Tenant, []span.Span{{Segment: info.Segment, To: 1 << 62}}, end)
			e, err2 := tx.Prompt().LastEpoch(ctx, info.Tenant, []span.Span{{Segment: info.Segment, To: end}})
			if want := min(end/2, n); c.Number != want || e.Number != want {
				t.Errorf("up to turn %d: prompt %d, epoch %d; want %d", end, c.Number, e.Number, want)
			}
			return errors.Join(err, err2)
		})
		if err != nil || ctx.looks.Load() > 8 {
			t.Errorf("up to turn %d: %d looks, %v", end, ctx.looks.Load(), err)
		}
	}
}
