package commit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestAnExportIDBelongsToOneExchange(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		other := w.session("other", "")
		ex := talk("hello", "hi")
		ex.ExportID = w.config.NewID()
		w.commit(ex)
		replied := 0
		for _, test := range []struct {
			name  string
			key   turn.Key
			turns []turn.Draft
		}{
			{"another session", other, talk("hello", "hi").Turns},
			{"another input", key, talk("bye", "hi").Turns},
			{"another reply", key, talk("hello", "go away").Turns},
			{"another opening", key, nil},
		} {
			again := commit.Exchange{ExportID: ex.ExportID, Turns: test.turns, Replied: func(string) { replied++ }}
			if len(test.turns) == 0 {
				again.Opened = w.config.NewID()
			}
			if _, err := w.pipeline.Commit(t.Context(), test.key, again); !errors.Is(err, turn.ErrConflict) {
				t.Errorf("%s: %v", test.name, err)
			}
		}
		if replied != 0 || len(w.turns()) != 3 {
			t.Errorf("%d replies were handed over, log %q", replied, w.turns())
		}
	})
}

// Another exchange is not taken for the one that was committed because it has the same words.
func TestAnotherExchangeUnderTheSameIDIsRefused(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		ex := used(turn.CallOK, `["a.txt"]`)
		ex.Turns = append([]turn.Draft{{Role: turn.User, Content: turn.Action{Name: "delete", Target: "b.txt"}}}, ex.Turns...)
		ex.Candidates = []memory.Candidate{
			{Type: memory.UserData, Text: "likes lists"}, {Type: memory.UserData, Data: `{"n": 1}`}, {Type: "gossip", Text: "hm", Given: full(0)},
		}
		ex.ExportID = w.config.NewID()
		first := w.commit(ex)
		if len(first.Dropped) == 0 || len(first.Episodes) < 2 {
			t.Fatalf("%d remembered, dropped %+v", len(first.Episodes), first.Dropped)
		}
		for name, change := range map[string]func(*commit.Exchange){
			"action": func(ex *commit.Exchange) { ex.Turns[0].Content = turn.Action{Name: "restore", Target: "b.txt"} },
			"call": func(ex *commit.Exchange) {
				ex.Turns[2].Content = turn.Text{ToolCalls: []turn.ToolCall{{ID: "1", Name: "ls", Arguments: `{"dir":"/"}`}}}
			},
			"result": func(ex *commit.Exchange) {
				ex.Turns[3].Content = turn.Result{Name: "ls", CallID: "1", Status: turn.CallOK, Result: `[]`}
			},
			"text":    func(ex *commit.Exchange) { ex.Candidates[0].Text = "hates lists" },
			"data":    func(ex *commit.Exchange) { ex.Candidates[1].Data = `{"n": 2}` },
			"failure": func(ex *commit.Exchange) { ex.Failure = "the model died" },
		} {
			again := ex
			again.Turns, again.Candidates = slices.Clone(ex.Turns), slices.Clone(ex.Candidates)
			change(&again)
			if _, err := w.pipeline.Commit(t.Context(), key, again); !errors.Is(err, turn.ErrConflict) {
				t.Errorf("another %s: %v", name, err)
			}
		}
		if again := w.commit(ex); !again.Repeated {
			t.Errorf("the same: %+v", again)
		}
	})
}

// What is committed again under its id is known again, whoever said what, and however much was said since.
func TestAnExchangeIsKnownAgain(t *testing.T) {
	better := commit.RespondFunc(func(context.Context, *commit.Situation) (string, error) { return "in better words", nil })
	for name, test := range map[string]struct {
		responder commit.Responder
		opened    bool
		since     int
		reply     string
	}{
		"with a responder":           {responder: better, reply: "in better words"},
		"with an input in the log":   {opened: true, reply: "hi"},
		"with many turns after it":   {opened: true, since: commit.MaxTurns, reply: "hi"},
		"with turns and a responder": {responder: better, opened: true, reply: "in better words"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOnMem(t, commit.Config{Deadlines: patient, Responder: test.responder})
			ex := talk("are you there?", "hi")
			ex.ExportID = w.config.NewID()
			if test.opened {
				ex.Opened = w.say("hello").ID
			}
			first := w.commit(ex)
			for range test.since {
				w.say("more")
			}
			before := len(w.turns())
			again, err := w.pipeline.Commit(t.Context(), key, ex)
			if err != nil || !again.Repeated || again.Reply != test.reply || again.TurnID != first.TurnID || len(w.turns()) != before {
				t.Errorf("%+v, %v", again, err)
			}
			// Who only knows what was asked may ask again too.
			asked := ex
			asked.Turns = ex.Turns[:1]
			if again, err := w.pipeline.Commit(t.Context(), key, asked); err != nil || !again.Repeated || again.Reply != test.reply {
				t.Errorf("without a reply: %+v, %v", again, err)
			}
			ex.Turns[0].Content = turn.Text{Text: "there?"}
			if _, err := w.pipeline.Commit(t.Context(), key, ex); !errors.Is(err, turn.ErrConflict) {
				t.Errorf("with another input: %v", err)
			}
		})
	}
}

