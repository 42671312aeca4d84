package commit_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestWhatIsWrongIsNamed(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	with := func(f func(*commit.Exchange)) commit.Exchange {
		ex := talk("a", "b")
		f(&ex)
		return ex
	}
	scored := func(v float64) commit.Exchange {
		return with(func(ex *commit.Exchange) {
			ex.Candidates = []memory.Candidate{fact("fine"), {Type: memory.Event, Text: "x", Given: memory.Given{Novelty: &v}}}
		})
	}
	for _, test := range []struct {
		name string
		ex   commit.Exchange
		want string // the field
	}{
		{"nothing", commit.Exchange{}, "turns"},
		{"no ULID", with(func(ex *commit.Exchange) { ex.ExportID = "x" }), "export_id"},
		{"no turn id", with(func(ex *commit.Exchange) { ex.Opened = "x" }), "turn_id"},
		{"urgency", with(func(ex *commit.Exchange) { ex.Urgency = "NOW" }), "urgency"},
		{"budget", with(func(ex *commit.Exchange) { ex.BudgetUsed = -1 }), "budget_used"},
		{"budget total", with(func(ex *commit.Exchange) { ex.BudgetTotal = -1 }), "budget_used"},
		{"agent", with(func(ex *commit.Exchange) { ex.AgentID = strings.Repeat("x", 1000) }), "agent_id"},
		{"agent of no UTF-8", with(func(ex *commit.Exchange) { ex.AgentID = "bot\xff" }), "agent_id"},
		{"agent with NUL", with(func(ex *commit.Exchange) { ex.AgentID = "b\x00t" }), "agent_id"},
		{"daemon of no UTF-8", with(func(ex *commit.Exchange) { ex.DaemonOutputs = []commit.DaemonOutput{{Daemon: "d\xff"}} }), "daemon_outputs[0].daemon"},
		{"daemon with NUL", with(func(ex *commit.Exchange) { ex.DaemonOutputs = []commit.DaemonOutput{{Daemon: "d\x00"}} }), "daemon_outputs[0].daemon"},
		{"many goals", with(func(ex *commit.Exchange) { ex.Intentions.Goals = make([]cortex.GoalChange, commit.MaxChanges+1) }), "intentions.goals"},
		{"many actions", with(func(ex *commit.Exchange) { ex.Intentions.Actions = make([]cortex.ActionChange, commit.MaxChanges+1) }), "intentions.actions"},
		{"many notes", with(func(ex *commit.Exchange) { ex.Scratch.Put = make([]scratch.Change, commit.MaxChanges+1) }), "scratch.put"},
		{"many notes archived", with(func(ex *commit.Exchange) { ex.Scratch.Archive = make([]string, commit.MaxChanges+1) }), "scratch.archive"},
		{"many notes cleared", with(func(ex *commit.Exchange) { ex.Scratch.Clear = make([]string, commit.MaxChanges+1) }), "scratch.clear"},
		{"blank agent", with(func(ex *commit.Exchange) { ex.AgentID = " \t" }), "agent_id"},
		{"blank daemon", with(func(ex *commit.Exchange) { ex.DaemonOutputs = []commit.DaemonOutput{{Daemon: " "}} }), "daemon_outputs[0].daemon"},
		{"daemon", with(func(ex *commit.Exchange) { ex.DaemonOutputs = []commit.DaemonOutput{{}} }), "daemon_outputs[0].daemon"},
		{"a daemon's long name", with(func(ex *commit.Exchange) {
			ex.DaemonOutputs = []commit.DaemonOutput{{Daemon: strings.Repeat("x", 257)}}
		}), "daemon_outputs[0].daemon"},
		{"a daemon's long output", with(func(ex *commit.Exchange) {
			ex.DaemonOutputs = []commit.DaemonOutput{{Daemon: "d", Output: strings.Repeat("x", 1<<20)}}
		}), "daemon_outputs[0]"},
		{"long error", with(func(ex *commit.Exchange) { ex.Errors = []string{strings.Repeat("x", 1<<20)} }), "errors[0]"},
		{"long failure", with(func(ex *commit.Exchange) { ex.Failure = strings.Repeat("x", 1<<20) }), "failure"},
		{"blank failure", with(func(ex *commit.Exchange) { ex.Failure = " \n" }), "failure"},
		{"many warnings", with(func(ex *commit.Exchange) { ex.Warnings = make([]string, 1000) }), "warnings"},
		{"many turns", with(func(ex *commit.Exchange) { ex.Turns = make([]turn.Draft, commit.MaxTurns+1) }), "turns"},
		{"a turn", with(func(ex *commit.Exchange) { ex.Turns[1].Role = "robot" }), "turns[1].role"},
		{"not a number", scored(math.NaN()), "candidates[1].inputs.novelty"},
		{"negative", scored(-0.1), "candidates[1].inputs.novelty"},
		{"too high", scored(1.1), "candidates[1].inputs.novelty"},
		{"a blank text", with(func(ex *commit.Exchange) {
			ex.Candidates = []memory.Candidate{fact("fine"), {Type: memory.UserData, Text: " \n\u3000"}}
		}), "candidates[1].text"},
		{"an unknown source", with(func(ex *commit.Exchange) {
			ex.Candidates = []memory.Candidate{{Type: memory.UserData, Text: "x", Source: "usr"}}
		}), "candidates[0].source"},
		{"too many candidates", with(func(ex *commit.Exchange) { ex.Candidates = make([]memory.Candidate, 10_001) }), "candidates"},
	} {
		_, err := w.pipeline.Commit(t.Context(), key, test.ex)
		var field *invalid.Field
		if !errors.As(err, &field) || field.Name != test.want || field.Fix == "" {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if got := w.turns(); len(got) != 0 {
		t.Errorf("written: %q", got)
	}
}

func TestWhatIsAtTheBoundsIsTaken(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	long := strings.Repeat("x", 256)
	ex := commit.Exchange{AgentID: long, Warnings: make([]string, commit.MaxMessages), DaemonOutputs: []commit.DaemonOutput{{Daemon: long}}}
	for i := range commit.MaxTurns {
		ex.Turns = append(ex.Turns, turn.Draft{Role: turn.User, Content: turn.Text{Text: fmt.Sprint(i)}})
	}
	opened := w.commit(ex).TurnID
	if got := len(w.turns()); got != commit.MaxTurns+1 {
		t.Errorf("%d turns", got)
	}
	// An exchange whose turns are all in the log is as long at most.
	_, err := w.pipeline.Commit(t.Context(), key, commit.Exchange{Opened: opened})
	if err == nil || errors.Is(err, turn.ErrConflict) {
		t.Errorf("with the summary it is one turn too long: %v", err)
	}
}

func TestConfigsThatCannotBeUsed(t *testing.T) {
	fine := commit.Config{NewID: func() string { return "" }, Clock: time.Now}
	for name, spoil := range map[string]func(*commit.Config){
		"no ids":           func(c *commit.Config) { c.NewID = nil },
		"no clock":         func(c *commit.Config) { c.Clock = nil },
		"deadline":         func(c *commit.Config) { c.Deadlines.Reflect = -1 },
		"standings":        func(c *commit.Config) { c.Standings = -1 },
		"limits of a turn": func(c *commit.Config) { c.Limits.Text = -1 },
	} {
		c := fine
		spoil(&c)
		var field *invalid.Field
		if _, err := commit.New(t.Context(), newMem(), c); !errors.As(err, &field) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An exchange of more than is taken is refused before all of it is read: it takes hundreds of times the memory of its bytes.
func TestExchangesThatAreTooLongAreNotRead(t *testing.T) {
	many := func(item string) string { return "[" + strings.Repeat(item+",", 1<<17) + item + "]" }
	for field, list := range map[string]string{
		"turns": many(`{"role":"user","text":"a"}`), "daemon_outputs": many("{}"), "errors": many(`""`), "warnings": many(`""`),
		"candidates": many(`{"type":"event","text":"a"}`),
	} {
		text := `{"` + field + `":` + list + "}"
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := commit.DecodeExchange(text)
		runtime.ReadMemStats(&after)
		var wrong *invalid.Field
		if !errors.As(err, &wrong) || wrong.Name != field {
			t.Errorf("%s: %v", field, err)
		}
		if more := (after.TotalAlloc - before.TotalAlloc) / uint64(len(text)); more > 30 {
			t.Errorf("%s: it took %d bytes of memory for each of its own", field, more)
		}
	}
}

func TestTenThousandCandidates(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	ex := talk("a", "b")
	for i := range 10_000 {
		ex.Candidates = append(ex.Candidates, memory.Candidate{Type: memory.Event, Text: fmt.Sprint("event ", i), Given: full(0.5 + float64(i)/20_000)})
	}
	res := w.commit(ex)
	export := w.export(res.ExportID)
	if want := (memory.DropCounts{OverQuota: 10_000 - 256 - memory.MaxDropped}); res.DroppedMore != want {
		t.Errorf("the result counts %+v more, want %+v", res.DroppedMore, want)
	}
	if len(export.Episodes) != 256 || len(export.Dropped) != memory.MaxDropped || export.DroppedMore != 10_000-256-memory.MaxDropped {
		t.Errorf("%d kept, %d dropped, %d more", len(export.Episodes), len(export.Dropped), export.DroppedMore)
	}
}

func TestALargeToolResultIsCutInMemoryAndWholeInTheLog(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{Limits: turn.Limits{Text: 16 << 20}, Selection: memory.Selection{Policies: memory.Policies{{Type: memory.Event, Always: true}}}})
		large := strings.Repeat("0123456789", 1<<20)
		res := w.commit(used(turn.CallOK, `"`+large+`"`))
		item := w.export(res.ExportID).Episodes[0]
		if len(item.Text) > memory.MaxText || item.Data != "" || len(item.Provenance.Notes) != 2 {
			t.Errorf("text of %d bytes, data of %d, %q", len(item.Text), len(item.Data), item.Provenance.Notes)
		}
		found := false
		for _, text := range w.turns() {
			found = found || strings.Contains(text, large)
		}
		if !found {
			t.Error("the log does not hold it whole")
		}
	})
}

func TestWhatIsNotLegalIsRefusedAndTheRestIsWritten(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	ex := talk("decide", "decided")
	ex.Intentions.Goals = []cortex.GoalChange{{ID: "g", Title: ptr("Goal"), AddDecisions: []cortex.Decision{{Description: "use SQLite", Locked: true}}}}
	w.commit(ex)
	ex = talk("change it", "no")
	ex.Intentions.Goals = []cortex.GoalChange{
		{ID: "g", SetDecisions: []cortex.DecisionChange{{Description: "use SQLite", Locked: ptr(false)}}},
		{ID: "g", Progress: ptr(0.5)},
		{Title: ptr("Other"), Progress: ptr(7.0)},
		{Progress: ptr(0.5)},
	}
	ex.Scratch.Put = []scratch.Change{{Type: ptr("alert"), Content: ptr("hot\nand loud"), Confidence: ptr(7.0)}}
	ex.Scratch.Clear = []string{"nothing"}
	res := w.commit(ex)
	named := []string{}
	for _, r := range res.Refused {
		named = append(named, r.What)
	}
	if want := []string{"goal g", `goal "Other"`, "goal", `observation "hot"`, "observation"}; !slices.Equal(named, want) {
		t.Fatalf("refused %+v", res.Refused)
	}
	if !strings.Contains(res.Refused[0].Reason, "locked") || !strings.Contains(res.Refused[3].Reason, "confidence") || res.Status != commit.CompleteWithErrors {
		t.Errorf("refused %+v, %s", res.Refused, res.Status)
	}
	if warned := w.export(res.ExportID).Metadata.Warnings; len(warned) != len(named) || warned[0] != "goal g: "+res.Refused[0].Reason {
		t.Errorf("daemons are told %q", warned)
	}
	flagged := w.events()
	if len(flagged) != 1 || flagged[0].Kind != event.ItemFlagged || flagged[0].TurnID != res.TurnID || flagged[0].Session != key.Session {
		t.Fatalf("announced %+v", flagged)
	}
	for _, want := range []string{`"export_id":"` + res.ExportID + `"`, `{"item":"goal g","reason":"`, `{"item":"observation \"hot\"","reason":"`} {
		if !strings.Contains(flagged[0].Data, want) || strings.Contains(flagged[0].Data, "more") {
			t.Errorf("announced %s, without %s", flagged[0].Data, want)
		}
	}
	if goal, _ := w.intentions().Goal("g"); goal.Progress != 0.5 || !goal.Decisions[0].Locked {
		t.Errorf("goal %+v", goal)
	}
}

// TestFewOfManyRefusedChangesAreNamed: the event stays small.
func TestFewOfManyRefusedChangesAreNamed(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	ex := talk("plan", "planned")
	for i := range 25 {
		ex.Intentions.Goals = append(ex.Intentions.Goals, cortex.GoalChange{Title: ptr(fmt.Sprint("Goal ", i)), Progress: ptr(7.0)})
	}
	res := w.commit(ex)
	flagged := w.events()
	if len(res.Refused) != 25 || len(flagged) != 1 || strings.Count(flagged[0].Data, `"item":`) != 20 || !strings.Contains(flagged[0].Data, `"more":5`) {
		t.Errorf("%d refused, announced %+v", len(res.Refused), flagged)
	}
}

func TestTheSameExportTwiceChangesNothing(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		ex := everything(1)
		ex.ExportID = w.config.NewID()
		first := w.commit(ex)
		w.states = nil
		again := w.commit(ex)
		if !slices.Equal(w.states, []commit.State{commit.Complete}) {
			t.Errorf("states %q", w.states)
		}
		if !again.Repeated || again.ExportID != first.ExportID || again.TurnID != first.TurnID || again.Status != commit.Complete {
			t.Errorf("again: %+v", again)
		}
		// Who did not hear of the first is told what it wrote.
		if diff := cmp.Diff([]any{first.Turns, first.Episodes, first.Changed, first.Reply}, []any{again.Turns, again.Episodes, again.Changed, again.Reply}); diff != "" {
			t.Error(diff)
		}
		if w.there(1) != allTargets || len(w.turns()) != 3 {
			t.Errorf("log %q", w.turns())
		}
	})
}

