package turnstone_test

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestASummariserThatIsAlwaysOvertakenIsLeftAlone: one that hangs while the window fills up fails like any other, and
// is not asked again after three passes, until eight went by.
func TestASummariserThatIsAlwaysOvertakenIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		by := &summariser{do: func(ctx context.Context, _ compress.Request) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}}
		eng := open(t, mem.New(mem.Config{}), turnstone.Config{Summariser: by})
		s := session(t, eng, "s")
		asking := []int64{}
		for n, passes := 0, int64(0); passes < 13; n++ {
			converse(t, s, n)
			asked := by.asked.Load()
			p := compiled(t, s, small)
			legal(t, p, n+1)
			synctest.Wait()
			if by.asked.Load() > asked {
				asking = append(asking, p.Passes+1)
			}
			passes = p.Passes
		}
		if want := []int64{1, 2, 3, 12}; !slices.Equal(asking, want) {
			t.Errorf("it was asked for passes %v, want %v", asking, want)
		}
		told := eventsOf(t, eng, s, event.CompressionError)
		if len(told) < 4 || !strings.HasPrefix(told[2].Data, `{"pass":3,"error":"the summariser had not answered`) || !strings.HasPrefix(told[3].Data, `{"pass":12,`) {
			t.Errorf("%+v", told)
		}
	})
}

// TestAPassThatFailsByItselfIsTold: the prompt goes on without it while it fits, and the events say what failed.
func TestAPassThatFailsByItselfIsTold(t *testing.T) {
	for _, tt := range []struct {
		point             string
		config            turnstone.Config
		passes, snapshots int // events of each kind
		exchanges         int
	}{
		{point: "InsertCheckpoint", passes: 1, exchanges: 10},
		{point: "InsertSnapshot", passes: 1, snapshots: 2, exchanges: 10, config: turnstone.Config{Snapshots: snapshot.Config{AutoThreshold: 0.8}}},
		{point: "InsertSnapshot", snapshots: 1, exchanges: 6, config: turnstone.Config{Snapshots: snapshot.Config{AutoThreshold: 0.3}}},
	} {
		t.Run(tt.point, func(t *testing.T) {
			st := faulty.New(mem.New(mem.Config{}))
			eng := open(t, st, tt.config)
			s := session(t, eng, "s")
			converseTo(t, s, 0, tt.exchanges)
			st.Set(func(point string) error {
				if point == tt.point {
					return errors.New("disk full")
				}
				return nil
			})
			p := compiled(t, s, small)
			legal(t, p, tt.exchanges)
			if calls, err := s.Prompts(t.Context(), 0, 10); err != nil || len(calls) != 1 || p.Passes != 0 || p.Shown != int64(2*tt.exchanges) {
				t.Errorf("%d prompts were kept, %v; %d passes, %d turns shown", len(calls), err, p.Passes, p.Shown)
			}
			passes, snapshots := eventsOf(t, eng, s, event.CompressionError), eventsOf(t, eng, s, event.SnapshotError)
			if len(passes) != tt.passes || len(snapshots) != tt.snapshots {
				t.Fatalf("told of %+v and %+v", passes, snapshots)
			}
			for _, e := range slices.Concat(passes, snapshots) {
				if !strings.Contains(e.Data, "disk full") {
					t.Errorf("%+v", e)
				}
			}
			if tt.passes == 0 {
				return
			}
			// What does not fit is refused, with what is the matter.
			converseTo(t, s, tt.exchanges, 16)
			if _, err := s.Prompt(t.Context(), small); err == nil || !strings.Contains(err.Error(), "disk full") {
				t.Errorf("it does not fit: %v", err)
			}
			st.Set(nil)
			if p := compiled(t, s, small); p.Passes == 0 {
				t.Error("it was not tried again")
			}
		})
	}
}

