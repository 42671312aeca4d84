package turnstone_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// linesOf are so many lines, of which no two are the same.
func linesOf(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Line %d of the answer says that parcel %d left warehouse %d.\n", i+1, 7*i+1000, i%13)
	}
	return b.String()
}

// brief summarises whatever it is given in the same few words.
type brief struct{}

func (brief) Summarise(context.Context, compress.Request) (string, error) {
	return "They talked of parcels.", nil
}

// TestTortureAnyReplyLeavesRoomForTheNextMessage has a model answer with replies of any size, up to more than the window holds:
// after each the session has a status, and the next message gets its answer.
func TestTortureAnyReplyLeavesRoomForTheNextMessage(t *testing.T) {
	seeds := uint64(24)
	if os.Getenv("TURNSTONE_TORTURE") != "" {
		seeds = 100
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 0))
		size := []int{budget.MinContext, budget.MinContext + r.IntN(1000), 3072, 4096, 8192, 16384}[r.IntN(6)]
		config := turnstone.Config{
			ModelName: []string{"llama3.2", "gpt-4o", "nobody-has-heard-of-it"}[r.IntN(3)], Context: size,
			Compression: budget.Compression{Strategy: []budget.Strategy{budget.Summarize, budget.Truncate}[r.IntN(2)]},
		}
		if r.IntN(3) == 0 {
			config.Summariser = brief{}
		}
		most := []int{3, size / 60, size / 18, size / 8}
		config.Model = llmtest.Respond(func(llm.Request) llmtest.Reply {
			return llmtest.Reply{Text: linesOf(r.IntN(1+most[r.IntN(4)])) + "Done."}
		})
		s := session(t, open(t, mem.New(mem.Config{}), config), "s")
		for n := range 12 {
			said := fmt.Sprintf("And then, %d?", n)
			if r.IntN(4) == 0 {
				said += "\n" + linesOf(r.IntN(size/60))
			}
			var endless *agent.LimitError // no server gives a reply as long as that: the exchange is cut short
			if _, err := s.Say(t.Context(), said); err != nil && !errors.As(err, &endless) {
				t.Errorf("seed %d, %s at %d: message %d: %v", seed, config.ModelName, size, n, err)
				break
			}
			status, err := s.Status(t.Context(), turnstone.PromptOptions{})
			if err != nil {
				t.Errorf("seed %d, %s at %d: after reply %d: %v", seed, config.ModelName, size, n, err)
				break
			}
			if status.Prompt.Account.Free() < 0 || status.Turns < int64(2*n) {
				t.Errorf("seed %d: after reply %d: %+v", seed, n, status.Prompt.Account)
			}
		}
	}
}

// TestAPassThatTakesNoTurnNamesNone: events of passes name the turns that left, and none where older checkpoints only became
// smaller so that a reply had room.
func TestAPassThatTakesNoTurnNamesNone(t *testing.T) {
	none := 0
	for size := 180; size < 300; size += 5 {
		eng := open(t, mem.New(mem.Config{}), turnstone.Config{Model: llmtest.Replies(llmtest.Reply{Text: linesOf(size)}), ModelName: "gpt-4o", Context: 8192})
		s := session(t, eng, "s")
		converseTo(t, s, 0, 20)
		if _, err := s.Compress(t.Context(), turnstone.PromptOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Say(t.Context(), "And the parcels?"); err != nil {
			t.Fatal(err)
		}
		compiled(t, s, turnstone.PromptOptions{})
		events, err := eng.Events(t.Context(), "s", "", 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			var data struct{ Pass, From, To int64 }
			if err := json.Unmarshal([]byte(e.Data), &data); err != nil || data.To < data.From {
				t.Errorf("%d lines: %s %s: %v", size, e.Kind, e.Data, err)
			}
			if e.Kind == event.Compressed && data.To == 0 {
				none++
			}
		}
	}
	if none == 0 {
		t.Error("every pass took turns out")
	}
}

// TestAPromptThatDoesNotFitSaysWhatTakesTheRoom names what could be made smaller of what must stay.
func TestAPromptThatDoesNotFitSaysWhatTakesTheRoom(t *testing.T) {
	asked := turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: "c", Name: "list_parcels", Arguments: `{}`}}}}
	listed := turn.Draft{Role: turn.System, Content: turn.Result{Name: "list_parcels", CallID: "c", Status: turn.CallOK, Result: strconv.Quote(linesOf(200))}}
	hello := turn.Draft{Role: turn.User, Content: turn.Text{Text: "Hello."}}
	for want, c := range map[string]struct {
		off   bool
		turns []turn.Draft
	}{
		"have the tool list_parcels return less, or":  {turns: []turn.Draft{hello, asked, listed}},
		"send the last message in smaller pieces, or": {turns: []turn.Draft{hello, {Role: turn.User, Content: turn.Text{Text: linesOf(200)}}}},
		"while compression is off, or": {off: true, turns: []turn.Draft{
			hello, {Role: turn.Agent, Content: turn.Text{Text: linesOf(200)}}, hello,
		}},
	} {
		s := session(t, open(t, mem.New(mem.Config{}), turnstone.Config{Compression: budget.Compression{Off: c.off}}), "s")
		if _, err := s.Append(t.Context(), c.turns...); err != nil {
			t.Fatal(err)
		}
		_, err := s.Prompt(t.Context(), turnstone.PromptOptions{Model: "gpt-4o", Context: 4096})
		if !errors.Is(err, turnstone.ErrOverBudget) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