func TestBeliefAndFollowUpAreCommittedToo(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	ex := talk("book a table", "for how many?")
	ex.Believe = func(s *dialogue.State) error {
		_, _, err := s.StackOn("f1", "booking", dialogue.Options{})
		return err
	}
	w.commit(ex)
	w.view(func(tx store.Tx, info turn.SessionInfo) error {
		rev, err := dialogue.Load(t.Context(), tx.Dialogue(), key.Tenant, info.Lineage(info.Head), info.Head)
		if err != nil || rev.Number != 1 || rev.AfterSeq != 2 {
			t.Errorf("revision %+v, %v", rev, err)
		}
		return nil
	})
	light, ok, err := w.store.Light().Retrieve(t.Context(), dialogue.LightKey{Tenant: key.Tenant, Session: key.Session})
	if err != nil || !ok || *light.LastUserMessage != "book a table" {
		t.Errorf("follow-up context %+v, %v, %v", light, ok, err)
	}
	ex = talk("four", "done")
	ex.FollowUp = &dialogue.LightContext{LastIntent: ptr("booking"), LastUserMessage: ptr("four")}
	w.commit(ex)
	light, _, _ = w.store.Light().Retrieve(t.Context(), dialogue.LightKey{Tenant: key.Tenant, Session: key.Session})
	if light.LastIntent == nil || *light.LastIntent != "booking" {
		t.Errorf("follow-up context %+v", light)
	}
	ex = talk("x", "y")
	ex.Believe = func(*dialogue.State) error { return errPlanted }
	if _, err := w.pipeline.Commit(t.Context(), key, ex); !errors.Is(err, errPlanted) {
		t.Errorf("a refused belief: %v", err)
	}
}

