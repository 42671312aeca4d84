package commit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// told is a store's turns and items as the test remembers them.
type told struct {
	sessions []turn.SessionInfo
	said     map[string]string         // by tenant, segment and seq; of some turns nothing
	gone     map[string]bool           // turns that were forgotten
	items    map[string]memory.Episode // by tenant and id
	ids      []string                  // some have no item
}

func at(tenant string, segment, seq int64) string {
	return fmt.Sprintf("%s/%d/%d", tenant, segment, seq)
}

// tell fills a store: two tenants have a session and a fork of it each.
func tell(t *testing.T, w *world, random *rand.Rand) *told {
	const fork, head = 6, 14
	m := &told{said: map[string]string{}, gone: map[string]bool{}, items: map[string]memory.Episode{}}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for range 12 {
		m.ids = append(m.ids, w.ids.Next(now))
	}
	w.update(func(tx store.Tx) error {
		for _, tenant := range []string{"default", "other"} {
			root := turn.SessionInfo{Key: turn.Key{Tenant: tenant, Session: "root"}, Status: turn.Active, Head: head, CreatedAt: now, LastActivity: now}
			child := root
			child.Session, child.Parent, child.ForkSeq = "fork", "root", fork
			for _, info := range []*turn.SessionInfo{&root, &child} {
				if info == &child {
					child.Inherited = root.Spans(fork)
				}
				var err error
				if info.Segment, err = tx.Log().InsertSession(t.Context(), *info); err != nil {
					return err
				}
				// A segment's turns are mostly written in their order, and need not be.
				for _, n := range random.Perm(int(head - info.ForkSeq)) {
					if err := m.say(t, w, tx, random, info, info.ForkSeq+1+int64(n)); err != nil {
						return err
					}
				}
				m.sessions = append(m.sessions, *info)
			}
			for _, id := range m.ids[2:] {
				item := memory.Episode{
					ID: id, Type: memory.UserData, Text: tenant + " is told of " + id, Importance: 0.5, Created: now, Tags: []string{"Port"},
					Provenance: memory.Provenance{ExportID: w.ids.Next(now), TurnID: w.ids.Next(now), Source: memory.FromUser},
				}
				row := item.Row(memory.Owner{Tenant: tenant, Segment: root.Segment, Session: "root"})
				if _, err := tx.Memory().InsertItems(t.Context(), []memory.Row{row}); err != nil {
					return err
				}
				m.items[tenant+"/"+id] = item
			}
		}
		return nil
	})
	return m
}

// say writes a turn of any kind.
func (m *told) say(t *testing.T, w *world, tx store.Tx, random *rand.Rand, info *turn.SessionInfo, seq int64) error {
	place := at(info.Tenant, info.Segment, seq)
	text := fmt.Sprintf("\"%s\" says\n%d", place, random.IntN(100))
	x := turn.Turn{Seq: seq, ID: w.ids.Next(info.CreatedAt), Role: turn.Agent, Kind: turn.KindTurn, CreatedAt: info.CreatedAt}
	switch random.IntN(5) {
	case 0:
		x.Role, x.Content, x.Form, m.said[place] = turn.User, turn.Speech{Transcript: text}, turn.FormSpeech, text
	case 1:
		x.Content, x.Form, m.gone[place] = turn.Forgotten{}, turn.FormText, true
	case 2:
		x.Role, x.Content, x.Form = turn.User, turn.Action{Name: "click"}, turn.FormAction
	default:
		x.Content, x.Form, m.said[place] = turn.Text{Text: text, Thinking: "hm"}, turn.FormText, text
	}
	return tx.Log().InsertTurns(t.Context(), info.Tenant, info.Segment, turn.Row{Turn: x, Encoded: turn.EncodedAs(string(turn.AppendContent(nil, x.Content)))})
}

