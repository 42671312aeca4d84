package commit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestDecisionsCiteTheTurnThatSaysThem(t *testing.T) {
	said := func(role turn.Role, text string) turn.Draft {
		return turn.Draft{Role: role, Content: turn.Text{Text: text}}
	}
	recorded := talk("Plan it.", "Done.")
	recorded.Intentions.Goals = []cortex.GoalChange{{ID: "g", Title: ptr("Trip"), AddDecisions: []cortex.Decision{{Description: "No flights"}}}}
	for _, c := range []struct {
		name     string
		before   []turn.Draft // in the log when the exchange is committed
		exchange commit.Exchange
		want     []string
	}{
		{"the user's", nil, talk("Well.\nWe decided to  take the night train.", "Fine."),
			[]string{"1: We decided to take the night train."}},
		{"longer than the log of decisions has room for", nil, talk("Well?", "We decided to go"+strings.Repeat(" far away", 20)),
			[]string{"2: We decided to go" + strings.Repeat(" far away", 15) + " far…"}},
		{"the agent's", nil, talk("Which database?", "Let's use PostgreSQL for it."), []string{"2: Let's use PostgreSQL for it."}},
		{"of four turns", nil, commit.Exchange{Turns: []turn.Draft{
			said(turn.User, "We decided to take the night train."), said(turn.Agent, "Where to?"),
			said(turn.User, "And we agreed on Vienna."), said(turn.Agent, "Let's go with Vienna then."),
		}}, []string{"1: We decided to take the night train.", "3: And we agreed on Vienna.", "4: Let's go with Vienna then."}},
		{"words spoken", nil, commit.Exchange{Turns: []turn.Draft{
			{Role: turn.User, Content: turn.Speech{Transcript: "Listen."}}, {Role: turn.User, Content: turn.Speech{Transcript: "We decided to take the bus."}}, said(turn.Agent, "Fine."),
		}}, []string{"2: We decided to take the bus."}},
		{"what is only recorded in a goal", nil, recorded, []string{"1: No flights"}},
		{"in the log already", []turn.Draft{said(turn.User, "Hello."), said(turn.User, "We decided to take the ferry.")},
			commit.Exchange{Turns: []turn.Draft{said(turn.Agent, "We will use the port of Kiel.")}},
			[]string{"2: We decided to take the ferry.", "3: We will use the port of Kiel."}},
	} {
		for _, putOff := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, put off %t", c.name, putOff), func(t *testing.T) {
				onStores(t, func(t *testing.T, open func(commit.Config) *world) {
					w := open(commit.Config{Retries: []time.Duration{time.Hour}})
					ex := c.exchange
					if len(c.before) > 0 {
						ex.Opened = w.append(c.before...).ID
					}
					faults := faulty.New(w.store)
					w.withStore(faults)
					if putOff {
						faults.Set(failAt("InsertTurns"))
					}
					w.commit(ex)
					faults.Set(nil)
					w.settleAll()
					if got := w.decided(); !slices.Equal(got, c.want) {
						t.Errorf("%q, want %q", got, c.want)
					}
				})
			})
		}
	}
}

// decided are the session's decisions with the turns that they cite, whose ids must be those of the log.
func (w *world) decided() (texts []string) {
	w.Helper()
	w.view(func(tx store.Tx, info turn.SessionInfo) error {
		digest, err := commit.LoadDigest(w.Context(), tx, info)
		if err != nil {
			return err
		}
		for _, d := range digest.Decisions {
			texts = append(texts, fmt.Sprintf("%d: %s", d.Seq, d.Text))
			if id := w.idAt(tx, info, d); id != d.TurnID {
				w.Errorf("turn %d has the id %s, cited is %s", d.Seq, id, d.TurnID)
			}
		}
		return nil
	})
	return texts
}

func (w *world) idAt(tx store.Tx, info turn.SessionInfo, d memory.Decision) string {
	w.Helper()
	q, err := turn.Query{From: d.Seq, To: d.Seq}.Compile()
	if err != nil {
		w.Fatal(err)
	}
	page, err := q.Run(w.Context(), tx.Log(), info)
	if err != nil {
		w.Fatal(err)
	}
	return page.Turns[0].ID
}