func TestTheQuotaArchivesTheLeastImportant(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Selection: memory.Selection{Quota: memory.Quota{Session: 300}}})
	for n := range 4 {
		ex := talk("a", "b")
		for i := range 100 {
			ex.Candidates = append(ex.Candidates, memory.Candidate{Type: memory.Event, Text: fmt.Sprint("event ", n, "-", i), Given: full(0.4 + float64(i)/1000)})
		}
		ex.Candidates = append(ex.Candidates, fact(fmt.Sprint("fact ", n)))
		w.commit(ex)
	}
	w.view(func(tx store.Tx, info turn.SessionInfo) error {
		live, err := tx.Memory().LiveItems(t.Context(), key.Tenant, info.Segment, tx.Now())
		if err != nil || live > 300 || live < 4 {
			t.Errorf("%d live items, %v", live, err)
		}
		facts, err := tx.Memory().Items(t.Context(), memory.Filter{Tenant: key.Tenant, Type: memory.UserData, Limit: 10, Now: tx.Now()})
		if err != nil || len(facts) != 4 {
			t.Errorf("%d facts are left, %v", len(facts), err)
		}
		return nil
	})
	if got := len(w.items()); got != 404 {
		t.Errorf("%d items with those archived", got)
	}
}

// The follow-up context is there as soon as the exchange is: one who dies before he tells anybody of it has lost nothing.
func TestTheFollowUpContextIsWrittenWithTheExchange(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		var w *world
		heard := ""
		w = open(commit.Config{Persisted: func() {
			light, _, err := w.store.Light().Retrieve(t.Context(), dialogue.LightKey{Tenant: key.Tenant, Session: key.Session})
			if err != nil || light.LastUserMessage == nil {
				t.Errorf("%+v, %v", light, err)
				return
			}
			heard = *light.LastUserMessage
		}})
		w.commit(talk("book a table", "for how many?"))
		if heard != "book a table" {
			t.Errorf("heard %q", heard)
		}
	})
}