// export draws an outbox row and says what is to come of it.
func (m *told) export(t *testing.T, w *world, random *rand.Rand) (event.Export, commit.StateExport) {
	info := m.sessions[random.IntN(len(m.sessions))]
	body := struct {
		Input  []int64        `json:"input,omitempty"`
		Reply  []int64        `json:"reply,omitempty"`
		Items  []string       `json:"items,omitempty"`
		Inline []string       `json:"inline,omitempty"`
		Export map[string]any `json:"export,omitempty"`
	}{}
	e := event.Export{
		Tenant: info.Tenant, Session: info.Session, Segment: info.Segment, ID: w.ids.Next(info.CreatedAt), TurnID: w.ids.Next(info.CreatedAt),
		Status: string(commit.Complete), At: info.CreatedAt, Sent: random.Int64N(1000),
	}
	want := commit.StateExport{ExportID: e.ID, TurnID: e.TurnID, Tenant: e.Tenant, Session: e.Session, Status: commit.Complete, Timestamp: e.At}
	if random.IntN(9) > 0 { // a body may be without
		body.Export = map[string]any{"schema_version": commit.SchemaVersion, "missing": []string{"before"}}
		want.Missing = []string{"before"}
	}
	if body.Export != nil && random.IntN(4) == 0 {
		body.Inline = append(body.Inline, string(commit.Scratch), string(commit.History))
		body.Export["turn_summary"] = map[string]any{"user_input": "inline"}
		want.Turn.UserInput = "inline"
	}
	said := func(seqs []int64) string {
		var lines []string
		for _, seq := range seqs {
			segment := info.Segment
			for _, span := range info.Inherited {
				if span.From <= seq && seq <= span.To {
					segment = span.Segment
				}
			}
			place := at(info.Tenant, segment, seq)
			text, ok := m.said[place]
			switch {
			case ok:
				lines = append(lines, text)
			case m.gone[place], seq < 1, seq > info.Head:
				want.Missing = append(want.Missing, fmt.Sprint("turn ", seq))
			}
		}
		return strings.Join(lines, "\n")
	}
	first := random.Int64N(info.Head + 2) // from none to one behind the last
	body.Input, body.Reply = []int64{first}, []int64{first + 1}
	for random.IntN(3) == 0 {
		body.Input = append(body.Input, random.Int64N(info.Head+2))
	}
	if random.IntN(4) == 0 {
		body.Reply = nil
	}
	if !slices.Contains(body.Inline, string(commit.History)) {
		want.Turn.UserInput, want.Turn.AssistantResponse = said(body.Input), said(body.Reply)
		want.Conversation.UserInput, want.Conversation.AssistantResponse = want.Turn.UserInput, want.Turn.AssistantResponse
	}
	for range random.IntN(4) {
		id := m.ids[random.IntN(len(m.ids))]
		body.Items = append(body.Items, id)
		if item, ok := m.items[info.Tenant+"/"+id]; ok {
			want.Episodes = append(want.Episodes, item)
		} else {
			want.Missing = append(want.Missing, "item "+id)
		}
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	e.Body = string(text)
	return e, want
}

// However many exports are read at once, of whatever tenants, sessions and forks: each tells of its own turns and items.
func TestMessagesOfManyExports(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		random := rand.New(rand.NewPCG(1, 2))
		w := open(commit.Config{})
		m := tell(t, w, random)
		for round := range 8 {
			exports := make([]event.Export, random.IntN(200))
			want := make([]commit.StateExport, len(exports))
			for i := range exports {
				exports[i], want[i] = m.export(t, w, random)
			}
			w.view(func(tx store.Tx, _ turn.SessionInfo) error {
				messages, err := commit.Messages(t.Context(), tx, exports)
				if err != nil || len(messages) != len(exports) {
					t.Fatalf("round %d: %d messages of %d exports, %v", round, len(messages), len(exports), err)
				}
				for i, e := range exports {
					said := event.Message{Tenant: e.Tenant, Session: e.Session, Segment: e.Segment, ID: e.ID, TurnID: e.TurnID, Number: e.Sent}
					said.Body = want[i].AppendJSON(nil)
					if diff := cmp.Diff(said, messages[i]); diff != "" {
						t.Fatalf("round %d, export %d of %s: %s (-want +got):\n%s", round, i, e.Session, e.Body, diff)
					}
					alone, err := commit.Whole(t.Context(), tx, e)
					if diff := cmp.Diff(string(said.Body), string(alone.AppendJSON(nil))); err != nil || diff != "" {
						t.Fatalf("round %d, export %d of %s alone: %s: %v (-want +got):\n%s", round, i, e.Session, e.Body, err, diff)
					}
				}
				return nil
			})
		}
	})
}

