package transcripts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/budget/bpe"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/prompt/wire"
	"github.com/turnstone-dev/turnstone/prompt/wire/wiretest"
	"github.com/turnstone-dev/turnstone/turn"
)

// check holds a prompt to everything that can be said of it alone and of the one before.
func (r *run) check(p *prompt.Prompt) error {
	if p.End != r.head {
		return fmt.Errorf("it ends at turn %d, the log at %d", p.End, r.head)
	}
	if err := r.fits(p); err != nil {
		return err
	}
	if err := r.units(p); err != nil {
		return err
	}
	for _, promise := range []func(*prompt.Prompt) error{r.holds, r.lossless, r.quotes, r.keeps, r.honest, r.shares, r.valid} {
		if err := promise(p); err != nil {
			return err
		}
	}
	return r.extends(p)
}

// fits counts what is sent once more: the texts of the request's body, and what the profile says of the rest.
func (r *run) fits(p *prompt.Prompt) error {
	if free := p.Account.Free(); free < 0 {
		return fmt.Errorf("%d tokens over the window: %+v", -free, p.Account)
	}
	if p.Model != exactModel {
		return nil
	}
	body, err := r.body(p, wire.OpenAI)
	if err != nil {
		return err
	}
	var sent any
	if err := json.Unmarshal(body, &sent); err != nil {
		return err
	}
	profile, _ := budget.Known().Find(p.Model)
	total := texts(sent) + len(p.Messages)*profile.Template.Message + len(p.Tools)*profile.Template.Tool + profile.Template.Prompt
	if total > p.Window.Usable-p.Window.Reserve {
		return fmt.Errorf("what is sent is %d tokens of %d - %d", total, p.Window.Usable, p.Window.Reserve)
	}
	return nil
}

// exactModel is one whose vocabulary is built in.
const exactModel = "gpt-4o"

// wordless are members of a request that a provider does not show to the model as they are.
var wordless = []string{"type", "role", "id", "tool_call_id", "model", "url", "parameters"}

// texts is how many tokens the texts of a request are.
func texts(v any) (n int) {
	switch v := v.(type) {
	case string:
		return bpe.O200k().Count(v)
	case []any:
		for _, e := range v {
			n += texts(e)
		}
	case map[string]any:
		for name, e := range v {
			if !slices.Contains(wordless, name) {
				n += texts(e)
			}
		}
	}
	return n
}

// units checks that calls and their results stand together, once, and in order.
func (r *run) units(p *prompt.Prompt) error {
	seen := make(map[int64]bool)
	var waiting []string
	for i, m := range p.Messages {
		for _, seq := range m.Seqs {
			if seen[seq] {
				return fmt.Errorf("turn %d is shown twice", seq)
			}
			seen[seq] = true
		}
		if len(waiting) > 0 {
			if m.Role != prompt.Tool || m.CallID != waiting[0] {
				return fmt.Errorf("message %d: call %s has no result behind it", i, waiting[0])
			}
			waiting = waiting[1:]
			continue
		}
		if m.Role == prompt.Tool {
			return fmt.Errorf("message %d: a result without its call", i)
		}
		for _, c := range m.Calls {
			waiting = append(waiting, c.ID)
		}
	}
	if len(waiting) > 0 {
		return fmt.Errorf("call %s has no result", waiting[0])
	}
	return nil
}

// holds checks that what must be in the prompt is: the last thing the user said, the pins, and every turn from
// the first recent one on, without a hole.
func (r *run) holds(p *prompt.Prompt) error {
	shown := shownIn(p)
	must := slices.Clone(r.pins)
	for seq := r.head; seq > 0; seq-- {
		if r.said[seq].Role == turn.User && r.shows(seq) {
			must = append(must, seq)
			break
		}
	}
	for seq := p.From; seq <= r.head; seq++ {
		must = append(must, seq)
	}
	for i, seq := range must {
		if !r.shows(seq) || r.pending(seq) {
			continue
		}
		if shown[seq] == nil {
			return fmt.Errorf("turn %d (%+v) is not in it, pins %v, recent from %d", seq, r.said[seq], r.pins, p.From)
		}
		if i < len(r.pins) && seq < p.From {
			r.stats.Pinned++
		}
	}
	for seq := range shown {
		if !r.shows(seq) || r.pending(seq) {
			return fmt.Errorf("turn %d is shown, which is no part of the conversation", seq)
		}
	}
	return nil
}

// valid checks the lists of all providers.
func (r *run) valid(p *prompt.Prompt) error {
	for _, f := range []wire.Format{wire.Ollama, wire.OpenAI, wire.Anthropic} {
		body, err := r.body(p, f)
		if err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
		if err := wiretest.Check(f, body); err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
	}
	return nil
}