func TestMoreCandidatesOfAReflectorThanAnExchangeHas(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Deadlines: patient, Reflector: commit.ReflectFunc(func(context.Context, *commit.Situation, commit.Assessment) (commit.Reflection, error) {
		var r commit.Reflection
		for i := range memory.MaxCandidates + 2 {
			r.Candidates = append(r.Candidates, memory.Candidate{Type: memory.UserData, Text: fmt.Sprint("fact ", i)})
		}
		return r, nil
	})})
	res := w.commit(talk("a", "b"))
	want := []string{"candidates: 2 of the engine's own left out: an exchange has at most 10000 of them"}
	if !slices.Equal(res.Problems, want) || res.Status != commit.CompleteWithErrors || len(res.Episodes) != memory.MaxCandidates {
		t.Errorf("%s, problems %q, %d remembered", res.Status, res.Problems, len(res.Episodes))
	}
}

func TestWhatAJudgeSaysIsBounded(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Deadlines: patient, Evaluator: commit.EvaluateFunc(func(context.Context, *commit.Situation) (commit.Assessment, error) {
		return commit.Assessment{Issues: []commit.Issue{{Text: strings.Repeat("x", 10<<20)}}}, nil
	})})
	got := w.export(w.commit(talk("a", "b")).ExportID).Evaluation.Issues
	if len(got) != 1 || got[0].Kind != "issue" || len(got[0].Text) > 65<<10 || !strings.HasSuffix(got[0].Text, "[…]") {
		t.Errorf("%d issues, the first of kind %q with %d bytes", len(got), got[0].Kind, len(got[0].Text))
	}
}