// TestAPassIsNoActivity: a session that ended stays ended when its prompt is made, and one that rests goes on resting.
func TestAPassIsNoActivity(t *testing.T) {
	for _, ends := range []bool{false, true} {
		s := session(t, open(t, mem.New(mem.Config{}), turnstone.Config{}), "s")
		converseTo(t, s, 0, 14)
		if ends {
			if _, err := s.End(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		before, err := s.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if p := compiled(t, s, small); p.Passes == 0 {
			t.Fatal("no pass was made")
		}
		after, err := s.Info(t.Context())
		if err != nil || after.Status != before.Status || !after.LastActivity.Equal(before.LastActivity) || after.Head <= before.Head {
			t.Errorf("ended %v: %+v, before %+v, %v", ends, after, before, err)
		}
	}
}

// TestADamagedCheckpointIsAnnouncedAsSuch, also when an undo comes upon it.
func TestADamagedCheckpointIsAnnouncedAsSuch(t *testing.T) {
	for _, undo := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "log.db")
		st, err := sqlite.Open(t.Context(), path, sqlite.Config{})
		if err != nil {
			t.Fatal(err)
		}
		eng := open(t, st, turnstone.Config{})
		s := session(t, eng, "s")
		large := turnstone.PromptOptions{Model: "gpt-4o", Context: 16384}
		for n := range 2 {
			converseTo(t, s, 9*n, 9*n+9)
			if _, err := s.Compress(t.Context(), large); err != nil {
				t.Fatal(err)
			}
		}
		before := len(eventsOf(t, eng, s, event.Compressed))
		damage(t, path, `DELETE FROM checkpoints WHERE number = 1`)
		if undo {
			if _, err := s.Undo(t.Context(), 0, large); err != nil {
				t.Fatal(err)
			}
		} else {
			other, err := sqlite.Open(t.Context(), path, sqlite.Config{})
			if err != nil {
				t.Fatal(err)
			}
			compiled(t, session(t, open(t, other, turnstone.Config{}), "s"), large)
		}
		told := eventsOf(t, eng, s, event.CompressionError)
		if len(told) != 1 || !strings.HasPrefix(told[0].Data, `{"pass":3,"from":1,"to":`) || !strings.Contains(told[0].Data, "damaged") {
			t.Errorf("undo %v: %+v", undo, told)
		}
		if after := len(eventsOf(t, eng, s, event.Compressed)); after != before {
			t.Errorf("undo %v: %d passes were announced, before %d", undo, after, before)
		}
	}
}

// unhurried is a model that takes so long for each answer.
type unhurried struct {
	takes time.Duration
	asked int
}

func (m *unhurried) Stream(ctx context.Context, _ llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		m.asked++
		select {
		case <-time.After(m.takes):
			yield(llm.Chunk{Text: "Orders went out; label, weight, seal and address of every parcel were checked by hand."}, nil)
		case <-ctx.Done():
			yield(llm.Chunk{}, ctx.Err())
		}
	}
}

// TestASummariserHasItsTimeForEachAnswer, however many parts it has to read.
func TestASummariserHasItsTimeForEachAnswer(t *testing.T) {
	for _, tt := range []struct {
		takes   time.Duration
		refused bool
	}{{50 * time.Second, false}, {70 * time.Second, true}} {
		synctest.Test(t, func(t *testing.T) {
			model := &unhurried{takes: tt.takes}
			eng := open(t, mem.New(mem.Config{}), turnstone.Config{
				Summariser: compress.Model{LLM: model, Window: 2048}, SummariserTimeout: time.Minute,
			})
			s := session(t, eng, "s")
			converseTo(t, s, 0, 10)
			began := time.Now()
			r := compressed(t, s).Made[0].Receipt
			late := slices.ContainsFunc(r.Refused, func(why string) bool { return strings.Contains(why, context.DeadlineExceeded.Error()) })
			if late != tt.refused || tt.refused && (model.asked != 1 || time.Since(began) != time.Minute) || !tt.refused && model.asked < 3 {
				t.Errorf("%v each: asked %d times in %v, refused %v", tt.takes, model.asked, time.Since(began), r.Refused)
			}
		})
	}
	if _, err := turnstone.Open(t.Context(), mem.New(mem.Config{}), turnstone.Config{SummariserTimeout: -1}); err == nil || !strings.Contains(err.Error(), "SummariserTimeout") {
		t.Errorf("a negative timeout: %v", err)
	}
}

func TestTheSmallestWindowsRollOver(t *testing.T) {
	for _, tt := range []struct {
		context int
		want    bool
	}{{4096, true}, {8192, false}} {
		eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
		s := session(t, eng, "s")
		converseTo(t, s, 0, 14)
		p := compiled(t, s, turnstone.PromptOptions{Model: "gpt-4o", Context: tt.context})
		told := eventsOf(t, eng, s, event.RolloverComplete)
		if (int64(len(told)) == p.Passes) != tt.want || p.Passes == 0 {
			t.Errorf("%d: %d passes, %+v", tt.context, p.Passes, told)
		}
	}
}

