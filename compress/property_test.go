package compress_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/turn"
)

// extractive returns the extractive summary of a random request that is large enough to have one.
func extractive(t *rapid.T, r compress.Request) (string, compress.Receipt) {
	summary, receipt, err := compress.Run(t.Context(), nil, r, compress.Options{})
	if errors.Is(err, compress.ErrTooSmall) {
		t.Skip("too small")
	}
	if err != nil {
		t.Fatal(err)
	}
	return summary, receipt
}

func TestEveryCheckpointCanBeStored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := randomRequest(t)
		summary, receipt := extractive(t, r)
		c := compress.First("cp1", compress.Pass{Number: 1, Range: r.Source.Range}, &r, summary, receipt, start)
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		back, err := compress.DecodeCheckpoint(string(c.AppendJSON(nil)))
		if diff := cmp.Diff(c, back); err != nil || diff != "" {
			t.Fatalf("%v (-want +got)\n%s", err, diff)
		}
	})
}

func TestTheSameTurnsGiveTheSameSummary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := randomRequest(t)
		summary, receipt := extractive(t, r)
		again, second := extractive(t, r)
		if diff := cmp.Diff(receipt, second); summary != again || diff != "" {
			t.Fatalf("%q and then %q\n%s", summary, again, diff)
		}
	})
}

// TestNoFactCanBeTakenAway removes what a summary must tell, one after the other.
func TestNoFactCanBeTakenAway(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := randomRequest(t)
		summary, _ := extractive(t, r)
		for line := range strings.SplitSeq(summary, "\n") {
			_, fact, ok := strings.Cut(line, ": ")
			if !ok || !strings.HasPrefix(line, "Kept: ") && !strings.HasPrefix(line, "Open: ") {
				continue
			}
			without := strings.ReplaceAll(summary, fact, "")
			v := compress.Verify(r, without)
			if strings.Contains(strings.ToLower(strings.Join(strings.Fields(without), " ")), strings.ToLower(fact)) {
				continue
			}
			if v.OK() || len(v.Facts) == 0 {
				t.Fatalf("%q is not missed in %q", fact, without)
			}
		}
	})
}

// TestNoInventionPasses adds a sentence about the user to a summary that stands.
func TestNoInventionPasses(t *testing.T) {
	subjects := []string{"The user", "the user", "User", "this user", "Our user", "The human", "**The user**", "“The user”"}
	verbs := []string{"wants", "asked for", "has decided on", "said that there is", "also needs", "explicitly demanded", "will get", "approved", "must have"}
	rapid.Check(t, func(t *rapid.T) {
		r := randomRequest(t)
		r.Budget += 100
		summary, _ := extractive(t, r)
		invention := rapid.SampledFrom(subjects).Draw(t, "subject") + " " + rapid.SampledFrom(verbs).Draw(t, "verb") + " a purple submarine"
		lines := strings.SplitAfter(summary, "\n")
		at := rapid.IntRange(0, len(lines)-1).Draw(t, "at")
		prefix := rapid.SampledFrom([]string{"", "- ", "2. ", "Also: ", "Decided: ", "Note that ", "It ended. ", "> "}).Draw(t, "prefix")
		spoiled := strings.Join(lines[:at], "") + prefix + invention + ".\n" + strings.Join(lines[at:], "")
		if v := compress.Verify(r, spoiled); v.OK() || len(v.Invented) == 0 {
			t.Fatalf("%q passes", spoiled)
		}
	})
}

// TestWhatTheUserSaidPasses quotes the user word for word.
func TestWhatTheUserSaidPasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(strings.Fields(strings.NewReplacer(".", "", "!", "", "?", "", ":", "").Replace(turngen.Text().Draw(t, "text"))), " ")
		sentence := "The user wants a purple submarine " + text
		l := (&log{}).user("Hello. " + sentence + "!").agent("It is fine. " + strings.Repeat("All is well with the boats in the harbour. ", 40)).agent("done")
		r := request(l, 300)
		if v := compress.Verify(r, "All is well with the boats.\nUser: "+sentence+"\n"+sentence+".\n"); len(v.Invented) != 0 {
			t.Fatalf("%q is refused", v.Invented)
		}
		if v := compress.Verify(r, "All is well with the boats. "+sentence+" at once"); len(v.Invented) == 0 {
			t.Fatalf("%q with more passes", sentence)
		}
	})
}

func TestUnitsPartNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turns := randomTurns(t)
		var seqs []int64
		home := map[int64]int{}
		for i, unit := range compress.Units(turns) {
			for _, x := range unit {
				seqs = append(seqs, x.Seq)
				if x.Unit == 0 {
					continue
				}
				if at, ok := home[x.Unit]; ok && at != i {
					t.Fatalf("unit %d stands in parts %d and %d", x.Unit, at, i)
				}
				home[x.Unit] = i
			}
		}
		if len(seqs) != len(turns) {
			t.Fatalf("%d of %d turns", len(seqs), len(turns))
		}
		for i, seq := range seqs {
			if seq != turns[i].Seq {
				t.Fatalf("turn %d is at %d", seq, i)
			}
		}
	})
}

// TestWorthKeepsItsBound holds what is worth reading again against its bound, whole units only.
func TestWorthKeepsItsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turns := randomTurns(t)
		if len(turns) == 0 {
			return
		}
		s := compress.Source{Turns: turns, Range: turn.Range{From: 1, To: int64(len(turns))}}
		most := rapid.IntRange(10, 400).Draw(t, "most")
		worth := s.Worth("", most, count)
		if worth == nil {
			return
		}
		var read []turn.Turn
		end := int64(0)
		for _, r := range worth {
			if r.From <= end+1 && end > 0 || r.To < r.From {
				t.Fatalf("%+v", worth)
			}
			read = append(read, turns[r.From-1:r.To]...)
			end = r.To
		}
		part := compress.Source{Turns: read}
		if n := part.Tokens(count); n > most {
			t.Fatalf("%d tokens, at most %d", n, most)
		}
		inside := map[int64]int{}
		for _, x := range read {
			inside[x.Unit]++
		}
		for _, x := range turns {
			if x.Unit != 0 && inside[x.Unit] > 0 {
				inside[x.Unit]--
				if inside[x.Unit] == 0 {
					delete(inside, x.Unit)
				}
			}
		}
		delete(inside, 0)
		if len(inside) > 0 {
			t.Fatalf("units %v are split", inside)
		}
	})
}

func TestSummariesMayBeMadeAtTheSameTime(t *testing.T) {
	r := request(story(), 150)
	r.Mode = compress.ModeDeveloper
	want, _, err := compress.Run(t.Context(), nil, r, compress.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	results := make([]string, 8)
	for i := range results {
		wait.Go(func() {
			summary, _, err := compress.Run(t.Context(), nil, r, compress.Options{})
			results[i] = summary + fmt.Sprint(err)
		})
	}
	wait.Wait()
	for _, got := range results {
		if got != want+"<nil>" {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func FuzzDecodeBreaker(f *testing.F) {
	f.Add(`{"failures":3,"skipped":2,"epoch":7,"range":{"from":3,"to":9}}`)
	f.Add(`{}`)
	f.Fuzz(func(t *testing.T, data string) {
		b, err := compress.DecodeBreaker(data)
		if err != nil {
			return
		}
		if again, err := compress.DecodeBreaker(string(b.AppendJSON(nil))); err != nil || again != b {
			t.Errorf("%+v, %v", again, err)
		}
	})
}
