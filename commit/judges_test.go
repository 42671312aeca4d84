package commit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// used is an exchange in which a tool was run.
func used(status turn.CallStatus, result string) commit.Exchange {
	return commit.Exchange{Turns: []turn.Draft{
		{Role: turn.User, Content: turn.Text{Text: "list the files"}},
		{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: "1", Name: "ls", Arguments: `{"dir":"/tmp"}`}}}},
		{Role: turn.System, Content: turn.Result{Name: "ls", CallID: "1", Status: status, Result: result}},
		{Role: turn.Agent, Content: turn.Text{Text: "I looked."}},
	}}
}

func TestRulesFindIssuesAndLessons(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	if fine := w.export(w.commit(used(turn.CallOK, `["a.txt"]`)).ExportID); len(fine.Evaluation.Issues) > 0 || fine.Evaluation.FollowUpNeeded || !fine.Turn.Success {
		t.Errorf("nothing failed: %+v", fine.Evaluation)
	}
	failing := used(turn.CallError, `"no such directory\nat line 1"`)
	first := w.export(w.commit(failing).ExportID)
	if !slices.Equal(first.Evaluation.Issues, []commit.Issue{{Kind: commit.ToolFailed, Text: "ls: no such directory"}}) || !first.Turn.Success {
		t.Errorf("first time: %+v", first.Evaluation)
	}
	again := w.export(w.commit(failing).ExportID).Evaluation
	if len(again.Issues) != 2 || again.Issues[1].Kind != commit.RepeatedFailure || len(again.Lessons) != 1 || !strings.Contains(again.Lessons[0], "2 times so far: no such directory") {
		t.Errorf("second time: %+v", again)
	}
	if len(again.Patterns) != 1 || again.Patterns[0] != again.Issues[1].Text {
		t.Errorf("patterns %q", again.Patterns)
	}
	// Another failure of the tool is none that comes again, and neither is that of another tool.
	other := used(turn.CallError, `"no such directory"`)
	other.Turns[1].Content = turn.Text{ToolCalls: []turn.ToolCall{{ID: "1", Name: "cat", Arguments: `{}`}}}
	other.Turns[2].Content = turn.Result{Name: "cat", CallID: "1", Status: turn.CallError, Result: `"no such directory"`}
	for _, ex := range []commit.Exchange{used(turn.CallError, `"no rights"`), other} {
		if got := w.export(w.commit(ex).ExportID).Evaluation.Issues; len(got) != 1 || got[0].Kind != commit.ToolFailed {
			t.Errorf("a new failure: %+v", got)
		}
	}
	broken := talk("what is the plan?", "one moment")
	broken.Failure = "the model is away"
	if failed := w.export(w.commit(broken).ExportID); failed.Turn.Success || !slices.Contains(failed.Evaluation.Issues, commit.Issue{Kind: commit.ExchangeFailed, Text: "the model is away"}) {
		t.Errorf("failed: %+v", failed.Evaluation)
	}
	unanswered := w.commit(commit.Exchange{Turns: talk("what is the plan?", "").Turns[:1]})
	open := w.export(unanswered.ExportID)
	if open.Turn.Success || !open.Evaluation.FollowUpNeeded || open.Evaluation.Issues[0] != (commit.Issue{Kind: commit.Unanswered, Text: "what is the plan?"}) {
		t.Errorf("unanswered: %+v", open)
	}
	if !slices.Equal(open.Evaluation.Lessons, []string{"A request is still open: what is the plan?"}) {
		t.Errorf("lessons %q", open.Evaluation.Lessons)
	}
	late, soon := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	ex := talk("remind me", "sure")
	ex.Intentions = cortex.Changes{
		Goals: []cortex.GoalChange{{Title: ptr("Win"), Status: ptr(cortex.GoalBlocked)}},
		Actions: []cortex.ActionChange{
			{Title: ptr("Call Ann"), Type: ptr(cortex.ActionType("agent_task")), DueAt: &late},
			{Title: ptr("Call Bob"), Type: ptr(cortex.ActionType("agent_task")), DueAt: &soon},
		},
	}
	w.commit(ex)
	unmet := w.export(w.commit(talk("and now?", "nothing")).ExportID).Evaluation
	kinds := []commit.IssueKind{}
	for _, i := range unmet.Issues {
		kinds = append(kinds, i.Kind)
	}
	if !slices.Equal(kinds, []commit.IssueKind{commit.GoalUnmet, commit.GoalUnmet}) {
		t.Errorf("unmet: %+v", unmet.Issues)
	}
}

