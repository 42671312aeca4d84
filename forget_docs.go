package turnstone

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/redact"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Where texts stand in the documents that a store keeps.
var (
	goalTexts   = redact.Fields{Texts: []string{"title", "description", "rationale", "path", "next_steps", "evidence"}}
	traceTexts  = redact.Fields{Texts: []string{"text", "error"}}
	changeTexts = redact.Fields{Texts: []string{"why", "from", "to"}, Named: fieldTexts}
	exportTexts = redact.Fields{
		Texts: []string{
			"title", "description", "rationale", "path", "next_steps", "evidence", "why", "from", "to",
			"user_input", "assistant_response", "turn_summary", "text", "content", "tags", "notes", "lessons", "patterns",
			"errors", "warnings", "error", "sums",
		},
		Whole: []string{"data", "data_text"},
		Named: fieldTexts,
	}
)

// fieldTexts take the field of a change apart, which names what the change was made to.
var fieldTexts = map[string]func(string) (before, said, after string){"field": cortex.SplitField}

// judge is what becomes of a row.
type judge = func(row []any) (store.Verdict, error)

// revision empties slots that one of the turns filled, and what else holds its words.
func (f *forgetting) revision(r *reached) judge {
	at, hit := columns("revisions"), f.hit(r)
	return func(row []any) (store.Verdict, error) {
		if r.older(row[at("after_seq")].(int64)) {
			return store.Keep, nil
		}
		state, err := dialogue.DecodeState(row[at("state")].(string))
		if err != nil {
			return store.Keep, err
		}
		changed := false
		for _, flows := range [][]dialogue.Flow{state.Stack, state.SetAside} {
			for i := range flows {
				flow := &flows[i]
				flow.Slots = slices.Clone(flow.Slots)
				for j := range flow.Slots {
					s := &flow.Slots[j]
					if !s.Filled() || !r.whole && !f.ids[s.FilledBy] && !hit(string(s.Value)) {
						continue
					}
					f.touch(r, "slot", slotID(flow.ID, s.Name, hit), string(s.Value))
					s.Value, s.FilledBy, changed = "", "", true
				}
				if flow.Result != "" && hit(string(flow.Result)) {
					flow.Result, changed = "", true
				}
			}
		}
		switch {
		case r.whole:
			state = dialogue.State{}
		case !changed:
			return store.Keep, nil
		}
		row[at("state")] = dialogue.EncodeState(state)
		return store.Change, nil
	}
}

// slotID names a slot by its flow, and by its name where that tells nothing.
func slotID(flow, name string, hit func(string) bool) string {
	if hit(name) {
		return flow
	}
	return flow + "/" + name
}

// intention takes words out of goals and actions. They stay, with their states and decisions: what the user wants is not
// forgotten because a turn is.
func (f *forgetting) intention(r *reached) judge {
	at, hit := columns("intentions"), f.hit(r)
	return func(row []any) (store.Verdict, error) {
		if r.older(row[at("after_seq")].(int64)) {
			return store.Keep, nil
		}
		var texts []string
		goes := func(text string) bool {
			if !hit(text) {
				return false
			}
			texts = append(texts, text)
			return true
		}
		verdict, err := redactColumns(row, goes, map[int]redact.Fields{at("doc"): goalTexts})
		if err != nil {
			return store.Keep, err
		}
		audit, err := redactColumns(row, hit, map[int]redact.Fields{at("change"): changeTexts})
		if verdict == store.Keep {
			verdict = audit
		}
		if verdict == store.Change {
			f.touch(r, row[at("kind")].(string), row[at("id")].(string), texts...)
		}
		return verdict, err
	}
}

// redactColumns takes what is hit out of documents.
func redactColumns(row []any, hit func(string) bool, documents map[int]redact.Fields) (store.Verdict, error) {
	verdict := store.Keep
	for i, fields := range documents {
		redacted, changed, err := redact.JSON(row[i].(string), fields, hit)
		if err != nil {
			return store.Keep, err
		}
		if changed {
			row[i], verdict = redacted, store.Change
		}
	}
	return verdict, nil
}

// observation deletes notes that cite one of the turns or hold its words.
func (f *forgetting) observation(r *reached) judge {
	at, hit := columns("observations"), f.hit(r)
	return func(row []any) (store.Verdict, error) {
		o, err := scratch.DecodeObservation(row[at("doc")].(string))
		if err != nil {
			return store.Keep, err
		}
		cites := slices.ContainsFunc(o.ContextRefs, func(ref string) bool { return f.ids[ref] || f.ids[ref[strings.LastIndexByte(ref, ':')+1:]] })
		if !r.whole && !cites && !hit(o.Content) && !hit(o.Source) && !slices.ContainsFunc(o.Tags, hit) {
			return store.Keep, nil
		}
		f.touch(r, "note", o.ID, o.Content)
		return store.Delete, nil
	}
}

