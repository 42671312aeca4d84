package turnstone_test

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// The first of any number of hashes that has links is found, wherever it stands.
func TestLinksOfManyHashes(t *testing.T) {
	st := mem.New(mem.Config{})
	eng, err := turnstone.Open(t.Context(), st, turnstone.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	hashes := make([]chain.Hash, 1000)
	for i := range hashes {
		binary.BigEndian.PutUint32(hashes[i][:], uint32(i+1))
	}
	for _, at := range []int{3, 63, 64, 65, 999} {
		err := st.Update(t.Context(), func(tx store.Tx) error {
			return tx.Chains().PutLink(t.Context(), chain.Link{Tenant: turn.DefaultTenant, Hash: hashes[at], Session: "s", Seq: int64(at), At: tx.Now()})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ from, to, want int }{
		{0, 1000, 3}, {4, 1000, 63 - 4}, {64, 1000, 0}, {65, 1000, 0}, {66, 1000, 999 - 66}, {66, 999, -1}, {0, 3, -1}, {0, 0, -1},
	} {
		links, of, err := eng.Links(t.Context(), hashes[test.from:test.to]...)
		if err != nil || of != test.want || of >= 0 && (len(links) != 1 || links[0].Seq != int64(test.from+of)) || of < 0 && links != nil {
			t.Errorf("from %d to %d: %v, %d, %v", test.from, test.to, links, of, err)
		}
	}
}

// slowDisk is a store whose updates become durable when they may.
type slowDisk struct {
	store.Store
	may chan struct{}
}

func (s *slowDisk) Update(ctx context.Context, fn func(store.Tx) error) error {
	return s.Store.Update(ctx, func(tx store.Tx) error {
		err := fn(tx)
		<-s.may
		return err
	})
}

// A new session, its first input and the prompt are one update: the model is asked before the disk has any of them.
func TestSessionIsMadeWithItsFirstExchange(t *testing.T) {
	disk := &slowDisk{Store: mem.New(mem.Config{}), may: make(chan struct{})}
	eng, err := turnstone.Open(t.Context(), disk, turnstone.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	session := eng.Unmade()
	if _, err := session.Info(t.Context()); !errors.Is(err, turn.ErrNotFound) {
		t.Errorf("it is there: %v", err)
	}
	r := session.Relay(turnstone.RelayOptions{Model: "llama3.2", New: &turn.SessionInfo{User: "alice", Title: "New", Model: "llama3.2", Mode: "developer"}})
	if err := r.Begin(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "Hello!"}}); err != nil {
		t.Fatal(err)
	}
	request, err := r.Compile(t.Context(), agent.Offer{})
	if err != nil || request.Messages[len(request.Messages)-1].Text != "Hello!" {
		t.Fatalf("%+v, %v", request, err)
	}
	close(disk.may)
	if again, err := r.Begun(t.Context()); again || err != nil {
		t.Fatalf("again %v, %v", again, err)
	}
	if err := errors.Join(r.Answer(t.Context(), llm.Answer{Text: "Hi.", Stop: llm.StopEnd}), r.End(t.Context(), agent.Ending{State: commit.Complete})); err != nil {
		t.Fatal(err)
	}
	info, err := session.Info(t.Context())
	if err != nil || info.Head < 2 || info.User != "alice" || info.Title != "New" || info.Model != "llama3.2" || info.Mode != "developer" {
		t.Errorf("%+v, %v", info, err)
	}
	if p, err := session.Prompts(t.Context(), 0, 9); err != nil || len(p) != 1 {
		t.Errorf("%d prompts, %v", len(p), err)
	}
	// It is an ordinary session from then on.
	second := session.Relay(turnstone.RelayOptions{Model: "llama3.2", After: 2})
	if err := second.Begin(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "And now?"}}); err != nil {
		t.Fatal(err)
	}
	if request, err = second.Compile(t.Context(), agent.Offer{}); err != nil || len(request.Messages) < 3 {
		t.Errorf("%+v, %v", request, err)
	}
	if err := second.End(t.Context(), agent.Ending{State: commit.Failed, Err: errors.New("enough")}); err != nil {
		t.Error(err)
	}
}

// Where the first exchange cannot begin there is no session either.
func TestNoSessionWithoutItsFirstExchange(t *testing.T) {
	eng, err := turnstone.Open(t.Context(), mem.New(mem.Config{}), turnstone.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	session := eng.Unmade()
	r := session.Relay(turnstone.RelayOptions{Model: "m", New: &turn.SessionInfo{User: strings.Repeat("x", 1000)}})
	var field *invalid.Field
	if err := r.Begin(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "Hello!"}}); !errors.As(err, &field) || field.Name != "user" {
		t.Errorf("begun: %v", err)
	}
	if _, err := session.Info(t.Context()); !errors.Is(err, turn.ErrNotFound) {
		t.Errorf("it is there: %v", err)
	}
}

// Whoever spoke behind the turn that a client knows, it does not go on from there, whatever the agent said before.
func TestRelayGoesOnFromTheTurnItKnows(t *testing.T) {
	eng, err := turnstone.Open(t.Context(), mem.New(mem.Config{}), turnstone.Config{ModelName: "llama3.2"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	said := func(role turn.Role, text string) turn.Draft {
		return turn.Draft{Role: role, Content: turn.Text{Text: text}}
	}
	for name, test := range map[string]struct {
		behind []turn.Draft
		moved  bool
	}{
		"nothing":                   {},
		"a responder":               {[]turn.Draft{said(turn.Agent, "Hello.")}, false},
		"the agent, again":          {[]turn.Draft{said(turn.Agent, "One."), said(turn.Agent, "Two."), said(turn.Agent, "Three.")}, false},
		"somebody":                  {[]turn.Draft{said(turn.User, "Me too.")}, true},
		"somebody behind the agent": {[]turn.Draft{said(turn.Agent, "One."), said(turn.Agent, "Two."), said(turn.User, "Me too.")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := eng.Create(t.Context(), turn.SessionInfo{})
			if err != nil {
				t.Fatal(err)
			}
			known, err := s.Append(t.Context(), said(turn.User, "Hi"), said(turn.Agent, "Hi."))
			if err == nil && len(test.behind) > 0 {
				_, err = s.Append(t.Context(), test.behind...)
			}
			if err != nil {
				t.Fatal(err)
			}
			relay := s.Relay(turnstone.RelayOptions{After: known[1].Seq})
			err = relay.Begin(t.Context(), said(turn.User, "And now?"))
			if err == nil {
				_, err = relay.Begun(t.Context())
			}
			if moved := errors.Is(err, turnstone.ErrMoved); moved != test.moved || err != nil && !moved {
				t.Errorf("begun: %v", err)
			}
			if err == nil {
				if err := relay.End(t.Context(), agent.Ending{State: commit.Failed, Err: agent.ErrNoAnswer}); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