func TestToolResultsAndErrorsAreCandidates(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Selection: memory.Selection{Policies: memory.Policies{{Type: memory.Event, Always: true}}}})
	ex := used(turn.CallOK, `["a.txt"]`)
	ex.Errors = []string{"the cache was cold"}
	res := w.commit(ex)
	if got := w.items(); !slices.Equal(got, []string{`ls: ["a.txt"]`, "the cache was cold"}) {
		t.Errorf("remembered %q", got)
	}
	export := w.export(res.ExportID)
	if !slices.Equal(export.Metadata.ToolsExecuted, []string{"ls"}) || export.Episodes[0].Links.Turns[0] != export.TurnIDs[2] {
		t.Errorf("export %+v", export)
	}
	item := export.Episodes[0]
	if item.Data != `["a.txt"]` || !slices.Equal(item.Tags, []string{"tool:ls", string(memory.ToolResult)}) || item.Provenance.ExportID != res.ExportID || item.Provenance.TurnID != res.TurnID {
		t.Errorf("remembered %+v", item)
	}
	if got := w.commit(used(turn.CallError, `"no rights"`)).Episodes; len(got) != 1 || !slices.Equal(got[0].Tags, []string{"tool:ls", string(memory.Error)}) {
		t.Errorf("of a tool that failed: %+v", got)
	}
	open := used(turn.CallCancelled, `"too late"`)
	open.Turns = append(open.Turns, turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: "2", Name: "cat", Arguments: `{}`}}}})
	if got := w.commit(open).Episodes; len(got) != 0 {
		t.Errorf("of tools that gave nothing: %+v", got)
	}
	if export.Episodes[0].Provenance.Source != memory.FromTool || export.Episodes[1].Provenance.Source != memory.FromSystem {
		t.Errorf("sources %q and %q", export.Episodes[0].Provenance.Source, export.Episodes[1].Provenance.Source)
	}
	if !slices.Equal(export.Metadata.Errors, ex.Errors) || export.Turn.AssistantResponse != "I looked." ||
		export.Conversation.UserInput != "list the files" || export.Conversation.AssistantResponse != "I looked." || export.Conversation.TurnSummary == "" {
		t.Errorf("export %+v", export)
	}
}

// patient waits for judges that answer at once, however busy the machine is.
var patient = commit.Deadlines{Respond: time.Minute, Evaluate: time.Minute, Reflect: time.Minute}

func TestJudgesAreCutOffAndTheCommitGoesOn(t *testing.T) {
	stuck := make(chan struct{})
	defer close(stuck)
	deadline := 5 * time.Millisecond
	w := newWorldOnMem(t, commit.Config{
		Deadlines: commit.Deadlines{Respond: deadline, Evaluate: deadline, Reflect: time.Minute},
		Responder: commit.RespondFunc(func(ctx context.Context, _ *commit.Situation) (string, error) {
			<-ctx.Done()
			return "too late", ctx.Err()
		}),
		Evaluator: commit.EvaluateFunc(func(context.Context, *commit.Situation) (commit.Assessment, error) {
			<-stuck // does not heed its context
			return commit.Assessment{}, nil
		}),
		Reflector: commit.ReflectFunc(func(context.Context, *commit.Situation, commit.Assessment) (commit.Reflection, error) {
			panic("no idea")
		}),
	})
	res := w.commit(talk("hello", "hi"))
	if res.Status != commit.CompleteWithErrors || res.Reply != "hi" {
		t.Errorf("%s, reply %q", res.Status, res.Reply)
	}
	want := []string{"responder: cut off after 5ms", "evaluator: cut off after 5ms", "reflector: panic: no idea"}
	if !slices.Equal(res.Problems, want) {
		t.Errorf("problems %q", res.Problems)
	}
	if export := w.export(res.ExportID); !slices.Equal(export.Metadata.Warnings, want) || !export.Turn.Success {
		t.Errorf("export %+v", export)
	}
}

