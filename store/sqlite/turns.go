package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
	"github.com/turnstone-dev/turnstone/turn"
)

// insertTurns are the statements that insert turns, by how many. They read from no table: SQLite would copy all rows into another
// first. About a turn that is there already, see insertItems.
var insertTurns = severalRows(`INSERT OR IGNORE INTO turns (`+strings.Join(turnValues, ", ")+`) VALUES `,
	`(?`+strings.Repeat(", ?", len(turnValues)-1)+`)`, turnsAtOnce)

const (
	// turnsAtOnce is how many turns a statement inserts at most. An exchange has three, with its summary.
	turnsAtOnce = 4
	// maxTogether is how many bytes of content those of a statement have at most. It also keeps them far from what would stop it
	// in the middle.
	maxTogether = 64 << 10
)

var turnValues = []string{
	"tenant", "segment", "seq", "turn_id", "role", "form", "kind", "created_at", "unit_seq", "message_id",
	"idempotency_key", "covers_from", "covers_to", "meta", "content", "quiet_since",
}

// placeTurns are the statements that insert the places of turns among the newest, by how many.
var placeTurns = severalRows(`INSERT OR IGNORE INTO `+turnPlaces.fresh+` (place, at) VALUES `, `(?, ?)`, turnsAtOnce)

// InsertTurns implements [turn.TurnRows].
func (r logRows) InsertTurns(ctx context.Context, tenant string, segment int64, rows ...turn.Row) error {
	for len(rows) > 0 {
		if err := r.writing(ctx); err != nil {
			return fmt.Errorf("append turn %d: %w", rows[0].Seq, err)
		}
		n := atOnce(rows)
		if err := r.insertTurns(tenant, segment, rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// atOnce is how many turns, from the first on, one statement inserts: few that follow one another, and a long one by itself, since
// all that is bound is held at once.
func atOnce(rows []turn.Row) int {
	n, size := 1, rows[0].Encoded.Len()
	for n < min(len(rows), turnsAtOnce) && rows[n].Seq == rows[n-1].Seq+1 && size+rows[n].Encoded.Len() <= maxTogether {
		size += rows[n].Encoded.Len()
		n++
	}
	return n
}

// insertTurns inserts a few turns that follow one another: at once or, where one of them is there already, one by one up to it.
func (r logRows) insertTurns(tenant string, segment int64, rows []turn.Row) error {
	inserted, err := r.insertTogether(tenant, segment, rows)
	if err == nil && !inserted && len(rows) == 1 {
		err = turn.ErrConflict
	}
	if err != nil {
		return fmt.Errorf("append turn %d: %w", rows[0].Seq, err)
	}
	if inserted {
		r.noteAppended(textSource{tenant, segment})
		return nil
	}
	for i := range rows {
		if err := r.insertTurns(tenant, segment, rows[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// insertTogether inserts all of the turns, with their places, or none.
func (r logRows) insertTogether(tenant string, segment int64, rows []turn.Row) (bool, error) {
	var since int64
	if first := &rows[0]; !utterance(first.Role, first.Form) {
		var err error
		if since, err = r.quietSince(segment, first.Seq); err != nil {
			return false, err
		}
	}
	q := r.c.Prepare(insertTurns[len(rows)])
	for i := range rows {
		t := &rows[i]
		bindTurn(q, tenant, segment, t)
		if utterance(t.Role, t.Form) {
			q.Null()
			since = t.Seq
		} else {
			q.Int(since)
		}
	}
	if err := q.Run(); err != nil {
		return false, r.fail(err)
	}
	last := r.c.LastInsertID()
	first := last - r.c.Changes() + 1
	if r.c.Changes() == int64(len(rows)) {
		if placed, err := r.placeTurns(segment, rows, first); placed || err != nil {
			return placed, err
		}
	}
	return false, r.fail(r.c.Prepare(`DELETE FROM turns WHERE id BETWEEN ? AND ?`).Int(first).Int(last).Run())
}

// utterance reports whether somebody says something in such a turn. Any other has a quiet_since; see the migration.
func utterance(role turn.Role, form turn.Form) bool {
	return role != turn.System && (form == turn.FormText || form == turn.FormSpeech)
}

var quietSince = `SELECT coalesce(quiet_since, seq) FROM turns WHERE id = ` + turnPlaces.at(turnPlaces.is(1))

// quietSince is that of a turn that is no utterance: it takes it over from the turn before it.
func (t *tx) quietSince(segment, seq int64) (int64, error) {
	since, ok, err := one(t, t.c.Prepare(quietSince).Int(turnPlace(segment, seq-1)), readInt)
	if !ok {
		since = seq - 1
	}
	return since, err
}

// bindTurn binds turnValues but the last.
func bindTurn(q *lite.Stmt, tenant string, segment int64, t *turn.Row) {
	kind := string(t.Kind)
	if t.Kind == turn.KindTurn {
		kind = ""
	}
	q.Text(tenant).Int(segment).Int(t.Seq).Text(t.ID).Text(string(t.Role)).Text(string(t.Form)).TextOrNull(kind).
		Int(micros(t.CreatedAt)).IntOrNull(t.Unit).TextOrNull(t.MessageID).TextOrNull(t.IdempotencyKey).
		IntOrNull(t.Covers.From).IntOrNull(t.Covers.To)
	if t.Meta == (turn.Meta{}) {
		q.Null()
	} else {
		q.Text(string(t.Meta.AppendJSON(nil)))
	}
	q.TextOf(&t.Encoded)
}

// placeTurns adds the places of the turns, all or none. Their rows follow one another as they do.
func (r logRows) placeTurns(segment int64, rows []turn.Row, first int64) (bool, error) {
	if len(rows) == 1 {
		return r.place(turnPlaces, r.c.Prepare(turnPlaces.insert).Int(turnPlace(segment, rows[0].Seq)), first)
	}
	_, taken, err := one(r.tx, r.c.Prepare(`SELECT 1 FROM `+turnPlaces.whole+` WHERE place BETWEEN ? AND ? LIMIT 1`).
		Int(turnPlace(segment, rows[0].Seq)).Int(turnPlace(segment, rows[len(rows)-1].Seq)), readInt)
	if taken || err != nil {
		return false, err
	}
	q := r.c.Prepare(placeTurns[len(rows)])
	for i := range rows {
		q.Int(turnPlace(segment, rows[i].Seq)).Int(first + int64(i))
	}
	if err := q.Run(); err != nil {
		return false, r.fail(err)
	}
	last := first + int64(len(rows)) - 1
	if r.c.Changes() < int64(len(rows)) {
		return false, r.fail(r.c.Prepare(`DELETE FROM ` + turnPlaces.fresh + ` WHERE at BETWEEN ? AND ?`).Int(first).Int(last).Run())
	}
	return true, r.foldPlaces(turnPlaces, first, last)
}

const turnColumns = `turns.segment, turns.seq, turns.turn_id, turns.role, turns.form, turns.kind, turns.created_at, turns.unit_seq,
	turns.message_id, turns.idempotency_key, turns.covers_from, turns.covers_to, turns.meta, turns.content`

// readTurn reads the turnColumns.
func (t *tx) readTurn(q *lite.Stmt) (turn.Stored, error) {
	row := turn.Stored{Segment: q.ReadInt(), Turn: turn.Turn{
		Seq: q.ReadInt(), ID: q.ReadText(), Role: turn.Role(word(q.ReadRaw())), Form: turn.Form(word(q.ReadRaw())),
		Kind: turn.Kind(word(q.ReadRaw())), CreatedAt: fromMicros(q.ReadInt()), Unit: q.ReadInt(),
		MessageID: q.ReadText(), IdempotencyKey: q.ReadText(),
		Covers: turn.Range{From: q.ReadInt(), To: q.ReadInt()},
	}}
	if row.Kind == "" {
		row.Kind = turn.KindTurn
	}
	var err error
	if meta := q.ReadText(); meta != "" {
		if row.Meta, err = turn.DecodeMeta(meta); err != nil {
			return turn.Stored{}, t.s.damaged(fmt.Errorf("turn %s: %w", row.ID, err))
		}
	}
	if row.Content, err = turn.DecodeContent(row.Role, row.Form, q.ReadText()); err != nil {
		return turn.Stored{}, t.s.damaged(fmt.Errorf("turn %s: %w", row.ID, err))
	}
	return row, nil
}

// word makes the few words that stand in almost every row without memory of their own.
func word(raw []byte) string {
	switch string(raw) {
	case "":
		return ""
	case "user":
		return "user"
	case "agent":
		return "agent"
	case "system":
		return "system"
	case "text":
		return "text"
	case "action":
		return "action"
	case "active":
		return "active"
	case turn.DefaultTenant:
		return turn.DefaultTenant
	case "complete":
		return "complete"
	case "user_data":
		return "user_data"
	case "tool_execution":
		return "tool_execution"
	case "observation":
		return "observation"
	case "event":
		return "event"
	}
	return string(raw)
}

// readTurns reads all rows of a statement over the turnColumns.
func (r logRows) readTurns(q *lite.Stmt, turns []turn.Turn) ([]turn.Turn, error) {
	defer q.Close()
	for {
		more, err := q.Step()
		if err != nil {
			return nil, r.fail(err)
		}
		if !more {
			return turns, nil
		}
		row, err := r.readTurn(q)
		if err != nil {
			return nil, err
		}
		turns = append(turns, row.Turn)
	}
}

// TurnsByID implements [turn.TurnRows].
func (r logRows) TurnsByID(ctx context.Context, tenant, id string) ([]turn.Stored, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	q := r.c.Prepare(`SELECT ` + turnColumns + ` FROM turns WHERE tenant = ? AND turn_id = ? ORDER BY segment`).
		Text(tenant).Text(id)
	return r.readStored(q, nil)
}

// readStored is readTurns with the segments of the turns.
func (r logRows) readStored(q *lite.Stmt, found []turn.Stored) ([]turn.Stored, error) {
	defer q.Close()
	for {
		more, err := q.Step()
		if err != nil {
			return nil, r.fail(err)
		}
		if !more {
			return found, nil
		}
		row, err := r.readTurn(q)
		if err != nil {
			return nil, err
		}
		found = append(found, row)
	}
}

// turnsFollowing binds what bindSpan binds. Older turns come first, so that the order is that of the places, unless they were
// written in another.
var turnsFollowing = turnPlaces.each(turnColumns, `place BETWEEN ?1 AND ?2`, `turns.tenant = ?3`)

// TurnsAt implements [turn.TurnRows]. Places that follow one another are read by one statement.
func (r logRows) TurnsAt(ctx context.Context, tenant string, places []turn.Place) ([]turn.Stored, error) {
	found := make([]turn.Stored, 0, len(places))
	for len(places) > 0 {
		if err := r.reading(ctx); err != nil {
			return nil, err
		}
		n := following(places)
		q := bindSpan(r.c.Prepare(turnsFollowing), tenant, turn.Span{Segment: places[0].Segment, From: places[0].Seq, To: places[n-1].Seq})
		begin := len(found)
		var err error
		if found, err = r.readStored(q, found); err != nil {
			return nil, err
		}
		if run := found[begin:]; len(run) > 1 {
			slices.SortFunc(run, func(a, b turn.Stored) int { return cmp.Compare(a.Seq, b.Seq) })
		}
		places = places[n:]
	}
	return found, nil
}

// following is how many places, from the first on, are each the one behind the one before it.
func following(places []turn.Place) int {
	for i := 1; i < len(places); i++ {
		if places[i].Segment != places[0].Segment || places[i].Seq != places[i-1].Seq+1 {
			return i
		}
	}
	return len(places)
}

// TurnByKey implements [turn.TurnRows].
func (r logRows) TurnByKey(ctx context.Context, tenant string, segment int64, key string) (turn.Turn, bool, error) {
	if err := r.reading(ctx); err != nil {
		return turn.Turn{}, false, err
	}
	q := r.c.Prepare(`SELECT ` + turnColumns + ` FROM turns WHERE tenant = ? AND segment = ? AND idempotency_key = ?`).
		Text(tenant).Int(segment).Text(key)
	turns, err := r.readTurns(q, nil)
	if err != nil || len(turns) == 0 {
		return turn.Turn{}, false, err
	}
	return turns[0], true, nil
}

// Units implements [turn.TurnRows].
func (r logRows) Units(ctx context.Context, tenant string, segment, first, last int64) ([]turn.Turn, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	q := r.c.Prepare(`SELECT ` + turnColumns + ` FROM turns WHERE tenant = ? AND segment = ? AND unit_seq BETWEEN ? AND ?
		ORDER BY seq`).Text(tenant).Int(segment).Int(first).Int(last)
	return r.readTurns(q, nil)
}

// Straddling implements [turn.TurnRows].
func (r logRows) Straddling(ctx context.Context, tenant string, segment, seq int64) (int64, error) {
	if err := r.reading(ctx); err != nil {
		return 0, err
	}
	q := r.c.Prepare(`SELECT unit_seq FROM turns WHERE tenant = ? AND segment = ? AND unit_seq <= ? AND seq > ?
		ORDER BY unit_seq LIMIT 1`).Text(tenant).Int(segment).Int(seq).Int(seq)
	defer q.Close()
	if found, err := q.Step(); err != nil || !found {
		return 0, r.fail(err)
	}
	return q.ReadInt(), nil
}
