package prompt

import (
	"context"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/turn"
)

// MaxPins is how many turns of a session may be pinned.
const MaxPins = 256

// PinnedIn returns the turns that are pinned after all the rows, ascending.
func PinnedIn(rows []PinRow) []int64 {
	var pinned []int64
	for _, r := range rows {
		i, ok := slices.BinarySearch(pinned, r.Seq)
		switch {
		case r.Pinned && !ok:
			pinned = slices.Insert(pinned, i, r.Seq)
		case !r.Pinned && ok:
			pinned = slices.Delete(pinned, i, i+1)
		}
	}
	return pinned
}

// CheckPin reports why a turn of the session cannot be pinned: turn.ErrNotFound where there is none, an
// error that names the field for one that no prompt shows.
func CheckPin(ctx context.Context, rows turn.TurnRows, session *turn.SessionInfo, seq int64) error {
	l := &log{ctx, rows, session}
	t, err := l.turn(seq)
	if err != nil {
		return err
	}
	if t.Kind != turn.KindTurn {
		return invalid.New("turn", fmt.Sprintf("%d is a %s, which no prompt shows", seq, t.Kind), "pin one of the turns it stands for")
	}
	return nil
}

func (l *log) turn(seq int64) (turn.Turn, error) {
	turns, err := l.scan(anywhere, seq, seq, false, 1)
	if err == nil && len(turns) == 0 {
		err = fmt.Errorf("turn %d of %s: %w", seq, l.session.Session, turn.ErrNotFound)
	}
	if err != nil {
		return turn.Turn{}, err
	}
	return turns[0], nil
}

// pinned returns the unit or the message that a pinned turn belongs to, which is shown with it. Ok is false
// for a unit that still waits for a result on the path.
func (l *log) pinned(path []turn.Range, seq int64) (whole turn.Range, ok bool, err error) {
	t, err := l.turn(seq)
	if err != nil {
		return whole, false, err
	}
	if t.Unit != 0 {
		if !on(path, t.Unit) {
			return whole, false, nil
		}
		members, err := l.unit(path, t.Unit, l.session.Head)
		if err != nil {
			return whole, false, err
		}
		return turn.Range{From: members[0].Seq, To: members[len(members)-1].Seq}, turn.Complete(members), nil
	}
	whole = turn.Range{From: seq, To: seq}
	if t.MessageID != "" {
		whole, err = l.message(path, t, whole)
	}
	return whole, true, err
}

// message widens a range to the parts of the turn's message on both sides, past what stands nowhere or
// elsewhere in a prompt.
func (l *log) message(path []turn.Range, t turn.Turn, whole turn.Range) (turn.Range, error) {
	for _, newest := range []bool{true, false} {
		from, to := int64(1), whole.From-1
		if !newest {
			from, to = whole.To+1, l.session.Head
		}
		for {
			next, err := l.scan(path, from, to, newest, 1)
			if err != nil {
				return whole, err
			}
			if len(next) == 0 {
				break
			}
			n := &next[0]
			if n.Unit == 0 && n.MessageID == t.MessageID && n.Role == t.Role {
				whole.From, whole.To = min(whole.From, n.Seq), max(whole.To, n.Seq)
			} else {
				stands, err := l.stands(path, n)
				if err != nil {
					return whole, err
				}
				if stands {
					break
				}
			}
			if from = n.Seq + 1; newest {
				from, to = 1, n.Seq-1
			}
		}
	}
	return whole, nil
}

// stands reports whether a message or a unit of a prompt ends with the turn.
func (l *log) stands(path []turn.Range, t *turn.Turn) (bool, error) {
	if t.Unit == 0 {
		_, ok := messageOf(t)
		return ok, nil
	}
	if !on(path, t.Unit) {
		return false, nil
	}
	members, err := l.unit(path, t.Unit, t.Seq)
	return err == nil && turn.Complete(members), err
}