// A judge whose deadline leaves no time to ask its model again says what the model server said, and not that it was cut off.
func TestAJudgeWithoutTimeToTryAgainTellsWhatFailed(t *testing.T) {
	failed := &llm.Error{Kind: llm.ErrFailed, Temporary: true}
	deadline := 20 * time.Millisecond
	w := newWorldOnMem(t, commit.Config{
		Deadlines: commit.Deadlines{Respond: deadline, Evaluate: deadline, Reflect: deadline},
		Evaluator: commit.EvaluateFunc(func(ctx context.Context, _ *commit.Situation) (commit.Assessment, error) {
			return commit.Assessment{}, llm.Backoff{First: time.Hour, Most: time.Hour}.Do(ctx, func() error { return failed })
		}),
	})
	res := w.commit(talk("hello", "hi"))
	if len(res.Problems) != 1 || !strings.Contains(res.Problems[0], failed.Error()) || strings.Contains(res.Problems[0], "cut off") {
		t.Errorf("problems %q", res.Problems)
	}
}

// What can be seen without judges is not lost with them.
func TestRulesStandInForJudgesThatFail(t *testing.T) {
	away := errors.New("the model is away")
	ex := used(turn.CallError, `"no such directory"`)
	ex.Turns = ex.Turns[:3] // it gets no answer
	evaluated := func(config commit.Config) commit.StateExport {
		w := newWorldOnMem(t, config)
		return w.export(w.commit(ex).ExportID)
	}
	want := evaluated(commit.Config{})
	if want.Turn.Success || len(want.Evaluation.Issues) != 2 || len(want.Evaluation.Lessons) == 0 {
		t.Fatalf("the rules find %+v", want.Evaluation)
	}
	got := evaluated(commit.Config{
		Deadlines: patient,
		Evaluator: commit.EvaluateFunc(func(context.Context, *commit.Situation) (commit.Assessment, error) {
			return commit.Assessment{}, away
		}),
		Reflector: commit.ReflectFunc(func(context.Context, *commit.Situation, commit.Assessment) (commit.Reflection, error) {
			return commit.Reflection{}, away
		}),
	})
	if diff := cmp.Diff(want.Evaluation, got.Evaluation); diff != "" || got.Turn.Success {
		t.Errorf("success %v: %s", got.Turn.Success, diff)
	}
	if got.Status != commit.CompleteWithErrors || len(got.Metadata.Warnings) != 2 {
		t.Errorf("%s, warnings %q", got.Status, got.Metadata.Warnings)
	}
}

func TestTheResponderMakesTheReply(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Deadlines: patient, Responder: commit.RespondFunc(func(_ context.Context, s *commit.Situation) (string, error) {
		return strings.ToUpper(s.Input), nil
	})})
	var told string
	ex := commit.Exchange{Turns: talk("shout", "").Turns[:1], Replied: func(reply string) {
		told = reply
		if got := w.turns(); len(got) != 0 {
			t.Errorf("the reply waited for %q", got)
		}
	}}
	res := w.commit(ex)
	if res.Reply != "SHOUT" || told != "SHOUT" || w.turns()[1] != "SHOUT" {
		t.Errorf("reply %q, told %q, log %q", res.Reply, told, w.turns())
	}
}

