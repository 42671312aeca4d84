package turnstone_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// An exchange that got no reply is tried again with what stands in the log, unless something was said behind it.
func TestRelayAgain(t *testing.T) {
	for name, test := range map[string]struct {
		since   turn.Role // who spoke since
		after   int64
		refused bool
	}{
		"nothing was said since":  {after: 4},
		"the user spoke since":    {since: turn.User, after: 4, refused: true},
		"the agent spoke since":   {since: turn.Agent, after: 4, refused: true},
		"it is the agent's":       {since: turn.Agent, after: 5, refused: true},
		"it is not there":         {after: 5, refused: true},
		"it is not the last turn": {after: 3, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
			s, err := eng.Create(t.Context(), turn.SessionInfo{Model: "llama3.2"})
			if err != nil {
				t.Fatal(err)
			}
			say(t, s, turn.User, "One?")
			say(t, s, turn.Agent, "One.")
			input := []turn.Draft{{Role: turn.User, Content: turn.Text{Text: "Two?"}}, {Role: turn.User, Content: turn.Text{Text: "Please."}}}
			first := s.Relay(turnstone.RelayOptions{Model: "llama3.2", After: 2})
			if err := first.Begin(t.Context(), input...); err != nil {
				t.Fatal(err)
			}
			if _, err := first.Begun(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := first.End(t.Context(), agent.Ending{State: commit.Failed, Err: errors.New("no model")}); err != nil {
				t.Fatal(err)
			}
			if test.since != "" {
				say(t, s, test.since, "Since.")
			}
			again := s.Relay(turnstone.RelayOptions{Model: "llama3.2", After: test.after, Again: true})
			err = again.Begin(t.Context(), input...)
			if err == nil {
				_, err = again.Begun(t.Context())
			}
			if test.refused {
				if !errors.Is(err, turnstone.ErrMoved) {
					t.Error(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(again.Answer(t.Context(), llm.Answer{Text: "Two.", Stop: llm.StopEnd}), again.End(t.Context(), agent.Ending{State: commit.Complete})); err != nil {
				t.Fatal(err)
			}
			turns, err := s.Since(t.Context(), 2, 9)
			if err != nil || len(turns) != 3 {
				t.Fatalf("%d turns, %v", len(turns), err)
			}
			export, err := eng.Export(t.Context(), turns[0].ID)
			if err != nil || export.Turn.UserInput != "Two?\nPlease." || export.Turn.AssistantResponse != "Two." {
				t.Errorf("%+v, %v", export.Turn, err)
			}
		})
	}
}

// tried begins an exchange, or begins it again.
func tried(t *testing.T, s *turnstone.Session, o turnstone.RelayOptions, input ...turn.Draft) *turnstone.Relay {
	t.Helper()
	o.Model = "llama3.2"
	r := s.Relay(o)
	err := r.Begin(t.Context(), input...)
	if err == nil {
		_, err = r.Begun(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var errNoModel = agent.Ending{State: commit.Failed, Err: errors.New("no model")}

// What others said before it, and what closed calls for it, is no part of an exchange that is tried again.
func TestRelayAgainIsTheSameExchange(t *testing.T) {
	called := turn.Text{ToolCalls: []turn.ToolCall{{ID: "c", Name: "look", Arguments: "{}"}}}
	for name, before := range map[string][]turn.Draft{
		"others spoke":     {{Role: turn.User, Content: turn.Text{Text: "Others."}}, {Role: turn.User, Content: turn.Text{Text: "More."}}},
		"a call is closed": {{Role: turn.User, Content: turn.Text{Text: "Look."}}, {Role: turn.Agent, Content: called}},
	} {
		t.Run(name, func(t *testing.T) {
			eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
			s, err := eng.Create(t.Context(), turn.SessionInfo{Model: "llama3.2"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Append(t.Context(), before...); err != nil {
				t.Fatal(err)
			}
			input := []turn.Draft{{Role: turn.User, Content: turn.Text{Text: "Two?"}}, {Role: turn.User, Content: turn.Text{Text: "Please."}}}
			if err := tried(t, s, turnstone.RelayOptions{After: 2}, input...).End(t.Context(), errNoModel); err != nil {
				t.Fatal(err)
			}
			turns, err := s.Since(t.Context(), 2, 9)
			if err != nil {
				t.Fatal(err)
			}
			n := len(turns)
			again := tried(t, s, turnstone.RelayOptions{After: turns[n-1].Seq, Again: true}, input...)
			if err := errors.Join(again.Answer(t.Context(), llm.Answer{Text: "Two.", Stop: llm.StopEnd}), again.End(t.Context(), agent.Ending{State: commit.Complete})); err != nil {
				t.Fatal(err)
			}
			export, err := eng.Export(t.Context(), turns[n-2].ID)
			if err != nil || export.Turn.UserInput != "Two?\nPlease." || export.Turn.AssistantResponse != "Two." {
				t.Errorf("%+v, %v", export.Turn, err)
			}
		})
	}
}

// A process that dies while it tries an exchange again leaves one as any other: it is committed by who comes next, unless that
// is what was committed.
func TestRelayAgainThatWasLeft(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		for began, want := range map[time.Duration][]string{0: {"failed", "interrupted"}, -time.Hour: {"failed"}} {
			s, err := eng.Create(t.Context(), turn.SessionInfo{Model: "llama3.2"})
			if err != nil {
				t.Fatal(err)
			}
			id, input := s.ID()[1:], turn.Draft{Role: turn.User, Content: turn.Text{Text: "Two?"}}
			if err := tried(t, s, turnstone.RelayOptions{}, input).End(t.Context(), errNoModel); err != nil {
				t.Fatal(err)
			}
			first, err := s.Since(t.Context(), 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			err = st.Update(t.Context(), func(tx store.Tx) error {
				at := tx.Now().Add(began)
				return tx.Log().PutExchange(t.Context(), turn.Key{Tenant: turn.DefaultTenant, Session: s.ID()}, turn.OpenExchange{
					ExportID: "1" + id, Opened: first[0].ID, Model: "llama3.2", Started: at, Changed: at,
					Reply: "2" + id, Content: `{"text":"Tw"}`,
				})
			})
			if err != nil {
				t.Fatal(err)
			}
			if n, err := eng.Recover(t.Context()); err != nil || n != 1 {
				t.Errorf("%d, %v", n, err)
			}
			states := statuses(t, st, s)
			slices.Sort(states)
			same(t, "states", states, want)
			same(t, "log", turnsOf(t, s), []string{"user: Two?", "agent: Tw [interrupted]"})
		}
		examined(t, st)
	})
}

// readInUpdates counts the turns that are read one after the other where others wait to write.
type readInUpdates struct {
	store.Store
	turns int
}

type readTx struct {
	store.Tx
	read *readInUpdates
}

type readRows struct {
	turn.Rows
	read *readInUpdates
}

func (r *readInUpdates) Update(ctx context.Context, fn func(store.Tx) error) error {
	return r.Store.Update(ctx, func(tx store.Tx) error { return fn(readTx{tx, r}) })
}

func (t readTx) Log() turn.Rows { return readRows{t.Tx.Log(), t.read} }

func (r readRows) Scan(ctx context.Context, tenant string, s turn.Span, f turn.RowFilter, limit int) ([]turn.Turn, error) {
	turns, err := r.Rows.Scan(ctx, tenant, s, f, limit)
	r.read.turns += len(turns)
	return turns, err
}

// However long the session is, what is tried again is read and little more: also where calls were closed amid it, and in a fork.
func TestRelayAgainReadsWhatItNeeds(t *testing.T) {
	st := &readInUpdates{Store: mem.New(mem.Config{})}
	eng := open(t, st, turnstone.Config{})
	long, err := eng.Create(t.Context(), turn.SessionInfo{Model: "llama3.2"})
	if err != nil {
		t.Fatal(err)
	}
	said := slices.Repeat([]turn.Draft{{Role: turn.User, Content: turn.Text{Text: "One."}}}, 600)
	var calls []turn.ToolCall
	for i := range 5 {
		calls = append(calls, turn.ToolCall{ID: fmt.Sprint(i), Name: "look", Arguments: "{}"})
	}
	if _, err := long.Append(t.Context(), append(said, turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: calls}})...); err != nil {
		t.Fatal(err)
	}
	input := []turn.Draft{
		{Role: turn.System, Content: turn.Result{Name: "look", CallID: "2", Status: turn.CallOK, Result: `"seen"`}},
		{Role: turn.User, Content: turn.Text{Text: "Two?"}},
	}
	if err := tried(t, long, turnstone.RelayOptions{After: 601, Untouched: true}, input...).End(t.Context(), errNoModel); err != nil {
		t.Fatal(err)
	}
	fork, err := long.Fork(t.Context(), 607, turn.SessionInfo{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*turnstone.Session{long, fork} {
		st.turns = 0
		again := tried(t, s, turnstone.RelayOptions{After: 607, Again: true, Untouched: true}, input...)
		if st.turns > 20 {
			t.Errorf("%d turns are read for %d", st.turns, len(input))
		}
		if err := errors.Join(again.Answer(t.Context(), llm.Answer{Text: "Two.", Stop: llm.StopEnd}), again.End(t.Context(), agent.Ending{State: commit.Complete})); err != nil {
			t.Fatal(err)
		}
		turns, err := s.Since(t.Context(), 601, 1)
		if err != nil {
			t.Fatal(err)
		}
		if export, err := eng.Export(t.Context(), turns[0].ID); s == long && (err != nil || export.Turn.UserInput != "Two?" || export.Turn.AssistantResponse != "Two.") {
			t.Errorf("%+v, %v", export.Turn, err)
		}
	}
	examined(t, st.Store)
}

// A client that tries for hours leaves no more than one that tried once, and is answered at last.
func TestRelayAgainManyTimes(t *testing.T) {
	st := mem.New(mem.Config{})
	eng := open(t, st, turnstone.Config{})
	s, err := eng.Create(t.Context(), turn.SessionInfo{Model: "llama3.2"})
	if err != nil {
		t.Fatal(err)
	}
	input := turn.Draft{Role: turn.User, Content: turn.Text{Text: "We decided to use Go."}}
	if err := tried(t, s, turnstone.RelayOptions{}, input).End(t.Context(), errNoModel); err != nil {
		t.Fatal(err)
	}
	once, err := s.Digest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range commit.MaxTurns {
		if err := tried(t, s, turnstone.RelayOptions{After: 1, Again: true}, input).End(t.Context(), errNoModel); err != nil {
			t.Fatal(err)
		}
	}
	digest, err := s.Digest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(once, digest); diff != "" {
		t.Error(diff)
	}
	again := tried(t, s, turnstone.RelayOptions{After: 1, Again: true}, input)
	if err := errors.Join(again.Answer(t.Context(), llm.Answer{Text: "Good.", Stop: llm.StopEnd}), again.End(t.Context(), agent.Ending{State: commit.Complete})); err != nil {
		t.Fatal(err)
	}
	same(t, "log", turnsOf(t, s), []string{"user: We decided to use Go.", "agent: Good."})
	answered, err := s.Digest(t.Context())
	if err != nil || answered.ThroughSeq <= once.ThroughSeq || answered.Rolling.String() != "User: We decided to use Go. Agent: Good." {
		t.Errorf("%+v, %v", answered, err)
	}
	info, err := s.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fork, err := s.Fork(t.Context(), info.Head, turn.SessionInfo{})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := fork.Digest(t.Context()); err != nil || cmp.Diff(answered, d, cmpopts.EquateEmpty()) != "" {
		t.Errorf("in a fork %+v, %v", d, err)
	}
	examined(t, st)
}

// What a client that tried again talks about counts as much as what was said in one exchange.
func TestRelayAgainCountsTopicsOnce(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	topics := func(tries int) []memory.Topic {
		t.Helper()
		s, err := eng.Create(t.Context(), turn.SessionInfo{Model: "llama3.2"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Commit(t.Context(), commit.Exchange{Turns: []turn.Draft{
			{Role: turn.User, Content: turn.Text{Text: "My teapot leaks."}}, {Role: turn.Agent, Content: turn.Text{Text: "Then mend the teapot."}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		info, err := s.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		input, o := turn.Draft{Role: turn.User, Content: turn.Text{Text: "A walrus drank from the teapot."}}, turnstone.RelayOptions{After: info.Head}
		for range tries {
			if err := tried(t, s, o, input).End(t.Context(), errNoModel); err != nil {
				t.Fatal(err)
			}
			o = turnstone.RelayOptions{After: info.Head + 1, Again: true}
		}
		last := tried(t, s, o, input)
		if err := errors.Join(last.Answer(t.Context(), llm.Answer{Text: "Oh!", Stop: llm.StopEnd}), last.End(t.Context(), agent.Ending{State: commit.Complete})); err != nil {
			t.Fatal(err)
		}
		d, err := s.Digest(t.Context())
		if err != nil || len(d.Topics) == 0 {
			t.Fatalf("%+v, %v", d, err)
		}
		return d.Topics
	}
	if diff := cmp.Diff(topics(0), topics(2)); diff != "" {
		t.Errorf("(-once +tried again)\n%s", diff)
	}
}

// Calls that nobody brought a result for are closed before the model is asked, also where others left them open.
func TestRelayAgainClosesCalls(t *testing.T) {
	st := mem.New(mem.Config{})
	eng := open(t, st, turnstone.Config{})
	s, err := eng.Create(t.Context(), turn.SessionInfo{Model: "llama3.2"})
	if err != nil {
		t.Fatal(err)
	}
	calls := []turn.ToolCall{{ID: "c", Name: "look", Arguments: "{}"}, {ID: "d", Name: "look", Arguments: "{}"}}
	input := turn.Draft{Role: turn.System, Content: turn.Result{Name: "look", CallID: "c", Status: turn.CallOK, Result: `"seen"`}}
	_, err = s.Append(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "Look."}}, turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: calls}}, input)
	if err != nil {
		t.Fatal(err)
	}
	again := tried(t, s, turnstone.RelayOptions{After: 3, Again: true}, input)
	request, err := again.Compile(t.Context(), agent.Offer{})
	if err != nil || len(request.Messages) != 4 {
		t.Errorf("%+v, %v", request.Messages, err)
	}
	if err := errors.Join(again.Answer(t.Context(), llm.Answer{Text: "Good.", Stop: llm.StopEnd}), again.End(t.Context(), agent.Ending{State: commit.Complete})); err != nil {
		t.Fatal(err)
	}
	turns, err := s.Since(t.Context(), 3, 9)
	if err != nil || len(turns) != 2 || turns[1].Role != turn.Agent {
		t.Errorf("%+v, %v", turns, err)
	}
	examined(t, st)
}

// The trace of a turn tells of all that was tried, and that of an export of the one that it is about.
func TestRelayAgainIsTraced(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		s, err := eng.Create(t.Context(), turn.SessionInfo{Model: "llama3.2"})
		if err != nil {
			t.Fatal(err)
		}
		input := turn.Draft{Role: turn.User, Content: turn.Text{Text: "Two?"}}
		if err := tried(t, s, turnstone.RelayOptions{}, input).End(t.Context(), errNoModel); err != nil {
			t.Fatal(err)
		}
		again := tried(t, s, turnstone.RelayOptions{After: 1, Again: true}, input)
		if err := errors.Join(again.Answer(t.Context(), llm.Answer{Text: "Two.", Stop: llm.StopEnd}), again.End(t.Context(), agent.Ending{State: commit.Complete})); err != nil {
			t.Fatal(err)
		}
		turns, err := s.Since(t.Context(), 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, published := range []bool{false, true} {
			if published {
				if err := eng.Publish(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			var exports []event.Export
			err = st.View(t.Context(), func(tx store.Tx) (err error) {
				exports, err = tx.Outbox().ExportsOf(t.Context(), turn.DefaultTenant, turns[0].ID)
				return err
			})
			if err != nil || len(exports) != 2 {
				t.Fatalf("%+v, %v", exports, err)
			}
			for _, e := range exports {
				trace, err := eng.Trace(t.Context(), e.ID)
				if err != nil || trace.ExportID != e.ID || trace.Status != e.Status || len(trace.Spans) == 0 {
					t.Errorf("%s: %+v, %v", e.Status, trace, err)
				}
			}
			if trace, err := eng.Trace(t.Context(), turns[0].ID); err != nil || trace.Status != "complete" {
				t.Errorf("%+v, %v", trace, err)
			}
		}
	})
}
