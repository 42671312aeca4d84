package commit

import (
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// Of an exchange whose input is in the log, too, all that can be made before the update is: others wait behind that.
func TestAnOpenedExchangeIsForeseen(t *testing.T) {
	st := mem.New(mem.Config{})
	defer st.Close()
	source := ids.New(nil)
	p, err := New(t.Context(), st, Config{Clock: time.Now, NewID: func() string { return source.Next(time.Now()) }})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(t.Context())
	key := turn.Key{Tenant: "default", Session: "talk"}
	said := func(role turn.Role, text string) turn.Draft {
		return turn.Draft{ID: p.config.NewID(), Role: role, Content: turn.Text{Text: text}}
	}
	var input []turn.Turn
	if err := st.Update(t.Context(), func(tx store.Tx) error {
		_, err := tx.Log().InsertSession(t.Context(), turn.SessionInfo{Key: key, Status: turn.Active, CreatedAt: tx.Now(), LastActivity: tx.Now()})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Commit(t.Context(), key, Exchange{Turns: []turn.Draft{said(turn.User, "Hello."), said(turn.Agent, "Hi.")}}); err != nil {
		t.Fatal(err)
	}
	if err := st.Update(t.Context(), func(tx store.Tx) error {
		sealed, err := said(turn.User, "Which way?").Seal(p.config.Limits)
		if err != nil {
			return err
		}
		input, err = turn.Append(t.Context(), tx.Log(), key, tx.Now(), sealed)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	r := &run{key: key, exchange: Exchange{Opened: input[0].ID, Log: input, Turns: []turn.Draft{said(turn.Agent, "This one.")}}}
	if err := p.begin(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	p.complete(t.Context(), r)
	p.reflect(t.Context(), r)
	if err := p.selectState(r); err != nil {
		t.Fatal(err)
	}
	parts, reply := r.prepare(p), input[0].Seq+1
	foreseen := parts[0].(*historyPart).foreseen
	if want := (turn.Range{From: input[0].Seq, To: reply}); foreseen == nil || foreseen.covers != want || foreseen.digest.ThroughSeq != reply {
		t.Errorf("foreseen: %+v, want %v", foreseen, want)
	}
	if turns := r.foretold.turns; len(turns) != 1 || turns[0] != reply {
		t.Errorf("the export was made for turns %v, want %d", turns, reply)
	}
}