func TestModelsJudge(t *testing.T) {
	model := llmtest.NewScript(
		"```json\n{\"success\": true, \"follow_up_needed\": true, \"issues\": [{\"kind\": \"vague\", \"text\": \"It did not say when.\"}]}\n```",
		`{"lessons": ["Say when."], "patterns": [], "facts": ["Ann is in a hurry."]}`,
		"I cannot do that.",
		`{"lessons": "none"}`,
	)
	w := newWorldOnMem(t, commit.Config{
		Deadlines: patient, Evaluator: commit.ModelEvaluator{Model: model}, Reflector: commit.ModelReflector{Model: model},
		Selection: memory.Selection{Policies: memory.Policies{{Type: memory.Event, Always: true}}},
	})
	ex := used(turn.CallError, `"no such directory"`)
	export := w.export(w.commit(ex).ExportID)
	if len(export.Evaluation.Issues) != 2 || export.Evaluation.Issues[1] != (commit.Issue{Kind: "vague", Text: "It did not say when."}) || !export.Evaluation.FollowUpNeeded {
		t.Errorf("evaluation %+v", export.Evaluation)
	}
	if !slices.Equal(export.Evaluation.Lessons, []string{"Say when."}) ||
		!slices.Contains(w.items(), "Say when.") || !slices.Contains(w.items(), "Ann is in a hurry.") {
		t.Errorf("lessons %q, remembered %q", export.Evaluation.Lessons, w.items())
	}
	asked := model.Asked()[0].Messages[1].Text
	for _, want := range []string{"list the files", "I looked.", "Tool ls error: no such directory", "Known issue: tool_failed"} {
		if !strings.Contains(asked, want) {
			t.Errorf("the model was not told %q:\n%s", want, asked)
		}
	}
	res := w.commit(talk("again", "yes"))
	if len(res.Problems) != 2 || !strings.Contains(res.Problems[0], "no JSON object: I cannot do that.") || !strings.Contains(res.Problems[1], "lessons") {
		t.Errorf("problems %q", res.Problems)
	}
}

func TestWordsOfAReflectorThatNoStoreCanKeep(t *testing.T) {
	words := []string{"a\xffb\x00c"}
	w := newWorldOnMem(t, commit.Config{Deadlines: patient, Reflector: commit.ReflectFunc(func(context.Context, *commit.Situation, commit.Assessment) (commit.Reflection, error) {
		return commit.Reflection{Lessons: words, Patterns: words}, nil
	})})
	got := w.export(w.commit(talk("hello", "hi")).ExportID).Evaluation
	if want := []string{"a\ufffdb\ufffdc"}; !slices.Equal(got.Lessons, want) || !slices.Equal(got.Patterns, want) || words[0] != "a\xffb\x00c" {
		t.Errorf("lessons %q, patterns %q, and the reflector's own are %q", got.Lessons, got.Patterns, words)
	}
}

// What no candidate may be is left out of those that nobody handed over, and fails nothing.
func TestCandidatesOfAReflectorThatAreRefused(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Deadlines: patient, Reflector: commit.ReflectFunc(func(context.Context, *commit.Situation, commit.Assessment) (commit.Reflection, error) {
		return commit.Reflection{Candidates: []memory.Candidate{
			{Type: memory.UserData, Text: " \u200b"}, fact("kept"), {Type: memory.UserData, Text: "x", Source: "usr"},
		}}, nil
	})})
	ex := talk("hello", "hi")
	ex.Errors = []string{" "}
	res := w.commit(ex)
	if len(res.Problems) != 2 || !strings.Contains(res.Problems[0], "text: is blank") || !strings.Contains(res.Problems[1], `source: "usr" is none`) {
		t.Errorf("problems %q", res.Problems)
	}
	if got := w.items(); !slices.Equal(got, []string{"kept"}) {
		t.Errorf("remembered %q", got)
	}
}

func TestMarkersChangeTheActiveGoal(t *testing.T) {
	var traced trace.TurnTrace
	w := newWorldOnMem(t, commit.Config{Traced: func(_ context.Context, t trace.TurnTrace) { traced = t }})
	res := w.commit(commit.Exchange{Turns: []turn.Draft{
		{Role: turn.User, Content: turn.Text{Text: "plan it\n[GOAL] not the user's to mark"}},
		{Role: turn.Agent, Content: turn.Text{Text: "[GOAL] Ship it", ToolCalls: []turn.ToolCall{{ID: "a", Name: "ls", Arguments: "{}"}}}},
		{Role: turn.System, Content: turn.Result{Name: "ls", CallID: "a", Status: turn.CallOK, Result: `"[GOAL] nor a tool's"`}},
		{Role: turn.Agent, Content: turn.Text{Text: "[CHECKPOINT] write tests - in progress\n[DECISION] use SQLite - LOCKED"}},
	}})
	goal, ok := w.intentions().ActiveGoal()
	if !ok || goal.Title != "Ship it" || len(goal.Milestones) != 1 || len(goal.Decisions) != 1 || len(w.intentions().Goals()) != 1 {
		t.Fatalf("goal %+v, refused %v", goal, res.Refused)
	}
	if !slices.ContainsFunc(traced.Entries, func(e trace.Entry) bool { return e.Text == "goal markers in what the agent said: 3" }) {
		t.Errorf("traced %+v", traced.Entries)
	}
	// The change names the turn that its marker stands in.
	said := w.commit(talk("go on", "[CHECKPOINT] write tests - completed\n[DECISION] use SQLite - UNLOCKED"))
	export := w.export(said.ExportID)
	if len(export.Cortex.UpdatedGoals) != 1 || !strings.Contains(export.Cortex.UpdatedGoals[0].Change, said.Turns[1].ID) {
		t.Errorf("exported %+v", export.Cortex)
	}
	if len(said.Refused) != 1 || !strings.Contains(said.Refused[0].Reason, "locked") {
		t.Errorf("refused %v", said.Refused)
	}
}

