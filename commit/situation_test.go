package commit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// judged is a world whose evaluator keeps what it is shown.
func judged(t *testing.T, c commit.Config) (*world, *commit.Situation) {
	var shown commit.Situation
	c.Deadlines, c.Evaluator = patient, commit.EvaluateFunc(func(ctx context.Context, s *commit.Situation) (commit.Assessment, error) {
		shown = *s
		return commit.Rules{}.Evaluate(ctx, s)
	})
	return newWorldOnMem(t, c), &shown
}

// Results stand at their calls, each at one, in whatever order they come; what was called before the exchange stands alone, and
// what has no result yet is there too.
func TestResultsStandAtTheirCalls(t *testing.T) {
	w, shown := judged(t, commit.Config{})
	called := func(calls ...turn.ToolCall) turn.Draft {
		return turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: calls}}
	}
	gave := func(id, name, result string) turn.Draft {
		return turn.Draft{Role: turn.System, Content: turn.Result{Name: name, CallID: id, Status: turn.CallOK, Result: result}}
	}
	w.append(turn.Draft{Role: turn.User, Content: turn.Text{Text: "go"}}, called(turn.ToolCall{ID: "0", Name: "old", Arguments: `{}`}))
	w.commit(commit.Exchange{Turns: []turn.Draft{
		{Role: turn.User, Content: turn.Text{Text: "look"}},
		gave("0", "old", `"before"`),
		called(turn.ToolCall{ID: "1", Name: "ls", Arguments: `{"a":1}`}, turn.ToolCall{ID: "2", Name: "ls", Arguments: `{"a":2}`},
			turn.ToolCall{ID: "3", Name: "cat", Arguments: `{"a":1}`}, turn.ToolCall{ID: "4", Name: "ls", Arguments: `{"a":1}`}),
		gave("3", "cat", `"three"`), gave("2", "ls", `"two"`), gave("1", "ls", `"one"`), gave("4", "ls", `"four"`),
		called(turn.ToolCall{ID: "5", Name: "open", Arguments: `{}`}),
	}})
	turns := shown.Turns
	want := []commit.ToolRun{
		{TurnID: turns[1].ID, Name: "old", Status: turn.CallOK, Result: `"before"`},
		{TurnID: turns[5].ID, Name: "ls", Arguments: `{"a":1}`, Status: turn.CallOK, Result: `"one"`},
		{TurnID: turns[4].ID, Name: "ls", Arguments: `{"a":2}`, Status: turn.CallOK, Result: `"two"`},
		{TurnID: turns[3].ID, Name: "cat", Arguments: `{"a":1}`, Status: turn.CallOK, Result: `"three"`},
		{TurnID: turns[6].ID, Name: "ls", Arguments: `{"a":1}`, Status: turn.CallOK, Result: `"four"`},
		{TurnID: turns[7].ID, Name: "open", Arguments: `{}`},
	}
	if diff := gocmp.Diff(want, shown.Tools); diff != "" {
		t.Error(diff)
	}
}

// Judges see how far the session has come, also where others have appended to it.
func TestJudgesSeeTheHeadOfTheSession(t *testing.T) {
	w, shown := judged(t, commit.Config{})
	for range 2 {
		w.commit(talk("hello", "hi"))
	}
	if shown.Session.Head != 3 {
		t.Errorf("after turn %d", shown.Session.Head)
	}
	w.commit(w.opened("Buy bread.", "Yes."))
	if shown.Session.Head != 7 {
		t.Errorf("after turn %d", shown.Session.Head)
	}
	w.say("by the way") // 10
	ex := talk("hello", "hi")
	ex.Turns[0].IdempotencyKey = "once" // so that the log is looked at
	w.commit(ex)
	if shown.Session.Head != 10 {
		t.Errorf("after turn %d", shown.Session.Head)
	}
}

// What a caller knows of the log is not used where it does not begin with the exchange. Where it does, nobody is asked twice.
func TestAKnownLogIsThatOfTheExchange(t *testing.T) {
	asked := 0
	w := newWorldOnMem(t, commit.Config{Deadlines: patient, Evaluator: commit.EvaluateFunc(func(ctx context.Context, s *commit.Situation) (commit.Assessment, error) {
		asked++
		return commit.Rules{}.Evaluate(ctx, s)
	})})
	w.commit(talk("hello", "hi"))
	elsewhere := w.say("By the way.")
	for _, before := range [][]turn.Turn{{elsewhere}, nil} {
		asked = 0
		ex := w.opened("Buy bread.", "Yes.")
		ex.Log = append(before, ex.Log...)
		if got := w.export(w.commit(ex).ExportID).Turn.UserInput; got != "Buy bread." || asked != 1 {
			t.Errorf("the export says %q, the evaluator was asked %d times", got, asked)
		}
	}
}