func TestAnExchangeIsCommittedOnceWithoutAnExportID(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	res := w.commit(talk("hello", "hi"))
	for _, log := range [][]turn.Turn{nil, res.Turns} {
		_, err := w.pipeline.Commit(t.Context(), key, commit.Exchange{Opened: res.TurnID, Log: log})
		if !errors.Is(err, turn.ErrConflict) || !strings.Contains(err.Error(), res.ExportID) {
			t.Errorf("again, with %d turns that are known: %v", len(log), err)
		}
	}
	// The summary opens nothing.
	_, err := w.pipeline.Commit(t.Context(), key, commit.Exchange{Opened: res.Turns[2].ID})
	var field *invalid.Field
	if !errors.As(err, &field) || field.Name != "turn_id" {
		t.Errorf("opened by a summary: %v", err)
	}
}

// Two processes that commit the same exchange at the same time write it once.
func TestAnExchangeIsCommittedByOneProcess(t *testing.T) {
	onSharedStores(t, func(t *testing.T, open func(commit.Config) *world) {
		other := open(commit.Config{})
		var ex commit.Exchange
		w := open(commit.Config{Deadlines: patient, Evaluator: commit.EvaluateFunc(func(context.Context, *commit.Situation) (commit.Assessment, error) {
			other.commit(ex)
			return commit.Assessment{Success: true}, nil
		})})
		ex = commit.Exchange{Opened: w.say("hello").ID, Turns: []turn.Draft{{Role: turn.Agent, Content: turn.Text{Text: "hi"}}}}
		if res, err := w.pipeline.Commit(t.Context(), key, ex); !errors.Is(err, turn.ErrConflict) || len(w.turns()) != 3 {
			t.Errorf("%+v, %v, log %q", res, err, w.turns())
		}
	})
}

func TestTurnsThatAreInTheLogUnderTheirKeyAreNotWrittenAgain(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		ex := talk("hello", "hi")
		ex.Turns[0].IdempotencyKey, ex.Turns[1].IdempotencyKey = "q", "a"
		w.append(ex.Turns[0])
		res := w.commit(ex)
		if got := w.turns(); len(got) != 3 || got[0] != "hello" || got[1] != "hi" || res.Turns[2].Covers != (turn.Range{From: 1, To: 2}) {
			t.Errorf("log %q, summary of %v", got, res.Turns[2].Covers)
		}
		export := w.export(res.ExportID)
		if export.Turn.UserInput != "hello" || export.Turn.AssistantResponse != "hi" {
			t.Errorf("export %+v", export.Turn)
		}
		if ids := []string{res.Turns[0].ID, res.Turns[1].ID}; res.TurnID != ids[0] || export.TurnID != ids[0] || !slices.Equal(export.TurnIDs, ids) {
			t.Errorf("opened by %s, in the export by %s, with %q; in the log stand %q", res.TurnID, export.TurnID, export.TurnIDs, ids)
		}
		if _, err := w.pipeline.Commit(t.Context(), key, ex); !errors.Is(err, turn.ErrConflict) || !strings.Contains(err.Error(), res.ExportID) || len(w.turns()) != 3 {
			t.Errorf("again: %v, log %q", err, w.turns())
		}
	})
}

func TestWhatToolsGiveNeverFailsACommit(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Selection: memory.Selection{Policies: memory.Policies{{Type: memory.Event, Always: true}}}})
	ex := commit.Exchange{Turns: []turn.Draft{
		{Role: turn.User, Content: turn.Text{Text: "run it"}},
		{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: "1", Name: strings.Repeat("long", 40), Arguments: `{}`}}}},
		{Role: turn.System, Content: turn.Result{Name: strings.Repeat("long", 40), CallID: "1", Status: turn.CallOK, Result: `"a\u0000b"`}},
		{Role: turn.Agent, Content: turn.Text{Text: "done"}},
	}}
	ex.Errors = []string{""}
	for range memory.MaxCandidates { // what the engine finds itself stands beside them
		ex.Candidates = append(ex.Candidates, memory.Candidate{Type: memory.Event, Text: "x", Given: full(0)})
	}
	if res := w.commit(ex); res.Status != commit.Complete {
		t.Errorf("%s: %v", res.Status, res.Problems)
	}
	if got := w.items(); !slices.ContainsFunc(got, func(s string) bool { return strings.HasSuffix(s, "a�b") }) {
		t.Errorf("%d items are remembered, not the tool's", len(got))
	}
}

