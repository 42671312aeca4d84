package replay_test

import (
	"context"
	"errors"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// counter counts well enough: what a prompt holds depends on it, what one that is made again holds does not.
var counter = budget.NewCounter(budget.Profile{
	Name: "made-up-1", Provider: budget.OpenAI, Context: budget.MaxContext, Tokenizer: budget.O200k,
	Template: budget.Template{Prompt: 3, Message: 4, Call: 5, Tool: 8, Image: 100},
}, nil, false, budget.Calibration{})

// put stores settings and returns their hash.
func (w *world) put(k turn.Key, s prompt.Settings) string {
	w.Helper()
	sealed, err := s.Seal()
	if err != nil {
		w.Fatalf("settings: %v", err)
	}
	w.update(func(tx store.Tx) error { return sealed.Put(w.ctx, tx.Prompt(), k.Tenant, tx.Now()) })
	return sealed.SHA256
}

// open opens an epoch after the last turn.
func (w *world) open(k turn.Key, e prompt.Epoch) {
	w.Helper()
	e.Renderer = 1
	if e.Path == nil {
		e.Path = []turn.Range{{From: 1}}
	}
	w.locked(k, func(tx store.Tx, info turn.SessionInfo) error {
		e.AfterSeq = info.Head
		return prompt.Open(w.ctx, tx.Prompt(), info, e, tx.Now())
	})
}

// call notes that a prompt was compiled after the last turn.
func (w *world) call(k turn.Key, c prompt.Call) {
	w.Helper()
	w.locked(k, func(tx store.Tx, info turn.SessionInfo) error {
		last, err := tx.Prompt().LastCall(w.ctx, k.Tenant, info.Lineage(info.Head), info.Head)
		if err != nil && !errors.Is(err, prompt.ErrNotFound) {
			return err
		}
		row := c.Row()
		row.Number, row.End, row.At = last.Number+1, info.Head, tx.Now()
		return tx.Prompt().InsertCall(w.ctx, k.Tenant, info.Segment, row)
	})
}

// pin pins a turn, or no longer.
func (w *world) pin(k turn.Key, seq int64, pinned bool) {
	w.Helper()
	w.locked(k, func(tx store.Tx, info turn.SessionInfo) error {
		rows, err := tx.Prompt().Pins(w.ctx, k.Tenant, info.Lineage(info.Head))
		if err != nil {
			return err
		}
		row := prompt.PinRow{Number: 1, AfterSeq: info.Head, Seq: seq, Pinned: pinned, At: tx.Now()}
		if len(rows) > 0 {
			row.Number = rows[len(rows)-1].Number + 1
		}
		return tx.Prompt().InsertPin(w.ctx, k.Tenant, info.Segment, row)
	})
}

// goal returns the goal that is active, nil where there is none.
func (w *world) goal(k turn.Key) (goal *cortex.Goal) {
	w.Helper()
	info := w.info(k)
	w.view(func(tx store.Tx) error {
		state, err := cortex.Load(w.ctx, tx.Cortex(), k.Tenant, info.Lineage(info.Head), true)
		if err != nil {
			return err
		}
		if g, ok := state.ActiveGoal(); ok {
			goal = &g
		}
		return nil
	})
	return goal
}

// compile compiles a prompt and keeps what is needed to make it again. Settings may be nil: those of the
// one before. Nil if the prompt does not fit.
func (w *world) compile(k turn.Key, size int, settings *prompt.Settings, late ...string) *prompt.Prompt {
	w.Helper()
	window, err := budget.WindowOf(size)
	if err != nil {
		w.Fatalf("window: %v", err)
	}
	request := prompt.Request{Session: w.info(k), Goal: w.goal(k), Late: late, Model: "made-up-1", Window: window, Counter: counter}
	if request.Default, err = (prompt.Settings{}).Seal(); err != nil {
		w.Fatalf("settings: %v", err)
	}
	if request.Compression, err = (budget.Compression{}).WithDefaults(); err != nil {
		w.Fatalf("compression: %v", err)
	}
	if settings != nil {
		sealed, err := settings.Seal()
		if err != nil {
			w.Fatalf("settings: %v", err)
		}
		request.Settings = &sealed
	}
	request.Pass = func(ctx context.Context, j *compress.Job) (compress.Outcome, error) {
		return j.Run(ctx, nil, compress.Options{}, func() string { return "made-here" }, w.clock.now())
	}
	var made prompt.Compiled
	var over *budget.OverBudgetError
	w.view(func(tx store.Tx) (err error) {
		if made, err = prompt.Compile(w.ctx, prompt.AllRows{Turns: tx.Log(), Prompts: tx.Prompt(), Checkpoints: tx.Compress()}, request, nil); errors.As(err, &over) {
			return nil
		}
		return err
	})
	if over != nil {
		return nil
	}
	if made.Opened != nil {
		w.update(func(tx store.Tx) error {
			if err := made.Settings.Put(w.ctx, tx.Prompt(), k.Tenant, tx.Now()); err != nil {
				return err
			}
			if err := w.passed(tx, request.Session, made.Passes); err != nil {
				return err
			}
			return prompt.Open(w.ctx, tx.Prompt(), request.Session, *made.Opened, tx.Now())
		})
	}
	p := made.Prompt
	w.call(k, prompt.Call{
		Epoch: p.Epoch, SHA256: p.SHA256, Renderer: 2, Settings: p.Settings, Model: p.Model,
		Context: int64(size), Tokens: int64(p.Count.Tokens), Passes: p.Passes, Late: p.Late,
	})
	return p
}

// remade makes every prompt of a session again, which proves that it is the one that was compiled.
func (w *world) remade(k turn.Key) (texts []string) {
	w.Helper()
	info := w.info(k)
	w.view(func(tx store.Tx) error {
		rows, err := tx.Prompt().Calls(w.ctx, k.Tenant, info.Lineage(info.Head), 0, 10_000)
		if err != nil {
			return err
		}
		for _, row := range rows {
			call, err := prompt.DecodeCall(row)
			if err != nil {
				return err
			}
			p, err := prompt.Rebuild(w.ctx, prompt.AllRows{Turns: tx.Log(), Prompts: tx.Prompt(), Checkpoints: tx.Compress()}, info, call, counter)
			if err != nil {
				return err
			}
			text := []byte(p.SHA256 + "\n")
			for i := range p.Messages {
				text = append(p.Messages[i].AppendJSON(text), '\n')
			}
			texts = append(texts, string(text))
		}
		return nil
	})
	return texts
}

// firstSettings and its like are what the talk's prompts begin with.
var (
	firstSettings = prompt.Settings{
		System: "You are “kind”.\nAnd <brief>.", Mandates: []string{"Never lie."}, Checks: []string{"Is it true?"},
		Skills: []prompt.Material{{Name: "sums", Text: "1+1 = 2"}},
		Sticky: []prompt.Material{{Name: "plan.md", Text: "# Plan\r\n\n\t東京\u2028"}, {Name: "empty.md"}},
		Tools:  []prompt.Definition{{Name: "look", Description: "Looks it up.", Schema: `{"type":"object"}`}},
	}
	secondSettings = prompt.Settings{
		System: firstSettings.System, Sticky: []prompt.Material{{Name: "plan.md", Text: "# Plan\n\nsums"}}, Tools: firstSettings.Tools,
	}
	thirdSettings = prompt.Settings{System: "Be somebody else."}
)

// The hashes of the talk's prompts. What made them may change; that they can be made again may not.
const (
	firstPrompt  = "f58e8ff9fe787469b5cd30edef6d67339852c3f8c7631eacaa5789ce4a2256b0"
	secondPrompt = "67816ca0f5272ac8c17f45347d38eb3f6c3875a78745a667df8a2e6d7664a866"
	thirdPrompt  = "188e2c6b6b0dc20218e7ae070e422d8f17899727e58eb99e120990ce21c0e52d"
	lastPrompt   = "ac6fb57e9eaec05c64872293ef6ad4c831ce8cb3c544ced1a7870db6aebcbb36"
)

// talk makes a session with everything that version 3 of the format added. The golden bundles are made of
// it: it must stay as it is for as long as they do. Epochs and prompts are written out, so that it does not
// depend on when an epoch is opened today.
func (w *world) talk() turn.Key {
	w.Helper()
	k := w.create("talk")
	first := w.put(k, firstSettings)
	w.say(k, text(turn.User, "What is <1+1>?"))
	w.open(k, prompt.Epoch{Number: 1, Reason: prompt.ReasonStart, From: 1, Settings: first})
	made := prompt.Call{Epoch: 1, SHA256: firstPrompt, Renderer: 1, Settings: first, Model: "made-up-1", Context: 8192, Tokens: 120}
	w.call(k, made)
	w.say(k, calling(call("c1", "look", `{"for": "1+1"}`)), result("c1", "look", turn.CallOK, "2"), text(turn.Agent, "Two."))
	w.say(k, text(turn.User, "And “2+2”?"))
	w.intend(k, cortex.Changes{Goals: []cortex.GoalChange{{ID: "sums", By: cortex.ActorUser, Title: ptr("Learn <sums>")}}})
	made.SHA256, made.Late = secondPrompt, "[Turnstone note, not said by the user]\nRecalled: “two”"
	w.call(k, made)
	w.pin(k, 1, true)
	w.say(k, text(turn.Agent, "Four."), text(turn.User, "Thanks!"))
	second := w.put(k, secondSettings)
	w.open(k, prompt.Epoch{
		Number: 2, Reason: prompt.ReasonFull, From: 6, Passes: 1, Settings: second, Goal: w.goal(k),
		Kept: []prompt.Kept{{Range: turn.Range{From: 1, To: 1}, Why: prompt.Pinned}, {Range: turn.Range{From: 2, To: 3}, Why: prompt.Pinned}, {Range: turn.Range{From: 5, To: 5}, Why: prompt.Said}},
	})
	made = prompt.Call{Epoch: 2, SHA256: thirdPrompt, Renderer: 1, Settings: second, Model: "made-up-1", Context: 8192, Tokens: 100, Passes: 1}
	w.call(k, made)
	made.Model = "another"
	w.call(k, made)
	w.pin(k, 1, false)
	w.say(k, turn.Draft{Role: turn.System, Kind: turn.KindSummary, Content: turn.Text{Text: "Sums."}, Covers: turn.Range{From: 1, To: 5}})
	w.call(k, made)
	return k
}

// otherTalk makes a fork of the talk after turn 7, where an epoch was opened, a pin taken back and two
// prompts compiled.
func (w *world) otherTalk(talk turn.Key) turn.Key {
	w.Helper()
	k := w.fork(talk, 7, "other-talk")
	w.say(k, text(turn.User, "Go on."))
	w.pin(k, 8, true)
	third := w.put(k, thirdSettings)
	w.open(k, prompt.Epoch{Number: 3, Reason: prompt.ReasonSettings, From: 6, Passes: 1, Settings: third, Goal: w.goal(k)})
	w.call(k, prompt.Call{Epoch: 3, SHA256: lastPrompt, Renderer: 1, Settings: third, Model: "made-up-1", Context: 8192, Tokens: 80, Passes: 1})
	return k
}
