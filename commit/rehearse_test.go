package commit_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func calls(id, tool string) turn.Draft {
	return turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: id, Name: tool, Arguments: `{}`}}}}
}

func gives(id, tool string) turn.Draft {
	return turn.Draft{Role: turn.System, Content: turn.Result{Name: tool, CallID: id, Status: turn.CallOK, Result: `1`}}
}

func shows(b turn.Blob) turn.Draft {
	return turn.Draft{Role: turn.User, Content: turn.Image{MediaType: "image/png", Blob: b}}
}

// Where turns wait, what the log will refuse once they are written is refused now, and all else is put off behind them.
func TestWhatWillNeverBeWrittenIsNotPutOff(t *testing.T) {
	const hash = "4a44dc15364204a80fe80e9039455cc1608281820fe2b24f1e5233ade6af1dd5" // of "10"
	onStoresOfParts(t, func(t *testing.T, open func(*testing.T, commit.Config) *world) {
		w := open(t, commit.Config{Retries: []time.Duration{time.Hour}})
		here := w.append(calls("here", "ls")).ID
		waits := w.config.NewID()
		ex := commit.Exchange{Turns: []turn.Draft{
			{ID: waits, Role: turn.User, Content: turn.Text{Text: "hello"}, IdempotencyKey: "k"},
			shows(turn.Blob{Data: []byte("10")}), calls("waits", "ls"), calls("over", "ls"), gives("over", "ls"),
		}}
		w.putOff(ex, "InsertTurns")
		next := func(drafts ...turn.Draft) commit.Exchange {
			return commit.Exchange{Turns: append(talk("next", "").Turns[:1], drafts...)}
		}
		for name, test := range map[string]struct {
			ex       commit.Exchange
			conflict bool
		}{
			"a result of no call":               {next(gives("nobody", "ls")), false},
			"a result of a call that has one":   {next(gives("over", "ls")), false},
			"a result of another tool":          {next(gives("waits", "rm")), false},
			"two results of one call":           {next(gives("waits", "ls"), gives("waits", "ls")), false},
			"a call that is open in the log":    {next(calls("here", "ls")), false},
			"a call that is open in what waits": {next(calls("waits", "ls")), false},
			"bytes that nobody has":             {next(shows(turn.Blob{SHA256: strings.Repeat("a", 64), Size: 2})), false},
			"bytes of another size":             {next(shows(turn.Blob{SHA256: hash, Size: 3})), false},
			"an id of the log":                  {next(turn.Draft{ID: here, Role: turn.Agent, Content: turn.Text{Text: "a"}}), true},
			"an id of what waits":               {next(turn.Draft{ID: waits, Role: turn.Agent, Content: turn.Text{Text: "a"}}), true},
			"a key of what waits":               {next(turn.Draft{Role: turn.User, Content: turn.Text{Text: "bye"}, IdempotencyKey: "k"}), true},
		} {
			res, err := w.pipeline.Commit(t.Context(), key, test.ex)
			var field *invalid.Field
			if ok := errors.As(err, &field) && strings.HasPrefix(field.Name, "turns["); ok == test.conflict || test.conflict != errors.Is(err, turn.ErrConflict) {
				t.Errorf("%s: %+v, %v", name, res, err)
			}
		}
		w.commit(next(gives("waits", "ls"), gives("here", "ls"), shows(turn.Blob{SHA256: hash, Size: 2})))
		w.commit(next(turn.Draft{Role: turn.User, Content: turn.Text{Text: "hello"}, IdempotencyKey: "k"}, calls("waits", "ls"), calls("here", "ls"), calls("over", "ls")))
		if n := len(w.deferrals()); n != 3 {
			t.Errorf("%d are put off", n)
		}
		w.settleAll()
	})
}

// What cannot even wait holds nothing up, and nothing of it counts for what follows.
func TestWhatIsHopelessIsGivenUpAtOnce(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		w.retire()
		w.append(calls("here", "ls"))
		first := talk("first", "one")
		first.Turns = append(first.Turns, calls("e", "ls"))
		w.putOff(first, "InsertTurns")
		ex := talk("late", "a")
		ex.Turns[1].IdempotencyKey = "k"
		ex.Turns = append(ex.Turns, shows(turn.Blob{Data: []byte("10")}), calls("c", "ls"), calls("d", "ls"), gives("c", "ls"), gives("here", "ls"))
		w.commit(ex)
		// By the time it is tried again the call has its result.
		w.append(gives("here", "ls"))
		good := talk("good", "b")
		good.Turns = append(good.Turns, calls("d", "ls"), gives("d", "ls"), calls("c", "ls"), gives("e", "ls"))
		w.commit(good)
		for range 2 {
			w.due()
			w.pipeline.RetryDue(t.Context())
		}
		left := w.deferrals()
		if len(left) != 1 || left[0].Escalated.IsZero() || left[0].Tries != 2 || !strings.Contains(left[0].Error, `no call "here" is open`) {
			t.Errorf("left are %+v", left)
		}
		if got := w.turns(); !slices.Contains(got, "one") || !slices.Contains(got, "b") || slices.Contains(got, "late") {
			t.Errorf("the log reads %q", got)
		}
		if told := w.events(); len(told) != 1 || told[0].Kind != event.CommitEscalated {
			t.Errorf("announced %+v", told)
		}
	})
}

// What a newer program put off is not given up before that one has had its time.
func TestWhatCannotBeReadIsTriedAgain(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{time.Hour, time.Hour}})
	w.putOff(everything(1), "InsertTurns")
	d := w.deferrals()[0]
	d.Payload = `{"newer":1}`
	w.update(func(tx store.Tx) error { return tx.Outbox().PutDeferral(t.Context(), d) })
	w.due()
	w.pipeline.RetryDue(t.Context())
	if left := w.deferrals()[0]; !left.Escalated.IsZero() || left.Tries != 2 || !strings.Contains(left.Error, "newer") {
		t.Errorf("put off %+v", left)
	}
	// Nothing is known of it meanwhile.
	if res := w.commit(talk("next", "a")); len(res.Deferred) != 1 {
		t.Errorf("put off %v", res.Deferred)
	}
}
