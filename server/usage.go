package server

import (
	"context"
	"fmt"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

type usageInput struct {
	InSession
	Body struct {
		Tokens int    `json:"prompt_tokens" minimum:"1" doc:"how many tokens the model server counted for the prompt"`
		At     int64  `json:"at,omitempty" minimum:"1" doc:"the prompt that was compiled last after this turn, its end; the newest turn if it is left out"`
		Number int64  `json:"number,omitempty" minimum:"1" doc:"the prompt of this number, in the place of a turn"`
		SHA256 string `json:"sha256,omitempty" doc:"the hash of the prompt that was sent: where it is another, that is a conflict"`
	}
}

// reported is what came of a report.
type reported struct {
	Session   string `json:"session_id"`
	Sent      int    `json:"sent" doc:"how many tokens were counted here for the prompt before"`
	Truncated bool   `json:"truncated" doc:"the model did not see all of the prompt: give its server a larger context, or say here how small it is"`
}

func reportUsage(ctx context.Context, s *turnstone.Session, in *usageInput) (*answer[reported], error) {
	asked := in.Body
	sent, err := compiled(ctx, s, asked.At, asked.Number)
	if err != nil {
		return nil, err
	}
	if !sent.recorded {
		return nil, fmt.Errorf("prompt of %s after turn %d: %w; none was compiled then", s.ID(), sent.End, prompt.ErrNotFound)
	}
	if asked.SHA256 != "" && asked.SHA256 != sent.SHA256 {
		return nil, fmt.Errorf("sha256: the prompt of %s after turn %d has another, since it was compiled anew: %w; name it by its number", s.ID(), sent.End, turn.ErrConflict)
	}
	cut, err := s.Reported(ctx, sent.Prompt, llm.Usage{Prompt: asked.Tokens})
	if err != nil {
		return nil, err
	}
	return answered(reported{s.ID(), sent.Count.Tokens, cut}), nil
}
