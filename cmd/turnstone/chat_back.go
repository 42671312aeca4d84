package main

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/turn"
)

func slashCompress(ctx context.Context, a *app, t *talking, _ string) error {
	pass, err := t.session.Compress(ctx, t.promptOptions())
	if errors.Is(err, turnstone.ErrNothingToCompress) {
		return a.nothingToCompress(t.session.ID())
	}
	if err != nil {
		return err
	}
	a.quiet = true // /undo is the way back here
	return a.printPass(t.session.ID(), pass, "")
}

func slashUndo(ctx context.Context, a *app, t *talking, words string) error {
	pass := int64(0)
	if words != "" {
		var err error
		if pass, err = strconv.ParseInt(words, 10, 64); err != nil || pass < 1 {
			return usage("see which there are with: /checkpoints", "%q is no number of a pass", words)
		}
	}
	done, err := t.session.Undo(ctx, pass, t.promptOptions())
	if err != nil {
		return advise(err, turnstone.ErrNothingToUndo, "see /checkpoints")
	}
	return a.printUndone(t.session.ID(), done)
}

func slashSnapshot(ctx context.Context, a *app, t *talking, words string) error {
	taken, err := t.session.Snapshot(ctx, words)
	if err != nil {
		return err
	}
	name := taken.Name
	if name == "" {
		name = taken.ID
	}
	return a.printf("took a snapshot after turn %d; go back to it with: /restore %s", taken.Turn, name)
}

func slashRestore(ctx context.Context, a *app, t *talking, words string) error {
	if words == "" {
		return chatSnapshots(ctx, a, t.session)
	}
	to, err := t.session.Restore(ctx, words, t.promptOptions())
	if err != nil {
		return advise(err, snapshot.ErrNotFound, "see which there are with: /restore")
	}
	return a.printf("went back to how it stood after turn %d; what was said since stays in the log, and /undo takes it back", to.Turn)
}

// chatSnapshots lists the newest snapshots by what /restore takes, for a terminal of 80 columns.
func chatSnapshots(ctx context.Context, a *app, s *turnstone.Session) error {
	const most = 20
	list, damaged := s.Snapshots(ctx, "", most)
	if damaged != nil && !as[*snapshot.FieldError](damaged) {
		return damaged
	}
	if len(list) == 0 && damaged == nil {
		return a.printf("no snapshots; take one with: /snapshot [NAME]")
	}
	rows := make([][]string, len(list))
	for i := range list {
		shot := &list[i]
		rows[i] = []string{shot.Name, strconv.FormatInt(shot.Turn, 10), a.format().Time(shot.At), ""}
		if shot.Auto || strings.TrimSpace(shot.Name) == "" {
			rows[i][0] = shot.ID
		}
		if shot.Auto {
			rows[i][3] = "automatic"
		}
	}
	head := []string{"NAME", "AFTER TURN", "TAKEN", ""}
	alignRight(head, rows, 1)
	return errors.Join(a.table(head, rows), damaged)
}

func slashFork(ctx context.Context, a *app, t *talking, words string) error {
	from := t.session.ID()
	fork, err := t.session.Fork(ctx, turnstone.Head, turn.SessionInfo{Key: turn.Key{Session: words}})
	if err != nil {
		return advise(err, turn.ErrExists, "choose another name")
	}
	t.changing.Lock()
	t.session = fork
	t.changing.Unlock()
	return a.printf("going on in %s; %s stays as it is", fork.ID(), from)
}
