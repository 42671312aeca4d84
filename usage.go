package turnstone

import (
	"context"
	"fmt"
	"sync"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

var errNoPrompt = invalid.New("prompt", "is nil", "give the prompt that was sent")

// Reported takes what the provider counted for a prompt: later counts for the model are calibrated by it. If it
// counted fewer tokens than were sent, it dropped some of the prompt: then the counts stay as they are, the event
// prompt-truncated is stored, and truncated is true, unless it goes on in a way that only another count explains
// ([budget.Calibration.Report]). Where it contradicts the model's own vocabulary ([budget.Contradicts]), the event
// vocabulary-mismatch is stored, and this engine counts the tenant's prompts for the model without it. A usage without a count
// changes nothing.
func (s *Session) Reported(ctx context.Context, p *prompt.Prompt, u llm.Usage) (truncated bool, err error) {
	if p == nil {
		return false, errNoPrompt
	}
	if u.Prompt <= 0 {
		return false, nil
	}
	err = s.update(ctx, func(tx store.Tx, _ turn.SessionInfo) error {
		truncated, _, err = s.reported(ctx, tx, p, u)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("usage of %s: %w", s.key.Session, err)
	}
	return truncated, nil
}

// reported is Reported inside an update. Warning is what people are told, empty where nothing is wrong.
func (s *Session) reported(ctx context.Context, tx store.Tx, p *prompt.Prompt, u llm.Usage) (truncated bool, warning string, err error) {
	counters := s.engine.shared.counters
	counter, err := counters.of(ctx, tx, s.key.Tenant, p.Model)
	if err != nil {
		return false, "", err
	}
	said := fmt.Sprintf(`{"sent":%d,"reported":%d,"model":%s}`, p.Count.Tokens, u.Prompt, quoted(p.Model))
	tally, contradicted := counters.recount(s.key.Tenant, p, counter, u.Prompt)
	if contradicted {
		if err := s.announce(ctx, tx, event.VocabularyMismatch, said); err != nil {
			return false, "", err
		}
		tx.AfterCommit(func() { counters.distrust(s.key.Tenant, p.Model) })
		warning = fmt.Sprintf("the vocabulary of %s does not fit its server: it gives %d tokens for a prompt that the server counted as %d; "+
			"tokens are estimated from now on", p.Model, p.Count.Tokens, u.Prompt)
	}
	next, truncated := counter.Calibration().Report(tally, u.Prompt)
	err = tx.Budget().PutCalibration(ctx, s.key.Tenant, budget.CalibrationRow{
		Model: p.Model, Doc: string(next.AppendJSON(nil)), At: tx.Now(),
	})
	if err != nil || !truncated {
		return false, warning, err
	}
	warning = fmt.Sprintf("the model did not see all of the prompt: of the %d tokens that were sent its server counted %d; "+
		"give the server a larger context, or say here how small it is", p.Count.Tokens, u.Prompt)
	return true, warning, s.announce(ctx, tx, event.PromptTruncated, said)
}

// Stream tracks the tokens of a reply while it comes. It is safe for concurrent use.
type Stream struct {
	session *Session
	model   string

	mu    sync.Mutex // guards meter
	meter *budget.Meter
}

// Streaming begins to track the reply to a prompt. Nothing is compressed while a reply comes.
func (s *Session) Streaming(ctx context.Context, p *prompt.Prompt) (*Stream, error) {
	if p == nil {
		return nil, errNoPrompt
	}
	var counter *budget.Counter
	err := s.view(ctx, func(tx store.Tx, _ turn.SessionInfo) (err error) {
		counter, err = s.engine.shared.counters.of(ctx, tx, s.key.Tenant, p.Model)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("stream of %s: %w", s.key.Session, err)
	}
	return &Stream{session: s, model: p.Model, meter: budget.NewMeter(p.Window, counter, p.Count)}, nil
}

// Add counts a piece of the reply. Overflow is true once, when prompt and reply together go past the window:
// the event stream-overflow-emergency is stored then. It should never happen, since a provider stops at the
// window it was told; what follows may have been made without the beginning of the prompt.
func (st *Stream) Add(ctx context.Context, piece string) (overflow bool, err error) {
	st.mu.Lock()
	overflow = st.meter.Add(piece)
	total := st.meter.Total()
	st.mu.Unlock()
	if !overflow {
		return false, nil
	}
	err = st.session.update(ctx, func(tx store.Tx, _ turn.SessionInfo) error {
		return st.session.announce(ctx, tx, event.StreamOverflow, fmt.Sprintf(`{"totalTokens":%d,"model":%s}`, total, quoted(st.model)))
	})
	if err != nil {
		return true, fmt.Errorf("stream of %s: %w", st.session.key.Session, err)
	}
	return true, nil
}

// Total is how many tokens prompt and reply have by now.
func (st *Stream) Total() int {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.meter.Total()
}

func quoted(s string) string { return string(strictjson.AppendString(nil, s)) }
