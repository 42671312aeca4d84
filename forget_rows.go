package turnstone

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/redact"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// rewrite is the update: everything in the store that is of the turns, or was made of them.
func (f *forgetting) rewrite(ctx context.Context, tx store.Tx) error {
	held := f.keys()
	if err := f.reach(ctx, tx); err != nil {
		return err
	}
	if !f.target.Preview {
		if !slices.Equal(f.keys(), held) {
			return errReach
		}
		for _, key := range held {
			if err := turn.CheckLease(ctx, tx.Log(), key, f.token); err != nil {
				return err
			}
		}
	}
	for _, step := range []func(context.Context, store.Tx) error{f.entomb, f.blobs} {
		if err := step(ctx, tx); err != nil {
			return err
		}
	}
	// What a fork goes on with is read from the sessions that it comes from too: they must be through before.
	for _, step := range []func(context.Context, store.Tx, *reached) error{f.session, f.goOn} {
		for i := range f.sessions {
			r := &f.sessions[i]
			if r.since == 0 && !r.whole {
				continue
			}
			if err := step(ctx, tx, r); err != nil {
				return fmt.Errorf("session %s: %w", r.info.Session, err)
			}
		}
	}
	if err := f.recalled(ctx, tx); err != nil {
		return fmt.Errorf("prompts of other sessions: %w", err)
	}
	return nil
}

func (f *forgetting) keys() []turn.Key {
	keys := make([]turn.Key, len(f.sessions))
	for i := range f.sessions {
		keys[i] = f.sessions[i].info.Key
	}
	return keys
}

// counted is how much was removed so far.
func (f *forgetting) counted() (n int) {
	for _, c := range f.counts {
		n += c.Count
	}
	return n
}

func (f *forgetting) count(where string, n int) {
	r := Receipt{Removed: f.counts}
	r.count(where, n)
	f.counts = r.Removed
}

// receipt is what was done so far.
func (f *forgetting) receipt() Receipt {
	r := Receipt{What: "turns", Turns: f.turns, Removed: f.counts, Files: f.files, Unreachable: f.unreachable, Warnings: f.warnings, At: f.at}
	r.name(slices.Collect(maps.Values(f.touched)), 0)
	switch {
	case f.target.User != "":
		r.What = "user"
	case f.target.All:
		r.What = "session"
		if len(f.sessions) > 0 && f.sessions[0].info.ForkSeq > 0 {
			r.Shared, r.Parent = f.sessions[0].info.ForkSeq, f.sessions[0].info.Parent
		}
	}
	for i := range f.sessions {
		if f.named(i) {
			r.Sessions = append(r.Sessions, f.sessions[i].info.Session)
		}
	}
	r.nameRepeats(slices.Collect(maps.Values(f.repeats)), 0)
	return r
}

// named reports whether receipts name a session that is reached: not where nothing of it is concerned, nor while it is being imported.
func (f *forgetting) named(i int) bool {
	r := &f.sessions[i]
	return i == 0 || r.concerned() && !r.info.Importing()
}