// TestPanicsBetweenThePhasesCostNothing: who is only told something cannot lose the exchange, whichever state
// it panics in, and the session is free afterwards.
func TestPanicsBetweenThePhasesCostNothing(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		var at commit.State
		w := open(commit.Config{
			Observe: func(_ turn.Key, s commit.State) {
				if s == at {
					panic("no")
				}
			},
			Traced: func(context.Context, trace.TurnTrace) {
				if at == "traced" {
					panic("no")
				}
			},
		})
		for n, state := range []commit.State{commit.Completing, commit.ReadyForCommit, commit.Committing, commit.Complete, "traced", "replied"} {
			at = state
			ex := everything(n)
			ex.Replied = func(string) {
				if at == "replied" {
					panic("no")
				}
			}
			ex.ExportID = w.config.NewID()
			for range 2 { // the second time it is there
				if _, err := w.pipeline.Commit(t.Context(), key, ex); err != nil {
					t.Errorf("panic at %s: %v", state, err)
				}
			}
			if got := w.there(n); got != allTargets {
				t.Errorf("panic at %s: %d of %d are there", state, got, allTargets)
			}
		}
	})
}

func TestTheFirstTriesComeSoon(t *testing.T) {
	want := []time.Duration{10 * time.Millisecond, 20 * time.Millisecond, 40 * time.Millisecond}
	if got := commit.DefaultRetries[:3]; !slices.Equal(got, want) || !slices.IsSorted(commit.DefaultRetries) {
		t.Errorf("retries after %v", commit.DefaultRetries)
	}
}

// A judge that was cut off may look at the situation for as long as it likes: nobody writes to it, not even who finds that the
// exchange was committed by an update whose outcome was unknown.
func TestNobodyWritesToWhatAJudgeLooksAt(t *testing.T) {
	cut, looked := make(chan struct{}), make(chan struct{})
	w := newWorldOnMem(t, commit.Config{
		Deadlines: commit.Deadlines{Respond: time.Minute, Evaluate: time.Millisecond, Reflect: time.Minute},
		Evaluator: commit.EvaluateFunc(func(_ context.Context, s *commit.Situation) (commit.Assessment, error) {
			defer close(looked)
			for {
				select {
				case <-cut:
					return commit.Assessment{}, nil
				default:
					if s.Reply != "hi" {
						t.Errorf("the reply is %q by now", s.Reply)
					}
				}
			}
		}),
	})
	w.loseOneAnswer()
	if res := w.commit(talk("hello", "hi")); res.Repeated || res.Reply != "hi" {
		t.Errorf("%+v", res)
	}
	close(cut)
	<-looked
}