func deleted(is bool) store.Verdict {
	if is {
		return store.Delete
	}
	return store.Keep
}

// digest takes the lines of spoiled exchanges out of the rolling summary and the log of decisions, and topics with words of
// the turns.
func (f *forgetting) digest(r *reached) judge {
	at, hit := columns("digests"), f.hit(r)
	return func(row []any) (store.Verdict, error) {
		if r.whole {
			return store.Delete, nil
		}
		d, err := memory.DecodeDigest(row[at("doc")].(string))
		if err != nil {
			return store.Keep, err
		}
		gone := func(seq int64, text string) bool { return r.spoils(seq) || r.sees(seq, seq) || hit(text) }
		d.Rolling.Lines = slices.DeleteFunc(d.Rolling.Lines, func(l memory.Line) bool { return gone(l.Seq, l.Text) })
		d.Decisions = slices.DeleteFunc(d.Decisions, func(l memory.Decision) bool { return gone(l.Seq, l.Text) || f.ids[l.TurnID] })
		d.Topics = slices.DeleteFunc(d.Topics, func(t memory.Topic) bool { return hit(t.Word) })
		row[at("doc")] = string(d.AppendJSON(nil))
		return store.Change, nil
	}
}

// deferral deletes what was put off of an exchange with one of the turns.
func (f *forgetting) deferral(r *reached, touched map[string]bool) judge {
	at, hit := columns("deferrals"), f.hit(r)
	return func(row []any) (store.Verdict, error) {
		of := touched[row[at("export_id")].(string)]
		if of || hit(row[at("error")].(string)) {
			return store.Delete, nil
		}
		says, err := redact.Says(row[at("payload")].(string), exportTexts.Whole, hit)
		return deleted(says), err
	}
}

// event deletes events that tell of it; receipts stay.
func (f *forgetting) event(r *reached) judge {
	at, hit := columns("events"), f.hit(r)
	return func(row []any) (store.Verdict, error) {
		data := row[at("data")].(string)
		if row[at("kind")].(string) == string(event.Forgotten) || data == "" {
			return store.Keep, nil
		}
		says, err := redact.Says(data, nil, hit)
		return deleted(says), err
	}
}

// letter takes words out of what daemons complained about.
func (f *forgetting) letter(r *reached) judge {
	at, hit := columns("dead_letters"), f.hit(r)
	return func(row []any) (store.Verdict, error) {
		if !hit(row[at("error")].(string)) {
			return store.Keep, nil
		}
		row[at("error")] = redact.Mark
		return store.Change, nil
	}
}

// part deletes the traces of exchanges with one of the turns.
func (f *forgetting) part(r *reached, touched map[string]bool) judge {
	at, hit := columns("trace_parts"), f.hit(r)
	return func(row []any) (store.Verdict, error) {
		id := row[at("turn_id")].(string)
		if f.ids[id] || touched[id] {
			return store.Delete, nil
		}
		_, says, err := redact.JSON(row[at("body")].(string), traceTexts, hit)
		return deleted(says), err
	}
}

// checkpoint empties all versions that cover one of the turns or hold their words. They are made anew when they are
// needed. One that was made before the first of the turns was said stays, and with it the prompts of that time.
func (f *forgetting) checkpoint(r *reached) judge {
	at, hit := columns("checkpoints"), f.hit(r)
	return func(row []any) (store.Verdict, error) {
		if r.older(row[at("after_seq")].(int64)) {
			return store.Keep, nil
		}
		doc := row[at("doc")].(string)
		if doc == "" {
			return store.Keep, nil
		}
		if c, err := compress.DecodeCheckpoint(doc); err == nil && !r.whole && !r.sees(c.Range.From, c.Range.To) && !slices.ContainsFunc(c.Texts(), hit) {
			return store.Keep, nil
		}
		r.emptied++
		row[at("doc")] = ""
		return store.Change, nil
	}
}

// epoch takes words out of the goal that an epoch showed.
func (f *forgetting) epoch(r *reached) judge {
	at, hit := columns("epochs"), f.hit(r)
	return func(row []any) (store.Verdict, error) {
		if r.older(row[at("after_seq")].(int64)) {
			return store.Keep, nil
		}
		return redactColumns(row, hit, map[int]redact.Fields{at("doc"): goalTexts})
	}
}

// prompt takes the proof from prompts that may have shown one of the turns, and late blocks with words of theirs.
func (f *forgetting) prompt(r *reached) judge {
	at, hit := columns("prompts"), f.hit(r)
	return func(row []any) (store.Verdict, error) {
		verdict, err := redactColumns(row, hit, map[int]redact.Fields{at("doc"): {Texts: []string{"late"}}})
		if r.whole || row[at("end_seq")].(int64) >= r.first() {
			verdict = store.Change
		}
		row[at("sha256")] = prompt.Forgotten
		return verdict, err
	}
}

