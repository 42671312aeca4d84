package replay_test

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// summary is a checkpoint that a pass could have made.
func summary(number, version int64, covers turn.Range, text string) compress.Checkpoint {
	at := time.Date(2026, 11, 14, 9, 29, 0, 0, time.UTC)
	return compress.Checkpoint{
		ID: "checkpoint", Number: number, Version: version, Level: compress.Level(version - 1), Range: covers, Summary: text,
		CreatedAt: at, CompressedAt: at.Add(time.Duration(version) * time.Second), OriginalTokens: 900, CurrentTokens: 90, CompressionCount: version,
		KeyDecisions: []string{"Use <JWT>"}, Worth: []turn.Range{covers}, SourceHash: firstPrompt,
		Receipt: compress.Receipt{By: compress.ByExtract, Before: 900, After: 90, SourceHash: firstPrompt},
	}
}

// checkpoint stores a checkpoint after the last turn, and returns how an epoch refers to it.
func (w *world) checkpoint(k turn.Key, c compress.Checkpoint) prompt.Ref {
	w.Helper()
	doc := string(c.AppendJSON(nil))
	w.locked(k, func(tx store.Tx, info turn.SessionInfo) error {
		row := compress.Row{Number: c.Number, Version: c.Version, AfterSeq: info.Head, Doc: doc, At: tx.Now()}
		return tx.Compress().InsertCheckpoint(w.ctx, k.Tenant, info.Segment, row)
	})
	return prompt.Ref{Range: c.Range, Number: c.Number, Version: c.Version, SHA256: sumOf(doc)}
}

