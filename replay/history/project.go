package history

import (
	"context"
	"fmt"

	"github.com/turnstone-dev/turnstone/turn"
)

// piece is what a provider's format can say of a turn: a text or an image.
type piece struct {
	text  string
	image *turn.Image // with Data
}

// project reduces a turn to a piece and reports what is lost by that.
func (e *exporter) project(ctx context.Context, t turn.Turn) (piece, error) {
	if t.Meta != (turn.Meta{}) {
		e.lose(t, "tokens, models and latencies of turns", "left out")
	}
	if t.IdempotencyKey != "" {
		e.lose(t, "idempotency keys", "left out")
	}
	switch c := t.Content.(type) {
	case turn.Text:
		return piece{text: c.Text}, nil
	case turn.Speech:
		e.lose(t, "speech", "written as its transcript")
		return piece{text: c.Transcript}, nil
	case turn.Action:
		e.lose(t, "actions", "written as texts")
		return piece{text: actionText(c)}, nil
	case turn.Result:
		e.lose(t, "results of no open call", "written as texts of the system")
		return piece{text: orphan(outcome{id: c.CallID, name: c.Name, result: c.Result})}, nil
	case turn.Image:
		return e.projectImage(ctx, t, c)
	case turn.Forgotten:
		e.lose(t, "what was forgotten", "written as "+turn.ForgottenText)
		return piece{text: turn.ForgottenText}, nil
	}
	return piece{}, fmt.Errorf("%T is no content", t.Content)
}

func (e *exporter) projectImage(ctx context.Context, t turn.Turn, c turn.Image) (piece, error) {
	content, err := e.hydrate(ctx, t)
	if err != nil {
		return piece{}, err
	}
	image, ok := content.(turn.Image)
	if !ok || image.Data == nil {
		return piece{text: described(fmt.Sprintf("[image %s of %d bytes]", c.MediaType, c.Size), c.Alt)}, nil
	}
	if image.Alt != "" {
		e.lose(t, "descriptions of images", "left out")
	}
	return piece{image: &image}, nil
}

// outcomeText is a result as the text that a model is shown.
func outcomeText(r turn.Result) string {
	if r.Result != "" {
		return resultText(r.Result)
	}
	if r.Status == turn.CallOK {
		return ""
	}
	return "[" + string(r.Status) + "]"
}
