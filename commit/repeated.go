package commit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// earlier is an exchange as it was committed before.
type earlier struct {
	row    event.Export
	export StateExport // its items as far as they are still there
	sums   []string
	swept  bool // of the export only the row is left
	// said are the turns of the exchange in their order, also those that wait to be written; nil for what nobody knows any more.
	said     []*turn.Turn
	turns    []turn.Turn // those in the log, and the summary
	deferred []Target    // what waits to be written
}

// prior returns the exchange as it was committed before, nil if it was not. An id that belongs to another exchange is
// a turn.ErrConflict.
func (p *Pipeline) prior(ctx context.Context, tx store.Tx, r *run) (*earlier, error) {
	if err := r.keyUnused(ctx, tx); err != nil {
		return nil, err
	}
	row, err := tx.Outbox().Export(ctx, r.key.Tenant, r.exchange.ExportID)
	if errors.Is(err, event.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if row.Session != r.key.Session || r.exchange.Opened != "" && r.exchange.Opened != row.TurnID {
		return nil, &UsedError{Name: r.exchange.name(), Why: "is that of another exchange, in session " + row.Session}
	}
	e := &earlier{row: row}
	if err := e.read(ctx, tx); errors.Is(err, event.ErrNotFound) {
		if known, err := e.readSwept(ctx, tx); !known || err != nil {
			return e, err
		}
	} else if err != nil {
		return nil, err
	}
	if differs := e.differs(&r.exchange); differs != "" {
		return nil, &UsedError{Name: r.exchange.name(), Why: "was used for an exchange in which " + differs}
	}
	return e, nil
}

// name is what the caller calls the exchange.
func (ex *Exchange) name() string {
	if ex.Key != "" {
		return fmt.Sprintf("idempotency_key %q", ex.Key)
	}
	return "export_id " + ex.ExportID
}

// read reads what is known of the exchange. The error is event.ErrNotFound where that is the row alone.
func (e *earlier) read(ctx context.Context, tx store.Tx) error {
	read, err := readWhole(ctx, tx, e.row)
	if err != nil {
		return err
	}
	e.export, e.sums = read.export.StateExport, read.sums
	unwritten, err := e.readDeferred(ctx, tx, read.inline)
	if err != nil {
		return err
	}
	return e.readTurns(ctx, tx, unwritten, read.has(History))
}

// readSwept finds the turns among which those of the exchange are, where only the row of its export is left. It reports whether they
// are known: those of a history that was put off may stand anywhere.
func (e *earlier) readSwept(ctx context.Context, tx store.Tx) (known bool, err error) {
	e.swept = true
	info, err := tx.Log().Session(ctx, turn.Key{Tenant: e.row.Tenant, Session: e.row.Session})
	if err != nil {
		return false, err
	}
	turns, err := found(ctx, tx, info, turn.Query{From: e.row.First, To: e.row.Last, Limit: 2*MaxTurns + 1})
	n := len(turns)
	if err != nil || n == 0 || turns[n-1].Seq != e.row.Last || !sums(&turns[n-1]) || turns[n-1].Covers.From != e.row.First {
		return false, err
	}
	for i := range turns {
		e.said = append(e.said, &turns[i])
	}
	return true, nil
}

// readDeferred finds what is left of the targets that were put off, and returns the turns of a history that is not written.
func (e *earlier) readDeferred(ctx context.Context, tx store.Tx, targets []string) (unwritten []turn.Turn, err error) {
	for _, target := range targets {
		d, open, err := tx.Outbox().Deferral(ctx, e.row.Tenant, e.row.ID, target)
		if err != nil {
			return nil, err
		}
		if open && d.Escalated.IsZero() {
			e.deferred = append(e.deferred, Target(target))
		}
		if !open || Target(target) != History {
			continue
		}
		if part, err := decodePart(History, d.Payload); err == nil { // otherwise nobody knows them
			for _, sealed := range part.(*historyPart).sealed {
				unwritten = append(unwritten, sealed.Turn())
			}
		}
	}
	return unwritten, nil
}

// readTurns finds the turns of the exchange. Those of a history that was put off stand wherever the log was when it was written, and
// one with a key may have stood there long before.
func (e *earlier) readTurns(ctx context.Context, tx store.Tx, unwritten []turn.Turn, late bool) error {
	ids := e.export.TurnIDs
	if len(ids) == 0 {
		return nil
	}
	info, err := tx.Log().Session(ctx, turn.Key{Tenant: e.row.Tenant, Session: e.row.Session})
	if err != nil {
		return err
	}
	if e.turns, err = found(ctx, tx, info, turn.Query{Among: ids, Limit: len(ids)}); err != nil {
		return err
	}
	known := make(map[string]*turn.Turn, len(ids))
	for _, list := range [][]turn.Turn{unwritten, e.turns} {
		for i := range list {
			known[list[i].ID] = &list[i]
		}
	}
	for _, id := range ids {
		e.said = append(e.said, known[id])
	}
	if len(e.turns) < len(ids) {
		return nil
	}
	first, last := e.turns[0].Seq, e.turns[len(e.turns)-1].Seq
	where := turn.Query{Kind: turn.KindSummary, From: e.row.Last, To: e.row.Last, Limit: 1}
	if late {
		where.From, where.To = last+1, 0
	}
	summary, err := found(ctx, tx, info, where)
	if err == nil && len(summary) > 0 && summary[0].Covers.From == first {
		e.turns = append(slices.Clip(e.turns), summary[0]) // said points to them
	}
	return err
}

// found runs a query of a session.
func found(ctx context.Context, tx store.Tx, info turn.SessionInfo, q turn.Query) ([]turn.Turn, error) {
	search, err := q.Compile()
	if err != nil {
		return nil, err
	}
	page, err := search.Run(ctx, tx.Log(), info)
	return page.Turns, err
}

// differs says in what an exchange that is committed again is not the one that was committed; empty where it is. Who asks again
// may know less of it: what is not given is not compared. What was forgotten or has expired since cannot be.
func (e *earlier) differs(ex *Exchange) string {
	status := State(e.row.Status)
	switch field := ex.unlike(e.sums); {
	case !e.says(ex.Turns):
		return "something else was said or done"
	case field != "" && !e.swept:
		return "other " + field + " were given"
	case ex.Failure != "" && status != Failed:
		return "nothing failed"
	case ex.Interrupted && status != Interrupted && status != Failed:
		return "the reply was not cut short"
	}
	return ""
}

// says reports whether the drafts stand among the turns of the exchange, in their order. Before them stands what was in the log
// by then, and behind their reply the one that the Responder made.
func (e *earlier) says(drafts []turn.Draft) bool {
	rest := e.said
	for _, d := range drafts {
		d.ID, d.IdempotencyKey = e.row.ID, "" // whatever it is called
		sealed, err := d.Seal(boundless)
		if err != nil {
			return false
		}
		i := slices.IndexFunc(rest, func(t *turn.Turn) bool { return t == nil || t.Gone() || sealed.Says(t) })
		if i < 0 {
			return false
		}
		rest = rest[i+1:]
	}
	return true
}

// repeated is the result of an exchange that was committed before.
func (p *Pipeline) repeated(r *run, e *earlier) Result {
	p.enter(r, State(e.row.Status))
	return Result{
		ExportID: e.row.ID, TurnID: e.row.TurnID, Status: State(e.row.Status), Repeated: true,
		Reply: cmp.Or(e.export.Turn.AssistantResponse, r.situation.Reply), Turns: e.turns, Changed: e.export.changed(),
		Deferred: e.deferred, Episodes: e.export.Episodes, Dropped: e.export.Dropped,
	}
}

// changed are the goals, actions and notes that the export tells of, as the exchange left them.
func (e *StateExport) changed() []Changed {
	var list []Changed
	for _, part := range []struct {
		kind    string
		updates []Update
	}{{"goal", e.Cortex.UpdatedGoals}, {"action", e.Cortex.UpdatedActions}, {"observation", e.Scratch.Updated}} {
		for _, u := range part.updates {
			c := Changed{Kind: part.kind, ID: u.ID}
			// What is not as it was written then is told without.
			_ = strictjson.Object(u.Change, func(name string, v strictjson.Raw) (err error) {
				switch {
				case name == "status":
					c.Status, err = v.String()
				case name == "title":
					c.Title, err = v.String()
				case name == "content":
					c.Title, err = v.String()
					c.Title = beginningOf(c.Title)
				}
				return err
			})
			if part.kind == "observation" && c.Status == string(scratch.Archived) {
				c.Title = "" // as it was told the first time: only what is live has a beginning to be known by
			}
			list = append(list, c)
		}
	}
	return list
}