// TestASummariserIsToldTheInsights of the scratchpad.
func TestASummariserIsToldTheInsights(t *testing.T) {
	var insights []string
	by := &summariser{do: func(ctx context.Context, r compress.Request) (string, error) {
		insights = r.Insights
		return extract(ctx, r)
	}}
	s := session(t, open(t, mem.New(mem.Config{}), turnstone.Config{Summariser: by}), "s")
	converseTo(t, s, 0, 9)
	kind, content, refs := scratch.FlowInsight, "parcels leave at noon", []string{"flow:orders"}
	if _, err := s.Note(t.Context(), scratch.Changes{Put: []scratch.Change{{Type: &kind, Content: &content, ContextRefs: &refs}}}); err != nil {
		t.Fatal(err)
	}
	compressed(t, s)
	if len(insights) != 1 || !strings.Contains(insights[0], "parcels leave at noon") {
		t.Errorf("%q", insights)
	}
}

// TestAFullConversationIsSnapshot once in an epoch, by the prompt that finds it so full.
func TestAFullConversationIsSnapshot(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{Snapshots: snapshot.Config{AutoThreshold: 0.3}})
	s := session(t, eng, "s")
	taken := func() int { return len(eventsOf(t, eng, s, event.AutoSnapshotCreated)) }
	converse(t, s, 0)
	if compiled(t, s, small); taken() != 0 {
		t.Fatal("it is taken too soon")
	}
	converseTo(t, s, 1, 6)
	if p := compiled(t, s, small); taken() != 1 || p.Passes != 0 {
		t.Errorf("%d were taken, %d passes", taken(), p.Passes)
	}
	say(t, s, turn.User, "And now?")
	if compiled(t, s, small); taken() != 1 {
		t.Errorf("%d were taken", taken())
	}
}

// TestAPassThatFailsIsNotTriedAgainAtOnce: it is told once, and tried again when the conversation has grown.
func TestAPassThatFailsIsNotTriedAgainAtOnce(t *testing.T) {
	for _, modelled := range []bool{false, true} {
		inner := mem.New(mem.Config{})
		st := faulty.New(inner)
		var c turnstone.Config
		by := &summariser{do: extract}
		if modelled {
			c.Summariser = by
		}
		eng := open(t, st, c)
		s := session(t, eng, "s")
		converseTo(t, s, 0, 9)
		compiled(t, s, small)
		if err := s.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		tried := 0
		st.Set(func(point string) error {
			if point == "InsertCheckpoint" {
				tried++
				return errors.New("disk full")
			}
			return nil
		})
		converse(t, s, 9)
		for range 10 {
			if p := compiled(t, s, small); p.Passes != 0 {
				t.Fatalf("modelled %v: %d passes", modelled, p.Passes)
			}
			if err := s.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if told := eventsOf(t, eng, s, event.CompressionError); len(told) != 1 || tried != 1 || modelled && by.asked.Load() != 1 {
			t.Errorf("modelled %v: told %d times, tried %d times, asked %d times", modelled, len(told), tried, by.asked.Load())
		}
		// Another engine knows of it too, until there is more to gain.
		other := session(t, open(t, inner, turnstone.Config{}), "s")
		if p := compiled(t, other, small); p.Passes != 0 {
			t.Errorf("modelled %v: it was tried again at once", modelled)
		}
		converse(t, other, 10)
		if p := compiled(t, other, small); p.Passes == 0 {
			t.Errorf("modelled %v: it was not tried again", modelled)
		}
	}
}

// TestWhatIsSaidOfASummariserThatIsOvertaken: that it has not answered, or what was wrong with its answer.
func TestWhatIsSaidOfASummariserThatIsOvertaken(t *testing.T) {
	for want, do := range map[string]func(context.Context, compress.Request) (string, error){
		"the summariser had not answered when the window was full": func(ctx context.Context, _ compress.Request) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		},
		"no answer of the summariser could be taken: ": func(context.Context, compress.Request) (string, error) {
			return "", errors.New("out of memory")
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			eng := open(t, mem.New(mem.Config{}), turnstone.Config{Summariser: &summariser{do: do}})
			s := session(t, eng, "s")
			for n := range 8 {
				converse(t, s, n)
				compiled(t, s, small)
				synctest.Wait()
			}
			// More at once than the window holds: nobody reads what was drafted for.
			converseTo(t, s, 8, 40)
			if p := compiled(t, s, small); p.Passes == 0 {
				t.Fatal("no pass was made")
			}
			told := eventsOf(t, eng, s, event.CompressionError)
			if len(told) == 0 || !strings.Contains(told[len(told)-1].Data, want) {
				t.Errorf("%+v, want %s", told, want)
			}
		})
	}
}
