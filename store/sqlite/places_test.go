package sqlite_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// manyRows is more than ever wait to be indexed together, of turns and of versions.
const manyRows = 2500

// appendEvenly gives each of the sessions, in turns, so many turns, the n-th of which says "n", and a version of its goal
// with each.
func appendEvenly(t *testing.T, s *sqlite.Store, sessions []turn.SessionInfo, from, to int64) {
	t.Helper()
	err := s.Update(t.Context(), func(tx store.Tx) error {
		for n := from; n <= to; n++ {
			for _, info := range sessions {
				if err := insertNumbered(t, tx, info, n, newID()); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func insertNumbered(t *testing.T, tx store.Tx, info turn.SessionInfo, n int64, id string) error {
	role := []turn.Role{turn.User, turn.Agent}[n%2]
	x := turn.Turn{Seq: n, ID: id, Role: role, Form: turn.FormText, CreatedAt: noon, Kind: turn.KindTurn}
	err := tx.Log().InsertTurns(t.Context(), info.Tenant, info.Segment, turn.Row{Turn: x, Encoded: turn.EncodedAs(fmt.Sprintf(`{"text":"%d"}`, n))})
	return errors.Join(err, tx.Cortex().InsertVersion(t.Context(), info.Tenant, info.Segment, goalVersion(n)))
}

func goalVersion(n int64) cortex.Row {
	return cortex.Row{Kind: cortex.KindGoal, ID: "goal", Version: n, AfterSeq: n, Live: true, Doc: "{}", Change: "{}", At: noon}
}

func manySessions(t *testing.T, s *sqlite.Store, n int) []turn.SessionInfo {
	t.Helper()
	sessions := make([]turn.SessionInfo, n)
	for i := range sessions {
		sessions[i] = create(t, s, key(fmt.Sprint("s", i)))
	}
	return sessions
}

func numbers(turns []turn.Turn) []int64 {
	var seqs []int64
	for _, x := range turns {
		seqs = append(seqs, x.Seq)
	}
	return seqs
}

func upTo(from, to int64) []int64 {
	var seqs []int64
	for n := from; n <= to; n++ {
		seqs = append(seqs, n)
	}
	return seqs
}

func backwards(seqs []int64) []int64 {
	slices.Reverse(seqs)
	return seqs
}

// Whatever is read of turns and versions is read across both parts of their indexes.
func TestReadingAcrossBothPartsOfAnIndex(t *testing.T) {
	alone(t)
	s := openNew(t, sqlite.Config{})
	sessions := manySessions(t, s, 3)
	appendEvenly(t, s, sessions, 1, manyRows/3)
	appendEvenly(t, s, sessions, manyRows/3+1, manyRows/3+50)
	last := int64(manyRows/3 + 50)
	for _, part := range []string{"turn_places", "turn_places_new", "intention_places", "intention_places_new"} {
		if n := s.Number(t, `SELECT count(*) FROM `+part); n < 100 {
			t.Fatalf("%s has %d rows", part, n)
		}
	}
	border := s.Number(t, `SELECT max(place & 0xffffffff) FROM turn_places WHERE place >> 32 = 2`)
	info := sessions[1]
	span := turn.Span{Segment: info.Segment, From: border - 5, To: border + 5}
	view(t, s, func(tx store.Tx) error {
		for _, c := range []struct {
			span  turn.Span
			f     turn.RowFilter
			limit int
			want  []int64
		}{
			{turn.Span{Segment: info.Segment, From: 1, To: last}, turn.RowFilter{}, manyRows, upTo(1, last)},
			{turn.Span{Segment: info.Segment, From: 1, To: last}, turn.RowFilter{Newest: true}, manyRows, backwards(upTo(1, last))},
			{span, turn.RowFilter{}, 100, upTo(span.From, span.To)},
			{span, turn.RowFilter{}, 7, upTo(span.From, span.From+6)},
			{span, turn.RowFilter{Newest: true}, 7, backwards(upTo(span.To-6, span.To))},
			{span, turn.RowFilter{Newest: true, Utterances: true}, 7, backwards(upTo(span.To-6, span.To))},
			{turn.Span{Segment: info.Segment, From: border, To: border + 1}, turn.RowFilter{Role: turn.User}, 9, []int64{border + border%2}},
		} {
			found, err := tx.Log().Scan(t.Context(), info.Tenant, c.span, c.f, c.limit)
			if diff := cmp.Diff(c.want, numbers(found)); diff != "" || err != nil {
				t.Errorf("%+v %+v: %v\n%s", c.span, c.f, err, diff)
			}
		}
		for n := border - 3; n <= border+3; n++ {
			at, err := tx.Log().TurnsAt(t.Context(), info.Tenant, []turn.Place{{Segment: info.Segment, Seq: n}})
			if err != nil || len(at) != 1 || at[0].Seq != n || at[0].Segment != info.Segment {
				t.Errorf("at %d: %+v, %v", n, at, err)
			}
			spans := []turn.Span{{Segment: info.Segment, From: 1, To: n}}
			newest, err := tx.Cortex().Newest(t.Context(), info.Tenant, spans, true)
			if err != nil || len(newest) != 1 || newest[0].Version != n {
				t.Errorf("newest until %d: %+v, %v", n, newest, err)
			}
			versions, err := tx.Cortex().Versions(t.Context(), info.Tenant, spans, cortex.KindGoal, "goal")
			if err != nil || int64(len(versions)) != n || versions[0].Version != 1 || versions[n-1].Version != n {
				t.Errorf("versions until %d: %d, %v", n, len(versions), err)
			}
		}
		var places []turn.Place
		for n := span.From; n <= span.To; n++ {
			places = append(places, turn.Place{Segment: info.Segment, Seq: n})
		}
		found, err := tx.Log().TurnsAt(t.Context(), info.Tenant, places)
		var seqs []int64
		for _, x := range found {
			seqs = append(seqs, x.Seq)
		}
		if diff := cmp.Diff(upTo(span.From, span.To), seqs); err != nil || diff != "" {
			t.Errorf("turns one after the other: %v\n%s", err, diff)
		}
		if at, err := tx.Log().TurnsAt(t.Context(), "other", []turn.Place{{Segment: info.Segment, Seq: 1}}); err != nil || len(at) != 0 {
			t.Errorf("of another tenant: %+v, %v", at, err)
		}
		return nil
	})
	healthy(t, s)
}

func view(t *testing.T, s *sqlite.Store, fn func(store.Tx) error) {
	t.Helper()
	if err := s.View(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func healthy(t *testing.T, s *sqlite.Store) {
	t.Helper()
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("check: %v, %v", problems, err)
	}
}

// A turn that is no utterance knows where the silence began, also when the turn before it has just gone to the other part.
func TestASilenceAcrossBothPartsOfAnIndex(t *testing.T) {
	alone(t)
	s := openNew(t, sqlite.Config{})
	info := create(t, s, key("s"))
	err := s.Update(t.Context(), func(tx store.Tx) error {
		for n := int64(1); n <= manyRows; n++ {
			x := turn.Turn{Seq: n, ID: newID(), Role: turn.System, Form: turn.FormText, CreatedAt: noon, Kind: turn.KindTurn}
			if n == 1 {
				x.Role = turn.User
			}
			if err := tx.Log().InsertTurns(t.Context(), info.Tenant, info.Segment, turn.Row{Turn: x, Encoded: turn.EncodedAs(`{"text":""}`)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Number(t, `SELECT count(*) FROM turns WHERE seq > 1 AND quiet_since IS NOT 1`); n != 0 {
		t.Errorf("%d turns do not know that nothing was said since the first", n)
	}
}

// Turns that are written several at a time know where the silence began as if they were written one by one.
func TestASilenceAmongTurnsWrittenTogether(t *testing.T) {
	alone(t)
	s := openNew(t, sqlite.Config{})
	info := create(t, s, key("s"))
	random := rand.New(rand.NewPCG(1, 2))
	roles := []turn.Role{turn.User, turn.Agent, turn.System, turn.System, turn.System}
	forms := []turn.Form{turn.FormText, turn.FormSpeech, turn.FormAction}
	want, said := make(map[int64]int64), int64(0) // what was said last, for each turn that nobody said
	seq := int64(0)
	for seq < manyRows {
		rows := make([]turn.Row, 1+random.IntN(9))
		for i := range rows {
			seq++
			x := turn.Turn{Seq: seq, ID: newID(), Role: roles[random.IntN(len(roles))], Form: forms[random.IntN(len(forms))], CreatedAt: noon, Kind: turn.KindTurn}
			if x.Role == turn.System || x.Form == turn.FormAction {
				want[seq] = said
			} else {
				said = seq
			}
			rows[i] = turn.Row{Turn: x, Encoded: turn.EncodedAs(`{}`)}
		}
		err := s.Update(t.Context(), func(tx store.Tx) error {
			return tx.Log().InsertTurns(t.Context(), info.Tenant, info.Segment, rows...)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := s.Number(t, `SELECT count(*) FROM turn_places`); n < manyRows/2 {
		t.Errorf("%d places joined the others", n)
	}
	for seq := int64(1); seq <= manyRows; seq++ {
		since, quiet := want[seq]
		if !quiet {
			since = -1
		}
		if got := s.Number(t, fmt.Sprintf(`SELECT coalesce(quiet_since, -1) FROM turns WHERE id = %d`, seq)); got != since {
			t.Errorf("nothing was said before turn %d since %d, want %d", seq, got, since)
		}
	}
	healthy(t, s)
}

// Turns are inserted together that follow one another, unless that would hold much in memory at once.
func TestTurnsThatAreInsertedTogether(t *testing.T) {
	row := func(seq int64, size int) turn.Row {
		return turn.Row{Turn: turn.Turn{Seq: seq}, Encoded: turn.EncodedAs(strings.Repeat("x", size))}
	}
	for _, c := range []struct {
		rows []turn.Row
		want int
	}{
		{[]turn.Row{row(7, 9)}, 1},
		{[]turn.Row{row(7, 9), row(8, 9), row(9, 9)}, 3},
		{[]turn.Row{row(7, 9), row(8, 9), row(10, 9)}, 2},
		{[]turn.Row{row(7, 9), row(6, 9)}, 1},
		{[]turn.Row{row(1, 9), row(2, 9), row(3, 9), row(4, 9), row(5, 9)}, 4},
		{[]turn.Row{row(1, 9), row(2, 64<<10)}, 1},
		{[]turn.Row{row(1, 64<<10), row(2, 9)}, 1},
		{[]turn.Row{row(1, 30<<10), row(2, 30<<10), row(3, 30<<10)}, 2},
	} {
		if n := sqlite.AtOnce(c.rows); n != c.want {
			t.Errorf("%d of %d turns from %d on, want %d", n, len(c.rows), c.rows[0].Seq, c.want)
		}
	}
}

// A place that is taken is refused, in whichever part it is, and nothing is left of what was refused.
func TestAPlaceThatIsTaken(t *testing.T) {
	alone(t)
	s := openNew(t, sqlite.Config{})
	sessions := manySessions(t, s, 1)
	appendEvenly(t, s, sessions, 1, manyRows)
	before := s.Number(t, `SELECT (SELECT count(*) FROM turns) + (SELECT count(*) FROM intentions)`)
	err := s.Update(t.Context(), func(tx store.Tx) error {
		for _, n := range []int64{1, manyRows} {
			rows := make([]turn.Row, 2)
			for i := range rows {
				x := turn.Turn{Seq: n + int64(i), ID: newID(), Role: turn.User, Form: turn.FormText, CreatedAt: noon, Kind: turn.KindTurn}
				rows[i] = turn.Row{Turn: x, Encoded: turn.EncodedAs(`{"text":""}`)}
				if err := tx.Log().InsertTurns(t.Context(), "default", sessions[0].Segment, rows[:i+1]...); !errors.Is(err, turn.ErrConflict) {
					t.Errorf("%d turns from %d on: %v", i+1, n, err)
				}
			}
			if err := tx.Cortex().InsertVersion(t.Context(), "default", sessions[0].Segment, goalVersion(n)); !errors.Is(err, cortex.ErrStale) {
				t.Errorf("version %d: %v", n, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if after := s.Number(t, `SELECT (SELECT count(*) FROM turns) + (SELECT count(*) FROM intentions)`); after != before {
		t.Errorf("%d rows, then %d", before, after)
	}
	healthy(t, s)
}

// Rows that are deleted lose their places, in both parts, and those that are changed keep them.
func TestForgettingInBothPartsOfAnIndex(t *testing.T) {
	alone(t)
	s := openNew(t, sqlite.Config{})
	sessions := manySessions(t, s, 2)
	appendEvenly(t, s, sessions, 1, manyRows/2)
	for _, table := range []string{"turns", "intentions"} {
		schema, err := store.Rewritable(table, store.Among{Segments: []int64{1}})
		if err != nil {
			t.Fatal(err)
		}
		content := map[string]string{"turns": "content", "intentions": "doc"}[table]
		err = s.Update(t.Context(), func(tx store.Tx) error {
			gone, err := tx.Forgetting().Rewrite(t.Context(), "default", table, store.Among{Segments: []int64{sessions[0].Segment}},
				func([]any) (store.Verdict, error) { return store.Delete, nil })
			changed, err2 := tx.Forgetting().Rewrite(t.Context(), "default", table, store.Among{Segments: []int64{sessions[1].Segment}},
				func(values []any) (store.Verdict, error) {
					values[schema.Position(content)] = `{"text":"forgotten"}`
					return store.Change, nil
				})
			if gone != manyRows/2 || changed != manyRows/2 {
				t.Errorf("%s: %d deleted, %d changed", table, gone, changed)
			}
			return errors.Join(err, err2)
		})
		if err != nil {
			t.Fatal(err)
		}
		if n := s.Number(t, `SELECT count(*) FROM `+table+` WHERE `+content+` = '{"text":"forgotten"}'`); n != manyRows/2 {
			t.Errorf("%d %s are changed", n, table)
		}
	}
	healthy(t, s)
}

// A check finds a row whose place is gone or that of another, a place whose row is gone, and one that is in both parts.
func TestACheckFindsWhatIsMisplaced(t *testing.T) {
	for _, damage := range []string{
		`DELETE FROM turn_places WHERE place = (1 << 32) + 7`, `UPDATE turn_places_new SET at = at + 1 WHERE place = (1 << 32) + 2499`,
		`DELETE FROM intention_places_new WHERE version = 2499`, `UPDATE intention_places SET version = 9999 WHERE version = 3`,
		`DELETE FROM turns WHERE seq = 2499`, `UPDATE turns SET seq = 9999 WHERE seq = 3`,
		`INSERT INTO turn_places_new SELECT * FROM turn_places WHERE place = (1 << 32) + 7; DELETE FROM turn_places WHERE place = (1 << 32) + 8`,
		`INSERT INTO intention_places_new SELECT * FROM intention_places WHERE version = 7; DELETE FROM intention_places WHERE version = 8`,
	} {
		t.Run(damage, func(t *testing.T) {
			s := openNew(t, sqlite.Config{})
			appendEvenly(t, s, manySessions(t, s, 1), 1, manyRows)
			healthy(t, s)
			if err := s.Exec(t.Context(), damage); err != nil {
				t.Fatal(err)
			}
			problems, err := s.Check(t.Context())
			if err != nil || len(problems) != 1 || !strings.Contains(problems[0], "_places") {
				t.Errorf("check: %q, %v", problems, err)
			}
		})
	}
}

// What many sessions write at once does not change more pages when each has a history.
func TestPagesOfManySessionsDoNotGrowWithTheirHistory(t *testing.T) {
	alone(t)
	s := openNew(t, sqlite.Config{})
	sessions := manySessions(t, s, 32)
	s.HoldIndex()
	next := int64(1)
	pages := func() int64 {
		before, _ := s.LogPages()
		appendEvenly(t, s, sessions, next, next)
		next++
		after, _ := s.LogPages()
		return after - before
	}
	young := pages()
	for next < 500 {
		appendEvenly(t, s, sessions, next, next+49)
		next += 50
		s.EmptyLog(t)
	}
	var old int64
	for range 8 {
		old = max(old, pages())
	}
	if old > young+20 {
		t.Errorf("%d pages at first, %d later", young, old)
	}
}

// The rows of a file from before there were places have some afterwards, the same ids and the same order.
func TestPlacesOfTheNinthVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.db")
	rawSQL(t, path, schemaOf(t, 9)+`
		INSERT INTO sessions VALUES (1, 'default', 's', '', '', '', '', 'active', NULL, 0, 3, 0, 0), (2, 'default', 'z', '', '', '', '', 'active', NULL, 0, 1, 0, 0);
		INSERT INTO turns (id, tenant, segment, seq, turn_id, role, form, created_at, quiet_since, content) VALUES
			(3, 'default', 1, 1, 'a', 'user', 'text', 0, NULL, '{"text":"one"}'), (7, 'default', 2, 1, 'b', 'user', 'text', 0, NULL, '{"text":"other"}'),
			(8, 'default', 1, 2, 'c', 'system', 'text', 0, 1, '{"text":"two"}'), (9, 'default', 1, 3, 'd', 'agent', 'text', 0, NULL, '{"text":"three"}');
		INSERT INTO intentions (row, tenant, segment, kind, id, version, after_seq, live, created_at, doc, change) VALUES
			(4, 'default', 1, 'goal', 'g', 1, 1, 1, 0, '{"id":"g"}', '[]'), (5, 'default', 1, 'goal', 'g', 2, 3, 1, 0, '{"id":"g"}', '[]');
		INSERT INTO intention_heads VALUES ('default', 1, 'goal', 'g', NULL);`)
	s := open(t, path, sqlite.Config{})
	if diff := cmp.Diff([]string{"one", "two", "three"}, texts(log(t, s, key("s")))); diff != "" {
		t.Error(diff)
	}
	if n := s.Number(t, `SELECT count(*) FROM turns WHERE id = 8 AND turn_id = 'c' AND quiet_since = 1`); n != 1 {
		t.Error("the turn has another id or lost its quiet_since")
	}
	view(t, s, func(tx store.Tx) error {
		versions, err := tx.Cortex().Versions(t.Context(), "default", []turn.Span{{Segment: 1, From: 1, To: 9}}, cortex.KindGoal, "g")
		if len(versions) != 2 || versions[1].Version != 2 || versions[1].Doc != `{"id":"g"}` {
			t.Errorf("versions %+v", versions)
		}
		return err
	})
	eventually(t, "the file has no free pages", func() bool { return s.Number(t, `SELECT freelist_count FROM pragma_freelist_count`) == 0 })
	mustSay(t, s, key("s"), "four")
	if diff := cmp.Diff([]string{"one", "two", "three", "four"}, texts(log(t, s, key("s")))); diff != "" {
		t.Error(diff)
	}
	healthy(t, s)
}

// A row whose place would be that of another is refused when it is loaded.
func TestLoadingWhatHasNoPlace(t *testing.T) {
	for column, row := range map[string]store.Row{
		"segment": {Table: "turns", Values: []any{"default", int64(1 << 31), int64(1), "a", "user", "text", nil, `{"text":""}`, int64(0), nil, nil, nil, nil, nil, nil}},
		"seq":     {Table: "turns", Values: []any{"default", int64(1), int64(1 << 32), "a", "user", "text", nil, `{"text":""}`, int64(0), nil, nil, nil, nil, nil, nil}},
		"version": {Table: "intentions", Values: []any{"default", int64(1), "goal", "g", int64(-1), int64(1), int64(1), "{}", "{}", int64(0)}},
	} {
		err := openNew(t, sqlite.Config{}).Load(t.Context(), func(yield func(store.Row, error) bool) { yield(row, nil) })
		if err == nil || !strings.Contains(err.Error(), "column "+column) {
			t.Errorf("%s: %v", column, err)
		}
	}
}

// Turns that follow one another are read in their order even where the later ones were written first.
func TestTurnsThatWereWrittenBackwards(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	info := create(t, s, key("s"))
	write := func(seqs ...int64) {
		t.Helper()
		err := s.Update(t.Context(), func(tx store.Tx) error {
			for _, n := range seqs {
				if err := insertNumbered(t, tx, info, n, newID()); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	write(4, 3)
	if err := s.Exec(t.Context(), `INSERT INTO turn_places SELECT * FROM turn_places_new; DELETE FROM turn_places_new`); err != nil {
		t.Fatal(err)
	}
	write(2, 1)
	view(t, s, func(tx store.Tx) error {
		var places []turn.Place
		for n := range int64(4) {
			places = append(places, turn.Place{Segment: info.Segment, Seq: n + 1})
		}
		found, err := tx.Log().TurnsAt(t.Context(), info.Tenant, places)
		var seqs []int64
		for _, x := range found {
			seqs = append(seqs, x.Seq)
		}
		if diff := cmp.Diff(upTo(1, 4), seqs); diff != "" {
			t.Errorf("turns one after the other: %s", diff)
		}
		return err
	})
}
