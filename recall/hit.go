package recall

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/turn"
)

// Hit is something that was found: a unit of turns, or an item of memory.
type Hit struct {
	// Session is where it was said, or what it was remembered of.
	Session string
	// Turns are the turns of the unit, ascending: a tool call with its results, all parts of a message, or
	// one turn. None of an item. They must not be changed.
	Turns []turn.Turn
	// Item is the id of an item of memory, empty for turns.
	Item string
	// Time is when the first of it was said or the item was made, Role who said it.
	Time time.Time
	Role turn.Role
	// Text is all of it in words; see [Fit] for one that is too long.
	Text string
	// Score orders hits of one search. It means nothing else.
	Score float64
	// Why are the words of the query that were found in it, none where it is [Hit.Nearby].
	Why []string
	// Citation names it as a person or a model would: [turn 12], [turns 12-14], [turn 3 of session x],
	// [memory 01J…].
	Citation string
	// Tokens is how much its entry of [Late] has, 0 where [Fit] did not count it.
	Tokens int
	// Clipped says that Text is not all of it.
	Clipped bool

	links []string // of an item: ids of the turns it was made of
}

// Nearby reports whether none of the query's words is in it: it stands beside turns that hold them, as an answer does that
// does not repeat its question.
func (h *Hit) Nearby() bool { return len(h.Why) == 0 }

// search returns the best turns as whole units.
func (l *log) search(ctx context.Context, clues []clue) ([]Hit, error) {
	list, err := rank(ctx, l, l.asked, clues, false)
	if err != nil {
		return nil, err
	}
	var hits []Hit
	shown := make(map[turn.Place]bool)
	for _, r := range list {
		if len(hits) == l.query.Limit {
			break
		}
		if shown[r.Place] {
			continue
		}
		turns, err := l.unit(ctx, r.doc)
		if err != nil {
			return nil, err
		}
		for _, t := range turns {
			shown[turn.Place{Segment: r.Segment, Seq: t.Seq}] = true
		}
		if len(turns) == 0 || slices.ContainsFunc(turns, func(t turn.Turn) bool { return !l.wants(turn.Place{Segment: r.Segment, Seq: t.Seq}) }) {
			continue
		}
		// What was forgotten stands among turns that answer, too, and has nothing to say.
		text := unitText(turns)
		if text == "" {
			continue
		}
		session := r.doc.session
		hits = append(hits, Hit{
			Session: session, Turns: turns, Time: turns[0].CreatedAt, Role: turns[0].Role, Text: text,
			Score: r.score, Why: r.why, Citation: "[" + l.cite(turns, session) + "]",
		})
	}
	return hits, nil
}

// unit returns all turns of the unit and the message that a turn is part of; none while a call has no result.
func (l *log) unit(ctx context.Context, d *document) ([]turn.Turn, error) {
	t := d.stored
	if t.Content == nil {
		whole, err := l.rows.TurnsAt(ctx, l.query.Home.Tenant, []turn.Place{{Segment: t.Segment, Seq: t.Seq}})
		if err != nil || len(whole) == 0 {
			return nil, err
		}
		t = whole[0]
	}
	turns := []turn.Turn{t.Turn}
	var err error
	if t.MessageID != "" {
		if turns, err = l.message(ctx, t); err != nil {
			return nil, err
		}
	}
	for _, part := range slices.Clone(turns) {
		if part.Unit == 0 {
			continue
		}
		members, err := l.rows.Units(ctx, l.query.Home.Tenant, t.Segment, part.Unit, part.Unit)
		if err != nil {
			return nil, err
		}
		if !turn.Complete(members) {
			return nil, nil
		}
		turns = append(turns, members...)
	}
	slices.SortFunc(turns, func(a, b turn.Turn) int { return int(a.Seq - b.Seq) })
	turns = slices.CompactFunc(turns, func(a, b turn.Turn) bool { return a.Seq == b.Seq })
	for i := range turns {
		turns[i].Session = d.session
	}
	return turns, nil
}

// messagePage is how many turns before and after one are looked at for more parts of its message.
const messagePage = 16

// message returns the parts of a message, which stand side by side.
func (l *log) message(ctx context.Context, t turn.Stored) ([]turn.Turn, error) {
	parts := []turn.Turn{t.Turn}
	for _, newest := range []bool{true, false} {
		for more := true; more; {
			span := turn.Span{Segment: t.Segment, From: parts[len(parts)-1].Seq + 1, To: parts[len(parts)-1].Seq + messagePage}
			if newest {
				span.From, span.To = parts[0].Seq-messagePage, parts[0].Seq-1
			}
			page, err := l.rows.Scan(ctx, l.query.Home.Tenant, span, turn.RowFilter{Newest: newest}, messagePage)
			if err != nil {
				return nil, err
			}
			same := 0
			for same < len(page) && page[same].MessageID == t.MessageID {
				same++
			}
			more = same == messagePage
			if newest {
				slices.Reverse(page[:same])
				parts = append(page[:same:same], parts...)
			} else {
				parts = append(parts, page[:same]...)
			}
		}
	}
	return parts, nil
}

func (l *log) cite(turns []turn.Turn, session string) string {
	name := fmt.Sprintf("turn %d", turns[0].Seq)
	if last := turns[len(turns)-1].Seq; last != turns[0].Seq {
		name = fmt.Sprintf("turns %d-%d", turns[0].Seq, last)
	}
	if session != l.query.Home.Session {
		name += " of session " + session
	}
	return name
}

// unitText is a unit in words, a line or more for each turn.
func unitText(turns []turn.Turn) string {
	var lines []string
	for _, t := range turns {
		switch c := t.Content.(type) {
		case turn.Text:
			if c.Text != "" {
				lines = append(lines, c.Text)
			}
			for _, call := range c.ToolCalls {
				lines = append(lines, "called "+call.Name+" "+call.Arguments)
			}
		case turn.Result:
			lines = append(lines, strings.TrimSpace(c.Name+" returned "+string(c.Status)+" "+c.Result))
		case turn.Image:
			lines = append(lines, "[image: "+c.Alt+"]")
		case turn.Forgotten:
		default:
			lines = append(lines, c.Searchable())
		}
	}
	return strings.Join(lines, "\n")
}
