package commit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// earlier is an exchange as it was committed before.
type earlier struct {
	row    event.Export
	export StateExport // its turns and items as far as they are still there
	turns  []turn.Turn // its turns in the log
}

// prior returns the exchange as it was committed before, nil if it was not. An id that belongs to another exchange is
// a turn.ErrConflict.
func (p *Pipeline) prior(ctx context.Context, tx store.Tx, r *run) (*earlier, error) {
	row, err := tx.Outbox().Export(ctx, r.key.Tenant, r.exchange.ExportID)
	if errors.Is(err, event.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if row.Session != r.key.Session || r.exchange.Opened != "" && r.exchange.Opened != row.TurnID {
		return nil, fmt.Errorf("export_id %s is that of another exchange, in session %s: %w; use a new one", row.ID, row.Session, turn.ErrConflict)
	}
	e := &earlier{row: row}
	if e.export, err = Whole(ctx, tx, row); errors.Is(err, event.ErrNotFound) {
		return e, nil // too old to be compared
	}
	if err != nil {
		return nil, err
	}
	if e.turns, err = e.logged(ctx, tx); err != nil {
		return nil, err
	}
	if differs := p.differs(&r.exchange, e); differs != "" {
		return nil, fmt.Errorf("export_id %s was used for an exchange in which %s: %w; use a new one", row.ID, differs, turn.ErrConflict)
	}
	return e, nil
}

// logged reads the turns of the exchange; none where they were put off.
func (e *earlier) logged(ctx context.Context, tx store.Tx) ([]turn.Turn, error) {
	info, err := tx.Log().Session(ctx, turn.Key{Tenant: e.row.Tenant, Session: e.row.Session})
	if err != nil || e.row.First > e.row.Last {
		return nil, err
	}
	its, err := turn.Query{From: e.row.First, To: e.row.Last, Limit: 2 * MaxTurns}.Compile()
	if err != nil {
		return nil, err
	}
	page, err := its.Run(ctx, tx.Log(), info)
	return page.Turns, err
}

// differs says in what an exchange that is committed again is not the one that was committed; empty where it is. Who asks again
// may know less of it: what is not given is not compared. What was forgotten or has expired since cannot be.
func (p *Pipeline) differs(ex *Exchange, e *earlier) string {
	switch {
	case len(e.export.Missing) > 0:
		return ""
	case !p.retold(ex, &e.export.Turn):
		return "something else was said"
	case ex.Lease != "": // the engine's own: what was left of an exchange whose process died is not all of it
		return ""
	case !p.redone(ex, e):
		return "something else was shown or done"
	case !remembered(ex.Candidates, &e.export):
		return "something else was to be remembered"
	case ex.Failure != "" && State(e.row.Status) != Failed:
		return "nothing failed"
	}
	return ""
}

// retold reports whether the turns of the exchange say what was committed. Before them in its input stands what was in the
// log by then, and in place of their reply the one that the Responder made.
func (p *Pipeline) retold(ex *Exchange, committed *TurnSummary) bool {
	input, reply := told(ex.Turns)
	said := input == "" || input == committed.UserInput || ex.Opened != "" && strings.HasSuffix(committed.UserInput, "\n"+input)
	return said && (reply == "" || reply == committed.AssistantResponse || p.config.Responder != nil)
}

// told is what user and agent say in drafts.
func told(drafts []turn.Draft) (input, reply string) {
	var s Situation
	for _, d := range drafts {
		s.Turns = append(s.Turns, Said{ID: d.ID, Role: d.Role, Content: d.Content})
	}
	collect(&s)
	return s.Input, s.Reply
}

// redone reports whether the log has what the exchange shows and does besides words: images, actions, calls of tools and their results.
func (p *Pipeline) redone(ex *Exchange, e *earlier) bool {
	if len(e.turns) == 0 {
		return true
	}
	for _, d := range ex.Turns {
		if text, ok := d.Content.(turn.Text); ok && len(text.ToolCalls) == 0 {
			continue
		}
		d.ID, d.IdempotencyKey = e.row.ID, "" // whatever it is called
		sealed, err := d.Seal(p.config.Limits)
		if err != nil || !slices.ContainsFunc(e.turns, func(t turn.Turn) bool { return t.Gone() || sealed.Says(&t) }) {
			return false
		}
	}
	return true
}

// remembered reports whether the export tells of the candidates what became of them. Of those that were dropped it has only
// the type.
func remembered(candidates []memory.Candidate, export *StateExport) bool {
	if export.DroppedMore > 0 {
		return true
	}
	for i := range candidates {
		c := &candidates[i]
		kept := slices.ContainsFunc(export.Episodes, func(e memory.Episode) bool { return e.Text == c.Text && e.Data == c.Data })
		if !kept && !slices.ContainsFunc(export.Dropped, func(d memory.Dropped) bool { return d.Type == c.Type }) {
			return false
		}
	}
	return true
}

// repeated is the result of an exchange that was committed before.
func (p *Pipeline) repeated(r *run, e *earlier) Result {
	p.enter(r, State(e.row.Status))
	return Result{
		ExportID: e.row.ID, TurnID: e.row.TurnID, Status: State(e.row.Status), Repeated: true,
		Reply: cmp.Or(e.export.Turn.AssistantResponse, r.situation.Reply), Turns: e.turns, Changed: e.export.changed(),
		Episodes: e.export.Episodes, Dropped: e.export.Dropped,
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
				}
				return err
			})
			list = append(list, c)
		}
	}
	return list
}