// passed stores the checkpoints that passes made.
func (w *world) passed(tx store.Tx, info turn.SessionInfo, passes []prompt.Pass) error {
	for _, p := range passes {
		for _, c := range p.Made {
			row := compress.Row{Number: c.Number, Version: c.Version, AfterSeq: info.Head, Doc: string(c.AppendJSON(nil)), At: tx.Now()}
			if err := tx.Compress().InsertCheckpoint(w.ctx, info.Tenant, info.Segment, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// snapshotID is an id as they are made: the time now, and then what no other has.
func (w *world) snapshotID() string {
	w.ids++
	return ids.New(bytes.NewReader(binary.BigEndian.AppendUint64([]byte{0, 0}, w.ids))).Next(w.clock.now())
}

// snapshot takes a snapshot after the last turn, an automatic one where it has no name.
func (w *world) snapshot(k turn.Key, name string, epoch int64) string {
	w.Helper()
	id := w.snapshotID()
	w.locked(k, func(tx store.Tx, info turn.SessionInfo) error {
		return snapshot.Take(w.ctx, tx.Snapshot(), k.Tenant, info.Segment, snapshot.Snapshot{
			ID: id, Session: info.Session, Name: name, Auto: name == "", Turn: info.Head, Epoch: epoch, At: tx.Now(),
			TokenCount: 120, MessageCount: info.Head, CheckpointCount: max(epoch-1, 0), Model: "made-up-1", Tier: budget.Tier(2), Mode: "chat",
		})
	})
	return id
}

func (w *world) breaker(k turn.Key, b compress.Breaker) {
	w.Helper()
	w.locked(k, func(tx store.Tx, info turn.SessionInfo) error {
		return tx.Compress().PutBreaker(w.ctx, k.Tenant, info.Segment, string(b.AppendJSON(nil)), tx.Now())
	})
}

// long makes a session with everything that version 4 of the format added: two passes, the second of which let the
// first checkpoint age, an undo, snapshots before them and a failure. The golden bundles are made of it: it must
// stay as it is for as long as they do.
func (w *world) long() turn.Key {
	w.Helper()
	k := w.create("long")
	settings := w.put(k, secondSettings)
	w.say(k, text(turn.User, "Add a “login”."))
	w.open(k, prompt.Epoch{Number: 1, Reason: prompt.ReasonStart, From: 1, Settings: settings})
	w.say(k, text(turn.Agent, "[DECISION] Use <JWT>"), text(turn.User, "Here is a long paste."), text(turn.Agent, "Thanks."))
	w.say(k, text(turn.User, "Go on."), text(turn.Agent, "Done."))
	w.snapshot(k, "", 1)
	first := w.checkpoint(k, summary(1, 1, turn.Range{From: 1, To: 4}, "A login with <JWT>.\n東京\u2028"))
	said := []prompt.Kept{{Range: turn.Range{From: 1, To: 1}, Why: prompt.Said}}
	paste := []prompt.Handle{{Range: turn.Range{From: 3, To: 3}, Messages: 1, Tokens: 700}}
	w.open(k, prompt.Epoch{
		Number: 2, Reason: prompt.ReasonFull, From: 5, Passes: 1, Settings: settings, Context: 8192, Before: 1,
		Kept: said, Paged: paste, Checkpoints: []prompt.Ref{first},
	})
	w.snapshot(k, "before tests", 2)
	w.say(k, text(turn.User, "Now tests."), text(turn.Agent, "They pass."), text(turn.User, "Good."), text(turn.Agent, "Anything else?"))
	w.snapshot(k, "", 2)
	aged := w.checkpoint(k, summary(1, 2, turn.Range{From: 1, To: 4}, "Login: JWT."))
	second := w.checkpoint(k, summary(2, 1, turn.Range{From: 5, To: 8}, "Tests pass."))
	w.open(k, prompt.Epoch{
		Number: 3, Reason: prompt.ReasonFull, From: 9, Passes: 2, Settings: settings, Context: 8192, Before: 2,
		Kept: append(said, prompt.Kept{Range: turn.Range{From: 7, To: 7}, Why: prompt.Said}), Paged: append(paste, prompt.Handle{Range: turn.Range{From: 5, To: 5}}),
		Checkpoints: []prompt.Ref{aged, second},
	})
	w.breaker(k, compress.Breaker{Failures: 3, Skipped: 2}.Stuck(3, turn.Range{From: 9, To: 10}, 0))
	w.say(k, text(turn.User, "No."))
	w.open(k, prompt.Epoch{
		Number: 4, Reason: prompt.ReasonUndo, From: 5, Passes: 2, Settings: settings, Context: 8192, Before: 1, Hold: true,
		Kept: said, Paged: paste, Checkpoints: []prompt.Ref{first},
	})
	w.say(k, text(turn.Agent, "Bye."))
	return k
}

// otherLong makes a fork of the long session at its second pass, which lets the first checkpoint age by itself.
func (w *world) otherLong(long turn.Key) turn.Key {
	w.Helper()
	k := w.fork(long, 10, "other-long")
	w.say(k, text(turn.User, "Another thing."))
	third := w.checkpoint(k, summary(1, 3, turn.Range{From: 1, To: 4}, "JWT."))
	second := w.checkpoint(k, summary(2, 2, turn.Range{From: 5, To: 8}, "Pass."))
	w.open(k, prompt.Epoch{
		Number: 4, Reason: prompt.ReasonFull, From: 9, Passes: 3, Settings: w.put(k, secondSettings), Context: 8192, Before: 3,
		Checkpoints: []prompt.Ref{third, second},
	})
	w.snapshot(k, "forked", 4)
	return k
}

// shown makes a session whose prompt shows a checkpoint, and one more after a restore. Golden bundles are made of it.
func (w *world) shown() turn.Key {
	w.Helper()
	k := w.create("shown")
	settings := w.put(k, secondSettings)
	w.say(k, text(turn.User, "Add a “login”."), text(turn.Agent, "[DECISION] Use <JWT>"))
	w.open(k, prompt.Epoch{Number: 1, Reason: prompt.ReasonStart, From: 1, Settings: settings, Model: "made-up-1", Context: 8192})
	w.snapshot(k, "start", 1)
	w.say(k, text(turn.User, "Go on."), text(turn.Agent, "Done."), text(turn.User, "Now tests."))
	made := w.checkpoint(k, summary(1, 1, turn.Range{From: 1, To: 4}, "A login with <JWT>.\n東京"))
	said := []prompt.Kept{{Range: turn.Range{From: 1, To: 1}, Why: prompt.Said}, {Range: turn.Range{From: 3, To: 3}, Why: prompt.Said}}
	w.open(k, prompt.Epoch{
		Number: 2, Reason: prompt.ReasonFull, From: 5, Passes: 1, Settings: settings, Model: "made-up-1", Context: 8192, Before: 1, Began: 1,
		Kept: said, Checkpoints: []prompt.Ref{made},
	})
	w.compile(k, 8192, nil, "late")
	w.open(k, prompt.Epoch{
		Number: 3, Reason: prompt.ReasonRestore, From: 1, Passes: 1, Settings: settings, Model: "made-up-1", Context: 8192, Before: 2, Restored: 1, Hold: true,
		Path: []turn.Range{{From: 1, To: 2}, {From: 6}},
	})
	w.say(k, text(turn.User, "Something else."))
	w.compile(k, 8192, nil)
	return k
}