// snapshot takes words out of the names of snapshots, which hold nothing else.
func (f *forgetting) snapshot(r *reached) judge {
	at, hit := columns("snapshots"), f.hit(r)
	return func(row []any) (store.Verdict, error) {
		return redactColumns(row, hit, map[int]redact.Fields{at("doc"): {Texts: []string{"name"}}})
	}
}

// draft deletes the reply that was being streamed, where it answers one of the turns or is one.
func (f *forgetting) draft(r *reached) judge {
	at, hit := columns("drafts"), f.hit(r)
	return func(row []any) (store.Verdict, error) {
		of := f.ids[row[at("turn_id")].(string)] || f.ids[row[at("reply_id")].(string)]
		return deleted(r.whole || of || hit(row[at("content")].(string))), nil
	}
}

// bookmark deletes the names of positions in a session of which nothing is left.
func (f *forgetting) bookmark(r *reached) judge {
	return func([]any) (store.Verdict, error) { return deleted(r.whole), nil }
}

// link deletes the hashes that the turns went into: all from the first of them on.
func (f *forgetting) link(r *reached) judge {
	at := columns("chain_links")
	return func(row []any) (store.Verdict, error) {
		return deleted(r.whole || row[at("seq")].(int64) >= r.first()), nil
	}
}

// items deletes what was remembered of the turns: what links to them, what an exchange that one of them opened came
// to, and what holds their words.
func (f *forgetting) items(ctx context.Context, tx store.Tx, r *reached) error {
	at, hit := columns("memory_items"), f.hit(r)
	var ids []string
	_, err := tx.Forgetting().Rewrite(ctx, f.tenant, "memory_items", store.Among{Segments: []int64{r.info.Segment}}, func(row []any) (store.Verdict, error) {
		data, _ := row[at("data")].(string)
		text, about := row[at("text")].(string), row[at("about")].(string)
		item, _, err := memory.FromRow(memory.Row{
			Tenant: f.tenant, ID: row[at("item_id")].(string), Segment: r.info.Segment, Session: r.info.Session, Type: memory.Type(row[at("type")].(string)),
			Importance: row[at("importance")].(int64), Created: time.UnixMicro(row[at("created_at")].(int64)).UTC(), Text: text, Data: data, About: about,
		})
		if err != nil {
			return store.Keep, err
		}
		links := f.ids[item.Provenance.TurnID] || slices.ContainsFunc(item.Links.Turns, func(id string) bool { return f.ids[id] })
		// Of what an item is about only tags and notes are words of somebody; the rest is the engine's.
		if r.whole || links || hit(text) || hit(data) || slices.ContainsFunc(item.Tags, hit) || slices.ContainsFunc(item.Provenance.Notes, hit) {
			ids = append(ids, item.ID)
			f.touch(r, "item", item.ID, text)
		}
		return store.Keep, nil
	})
	if err != nil || len(ids) == 0 {
		return err
	}
	n, err := tx.Memory().DeleteItems(ctx, f.tenant, ids)
	f.count("memory_items", n)
	return err
}

// itemsOf counts the items of memory that are the user's, and those of them that no session of the user has.
func (e *Engine) itemsOf(ctx context.Context, what Target, sessions []turn.SessionInfo) (all, left int, err error) {
	err = e.store.View(ctx, func(tx store.Tx) error {
		ids, elsewhere, err := e.itemIDs(ctx, tx, what.User, sessions)
		all, left = len(ids), elsewhere
		return err
	})
	return all, left, err
}

// itemIDs are the user's items of memory, and how many of them are of no such session.
func (e *Engine) itemIDs(ctx context.Context, tx store.Tx, user string, sessions []turn.SessionInfo) (ids []string, elsewhere int, err error) {
	at := columns("memory_items")
	_, err = tx.Forgetting().Rewrite(ctx, e.config.Tenant, "memory_items", store.Among{User: user}, func(row []any) (store.Verdict, error) {
		ids = append(ids, row[at("item_id")].(string))
		segment := row[at("segment")].(int64)
		if !slices.ContainsFunc(sessions, func(s turn.SessionInfo) bool { return s.Segment == segment }) {
			elsewhere++
		}
		return store.Keep, nil
	})
	return ids, elsewhere, err
}

// forgetItemsOf deletes what is left of the user's memory, and returns how much that is.
func (e *Engine) forgetItemsOf(ctx context.Context, what Target) (n int, err error) {
	err = e.store.Update(ctx, func(tx store.Tx) error {
		ids, _, err := e.itemIDs(ctx, tx, what.User, nil)
		if err != nil || len(ids) == 0 {
			return err
		}
		e.shared.pipeline.Forgot(tx)
		n, err = tx.Memory().DeleteItems(ctx, e.config.Tenant, ids)
		return err
	})
	return n, err
}
