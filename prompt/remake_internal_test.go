package prompt

import (
	"context"
	"testing"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

// endless is a log in which the agent said something in every turn.
type endless struct{ turn.TurnRows }

func (endless) Scan(_ context.Context, _ string, s turn.Span, _ turn.RowFilter, limit int) (turns []turn.Turn, err error) {
	for seq := s.From; seq <= s.To && len(turns) < limit; seq++ {
		turns = append(turns, turn.Turn{Seq: seq, Role: turn.Agent, Kind: turn.KindTurn, Content: turn.Text{Text: "Yes."}})
	}
	return turns, nil
}

// TestACheckpointOfVeryManyTurnsIsMadeAgainOfTheLast: what came last is what the next turn goes on from.
func TestACheckpointOfVeryManyTurnsIsMadeAgainOfTheLast(t *testing.T) {
	for _, to := range []int64{maxPass - 1, maxPass, maxPass + 1, 2 * maxPass} {
		var asked *compress.Job
		c := newCompiler(t.Context(), AllRows{Turns: endless{}}, Request{
			Session: turn.SessionInfo{Segment: 1, Head: 3 * maxPass}, Window: budget.Window{Context: 8192},
			Pass: func(_ context.Context, j *compress.Job) (compress.Outcome, error) {
				asked = j
				return compress.Outcome{}, nil
			},
		})
		p := &Projection{epoch: Epoch{Path: anywhere}}
		if _, err := c.remake(p, Ref{Range: turn.Range{From: 1, To: to}}, 1, nil); err != nil {
			t.Fatal(err)
		}
		turns := asked.New.Turns
		if first, last := turns[0].Seq, turns[len(turns)-1].Seq; first != max(1, to-maxPass+1) || last != to {
			t.Errorf("of turns 1 to %d those from %d to %d were read", to, first, last)
		}
	}
}