// Nobody is asked for a reply to what was cut short or failed, and what the responder leaves as it is is not said twice.
func TestWhenTheResponderIsAsked(t *testing.T) {
	asked, reply := 0, ""
	w := newWorldOnMem(t, commit.Config{Deadlines: patient, Responder: commit.RespondFunc(func(context.Context, *commit.Situation) (string, error) {
		asked++
		return reply, nil
	})})
	for _, test := range []struct {
		name   string
		change func(*commit.Exchange)
		reply  string
		asked  int
		turns  int // with the summary
		fine   bool
	}{
		{"nothing to add", func(*commit.Exchange) {}, "", 1, 3, true},
		{"the same", func(*commit.Exchange) {}, "hi", 1, 3, true},
		{"another", func(*commit.Exchange) {}, "good day", 1, 4, true},
		{"what cannot be said", func(*commit.Exchange) {}, "\xff", 1, 3, false},
		{"cut short", func(ex *commit.Exchange) { ex.Interrupted = true }, "good day", 0, 3, true},
		{"failed", func(ex *commit.Exchange) { ex.Failure = "no model" }, "good day", 0, 3, true},
	} {
		asked, reply = 0, test.reply
		ex := talk("hello", "hi")
		test.change(&ex)
		res := w.commit(ex)
		if asked != test.asked || len(res.Turns) != test.turns || (len(res.Problems) == 0) != test.fine {
			t.Errorf("%s: asked %d times, %d turns, problems %q", test.name, asked, len(res.Turns), res.Problems)
		}
		for _, said := range res.Turns {
			if len(said.ID) != 26 {
				t.Errorf("%s: turn %d has the id %q", test.name, said.Seq, said.ID)
			}
		}
	}
}

// Input and reply of an export are what user and agent said last, in text or speech, wherever it stands.
func TestInputAndReplyOfAnExport(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	call := turn.ToolCall{ID: "1", Name: "ls", Arguments: `{}`}
	res := w.commit(commit.Exchange{Turns: []turn.Draft{
		{Role: turn.User, Content: turn.Speech{Transcript: "hello"}},
		{Role: turn.Agent, Content: turn.Text{Text: "hi"}},
		{Role: turn.User, Content: turn.Text{Text: "go on"}},
		{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{call}}},
		{Role: turn.System, Content: turn.Result{Name: "ls", CallID: "1", Status: turn.CallOK, Result: `"x"`}},
	}})
	if got := w.export(res.ExportID).Turn; got.UserInput != "hello\ngo on" || got.AssistantResponse != "hi" || res.Reply != "hi" {
		t.Errorf("%+v, replied %q", got, res.Reply)
	}
}

// The outbox names what stands in the log and in memory: nothing is kept twice.
func TestTheOutboxOnlyNames(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	long := strings.Repeat("and so on ", 100)
	ex := talk(long+"zebra", long+"walrus")
	ex.Candidates = []memory.Candidate{fact("likes penguins")}
	res := w.commit(ex)
	w.view(func(tx store.Tx, _ turn.SessionInfo) error {
		row, err := tx.Outbox().Export(t.Context(), key.Tenant, res.ExportID)
		for _, word := range []string{"zebra", "walrus", "penguins"} {
			if strings.Contains(row.Body, word) {
				t.Errorf("%s is in it: %s", word, row.Body)
			}
		}
		row.Sent = 7
		messages, merr := commit.Messages(t.Context(), tx, slices.Repeat([]event.Export{row}, 2))
		if merr != nil || len(messages) != 2 {
			t.Fatalf("%+v, %v", messages, merr)
		}
		m := messages[1]
		whole, derr := commit.DecodeExport(string(m.Body))
		if derr != nil || !strings.HasSuffix(whole.Turn.UserInput, "zebra") || len(whole.Episodes) != 1 {
			t.Errorf("the message says %+v, %v", whole, derr)
		}
		if m.Tenant != key.Tenant || m.Session != key.Session || m.Segment != row.Segment || m.ID != res.ExportID || m.TurnID != res.TurnID || m.Number != 7 {
			t.Errorf("the message is %+v", m)
		}
		return err
	})
}

