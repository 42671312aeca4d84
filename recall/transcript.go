package recall

import (
	"context"

	"github.com/turnstone-dev/turnstone/internal/words"
	"github.com/turnstone-dev/turnstone/turn"
)

// Line is a turn of a transcript. All but Text may be empty.
type Line struct {
	// ID is what [Transcript.Search] calls it.
	ID string
	// Session is the conversation it is of; lines of one follow each other.
	Session string
	// Time is when it was said, in any words.
	Time    string
	Speaker string
	Text    string
}

// Transcript is conversations in memory that are searched as a log is. It never changes and is safe for
// concurrent use.
type Transcript struct {
	ids       []string
	documents []*document
	at        []turn.Place // of each line: its session's number and its own
	postings  map[string][]turn.Place
}

// NewTranscript indexes lines.
func NewTranscript(lines []Line) *Transcript {
	t := &Transcript{postings: make(map[string][]turn.Place)}
	session := int64(0)
	for i, line := range lines {
		if i > 0 && line.Session != lines[i-1].Session {
			session++
		}
		d := newDocument(line.Speaker + ": " + line.Text)
		// The first word is the speaker's, so that a month is never the first.
		d.names, d.date = words.Terms(line.Speaker), readCalendar("at "+line.Time)
		at := turn.Place{Segment: session, Seq: int64(i)}
		for _, term := range words.Set(line.Speaker + ": " + line.Text) {
			t.postings[term] = append(t.postings[term], at)
		}
		t.ids, t.documents, t.at = append(t.ids, line.ID), append(t.documents, d), append(t.at, at)
	}
	return t
}

// Search returns the ids of the lines that answer a query, best first.
func (t *Transcript) Search(ctx context.Context, query string) ([]string, error) {
	q := ask(query)
	clues, err := look(ctx, t, q)
	if err != nil {
		return nil, err
	}
	list, err := rank(ctx, t, q, clues, true)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(list))
	for i, r := range list {
		ids[i] = t.ids[r.Seq]
	}
	return ids, nil
}

func (t *Transcript) size() float64 { return float64(len(t.at)) }

func (t *Transcript) places(ctx context.Context, term string) ([]turn.Place, float64, error) {
	at := t.postings[term]
	return at[max(0, len(at)-maxPlaces):], float64(len(at)), ctx.Err()
}

func (t *Transcript) holds(at turn.Place) bool {
	return at.Seq >= 0 && at.Seq < int64(len(t.at)) && t.at[at.Seq] == at
}

func (t *Transcript) read(_ context.Context, places []turn.Place) (map[turn.Place]*document, error) {
	found := make(map[turn.Place]*document, len(places))
	for _, at := range places {
		found[at] = t.documents[at.Seq]
	}
	return found, nil
}