func TestAReflectorsBadCandidateIsLeftOut(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Deadlines: patient, Reflector: commit.ReflectFunc(func(context.Context, *commit.Situation, commit.Assessment) (commit.Reflection, error) {
		return commit.Reflection{Candidates: []memory.Candidate{{Type: memory.UserData}, fact("likes tea")}}, nil
	})})
	res := w.commit(talk("hello", "hi"))
	if len(res.Problems) != 1 || !slices.Equal(w.items(), []string{"likes tea"}) {
		t.Errorf("problems %q, remembered %q", res.Problems, w.items())
	}
}

func TestACallerWhoHangsUpLosesNothing(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	ctx, hangUp := context.WithCancel(t.Context())
	ex := talk("hello", "hi")
	ex.Replied = func(string) { hangUp() }
	res, err := w.pipeline.Commit(ctx, key, ex)
	if err != nil || res.Status != commit.Complete || len(w.turns()) != 3 {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestAnExchangeCannotBeginInTheFuture(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	ex := talk("hello", "hi")
	ex.Started = time.Now().Add(time.Hour)
	if export := w.export(w.commit(ex).ExportID); export.Turn.Duration != 0 {
		t.Errorf("it took %s", export.Turn.Duration)
	}
}

// What failed can be answered by who says so, once, and not behind what was committed since.
func TestWhatFailedIsTriedAgain(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		id := w.say("are you there?").ID
		again := func(exportID string) commit.Exchange {
			return commit.Exchange{ExportID: exportID, Opened: id, Again: true, Turns: talk("", "now").Turns[1:]}
		}
		failed := w.commit(commit.Exchange{Opened: id, Failure: "model down"})
		refused := func(ex commit.Exchange, says string) {
			t.Helper()
			if res, err := w.pipeline.Commit(t.Context(), key, ex); !errors.Is(err, turn.ErrConflict) || !strings.Contains(err.Error(), says) {
				t.Errorf("%+v, %v: want %q", res, err, says)
			}
		}
		plain := again("")
		plain.Again = false
		refused(plain, "give again as true")
		plain.ExportID = failed.ExportID
		refused(plain, "something else was said or done")
		answered := w.commit(again(w.config.NewID()))
		if answered.Status != commit.Complete || answered.Repeated || !slices.Equal(textsOf(answered.Turns), []string{"now", "[]"}) {
			t.Errorf("%+v", answered)
		}
		if res := w.commit(again(answered.ExportID)); !res.Repeated {
			t.Errorf("repeated: %+v", res)
		}
		refused(again(""), "committed already")

		id = w.say("and now?").ID
		w.commit(commit.Exchange{Opened: id, Failure: "model down"})
		w.commit(talk("something else", "fine"))
		refused(again(""), "was committed since")
	})
}

// Of two processes that try what failed again one answers it, and nobody is asked for a reply in vain where it is known before.
func TestWhatFailedIsAnsweredByOneProcess(t *testing.T) {
	onSharedStores(t, func(t *testing.T, open func(commit.Config) *world) {
		other := open(commit.Config{})
		var ex commit.Exchange
		meanwhile := func() { other.commit(ex) }
		w := open(commit.Config{Deadlines: patient, Evaluator: commit.EvaluateFunc(func(context.Context, *commit.Situation) (commit.Assessment, error) {
			meanwhile()
			return commit.Assessment{Success: true}, nil
		})})
		id := w.say("hello").ID
		other.commit(commit.Exchange{Opened: id, Failure: "model down"})
		replied := 0
		ex = commit.Exchange{Opened: id, Again: true, Turns: talk("", "hi").Turns[1:], Replied: func(string) { replied++ }}
		for range 2 {
			if res, err := w.pipeline.Commit(t.Context(), key, ex); !errors.Is(err, turn.ErrConflict) || len(w.turns()) != 4 {
				t.Errorf("%+v, %v, log %q", res, err, w.turns())
			}
		}
		if replied != 2 {
			t.Errorf("%d replies were handed over", replied)
		}
	})
}

func TestAgainNeedsTheTurn(t *testing.T) {
	_, err := commit.DecodeExchange(`{"again":true,"turns":[{"role":"user","text":"x"}]}`)
	var field *invalid.Field
	if !errors.As(err, &field) || field.Name != "again" {
		t.Errorf("%v", err)
	}
	ex, err := commit.DecodeExchange(`{"again":true,"turn_id":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}`)
	if err != nil || !ex.Again {
		t.Errorf("%+v, %v", ex, err)
	}
}