// asked counts what a transaction is asked for.
type asked struct {
	store.Tx
	turns, items, sessions int
}

type askedLog struct {
	turn.Rows
	asked *asked
}

type askedMemory struct {
	memory.Rows
	asked *asked
}

func (a *asked) Log() turn.Rows      { return askedLog{a.Tx.Log(), a} }
func (a *asked) Memory() memory.Rows { return askedMemory{a.Tx.Memory(), a} }

func (l askedLog) TurnsAt(ctx context.Context, tenant string, places []turn.Place) ([]turn.Stored, error) {
	l.asked.turns++
	return l.Rows.TurnsAt(ctx, tenant, places)
}

func (l askedLog) Session(ctx context.Context, key turn.Key) (turn.SessionInfo, error) {
	l.asked.sessions++
	return l.Rows.Session(ctx, key)
}

func (m askedMemory) ItemsByID(ctx context.Context, tenant string, ids []string) ([]memory.Row, error) {
	m.asked.items++
	return m.Rows.ItemsByID(ctx, tenant, ids)
}

// Exports are read together: a store that is far away is asked twice, not twice for each.
func TestMessagesAskFewQuestions(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	var exports []event.Export
	for i := range 50 {
		ex := talk(fmt.Sprint("question ", i), fmt.Sprint("answer ", i))
		ex.Candidates = []memory.Candidate{fact(fmt.Sprintf("likes number %d more than the others", i))}
		res := w.commit(ex)
		w.view(func(tx store.Tx, _ turn.SessionInfo) error {
			e, err := tx.Outbox().Export(t.Context(), key.Tenant, res.ExportID)
			exports = append(exports, e)
			return err
		})
	}
	w.view(func(tx store.Tx, _ turn.SessionInfo) error {
		a := &asked{Tx: tx}
		messages, err := commit.Messages(t.Context(), a, exports)
		if len(messages) != 50 || a.turns != 1 || a.items != 1 || a.sessions != 0 {
			t.Errorf("%d messages: asked %d times for turns, %d for items, %d for sessions", len(messages), a.turns, a.items, a.sessions)
		}
		return err
	})
}

// Among many, the export that cannot be read is named.
func TestMessagesNameWhatCannotBeRead(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	ex := talk("hello", "hi")
	ex.Candidates = []memory.Candidate{fact("likes penguins")}
	res := w.commit(ex)
	w.view(func(tx store.Tx, _ turn.SessionInfo) error {
		good, err := tx.Outbox().Export(t.Context(), key.Tenant, res.ExportID)
		swept, odd, lost := good, good, good
		swept.ID, swept.Body = "SWEPT", ""
		odd.ID, odd.Body = "ODD", `{"odd":1}`
		lost.ID, lost.Session, lost.Body = "LOST", "nowhere", `{"input":[77]}`
		for _, bad := range []event.Export{swept, odd, lost} {
			messages, err := commit.Messages(t.Context(), tx, []event.Export{good, bad, good})
			if len(messages) > 0 || err == nil || !strings.Contains(err.Error(), "export "+bad.ID) {
				t.Errorf("%s: %d messages, %v", bad.ID, len(messages), err)
			}
			if errors.Is(err, event.ErrNotFound) != (bad.ID == "SWEPT") {
				t.Errorf("%s: %v", bad.ID, err)
			}
		}
		return err
	})
}