func TestWhatConcernsWhatTheUserToldWeighsMore(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Selection: memory.Selection{Policies: memory.Policies{{Type: memory.UserData}, {Type: memory.Event, Always: true}}}})
	seen := func(text string) memory.Candidate {
		return memory.Candidate{Type: memory.Event, Text: text, Source: memory.FromAgent}
	}
	ex := talk("hello", "hi")
	ex.Candidates = []memory.Candidate{fact("collects stamps of Brazil"), seen("penguins swim in Antarctica")}
	w.commit(ex)
	ex = talk("hello again", "hi")
	ex.Candidates = []memory.Candidate{seen("an auction of stamps from Brazil"), seen("a film about penguins")}
	got := w.export(w.commit(ex).ExportID).Episodes
	if len(got) != 2 || got[0].Provenance.Inputs.User <= 0 || got[1].Provenance.Inputs.User > 0 {
		t.Errorf("%+v", got)
	}
	// So does what concerns what is asked just now.
	ex = talk("how do walruses sleep?", "well")
	ex.Candidates = []memory.Candidate{seen("walruses sleep on ice"), seen("a train to Lisbon")}
	got = w.export(w.commit(ex).ExportID).Episodes
	if len(got) != 2 || got[0].Provenance.Inputs.User <= 0 || got[1].Provenance.Inputs.User > 0 {
		t.Errorf("%+v", got)
	}
}

// What concerns an active goal weighs more, the more pressing the goal is, whichever words of it it takes up.
func TestWhatConcernsGoalsWeighsMore(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Selection: memory.Selection{Policies: memory.Policies{{Type: memory.Event, Always: true}}}})
	ex := talk("hello", "hi")
	ex.Intentions.Goals = []cortex.GoalChange{
		{Title: ptr("Paint shutters"), Priority: ptr(cortex.PriorityHigh)},
		{Title: ptr("Feed penguins"), Priority: ptr(cortex.PriorityLow)},
		{Title: ptr("Repair bicycles"), Description: ptr("Sharpen chisels"), NextSteps: &[]string{"Order varnish"}, AddMilestones: []cortex.Milestone{{Description: "Oil hinges"}}},
		{Title: ptr("Harvest walnuts"), Status: ptr(cortex.GoalBlocked)},
	}
	w.commit(ex)
	ex = talk("hello again", "hi")
	for _, text := range []string{"paint shutters", "repair bicycles", "feed penguins", "sharpen chisels", "order varnish", "oil hinges", "harvest walnuts"} {
		ex.Candidates = append(ex.Candidates, memory.Candidate{Type: memory.Event, Text: text, Source: memory.FromAgent})
	}
	concerns := map[string]float64{}
	for _, e := range w.export(w.commit(ex).ExportID).Episodes {
		concerns[e.Text] = e.Provenance.Inputs.Goals
	}
	if !(concerns["paint shutters"] > concerns["repair bicycles"] && concerns["repair bicycles"] > concerns["feed penguins"]) {
		t.Errorf("the priority does not show: %v", concerns)
	}
	for _, text := range []string{"feed penguins", "sharpen chisels", "order varnish", "oil hinges"} {
		if concerns[text] <= 0 {
			t.Errorf("%s concerns no goal: %v", text, concerns)
		}
	}
	if concerns["harvest walnuts"] > 0 {
		t.Errorf("a goal that is not active counts: %v", concerns)
	}
}

// A model finds more than the rules, and talks nothing away that they find.
func TestModelsOnlyAddToTheRules(t *testing.T) {
	for _, test := range []struct {
		name, says        string
		answered          bool
		success, followUp bool
	}{
		{"both are content", `{"success": true}`, true, true, false},
		{"the model is not", `{"success": false, "follow_up_needed": true}`, true, false, true},
		{"the rules are not", `{"success": true, "follow_up_needed": false}`, false, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			model := llmtest.NewScript(test.says, `{"patterns": ["asks twice"]}`)
			w := newWorldOnMem(t, commit.Config{Deadlines: patient, Evaluator: commit.ModelEvaluator{Model: model}, Reflector: commit.ModelReflector{Model: model}})
			ex := talk(strings.Repeat("é", 5000), "hi")
			if !test.answered {
				ex.Turns = ex.Turns[:1]
			}
			got := w.export(w.commit(ex).ExportID)
			if got.Turn.Success != test.success || got.Evaluation.FollowUpNeeded != test.followUp || !slices.Equal(got.Evaluation.Patterns, []string{"asks twice"}) {
				t.Errorf("%+v, %+v", got.Turn, got.Evaluation)
			}
			asked := model.Asked()[0].Messages
			if !strings.Contains(asked[0].Text, "You judge one exchange") || !strings.Contains(asked[1].Text, "User:\n"+strings.Repeat("é", 4096)+" […]\n") {
				t.Errorf("asked %+v", asked)
			}
		})
	}
}