// What a judge answers beside an error is not used, and what it says is kept as a store can keep it.
func TestAnswersBesideAnErrorAreNotUsed(t *testing.T) {
	failing := false
	issues := []commit.Issue{{Kind: "a\x00b", Text: "c\xffd"}}
	w := newWorldOnMem(t, commit.Config{
		Deadlines: patient,
		Evaluator: commit.EvaluateFunc(func(context.Context, *commit.Situation) (commit.Assessment, error) {
			return commit.Assessment{Success: true, Issues: issues}, nil
		}),
		Reflector: commit.ReflectFunc(func(context.Context, *commit.Situation, commit.Assessment) (commit.Reflection, error) {
			r := commit.Reflection{Lessons: []string{"learned"}, Intentions: cortex.Changes{
				Goals:   []cortex.GoalChange{{ID: "g", Title: ptr("Goal")}},
				Actions: []cortex.ActionChange{{ID: "a", Title: ptr("Act")}},
			}}
			if failing {
				return r, errors.New("no")
			}
			return r, nil
		}),
	})
	failing = true
	if got := w.export(w.commit(talk("hello", "hi")).ExportID); len(got.Evaluation.Lessons)+len(w.intentions().Goals()) > 0 {
		t.Errorf("beside an error: %+v", got.Evaluation)
	}
	failing = false
	got := w.export(w.commit(talk("hello", "hi")).ExportID)
	if _, goal := w.intentions().Goal("g"); !goal || !slices.Equal(got.Evaluation.Lessons, []string{"learned"}) {
		t.Errorf("without one: %+v", got.Evaluation)
	}
	if _, action := w.intentions().Action("a"); !action {
		t.Error("the reflector's action is not there")
	}
	if want := []commit.Issue{{Kind: "a\ufffdb", Text: "c\ufffdd"}}; !slices.Equal(got.Evaluation.Issues, want) || issues[0].Text != "c\xffd" {
		t.Errorf("issues %q, and the evaluator's own are %q", got.Evaluation.Issues, issues)
	}
}

// What a tool fails with is noted in a line that fits, with the turn that says it whole. Notes of others are no failures.
func TestWhatAFailureLeaves(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Selection: memory.Selection{Policies: memory.Policies{{Type: memory.Event, Always: true}}}})
	ex := talk("hello", "hi")
	ex.Scratch.Put = []scratch.Change{{ID: "theirs", Type: ptr("alert"), Content: ptr("odd"), Source: ptr("ls")}}
	w.commit(ex)
	long := strings.Repeat("x", 239) + "é and more"
	for _, test := range []struct{ says, noted string }{
		{"odd", "odd"}, {"", "failed without saying why"}, {" \\n first \\nsecond", "first"}, {long, strings.Repeat("x", 239) + "…"}, {long[:241], long[:239] + "…"},
		{strings.Repeat("y", 240), strings.Repeat("y", 240)},
	} {
		res := w.commit(used(turn.CallError, `"`+test.says+`"`))
		if got := w.export(res.ExportID).Evaluation; len(got.Issues) == 0 || test.says == "odd" && len(got.Issues) != 1 {
			t.Errorf("%q: issues %+v", test.says, got.Issues)
		}
		notes := w.page().Observations()
		note := notes[slices.IndexFunc(notes, func(o scratch.Observation) bool { return slices.Contains(o.ContextRefs, res.Turns[2].ID) })]
		if note.Content != test.noted || note.Confidence != 1 || !slices.Equal(note.Tags, []string{"tool"}) || note.Source != "ls" {
			t.Errorf("%q: noted %+v", test.says, note)
		}
	}
	i := slices.IndexFunc(w.commit(used(turn.CallError, `"odd"`)).Episodes, func(e memory.Episode) bool {
		return strings.HasPrefix(e.Text, "Do not try it again unchanged: ls failed again, 2 times") && slices.Contains(e.Tags, "lesson")
	})
	if i < 0 {
		t.Error("the lesson is not remembered")
	}
}

// An exchange that was cut short did not succeed and is not over; one in which nothing was asked for in words is.
func TestHowExchangesAreJudged(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	ex := talk("hello", "hi")
	ex.Interrupted = true
	ex.Intentions.Actions = []cortex.ActionChange{{Title: ptr("whenever")}}
	if got := w.export(w.commit(ex).ExportID); got.Turn.Success || !got.Evaluation.FollowUpNeeded {
		t.Errorf("cut short: %+v", got)
	}
	opened := w.append(turn.Draft{Role: turn.User, Content: turn.Action{Name: "click"}}).ID
	if got := w.export(w.commit(commit.Exchange{Opened: opened}).ExportID); !got.Turn.Success || got.Evaluation.FollowUpNeeded || len(got.Evaluation.Issues) > 0 {
		t.Errorf("without words: %+v", got.Evaluation)
	}
}

