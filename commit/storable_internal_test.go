package commit

import (
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/scratch"
)

// Whatever changes hold, what is kept of them is read again as it was written, and nothing else is left out.
func TestPayloadsAreReadAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &cortexPart{}
		c.changes.Goals = rapid.SliceOfN(rapid.Custom(drawGoalChange), 0, 3).Draw(t, "goals")
		c.changes.Actions = rapid.SliceOfN(rapid.Custom(drawActionChange), 0, 3).Draw(t, "actions")
		c.ids = idsFor(unnamedIn(c.changes))
		readAgain(t, c, len(c.changes.Goals)+len(c.changes.Actions), func(p part) int {
			kept := p.(*cortexPart).changes
			return len(kept.Goals) + len(kept.Actions)
		})
		s := &scratchPart{}
		s.changes.Put = rapid.SliceOfN(rapid.Custom(drawNote), 0, 3).Draw(t, "put")
		s.changes.Archive = rapid.SliceOfN(rapid.SampledFrom(words), 0, 2).Draw(t, "archive")
		s.changes.Clear = rapid.SliceOfN(rapid.SampledFrom(words), 0, 1).Draw(t, "clear")
		s.clear = rapid.SliceOfN(rapid.SampledFrom(words), 0, 1).Draw(t, "clear_too")
		s.ids = idsFor(unnamedOn(s.changes))
		readAgain(t, s, len(s.changes.Put)+len(s.changes.Archive)+len(s.changes.Clear)+len(s.clear), func(p part) int {
			s := p.(*scratchPart)
			return len(s.changes.Put) + len(s.changes.Archive) + len(s.changes.Clear) + len(s.clear)
		})
	})
}

func idsFor(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprint("id", i))
	}
	return ids
}

func readAgain(t *rapid.T, p part, changes int, count func(part) int) {
	kept, refused := p.storable()
	if count(kept)+len(refused) != changes {
		t.Fatalf("of %d changes %d are kept and %d refused", changes, count(kept), len(refused))
	}
	text := string(kept.payload())
	again, err := decodePart(p.target(), text)
	if err != nil || !utf8.ValidString(text) {
		t.Fatalf("%q: %v", text, err)
	}
	if string(again.payload()) != text || count(again) != count(kept) {
		t.Fatalf("%q is read as %q", text, again.payload())
	}
	for _, r := range refused {
		if r.Reason == "" || !utf8.ValidString(r.What+r.Reason) {
			t.Fatalf("refused %+v", r)
		}
	}
	if whole, none := kept.storable(); len(none) > 0 || !reflect.DeepEqual(whole, kept) {
		t.Fatalf("what was kept is refused: %+v", none)
	}
}

var words = []string{"", "a", "a\x00b", "\xff", "é\xc3", "\u2028", `"\`, "\ud7ff\U0010ffff"}

func drawWord(t *rapid.T) string { return rapid.SampledFrom(words).Draw(t, "word") }

// maybe draws a value or none.
func maybe[V any](t *rapid.T, values ...V) *V {
	i := rapid.IntRange(0, len(values)).Draw(t, "which")
	if i == len(values) {
		return nil
	}
	return &values[i]
}

func drawNumber(t *rapid.T) *float64 {
	return maybe(t, 0, 0.5, -1, 1e300, 5e-324, math.NaN(), math.Inf(1), math.Inf(-1))
}

func drawTime(t *rapid.T) *time.Time {
	return maybe(t, time.Time{}, time.Date(2026, 1, 2, 3, 4, 5, 6789, time.UTC), time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -7200)))
}

func drawGoalChange(t *rapid.T) cortex.GoalChange {
	c := cortex.GoalChange{
		ID: drawWord(t), Why: drawWord(t), Title: maybe(t, words...), Progress: drawNumber(t), Parent: maybe(t, words...),
		Priority: maybe(t, cortex.PriorityHigh, "\xff"), Version: rapid.Int64().Draw(t, "version"),
	}
	switch rapid.IntRange(0, 4).Draw(t, "list") {
	case 0:
		c.AddDecisions = []cortex.Decision{{Description: drawWord(t), Rationale: drawWord(t)}}
	case 1:
		c.RemoveDecisions = []string{drawWord(t), drawWord(t)}
	case 2:
		c.NextSteps = &[]string{drawWord(t)}
	case 3:
		c.AddMilestones = []cortex.Milestone{{Description: drawWord(t)}}
	}
	return c
}

func drawActionChange(t *rapid.T) cortex.ActionChange {
	return cortex.ActionChange{
		ID: drawWord(t), Title: maybe(t, words...), GoalID: maybe(t, words...), DueAt: drawTime(t), AddEvidence: []string{drawWord(t)},
	}
}

func drawNote(t *rapid.T) scratch.Change {
	return scratch.Change{
		ID: drawWord(t), Type: maybe(t, words...), Content: maybe(t, words...), Confidence: drawNumber(t), ExpiresAt: drawTime(t),
		Tags: maybe(t, []string{drawWord(t)}, nil),
	}
}
