package turnstone

import (
	"errors"
	"testing"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// Nothing is kept of an exchange that is over, also where it could not be finished since its lease was lost.
func TestNothingIsKeptOfAnExchangeThatIsOver(t *testing.T) {
	st := mem.New(mem.Config{})
	eng, err := Open(t.Context(), st, Config{ModelName: "m"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := eng.Session(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	c := s.Conversation().(*conversation)
	if err := c.Begin(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "Hello."}}); err != nil {
		t.Fatal(err)
	}
	_, err = c.Compile(t.Context(), agent.Offer{})
	if err == nil {
		err = c.Answer(t.Context(), llm.Answer{Calls: []llm.Call{{ID: "a", Name: "f", Arguments: "{}"}}, Stop: llm.StopCalls})
	}
	if err != nil {
		t.Fatal(err)
	}
	if turns := eng.windows.trails.entries[s.key].turns; len(turns) != 2 {
		t.Fatalf("%d turns are known while it is under way", len(turns))
	}
	err = st.Update(t.Context(), func(tx store.Tx) error {
		return turn.Release(t.Context(), tx.Log(), s.key, c.lease.token)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.End(t.Context(), agent.Ending{State: commit.Complete}); !errors.Is(err, turn.ErrLeaseLost) {
		t.Errorf("ended: %v", err)
	}
	if n := len(eng.windows.trails.entries); n != 0 {
		t.Errorf("%d exchanges are kept", n)
	}
}
