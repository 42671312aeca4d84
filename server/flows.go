package server

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/turn"
)

func (s *Server) registerFlows(api huma.API) {
	flow := func(method, path, id, summary, about string) route {
		return route{method: method, path: "/sessions/{session}" + path, id: id, tag: "flows", summary: summary, about: about, decoded: true}
	}
	handleSession(s, api, flow(http.MethodGet, "/state", "getState", "The dialogue state: the stack of flows, now or after a turn", ""), state)
	handleSession(s, api, flow(http.MethodGet, "/flows/completed", "listCompletedFlows", "The flows that were completed during the session", ""), completedFlows)
	handleSession(s, api, flow(http.MethodPost, "/flows", "pushFlow", "Stack a new flow on",
		"The one beneath waits, and its filled slots carry over. If a flow of that name is live already, it is answered and nothing changes."), s.pushFlow)
	handleSession(s, api, flow(http.MethodPost, "/flows/fallback", "fallbackFlow", "Give up the active flow for another one",
		"It takes its place, its slots and its plan."), s.fallbackFlow)
	handleSession(s, api, flow(http.MethodPost, "/flows/complete", "completeFlow", "Complete the active flow",
		"It stays on top until it is popped."), completeFlow)
	handleSession(s, api, flow(http.MethodPost, "/flows/pop", "popFlows", "Take finished flows off the top",
		"The next one that waits becomes active. With a turn the flow that comes up points at it, and goes on inside of it."), popFlows)
	handleSession(s, api, flow(http.MethodPost, "/flows/attach", "attachFlow", "Point the active flow at a turn, by default the newest", ""), attachFlow)
	handleSession(s, api, flow(http.MethodPost, "/flows/stage", "stageFlow", "Note how far the active flow is", ""), stageFlow)
	handleSession(s, api, flow(http.MethodPut, "/flows/slots/{slot}", "setSlot", "Fill, declare or empty a slot of the active flow",
		"A value fills it and is kept byte for byte; a type alone declares it; neither of them empties it."), setSlot)
	handleSession(s, api, flow(http.MethodPost, "/flows/{flow}/invalidate", "invalidateFlow", "Make a flow invalid, and with it the steps of it", ""), invalidateFlow)
}

// slotDoc is a typed place for one value in a flow.
type slotDoc struct {
	Name     string `json:"name"`
	Type     string `json:"type,omitempty" enum:"string,number,boolean,list,object"`
	Value    any    `json:"value,omitempty"`
	FilledBy string `json:"filled_by,omitempty" doc:"the turn that filled it"`
}

// flowDoc is one thing that the conversation is about.
type flowDoc struct {
	FlowID  string    `json:"flow_id"`
	Name    string    `json:"name"`
	Status  string    `json:"status" enum:"pending,active,completed,invalid"`
	Slots   []slotDoc `json:"slots,omitempty"`
	PlanID  string    `json:"plan_id,omitempty" doc:"the flow that it is a step of"`
	Stage   string    `json:"stage,omitempty"`
	Result  any       `json:"result,omitempty"`
	TurnIDs []string  `json:"turn_ids,omitempty"`
}

type stateDoc struct {
	Stack    []flowDoc `json:"stack" doc:"bottom first; the top is active"`
	SetAside []flowDoc `json:"set_aside,omitempty"`
}

// revisionDoc is the dialogue state as it was after a turn.
type revisionDoc struct {
	Revision  int      `json:"revision"`
	AfterSeq  int64    `json:"after_seq"`
	CreatedAt string   `json:"created_at" format:"date-time"`
	State     stateDoc `json:"state"`
}

// flowChangeDoc is what a change did.
type flowChangeDoc struct {
	Revision    int       `json:"revision"`
	AfterSeq    int64     `json:"after_seq"`
	CreatedAt   string    `json:"created_at" format:"date-time"`
	Flow        *flowDoc  `json:"flow,omitempty"`
	Finished    []flowDoc `json:"finished,omitempty"`
	Promoted    *flowDoc  `json:"promoted,omitempty" doc:"the flow that came up"`
	Invalidated []flowDoc `json:"invalidated,omitempty"`
}

func appendRevisionHead(dst []byte, rev dialogue.Revision) []byte {
	return fmt.Appendf(dst, `{"revision":%d,"after_seq":%d,"created_at":%q`, rev.Number, rev.AfterSeq, timeText(rev.At))
}

type stateInput struct {
	InSession
	IfNoneMatch
	At int64 `query:"at" minimum:"1" doc:"as it was after this turn; now, if it is left out"`
}

func state(ctx context.Context, s *turnstone.Session, in *stateInput) (*tagged[exact[revisionDoc]], error) {
	at, err := reach(ctx, s, given(in.At))
	if err != nil {
		return nil, err
	}
	rev, err := s.State(ctx, at)
	if err != nil {
		return nil, err
	}
	text, err := rev.State.MarshalJSON()
	if err != nil {
		return nil, err
	}
	body := append(append(appendRevisionHead(nil, rev), `,"state":`...), text...)
	return newer(in.IfNoneMatch, revisionTag(rev), exact[revisionDoc]{append(body, '}')}), nil
}

