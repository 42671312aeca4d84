package turnstone_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// lives are a session and its forks, to which anything is done that people can do to them. Every text has words of its
// own, so that it can be told where it is and where it should no longer be.
type lives struct {
	ctx    context.Context
	engine *turnstone.Engine
	all    []*life
	last   *life // to which something was done last
	words  int
	gone   []string // words that were forgotten
}

// life is a session.
type life struct {
	*turnstone.Session
	snapshots []string
	calls     []string // those without a result
	forgotten bool     // something was forgotten in it, so that not all of its past can be shown
}

// GoString is how it stands among what was drawn.
func (s *life) GoString() string { return s.ID() }

// tight leaves room for a few exchanges, so that much is compressed.
var tight = turnstone.PromptOptions{Model: "gpt-4o", Context: 4096}

// TestTortureAnyLife does anything to sessions, in any order, and looks after each step, and at all of them in the end, at
// what must always be so. The short form lives the same lives each time.
func TestTortureAnyLife(t *testing.T) {
	if os.Getenv("TURNSTONE_TORTURE") != "" {
		flagged(t, "rapid.checks", "300")
	} else {
		flagged(t, "rapid.checks", "50")
		flagged(t, "rapid.seed", "1")
	}
	rapid.Check(t, func(rt *rapid.T) {
		st := mem.New(mem.Config{})
		eng, err := turnstone.Open(t.Context(), st, turnstone.Config{})
		may(rt, err)
		defer func() { may(rt, eng.Close()) }()
		first, err := eng.Session(t.Context(), "first")
		may(rt, err)
		one := &life{Session: first}
		l := &lives{ctx: t.Context(), engine: eng, all: []*life{one}, last: one}
		rt.Repeat(map[string]func(*rapid.T){
			"append": l.append, "talk long": l.talkLong, "commit": l.commit, "call": l.call, "result": l.result,
			"prompt": l.prompt, "compress": l.compress, "undo": l.undo, "pin": l.pin,
			"snapshot": l.snapshot, "restore": l.restore, "fork": l.fork, "forget": l.forget, "end": l.end,
			"": func(rt *rapid.T) { l.check(rt, l.last) },
		})
		for i, s := range l.all {
			l.check(rt, s)
			l.moves(rt, s, fmt.Sprint("copy", i))
		}
		healthy(t, st)
	})
}

// flagged sets a flag of the test's own for as long as the test runs.
func flagged(t *testing.T, name, value string) {
	t.Helper()
	before := flag.Lookup(name).Value.String()
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := flag.Set(name, before); err != nil {
			t.Error(err)
		}
	})
}

// may fails on an error that is none of those that may be.
func may(rt *rapid.T, err error, but ...error) {
	rt.Helper()
	if err != nil && !slices.ContainsFunc(but, func(e error) bool { return errors.Is(err, e) }) {
		rt.Fatalf("%+v", err)
	}
}

// refused says that an error is about what was asked for.
func refused(err error) bool {
	var field *invalid.Field
	var draft *turn.FieldError
	return errors.As(err, &field) || errors.As(err, &draft)
}

func (l *lives) which(rt *rapid.T) *life {
	l.last = rapid.SampledFrom(l.all).Draw(rt, "session")
	return l.last
}

func (l *lives) word() string {
	l.words++
	return fmt.Sprintf("word%dx", l.words)
}

func (l *lives) head(rt *rapid.T, s *life) int64 {
	info, err := s.Info(l.ctx)
	may(rt, err)
	return info.Head
}

func (l *lives) append(rt *rapid.T) {
	s, sentences := l.which(rt), rapid.IntRange(1, 40).Draw(rt, "sentences")
	for _, role := range []turn.Role{turn.User, turn.Agent} {
		_, err := s.Append(l.ctx, turn.Draft{Role: role, Content: turn.Text{Text: strings.Repeat(l.word()+" is what is said here. ", sentences)}})
		may(rt, err)
	}
}

