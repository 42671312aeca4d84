package server

import (
	"context"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// InFlow is a request that changes the active flow. It is exported for huma, which reads it.
type InFlow[D any] struct {
	InSession
	IfMatch
	Body read[D]
}

type flowChanged = tagged[exact[flowChangeDoc]]

var (
	word = record.Text[string]()
	raw  = record.Codec[dialogue.Value]{
		Append: func(dst []byte, v dialogue.Value) []byte { return append(dst, v...) },
		Decode: func(v strictjson.Raw) (dialogue.Value, error) { return dialogue.Value(v), nil },
	}
	slotFields = record.Fields[dialogue.Slot]{
		record.Value("name", func(s *dialogue.Slot) *string { return &s.Name }, word),
		record.Value("type", func(s *dialogue.Slot) *dialogue.Type { return &s.Type }, record.Text[dialogue.Type]()),
		record.Value("value", func(s *dialogue.Slot) *dialogue.Value { return &s.Value }, raw),
		record.Value("filled_by", func(s *dialogue.Slot) *string { return &s.FilledBy }, word),
	}
)

// pushDoc is a flow that is to be stacked on.
type pushDoc struct {
	Name   string    `json:"name"`
	FlowID string    `json:"flow_id,omitempty" doc:"one is made if it is left out"`
	PlanID string    `json:"plan_id,omitempty" doc:"the flow that it is a step of"`
	Stage  string    `json:"stage,omitempty"`
	Slots  []slotDoc `json:"slots,omitempty" doc:"filled ones with a value, others with a type"`
}

type push struct {
	name, id string
	dialogue.Options
}

var pushFields = record.Fields[push]{
	record.Value("name", func(p *push) *string { return &p.name }, word),
	record.Value("flow_id", func(p *push) *string { return &p.id }, word),
	record.Value("plan_id", func(p *push) *string { return &p.PlanID }, word),
	record.Value("stage", func(p *push) *string { return &p.Stage }, word),
	record.List("slots", func(p *push) *[]dialogue.Slot { return &p.Slots }, record.Of(slotFields)),
}

func (s *Server) pushFlow(ctx context.Context, session *turnstone.Session, in *struct{ InFlow[pushDoc] }) (*flowChanged, error) {
	p, err := pushFields.Decode(in.Body.text)
	if err != nil {
		return nil, err
	}
	by, err := turnNamed(ctx, session, "")
	if err != nil {
		return nil, err
	}
	for i := range p.Slots {
		if slot := &p.Slots[i]; slot.Filled() && slot.FilledBy == "" {
			slot.FilledBy = by
		}
	}
	id := s.idOr(p.id)
	return change(ctx, session, in.IfMatch, func(state *dialogue.State) (flowChange, error) {
		flow, _, err := state.StackOn(id, p.name, p.Options)
		return one(flow, err)
	})
}

// idOr is the id that was given, or a new one.
func (s *Server) idOr(given string) string {
	if given != "" {
		return given
	}
	return s.ids.Next(s.now())
}

type fallbackDoc struct {
	Name   string `json:"name"`
	FlowID string `json:"flow_id,omitempty" doc:"one is made if it is left out"`
}

func (s *Server) fallbackFlow(ctx context.Context, session *turnstone.Session, in *struct{ InFlow[fallbackDoc] }) (*flowChanged, error) {
	p, err := pushFields[:2].Decode(in.Body.text)
	if err != nil {
		return nil, err
	}
	id := s.idOr(p.id)
	return change(ctx, session, in.IfMatch, func(state *dialogue.State) (flowChange, error) {
		return one(state.Fallback(id, p.name))
	})
}

type completeDoc struct {
	Result any `json:"result,omitempty" doc:"what came of it, kept byte for byte"`
}

type completion struct{ result dialogue.Value }

var completionFields = record.Fields[completion]{
	record.Value("result", func(c *completion) *dialogue.Value { return &c.result }, raw),
}

func completeFlow(ctx context.Context, s *turnstone.Session, in *struct{ InFlow[completeDoc] }) (*flowChanged, error) {
	c, err := completionFields.Decode(in.Body.text)
	if err != nil {
		return nil, err
	}
	return change(ctx, s, in.IfMatch, func(state *dialogue.State) (flowChange, error) {
		return one(state.Complete(c.result))
	})
}

type turnRefDoc struct {
	Turn string `json:"turn,omitempty" doc:"a turn by its id or its number"`
}

type turnRef struct{ turn string }

var turnRefFields = record.Fields[turnRef]{
	record.Value("turn", func(r *turnRef) *string { return &r.turn }, word),
}

func popFlows(ctx context.Context, s *turnstone.Session, in *struct{ InFlow[turnRefDoc] }) (*flowChanged, error) {
	ref, err := turnRefFields.Decode(in.Body.text)
	if err != nil {
		return nil, err
	}
	id := ""
	if ref.turn != "" {
		if id, err = turnNeeded(ctx, s, ref.turn); err != nil {
			return nil, err
		}
	}
	return change(ctx, s, in.IfMatch, func(state *dialogue.State) (flowChange, error) {
		if id == "" {
			popped := state.Pop()
			return flowChange{name: "finished", flows: popped.Finished, promoted: popped.Promoted}, nil
		}
		popped, err := state.KeepGoing(id)
		return flowChange{name: "finished", flows: popped.Finished, promoted: popped.Promoted}, err
	})
}

func attachFlow(ctx context.Context, s *turnstone.Session, in *struct{ InFlow[turnRefDoc] }) (*flowChanged, error) {
	ref, err := turnRefFields.Decode(in.Body.text)
	if err != nil {
		return nil, err
	}
	id, err := turnNeeded(ctx, s, ref.turn)
	if err != nil {
		return nil, err
	}
	return change(ctx, s, in.IfMatch, activeAfter(func(state *dialogue.State) error { return state.Attach(id) }))
}

type stageDoc struct {
	Stage string `json:"stage" doc:"in your own words; empty for none"`
}

func stageFlow(ctx context.Context, s *turnstone.Session, in *struct{ InFlow[stageDoc] }) (*flowChanged, error) {
	p, err := pushFields[3:4].Decode(in.Body.text)
	if err != nil {
		return nil, err
	}
	return change(ctx, s, in.IfMatch, activeAfter(func(state *dialogue.State) error { return state.SetStage(p.Stage) }))
}

type setSlotDoc struct {
	Type  string `json:"type,omitempty" enum:"string,number,boolean,list,object"`
	Value any    `json:"value,omitempty"`
	Turn  string `json:"turn,omitempty" doc:"the turn that filled it, by its id or its number; the newest if it is left out"`
}

type slotChange struct {
	dialogue.Slot
	turnRef
}

var slotChangeFields = record.Fields[slotChange]{
	record.Value("type", func(c *slotChange) *dialogue.Type { return &c.Type }, record.Text[dialogue.Type]()),
	record.Value("value", func(c *slotChange) *dialogue.Value { return &c.Value }, raw),
	record.Value("turn", func(c *slotChange) *string { return &c.turn }, word),
}

func setSlot(ctx context.Context, s *turnstone.Session, in *struct {
	InFlow[setSlotDoc]
	Slot string `path:"slot" doc:"the slot's name"`
}) (*flowChanged, error) {
	c, err := slotChangeFields.Decode(in.Body.text)
	if err != nil {
		return nil, err
	}
	by, err := turnNamed(ctx, s, c.turn)
	if err != nil {
		return nil, err
	}
	return change(ctx, s, in.IfMatch, activeAfter(func(state *dialogue.State) error {
		if c.Type != "" {
			if err := state.DeclareSlot(in.Slot, c.Type); err != nil {
				return err
			}
		}
		switch {
		case c.Value != "":
			return state.SetSlot(in.Slot, c.Value, by)
		case c.Type == "":
			return state.ClearSlot(in.Slot)
		}
		return nil
	}))
}

func invalidateFlow(ctx context.Context, s *turnstone.Session, in *struct {
	InSession
	IfMatch
	Flow string `path:"flow" doc:"the flow's id"`
}) (*flowChanged, error) {
	return change(ctx, s, in.IfMatch, func(state *dialogue.State) (flowChange, error) {
		flows, err := state.Invalidate(in.Flow)
		return flowChange{name: "invalidated", flows: flows}, err
	})
}