// TestReportedErrorsAreIssues: an error that the exchange reports is an issue of its evaluation, whoever judges it, once; a warning is
// none. It is no failure of an exchange that was answered.
func TestReportedErrorsAreIssues(t *testing.T) {
	want := []commit.Issue{{Kind: commit.ErrorReported, Text: "the calendar timed out"}, {Kind: commit.ErrorReported, Text: "no seats"}}
	odd := commit.Issue{Kind: "odd", Text: "odd"}
	for name, test := range map[string]struct {
		config commit.Config
		issues []commit.Issue
	}{
		"the rules": {commit.Config{}, want},
		"somebody else": {commit.Config{Evaluator: commit.EvaluateFunc(func(context.Context, *commit.Situation) (commit.Assessment, error) {
			return commit.Assessment{Success: true, Issues: []commit.Issue{odd}}, nil
		})}, append([]commit.Issue{odd}, want...)},
		"somebody who saw one": {commit.Config{Evaluator: commit.EvaluateFunc(func(context.Context, *commit.Situation) (commit.Assessment, error) {
			return commit.Assessment{Success: true, Issues: want[1:]}, nil
		})}, []commit.Issue{want[1], want[0]}},
		"a model": {commit.Config{Evaluator: commit.ModelEvaluator{Model: llmtest.NewScript(`{"success": true}`)}}, want},
		"somebody who fails": {commit.Config{Evaluator: commit.EvaluateFunc(func(context.Context, *commit.Situation) (commit.Assessment, error) {
			return commit.Assessment{}, errors.New("tired")
		})}, want},
	} {
		test.config.Deadlines = patient
		w := newWorldOnMem(t, test.config)
		ex := talk("hello", "hi")
		ex.Errors, ex.Warnings = []string{"the calendar timed out", "no seats", "no seats"}, []string{"slow"}
		got := w.export(w.commit(ex).ExportID)
		if !slices.Equal(got.Evaluation.Issues, test.issues) || !got.Evaluation.FollowUpNeeded || !got.Turn.Success {
			t.Errorf("%s: %+v, success %v", name, got.Evaluation, got.Turn.Success)
		}
	}
}

// An exchange that was opened before a fork is told of whole in the fork, which goes on with the digest of its parent. What is
// remembered no longer is named.
func TestExportsOfAFork(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	w.commit(talk("We decided to take the night train.", "Fine."))
	opened := w.say("Buy bread.").ID
	child := turn.SessionInfo{Key: turn.Key{Tenant: key.Tenant, Session: "child"}}
	w.update(func(tx store.Tx) (err error) {
		child, err = turn.Fork(t.Context(), tx.Log(), key, 4, child, tx.Now())
		return err
	})
	res, err := w.pipeline.Commit(t.Context(), child.Key, commit.Exchange{
		Opened: opened, Turns: talk("", "Yes.").Turns[1:], Candidates: []memory.Candidate{fact("eats bread"), fact("takes trains")},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.update(func(tx store.Tx) error {
		_, err := tx.Memory().DeleteItems(t.Context(), key.Tenant, []string{res.Episodes[0].ID})
		return err
	})
	got := w.export(res.ExportID)
	if got.Turn.UserInput != "Buy bread." || got.Turn.AssistantResponse != "Yes." || len(got.Episodes) != 1 || got.Episodes[0].Text != "takes trains" {
		t.Errorf("%+v, remembered %+v", got.Turn, got.Episodes)
	}
	if !slices.Equal(got.Missing, []string{"item " + res.Episodes[0].ID}) {
		t.Errorf("missing %q", got.Missing)
	}
	w.view(func(tx store.Tx, _ turn.SessionInfo) error {
		info, err := tx.Log().Session(t.Context(), child.Key)
		if err != nil {
			return err
		}
		digest, err := commit.LoadDigest(t.Context(), tx, info)
		if len(digest.Rolling.Lines) != 2 || len(digest.Decisions) != 1 || digest.Decisions[0].Seq != 1 {
			t.Errorf("%+v", digest)
		}
		return err
	})
}