// talkLong says more than the window holds.
func (l *lives) talkLong(rt *rapid.T) {
	s := l.which(rt)
	for range 12 {
		for _, role := range []turn.Role{turn.User, turn.Agent} {
			w := l.word()
			_, err := s.Append(l.ctx, turn.Draft{Role: role, Content: turn.Text{Text: strings.Repeat(w+" says that src/"+w+".go is done. ", 6)}})
			may(rt, err)
		}
	}
}

// commit commits an exchange whose words are in memory and among the goals too.
func (l *lives) commit(rt *rapid.T) {
	s, asked, said := l.which(rt), l.word(), l.word()
	title := "Plant " + asked
	_, err := s.Commit(l.ctx, commit.Exchange{
		Turns: []turn.Draft{
			{Role: turn.User, Content: turn.Text{Text: "My tree is called " + asked + "."}},
			{Role: turn.Agent, Content: turn.Text{Text: "We decided to plant it near " + said + "."}},
		},
		Candidates: []memory.Candidate{{Type: memory.UserData, Source: memory.FromUser, Text: "The tree is called " + asked}},
		Intentions: cortex.Changes{Goals: []cortex.GoalChange{{ID: "tree", Title: &title}}},
	})
	may(rt, err)
}

func (l *lives) call(rt *rapid.T) {
	s, id := l.which(rt), l.word()
	_, err := s.Append(l.ctx, turn.Draft{Role: turn.Agent, Content: turn.Text{
		Text: l.word(), ToolCalls: []turn.ToolCall{{ID: id, Name: "look", Arguments: `{"at":"` + l.word() + `"}`}},
	}})
	may(rt, err)
	s.calls = append(s.calls, id)
}

func (l *lives) result(rt *rapid.T) {
	s := l.which(rt)
	if len(s.calls) == 0 {
		return
	}
	_, err := s.Append(l.ctx, turn.Draft{Role: turn.System, Content: turn.Result{CallID: s.calls[0], Name: "look", Status: turn.CallOK, Result: `"` + l.word() + `"`}})
	if !refused(err) { // the commit of an exchange ends what is open before it
		may(rt, err)
	}
	s.calls = s.calls[1:]
}

func (l *lives) prompt(rt *rapid.T) {
	_, err := l.which(rt).Prompt(l.ctx, tight)
	may(rt, err, turnstone.ErrOverBudget)
}

// compress compresses, and what is undone at once is as it was.
func (l *lives) compress(rt *rapid.T) {
	s := l.which(rt)
	before, cannot := s.Prompt(l.ctx, tight)
	_, err := s.Compress(l.ctx, tight)
	may(rt, err, turnstone.ErrOverBudget, turnstone.ErrNothingToCompress)
	if err != nil || cannot != nil || !rapid.Bool().Draw(rt, "undo") {
		return
	}
	_, err = s.Undo(l.ctx, 0, tight)
	may(rt, err, turnstone.ErrOverBudget)
	if err != nil {
		return
	}
	after, err := s.Prompt(l.ctx, tight)
	may(rt, err)
	if x, y := shownTurns(before), shownTurns(after); !slices.Equal(x, y) {
		rt.Fatalf("%s: the prompt had the turns %v, and has %v after it was undone", s.ID(), x, y)
	}
}

// shownTurns are those that a prompt shows. The goals above them are shown as they are now.
func shownTurns(p *prompt.Prompt) (all []int64) {
	for _, m := range p.Messages {
		all = append(all, m.Seqs...)
	}
	return all
}

func (l *lives) undo(rt *rapid.T) {
	_, err := l.which(rt).Undo(l.ctx, rapid.Int64Range(0, 6).Draw(rt, "pass"), tight)
	if !refused(err) {
		may(rt, err, turnstone.ErrOverBudget, turnstone.ErrNothingToUndo)
	}
}