func (r *run) body(p *prompt.Prompt, f wire.Format) ([]byte, error) {
	blobs := func(ctx context.Context, sha256 string) ([]byte, error) {
		b, err := r.eng.Blob(ctx, sha256)
		return b.Data, err
	}
	request := wire.Request{Messages: p.Messages, Tools: p.Tools, Model: p.Model, Context: p.Window.Usable, MaxTokens: p.Window.Reserve}
	return wire.Append(r.ctx, nil, f, request, blobs)
}

// extends checks that the prompt goes on where the one before ended, unless it is of another epoch.
func (r *run) extends(p *prompt.Prompt) error {
	if r.before == nil || r.before.Epoch != p.Epoch {
		return nil
	}
	before := r.before.Messages
	if r.before.Late != "" {
		before = before[:len(before)-1]
	}
	if len(before) > len(p.Messages) {
		return errors.New("it has fewer messages than the one before in its epoch")
	}
	for i := range before {
		was, is := before[i].AppendJSON(nil), p.Messages[i].AppendJSON(nil)
		if string(was) != string(is) {
			return fmt.Errorf("message %d was %s, is %s", i, was, is)
		}
	}
	return nil
}

// again compiles the prompt once more from the store alone, and once more from memory. Same is false if it became
// another because a pass was drafted in the meantime.
func (r *run) again(p *prompt.Prompt) (same bool, err error) {
	other, err := r.eng.Session(r.ctx, "other")
	if err != nil {
		return false, err
	}
	if _, err := other.Prompt(r.ctx, turnstone.PromptOptions{Preview: true}); err != nil {
		return false, err
	}
	for range 2 {
		next, err := r.preview()
		if err != nil {
			return false, err
		}
		if r.by != nil && next != nil && next.Opened == prompt.ReasonFull {
			return false, nil
		}
		if next == nil || next.SHA256 != p.SHA256 || next.Opened != "" {
			return false, r.another(p, next)
		}
	}
	return true, nil
}

// rebuild makes all prompts of the transcript again.
func (r *run) rebuild() error {
	for end, sha256 := range r.made {
		p, recorded, err := r.session.PromptAt(r.ctx, end, r.options)
		if err != nil {
			return fmt.Errorf("prompt at %d: %w", end, err)
		}
		if !recorded || p.SHA256 != sha256 {
			return fmt.Errorf("prompt at %d is %s, was %s (recorded %v)", end, p.SHA256, sha256, recorded)
		}
	}
	for after := int64(0); ; {
		calls, err := r.session.Prompts(r.ctx, after, 100)
		if err != nil || len(calls) == 0 {
			return err
		}
		for _, call := range calls {
			p, err := r.session.Again(r.ctx, call)
			if err != nil {
				return fmt.Errorf("prompt %d: %w", call.Number, err)
			}
			if p.SHA256 != call.SHA256 {
				return fmt.Errorf("prompt %d is %s, was %s", call.Number, p.SHA256, call.SHA256)
			}
			after = call.Number
			r.stats.Rebuilt++
		}
	}
}

// refusal checks that a prompt that was refused could not fit: nothing of its recent turns was left that could
// go, but for a unit that is to be answered, the last thing that the user said and the pins.
func (r *run) refusal(over *budget.OverBudgetError) error {
	least := 0
	if last := r.last(func(int64) bool { return true }); r.world.units[last] != 0 {
		least = r.size(last)
	}
	least += r.size(r.last(func(seq int64) bool { return r.said[seq].Role == turn.User }))
	for _, seq := range r.pins {
		least += r.size(seq)
	}
	for _, line := range over.Account.Lines {
		if line.Part == budget.Recent && line.Count.Tokens > 2*least+100 {
			return fmt.Errorf("it was refused though turns could have left it, those that must stay take about %d: %w", least, over)
		}
	}
	return nil
}

// last is the last turn of some kind that prompts show, 0 for none.
func (r *run) last(of func(seq int64) bool) int64 {
	for seq := r.head; seq > 0; seq-- {
		if r.shows(seq) && !r.pending(seq) && of(seq) {
			return seq
		}
	}
	return 0
}

// size is about what the message or the unit of a turn takes.
func (r *run) size(seq int64) (total int) {
	for s := int64(1); s <= r.head; s++ {
		if s == seq || r.together(seq, s) {
			total += 20 + bpe.O200k().Count(fmt.Sprint(r.said[s].Content))
			if _, image := r.said[s].Content.(turn.Image); image {
				total += 5000
			}
		}
	}
	return total
}

// another says how a prompt differs from the one that it should be.
func (r *run) another(want, got *prompt.Prompt) error {
	if got == nil {
		return errors.New("compiled again it does not fit")
	}
	for i := range want.Messages {
		if i >= len(got.Messages) || string(want.Messages[i].AppendJSON(nil)) != string(got.Messages[i].AppendJSON(nil)) {
			return fmt.Errorf("compiled again (%s) it is another from message %d on", got.Opened, i)
		}
	}
	return fmt.Errorf("compiled again (%s) it has %d messages, had %d", got.Opened, len(got.Messages), len(want.Messages))
}
