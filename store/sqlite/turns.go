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

// insertTurn binds turnValues. What is no utterance takes its quiet_since over from the turn before
// it; see the migration.
var insertTurn = `INSERT INTO turns (` + strings.Join(turnValues, ", ") + `, quiet_since)
	VALUES (?` + strings.Repeat(", ?", len(turnValues)-1) + `,
		CASE WHEN ?5 <> 'system' AND ?6 IN ('text', 'speech') THEN NULL
		ELSE coalesce((SELECT coalesce(quiet_since, seq) FROM turns
			WHERE id = ` + turnPlaces.at(`place = (?2 << 32) + ?3 - 1`) + `), ?3 - 1) END)`

var turnValues = []string{
	"tenant", "segment", "seq", "turn_id", "role", "form", "kind", "created_at", "unit_seq", "message_id",
	"idempotency_key", "covers_from", "covers_to", "meta", "content",
}

// InsertTurn implements [turn.TurnRows].
func (r logRows) InsertTurn(ctx context.Context, tenant string, segment int64, t turn.Turn, content string) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	kind := string(t.Kind)
	if t.Kind == turn.KindTurn {
		kind = ""
	}
	q := r.c.Prepare(insertTurn).
		Text(tenant).Int(segment).Int(t.Seq).Text(t.ID).Text(string(t.Role)).Text(string(t.Form)).TextOrNull(kind).
		Int(micros(t.CreatedAt)).IntOrNull(t.Unit).TextOrNull(t.MessageID).TextOrNull(t.IdempotencyKey).
		IntOrNull(t.Covers.From).IntOrNull(t.Covers.To)
	if t.Meta == (turn.Meta{}) {
		q.Null()
	} else {
		q.Text(string(t.Meta.AppendJSON(nil)))
	}
	err := q.Text(content).Run()
	if taken(err) {
		return turn.ErrConflict
	}
	if err != nil {
		return r.fail(err)
	}
	placed, err := r.place(turnPlaces, r.c.Prepare(turnPlaces.insert).Int(turnPlace(segment, t.Seq)), r.c.LastInsertID())
	if err != nil {
		return err
	}
	if !placed {
		return turn.ErrConflict
	}
	r.noteAppended(textSource{tenant, segment})
	return nil
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