func (l *lives) pin(rt *rapid.T) {
	s := l.which(rt)
	if head := l.head(rt, s); head > 0 {
		if err := s.Pin(l.ctx, rapid.Int64Range(1, head).Draw(rt, "turn")); !refused(err) {
			may(rt, err)
		}
	}
}

func (l *lives) snapshot(rt *rapid.T) {
	s, name := l.which(rt), fmt.Sprint("snapshot ", l.word())
	_, err := s.Snapshot(l.ctx, name)
	may(rt, err)
	s.snapshots = append(s.snapshots, name)
}

// restore goes back, and what is undone at once is as it was.
func (l *lives) restore(rt *rapid.T) {
	s := l.which(rt)
	if len(s.snapshots) == 0 {
		return
	}
	before := l.path(rt, s)
	_, err := s.Restore(l.ctx, rapid.SampledFrom(s.snapshots).Draw(rt, "snapshot"), tight)
	if err != nil {
		if !s.forgotten || !errors.Is(err, snapshot.ErrNotFound) {
			may(rt, err, turnstone.ErrOverBudget)
		}
		return
	}
	if !rapid.Bool().Draw(rt, "undo") {
		return
	}
	_, err = s.Undo(l.ctx, 0, tight)
	may(rt, err, turnstone.ErrOverBudget, turnstone.ErrNothingToUndo)
	after := l.path(rt, s)
	if undone := !errors.Is(err, turnstone.ErrOverBudget); undone && !slices.Equal(before, after) {
		rt.Fatalf("the path was %v, and is %v after the restore was undone", before, after)
	}
}

func (l *lives) path(rt *rapid.T, s *life) []turn.Range {
	epoch, err := s.Epoch(l.ctx, turnstone.Head)
	may(rt, err)
	return epoch.Path
}

func (l *lives) fork(rt *rapid.T) {
	s := l.which(rt)
	if len(l.all) > 4 {
		return
	}
	forked, err := s.Fork(l.ctx, rapid.Int64Range(0, l.head(rt, s)).Draw(rt, "turn"), turn.SessionInfo{})
	if refused(err) { // in the middle of a call
		return
	}
	may(rt, err)
	child := &life{Session: forked, forgotten: s.forgotten}
	list, err := forked.Snapshots(l.ctx, "", 100)
	may(rt, err)
	for i := range list {
		if list[i].Name != "" {
			child.snapshots = append(child.snapshots, list[i].Name)
		}
	}
	l.all = append(l.all, child)
}

// forget forgets a turn, or all that a session does not share with the one it was forked from.
func (l *lives) forget(rt *rapid.T) {
	s := l.which(rt)
	info, err := s.Info(l.ctx)
	may(rt, err)
	if info.Head == 0 || rapid.IntRange(0, 2).Draw(rt, "seldom") > 0 {
		return
	}
	var what turnstone.Target
	said := turn.Query{From: info.ForkSeq + 1, Kind: turn.KindTurn, Limit: 10_000} // summaries quote what others said
	if what.All = rapid.IntRange(0, 3).Draw(rt, "whole") == 0; !what.All {
		said.From = rapid.Int64Range(1, info.Head).Draw(rt, "turn")
		said.To = said.From
		what.Seqs = []int64{said.From}
	}
	page, err := s.Query(l.ctx, said)
	may(rt, err)
	for i := range page.Turns {
		l.gone = append(l.gone, ownWords.FindAllString(string(turn.AppendContent(nil, page.Turns[i].Content)), -1)...)
	}
	_, err = s.Forget(l.ctx, what)
	may(rt, err)
	for _, other := range l.all {
		other.forgotten, other.calls = true, nil
	}
}

var ownWords = regexp.MustCompile(`word[0-9]+x`)

func (l *lives) end(rt *rapid.T) {
	s := l.which(rt)
	_, err := s.End(l.ctx)
	may(rt, err)
	s.calls = nil
}
