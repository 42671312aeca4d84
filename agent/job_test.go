package agent_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/turn"
)

// slow starts a job that takes two seconds.
func slow(t *testing.T, w *agent.Worker, l *agent.Loop) *agent.Job {
	t.Helper()
	w.Model = llmtest.Replies(llmtest.Reply{Text: "done", Delay: time.Second})
	job, err := l.Start(t.Context(), w, &ledger{}, agent.RunOptions{Input: []turn.Draft{agent.Input("go")}})
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func TestEverybodyWhoWaitsGetsTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, l := agent.NewWorker("1", "one", nil), newLoop(t, agent.Config{})
		job := slow(t, w, l)
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() {
				result, err := job.Wait(t.Context())
				if err != nil || result.Outcome != agent.Normal || result.Reply.Text != "done" || w.State() != agent.Inactive {
					t.Error(result, err, w.State())
				}
			})
		}
		impatient, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if _, err := job.Wait(impatient); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		select {
		case <-job.Done():
			t.Error("the job ended with who waited for it")
		default:
		}
		group.Wait()
		job.Cancel()
		// The result is there whatever the context says.
		if result, err := job.Wait(impatient); err != nil || result.Outcome != agent.Normal {
			t.Error(result, err)
		}
	})
}

// A continuation that ends its goroutine, as t.FailNow does, keeps no other from being called.
func TestAContinuationThatDoesNotComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := slow(t, agent.NewWorker("1", "one", nil), newLoop(t, agent.Config{}))
		var ran []string
		for _, name := range []string{"first", "second", "third"} {
			job.Then(func(agent.Result) {
				ran = append(ran, name)
				runtime.Goexit()
			})
		}
		<-job.Done()
		synctest.Wait()
		if got := fmt.Sprint(ran); got != "[first second third]" {
			t.Error(got)
		}
	})
}

func TestContinuations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, l := agent.NewWorker("1", "one", nil), newLoop(t, agent.Config{})
		job := slow(t, w, l)
		var ran []string
		all := make(chan struct{})
		job.Then(func(r agent.Result) { ran = append(ran, "first "+r.Reply.Text) })
		job.Then(func(agent.Result) {
			next := slow(t, w, l)
			next.Then(func(r agent.Result) {
				ran = append(ran, "second "+string(r.Outcome))
				close(all)
			})
		})
		<-all
		job.Then(func(r agent.Result) { ran = append(ran, "late "+string(r.Outcome)) })
		if got := fmt.Sprint(ran); got != "[first done second normal late normal]" {
			t.Error(got)
		}
		if got := kinds(w.Container); got != "Prompt Response Prompt Response" {
			t.Error(got)
		}
	})
}

func TestOneJobPerWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, l := agent.NewWorker("1", "one", nil), newLoop(t, agent.Config{})
		job := slow(t, w, l)
		if w.Job() != job || !w.State().Active() {
			t.Error(w.Job(), w.State())
		}
		log := &ledger{}
		if _, err := w.Ask(t.Context(), l, log, "me too"); !errors.Is(err, agent.ErrBusy) || kinds(w.Container) != "Prompt" {
			t.Error(err, kinds(w.Container))
		}
		<-job.Done()
		if _, err := l.Start(t.Context(), w, log, agent.RunOptions{}); !isField(err, "input") {
			t.Error(err)
		}
		if w.State() != agent.Inactive || len(log.turns) != 0 {
			t.Error(w.State(), log.transcript())
		}
	})
}

func TestAWorkerMustBeMade(t *testing.T) {
	l := newLoop(t, agent.Config{})
	for _, w := range []*agent.Worker{
		{Model: llmtest.NewScript(), Container: agent.NewContainer(nil)},
		agent.NewWorker("1", "one", nil),
		func() *agent.Worker {
			w := agent.NewWorker("1", "one", llmtest.NewScript())
			w.Container = nil
			return w
		}(),
	} {
		if _, err := w.Ask(t.Context(), l, &ledger{}, "go"); !isField(err, "worker") {
			t.Error(err)
		}
	}
}

func TestAnInputThatMayNotStandThere(t *testing.T) {
	w, l := agent.NewWorker("1", "one", llmtest.NewScript("hi")), newLoop(t, agent.Config{})
	if err := w.Container.PushInput(agent.Input("staged")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Ask(t.Context(), l, &ledger{}, "and more"); !isField(err, "entry") || w.State() != agent.Inactive {
		t.Error(err, w.State())
	}
	log := &ledger{}
	job, err := l.Start(t.Context(), w, log, agent.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if result, err := job.Wait(t.Context()); err != nil || result.Err != nil || log.transcript() != "user \"staged\"\nagent \"hi\"\n" {
		t.Error(result, err, log.transcript())
	}
}

func TestSeveralWorkersAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoop(t, agent.Config{Tools: []agent.Tool{tool(t, "greet", greet)}})
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				log := &ledger{}
				w := agent.NewWorker(fmt.Sprint(i), "", nil)
				for range 3 {
					w.Model = llmtest.Replies(calls(call("a", "greet", `{"name":"x"}`)), says("done"))
					if _, err := w.Ask(t.Context(), l, log, "go"); err != nil {
						t.Error(err)
					}
				}
				log.check(t)
				if w.Container.Len() != 12 {
					t.Error(kinds(w.Container))
				}
			})
		}
		group.Wait()
	})
}

func TestThePromptOfTheRequestHasTheLowerBound(t *testing.T) {
	model := llmtest.NewScript("hi")
	w, l := agent.NewWorker("1", "one", model), newLoop(t, agent.Config{MaxTokens: 100})
	if _, err := w.Ask(t.Context(), l, &ledger{maxTokens: 50}, "go"); err != nil || model.Asked()[0].MaxTokens != 50 {
		t.Error(err, model.Asked())
	}
}

func isField(err error, name string) bool {
	var field *llm.FieldError
	return errors.As(err, &field) && field.Name == name
}