// segments returns the segments that hold some of the turns, ascending.
func (f *forgetting) segments() []int64 {
	var list []int64
	for p := range f.places {
		list = append(list, p.Segment)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// tombstone is the content of a turn that was forgotten.
var tombstone = string(turn.AppendContent(nil, turn.Forgotten{}))

// entomb writes tombstones over the turns.
func (f *forgetting) entomb(ctx context.Context, tx store.Tx) error {
	at := columns("turns")
	f.turns = 0
	n, err := tx.Forgetting().Rewrite(ctx, f.tenant, "turns", store.Among{Segments: f.segments()}, func(row []any) (store.Verdict, error) {
		if !f.places[turn.Place{Segment: row[at("segment")].(int64), Seq: row[at("seq")].(int64)}] {
			return store.Keep, nil
		}
		if row[at("content")] != tombstone {
			f.turns++
		}
		row[at("content")], row[at("idempotency_key")], row[at("meta")] = tombstone, nil, nil
		return store.Change, nil
	})
	f.count("turns", n)
	if err != nil {
		return err
	}
	n, err = tx.Forgetting().Rewrite(ctx, f.tenant, "open_calls", store.Among{Segments: f.segments()}, func(row []any) (store.Verdict, error) {
		calls := columns("open_calls")
		if f.places[turn.Place{Segment: row[calls("segment")].(int64), Seq: row[calls("unit_seq")].(int64)}] {
			return store.Delete, nil
		}
		return store.Keep, nil
	})
	f.count("open_calls", n)
	return err
}

// blobs deletes images and recordings that only the turns referred to.
func (f *forgetting) blobs(ctx context.Context, tx store.Tx) error {
	at := columns("blob_refs")
	var hashes []string
	n, err := tx.Forgetting().Rewrite(ctx, f.tenant, "blob_refs", store.Among{Segments: f.segments()}, func(row []any) (store.Verdict, error) {
		if !f.places[turn.Place{Segment: row[at("segment")].(int64), Seq: row[at("seq")].(int64)}] {
			return store.Keep, nil
		}
		hashes = append(hashes, row[at("sha256")].(string))
		return store.Delete, nil
	})
	f.count("blob_refs", n)
	if err != nil || len(hashes) == 0 {
		return err
	}
	wanted := make(map[string]bool)
	_, err = tx.Forgetting().Rewrite(ctx, f.tenant, "blob_refs", store.Among{Hashes: hashes}, func(row []any) (store.Verdict, error) {
		wanted[row[at("sha256")].(string)] = true
		return store.Keep, nil
	})
	if err != nil {
		return err
	}
	n, err = tx.Forgetting().Rewrite(ctx, f.tenant, "blobs", store.Among{Hashes: hashes}, func(row []any) (store.Verdict, error) {
		if wanted[row[columns("blobs")("sha256")].(string)] {
			return store.Keep, nil
		}
		return store.Delete, nil
	})
	f.count("blobs", n)
	return err
}

// session takes out of one session what was made of the turns.
func (f *forgetting) session(ctx context.Context, tx store.Tx, r *reached) error {
	before := f.counted()
	defer func() { r.changed = f.counted() > before }()
	if err := f.describe(ctx, tx, r); err != nil {
		return err
	}
	touched, err := f.exports(ctx, tx, r)
	if err != nil {
		return err
	}
	own, named := store.Among{Segments: []int64{r.info.Segment}}, store.Among{Sessions: []string{r.info.Session}}
	for _, step := range []struct {
		table string
		among store.Among
		judge func(row []any) (store.Verdict, error)
	}{
		{"revisions", own, f.revision(r)},
		{"intentions", own, f.intention(r)},
		{"observations", own, f.observation(r)},
		{"digests", own, f.digest(r)},
		{"deferrals", named, f.deferral(r, touched)},
		{"events", named, f.event(r)},
		{"dead_letters", named, f.letter(r)},
		{"trace_parts", own, f.part(r, touched)},
		{"checkpoints", own, f.checkpoint(r)},
		{"epochs", own, f.epoch(r)},
		{"prompts", own, f.prompt(r)},
		{"snapshots", own, f.snapshot(r)},
		{"drafts", named, f.draft(r)},
		{"bookmarks", named, f.bookmark(r)},
		{"chain_links", named, f.link(r)},
	} {
		n, err := tx.Forgetting().Rewrite(ctx, f.tenant, step.table, step.among, step.judge)
		if err != nil {
			return fmt.Errorf("%s: %w", step.table, err)
		}
		f.count(step.table, n)
	}
	return f.items(ctx, tx, r)
}

// goOn leaves a session with what it can go on with.
func (f *forgetting) goOn(ctx context.Context, tx store.Tx, r *reached) error {
	if !r.concerned() {
		return nil
	}
	if err := f.abandon(ctx, tx, r); err != nil {
		return err
	}
	if err := f.unpin(ctx, tx, r); err != nil {
		return err
	}
	return f.reopen(ctx, tx, r)
}

// abandon ends the goals and actions of a session of which nothing is left. One that its machine does not let go
// stays, without words.
func (f *forgetting) abandon(ctx context.Context, tx store.Tx, r *reached) error {
	if !r.whole {
		return nil
	}
	state, err := cortex.Load(ctx, tx.Cortex(), f.tenant, r.info.Lineage(r.info.Head), true)
	if err != nil {
		return err
	}
	var changes cortex.Changes
	for g := range state.EachGoal() {
		status := cortex.GoalAbandoned
		changes.Goals = append(changes.Goals, cortex.GoalChange{ID: g.ID, By: cortex.ActorUser, Status: &status})
	}
	for a := range state.EachAction() {
		status := cortex.ActionCancelled
		if a.Type == cortex.Blocker {
			status = cortex.ActionWaived
		}
		changes.Actions = append(changes.Actions, cortex.ActionChange{ID: a.ID, By: cortex.ActorUser, Status: &status})
	}
	if len(changes.Goals)+len(changes.Actions) == 0 {
		return nil
	}
	return cortex.Write(ctx, tx.Cortex(), f.tenant, r.info.Segment, r.info.Head, state.Stage(changes, tx.Now(), f.engine.newID))
}

// hit reports whether a text is to go.
func (f *forgetting) hit(r *reached) func(string) bool {
	if r.whole {
		return func(text string) bool { return text != "" && !redact.IsMark(text) }
	}
	return f.words.Hit
}

// describe takes words out of the session's description, and with the user's session its user.
func (f *forgetting) describe(ctx context.Context, tx store.Tx, r *reached) error {
	info, err := tx.Log().LockSession(ctx, r.info.Key)
	if err != nil {
		return err
	}
	before := info
	hit := f.hit(r)(info.Title)
	if hit {
		info.Title = ""
	}
	// Lists name a session of which nothing is left as what it is. A fork still shows what it shares.
	if r.whole && info.Title == "" && info.ForkSeq == 0 {
		info.Title = turn.ForgottenText
	}
	if r.whole && f.target.User != "" {
		info.User = ""
	}
	if info.Title == before.Title && info.User == before.User {
		return nil
	}
	if hit || info.User != before.User {
		f.count("sessions", 1)
	}
	return tx.Log().UpdateSession(ctx, info)
}

// opened are the ids of the turns that opened exchanges with one of the turns, by their summaries. Where turns were put off it is these
// alone that tell, once the export's body was swept.
func (f *forgetting) opened(ctx context.Context, tx store.Tx, r *reached) (map[string]bool, error) {
	ids := make(map[string]bool)
	for _, span := range r.info.Spans(r.info.Head) {
		var places []turn.Place
		for _, covers := range r.spoiled {
			if span.From <= covers.From && covers.From <= span.To {
				places = append(places, turn.Place{Segment: span.Segment, Seq: covers.From})
			}
		}
		if len(places) == 0 {
			continue
		}
		turns, err := tx.Log().TurnsAt(ctx, f.tenant, places)
		if err != nil {
			return nil, err
		}
		for i := range turns {
			ids[turns[i].ID] = true
		}
	}
	return ids, nil
}

// exports takes words out of what the outbox keeps. It returns the ids of exchanges that held one of the turns, and those of the
// turns that opened them.
func (f *forgetting) exports(ctx context.Context, tx store.Tx, r *reached) (touched map[string]bool, err error) {
	at := columns("exports")
	touched = make(map[string]bool)
	opened, err := f.opened(ctx, tx, r)
	if err != nil {
		return nil, err
	}
	n, err := tx.Forgetting().Rewrite(ctx, f.tenant, "exports", store.Among{Segments: []int64{r.info.Segment}}, func(row []any) (store.Verdict, error) {
		of := r.whole || r.sees(row[at("first_seq")].(int64), row[at("last_seq")].(int64))
		body := row[at("body")].(string)
		if body == "" {
			of = of || opened[row[at("turn_id")].(string)]
		} else if !r.whole {
			ids, late, err := commit.Late(body)
			if err != nil {
				return store.Keep, err
			}
			if late {
				of = slices.ContainsFunc(ids, func(id string) bool { return f.ids[id] })
			}
		}
		if of {
			touched[row[at("export_id")].(string)], touched[row[at("turn_id")].(string)] = true, true
		}
		if body == "" {
			return store.Keep, nil
		}
		hit := f.words.Hit
		if of {
			// What an exchange came to be is told in words of its own.
			hit = func(text string) bool { return text != "" && !redact.IsMark(text) }
		}
		redacted, changed, err := redact.JSON(body, exportTexts, hit)
		if err != nil || !changed {
			return store.Keep, err
		}
		row[at("body")] = redacted
		return store.Change, nil
	})
	f.count("exports", n)
	return touched, err
}

// unpin takes pins off the turns: a tombstone says nothing that a prompt must keep.
func (f *forgetting) unpin(ctx context.Context, tx store.Tx, r *reached) error {
	rows, err := tx.Prompt().Pins(ctx, f.tenant, r.info.Lineage(r.info.Head))
	if err != nil || len(rows) == 0 {
		return err
	}
	number := rows[len(rows)-1].Number
	for _, seq := range prompt.PinnedIn(rows) {
		if !r.sees(seq, seq) {
			continue
		}
		number++
		err := tx.Prompt().InsertPin(ctx, f.tenant, r.info.Segment, prompt.PinRow{Number: number, AfterSeq: r.info.Head, Seq: seq, At: tx.Now()})
		if err != nil {
			return err
		}
		f.count("pins", 1)
	}
	return nil
}

// reopen opens an epoch of its own for what is left, also where there was none: prompts and passes that were begun before
// it are stale, whoever began them.
func (f *forgetting) reopen(ctx context.Context, tx store.Tx, r *reached) error {
	e, err := prompt.InForce(ctx, tx.Prompt(), r.info, r.info.Head)
	if err != nil {
		return err
	}
	if f.turns == 0 && (e.Number == 0 || e.Reason == prompt.ReasonForgot) {
		return nil
	}
	if e.Number == 0 {
		defaults := &f.engine.shared.defaults
		if err := defaults.Put(ctx, tx.Prompt(), f.tenant, tx.Now()); err != nil {
			return err
		}
		e.Renderer, e.Settings = prompt.Renderer, defaults.SHA256
	}
	return prompt.Open(ctx, tx.Prompt(), r.info, e.Forgetting(r.info.Head, r.whole, func(seq int64) bool { return r.sees(seq, seq) }), tx.Now())
}

// remake makes checkpoints anew, of what is left, that stood for some of the turns in the prompts of the session. Where it
// comes to nothing the next prompt makes them.
func (r *reached) remake(ctx context.Context) error {
	s := r.handle
	if r.emptied == 0 || r.whole {
		return nil
	}
	var last prompt.Call
	err := s.view(ctx, func(tx store.Tx, info turn.SessionInfo) (err error) {
		last, err = lastCall(ctx, tx, info)
		return err
	})
	if err != nil {
		return err
	}
	compiled, err := s.compile(ctx, compiling{options: PromptOptions{Model: last.Model, Context: int(last.Context), Preview: true}, at: Head})
	if err == nil && len(compiled.Passes) > 0 {
		err = s.swap(ctx, compiled, nil, nil)
	}
	if errors.Is(err, prompt.ErrStale) || errors.Is(err, compress.ErrStale) {
		return nil
	}
	return err
}
