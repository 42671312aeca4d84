package server

import (
	"context"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/turn"
)

// pinned is a turn that stands in every prompt.
type pinned struct {
	Session string `json:"session_id"`
	Seq     int64  `json:"seq"`
	Pinned  bool   `json:"pinned"`
	TurnID  string `json:"turn_id,omitempty"`
	Role    string `json:"role,omitempty"`
	OffPath bool   `json:"off_path,omitempty" doc:"the session went back to a snapshot behind it: prompts do not show it"`
}

func listPins(ctx context.Context, s *turnstone.Session, _ *struct{ InSession }) (*answer[page[pinned]], error) {
	pins, err := s.Pins(ctx)
	if err != nil {
		return nil, err
	}
	epoch, err := s.Epoch(ctx, turnstone.Head)
	if err != nil {
		return nil, err
	}
	shown := page[pinned]{Items: []pinned{}}
	for _, seq := range pins {
		found, err := s.Query(ctx, turn.Query{From: seq, To: seq, Limit: 1})
		if err != nil {
			return nil, err
		}
		for _, t := range found.Turns {
			shown.Items = append(shown.Items, pinned{s.ID(), seq, true, t.ID, string(t.Role), turn.Path(epoch.Path).Off(seq)})
		}
	}
	return answered(shown), nil
}

type pinInput struct {
	InSession
	Seq int64 `path:"seq" minimum:"1" doc:"the turn's number"`
}

func pin(ctx context.Context, s *turnstone.Session, in *pinInput) (*answer[pinned], error) {
	return setPin(ctx, s, in.Seq, true)
}

func unpin(ctx context.Context, s *turnstone.Session, in *pinInput) (*answer[pinned], error) {
	return setPin(ctx, s, in.Seq, false)
}

func setPin(ctx context.Context, s *turnstone.Session, seq int64, keep bool) (*answer[pinned], error) {
	set := s.Unpin
	if keep {
		set = s.Pin
	}
	if err := set(ctx, seq); err != nil {
		return nil, err
	}
	epoch, err := s.Epoch(ctx, turnstone.Head)
	if err != nil {
		return nil, err
	}
	return answered(pinned{Session: s.ID(), Seq: seq, Pinned: keep, OffPath: turn.Path(epoch.Path).Off(seq)}), nil
}