func TestAThousandRefusedChangesAreCounted(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	ex := talk("a", "b")
	for i := range 1000 {
		ex.Intentions.Goals = append(ex.Intentions.Goals, cortex.GoalChange{Title: ptr(fmt.Sprint("Goal ", i)), Progress: ptr(7.0)})
	}
	res := w.commit(ex)
	warned := w.export(res.ExportID).Metadata.Warnings
	if want := "744 more changes were refused"; len(res.Refused) != 1000 || len(warned) != 257 || warned[256] != want {
		t.Errorf("%d refused, %d warnings, the last %q", len(res.Refused), len(warned), warned[len(warned)-1])
	}
}

func TestATurnIDStandsOnce(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	ex := talk("a", "b")
	ex.Turns[0].ID = w.config.NewID()
	ex.Turns[1].ID = ex.Turns[0].ID
	_, err := w.pipeline.Commit(t.Context(), key, ex)
	var field *invalid.Field
	if !errors.As(err, &field) || field.Name != "turns[1].turn_id" {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsWrongWithACandidateIsToldBeforeTheReply(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	for field, c := range map[string]memory.Candidate{
		"candidates[1].text":                 {Type: memory.UserData, Text: strings.Repeat("x", memory.MaxText+1)},
		"candidates[1].data":                 {Type: memory.UserData, Data: `"` + strings.Repeat("x", memory.MaxData) + `"`},
		"candidates[1].inputs.confidence":    {Type: memory.UserData, Text: "x", Given: memory.Given{Confidence: ptr(math.NaN())}},
		"candidates[1].inputs.actionability": {Type: memory.UserData, Text: "x", Given: memory.Given{Actionability: ptr(1.5)}},
	} {
		ex := talk("a", "b")
		ex.Candidates = []memory.Candidate{{Type: memory.UserData, Text: "fine"}, c}
		ex.Replied = func(string) { t.Errorf("%s: the reply was told", field) }
		_, err := w.pipeline.Commit(t.Context(), key, ex)
		var wrong *invalid.Field
		if !errors.As(err, &wrong) || wrong.Name != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