// revisionTag is the tag of a revision. Flows may point at further turns without a new one, so that the state itself
// stands in it too.
func revisionTag(rev dialogue.Revision) string {
	sum, err := tagOf(rev.State)
	if err != nil {
		return tag(strconv.Itoa(rev.Number)) // a state that is damaged is shown to nobody
	}
	return tag(strconv.Itoa(rev.Number) + "-" + sum[1:len(sum)-1])
}

type flowID struct {
	Flow string `json:"flow_id"`
}

func completedFlows(ctx context.Context, s *turnstone.Session, _ *struct{ InSession }) (*answer[page[flowID]], error) {
	list, err := s.CompletedFlows(ctx)
	if err != nil {
		return nil, err
	}
	return answered(pageOf(list, func(id string) flowID { return flowID{id} })), nil
}

// flowChange is what an operation did to the state.
type flowChange struct {
	name     string // of the member that holds the flows; flow for one alone
	flows    []dialogue.Flow
	promoted *dialogue.Flow
}

// change does something to the dialogue state of a session, and shows what. It is refused where the client has seen
// another state than is changed.
func change(ctx context.Context, s *turnstone.Session, seen IfMatch, do func(*dialogue.State) (flowChange, error)) (*tagged[exact[flowChangeDoc]], error) {
	var done flowChange
	if seen.named() {
		before, err := s.State(ctx, turnstone.Head)
		if err != nil {
			return nil, err
		}
		if err := seen.check(revisionTag(before)); err != nil {
			return nil, err
		}
		unseen := do
		do = func(state *dialogue.State) (flowChange, error) {
			if dialogue.EncodeState(*state) != dialogue.EncodeState(before.State) {
				return flowChange{}, seen.failed("another")
			}
			return unseen(state)
		}
	}
	rev, err := s.Believe(ctx, func(state *dialogue.State) (err error) {
		done, err = do(state)
		return err
	})
	if err != nil {
		return nil, err
	}
	after, err := s.State(ctx, turnstone.Head)
	if err != nil {
		return nil, err
	}
	text, err := done.append(appendRevisionHead(nil, rev))
	if err != nil {
		return nil, err
	}
	return newer(IfNoneMatch{}, revisionTag(after), exact[flowChangeDoc]{append(text, '}')}), nil
}

func (c *flowChange) append(dst []byte) (_ []byte, failed error) {
	appendFlow := func(dst []byte, f dialogue.Flow) []byte {
		f.TurnIDs = nil // only those of this change; the state has them all
		text, err := f.MarshalJSON()
		if err != nil {
			failed = err
		}
		return append(dst, text...)
	}
	dst = append(dst, `,"`+c.name+`":`...)
	if c.name == "flow" {
		dst = appendFlow(dst, c.flows[0])
	} else {
		dst = list(dst, c.flows, appendFlow)
	}
	if c.promoted != nil {
		dst = appendFlow(append(dst, `,"promoted":`...), *c.promoted)
	}
	return dst, failed
}

// one is a change of one flow.
func one(f dialogue.Flow, err error) (flowChange, error) {
	return flowChange{name: "flow", flows: []dialogue.Flow{f}}, err
}

// activeAfter is a change of the active flow.
func activeAfter(do func(*dialogue.State) error) func(*dialogue.State) (flowChange, error) {
	return func(state *dialogue.State) (flowChange, error) {
		if err := do(state); err != nil {
			return flowChange{}, err
		}
		flow, _ := state.Active()
		return one(flow, nil)
	}
}

// turnNamed is the id of a turn that is named by its id or its number, or of the newest; empty where the session has
// none.
func turnNamed(ctx context.Context, s *turnstone.Session, named string) (string, error) {
	q := turn.Query{ID: named, Limit: 1}
	if n, err := strconv.ParseInt(named, 10, 64); err == nil {
		q = turn.Query{From: n, To: n, Limit: 1}
	}
	if named == "" {
		info, err := s.Info(ctx)
		if err != nil || info.Head == 0 {
			return "", err
		}
		q = turn.Query{From: info.Head, To: info.Head, Limit: 1}
	}
	found, err := s.Query(ctx, q)
	if err != nil {
		return "", record.Within("turn", err)
	}
	if len(found.Turns) == 0 {
		return "", fmt.Errorf("turn %s of %s: %w", named, s.ID(), turn.ErrNotFound)
	}
	return found.Turns[0].ID, nil
}

// turnNeeded is turnNamed for what cannot do without a turn.
func turnNeeded(ctx context.Context, s *turnstone.Session, named string) (string, error) {
	id, err := turnNamed(ctx, s, named)
	if err == nil && id == "" {
		return "", invalid.New("turn", "the session has none", "append one first")
	}
	return id, err
}
