package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/turn"
)

// slashForget shows what would go, and does it when it is said again with a yes.
func slashForget(ctx context.Context, a *app, t *talking, words string) error {
	word, sure := strings.CutSuffix(words, " yes")
	seq, err := turnNumber(word)
	if err != nil {
		return err
	}
	going, err := unitOf(ctx, t.session, seq)
	if err != nil {
		return err
	}
	receipt, err := t.session.Forget(ctx, turnstone.Target{Seqs: []int64{seq}, Preview: !sure})
	if err != nil {
		return advise(err, turn.ErrNotFound, "give one that /history shows")
	}
	if sure {
		return errors.Join(a.printf("forgot %s%s", goneThings(receipt), alsoIn(receipt)), a.print(stillSaid(receipt)))
	}
	if err := a.print(turnLines(going, maxLine)); err != nil {
		return err
	}
	if more := receipt.Turns - len(going); more > 0 {
		if err := a.printf("      and %s: summaries that tell of it, or copies in other sessions", progress.Count(int64(more), "more turn")); err != nil {
			return err
		}
	}
	if err := a.print(stillSaid(receipt)); err != nil {
		return err
	}
	return a.printf("this would remove for good, with all that was made of it: %s%s; do it with: /forget %d yes", goneThings(receipt), alsoIn(receipt), seq)
}

// stillSaid are the turns that stay and say something of what a receipt forgets.
func stillSaid(r turnstone.Receipt) (lines []byte) {
	for _, t := range r.Repeats[:min(len(r.Repeats), mostTouched)] {
		line := stillSays(t)
		if t.Session == r.Sessions[0] {
			line += fmt.Sprintf("; forget it too with: /forget %d", t.Seq)
		}
		lines = append(append(lines, line...), '\n')
	}
	return lines
}

// unitOf is a turn with those that go with it, as a call and its results do. Turns that are forgotten already are not
// among them.
func unitOf(ctx context.Context, s *turnstone.Session, seq int64) (unit []turn.Turn, err error) {
	const most = 200 // of the turns behind a call, its results among them
	page, err := s.Query(ctx, turn.Query{From: seq, To: seq, Limit: 1})
	if err != nil || len(page.Turns) == 0 {
		return nil, err
	}
	if call := page.Turns[0].Unit; call != 0 {
		if page, err = s.Query(ctx, turn.Query{From: call, Limit: most}); err != nil {
			return nil, err
		}
		for _, t := range page.Turns {
			if t.Unit == call && !t.Gone() {
				unit = append(unit, t)
			}
		}
		return unit, nil
	}
	if page.Turns[0].Gone() {
		return nil, nil
	}
	return page.Turns, nil
}

// alsoIn names the sessions that a receipt reaches beside the one it was asked of.
func alsoIn(r turnstone.Receipt) string {
	if len(r.Sessions) < 2 {
		return ""
	}
	return ", also in " + strings.Join(r.Sessions[1:], ", ")
}

// goneThings is what a receipt counts, in words: 2 turns, 1 export.
func goneThings(r turnstone.Receipt) string {
	things := []string{progress.Count(int64(r.Turns), "turn")}
	for _, removed := range r.Removed {
		if one, known := goneThing[removed.Where]; known && removed.Count > 0 {
			things = append(things, fmt.Sprintf("%s %s", progress.Thousands(int64(removed.Count)), one[min(removed.Count-1, 1)]))
		}
	}
	return strings.Join(things, ", ")
}

// goneThing are the places that receipts name, as one thing and as many. What only keeps the store together, such as
// references, is not told here: turnstone forget lists all.
var goneThing = map[string][2]string{
	"blobs": {"image or recording", "images and recordings"}, "exports": {"export", "exports"}, "revisions": {"dialogue state", "dialogue states"},
	"intentions": {"version of a goal or an action", "versions of goals and actions"}, "observations": {"note", "notes"},
	"digests": {"rolling summary", "rolling summaries"}, "deferrals": {"thing to be tried again", "things to be tried again"},
	"checkpoints": {"checkpoint", "checkpoints"}, "trace_parts": {"part of a trace", "parts of traces"},
	"prompts": {"prompt that cannot be made again", "prompts that cannot be made again"}, "snapshots": {"snapshot", "snapshots"},
	"drafts": {"draft of a reply", "drafts of replies"}, "bookmarks": {"bookmark", "bookmarks"}, "memory_items": {"item of memory", "items of memory"},
	"pins": {"pin", "pins"}, "bundle": {"bundle", "bundles"}, "document": {"session document", "session documents"},
}
