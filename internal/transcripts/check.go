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
	if err := r.holds(p); err != nil {
		return err
	}
	if err := r.valid(p); err != nil {
		return err
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
	shown := make(map[int64]*prompt.Message)
	for i, m := range p.Messages {
		for _, seq := range m.Seqs {
			shown[seq] = &p.Messages[i]
		}
	}
	must := slices.Clone(r.pins)
	for seq := r.head; seq > 0; seq-- {
		if r.said[seq].Role == turn.User {
			must = append(must, seq)
			break
		}
	}
	for seq := p.From; seq <= r.head; seq++ {
		if r.said[seq].Kind != turn.KindSummary {
			must = append(must, seq)
		}
	}
	for _, seq := range must {
		if shown[seq] == nil && !r.pending(seq) {
			return fmt.Errorf("turn %d (%+v) is not in it, pins %v, recent from %d", seq, r.said[seq], r.pins, p.From)
		}
	}
	for seq, m := range shown {
		if text, ok := r.said[seq].Content.(turn.Text); ok && r.said[seq].Role == turn.User && !slices.ContainsFunc(m.Parts, func(p prompt.Part) bool { return p.Text == text.Text }) {
			return fmt.Errorf("turn %d is shown as %v, was %q", seq, m.Parts, text.Text)
		}
	}
	return nil
}

// pending reports whether a turn belongs to a unit that still waits.
func (r *run) pending(seq int64) bool {
	text, ok := r.said[r.unit(seq)].Content.(turn.Text)
	return ok && slices.ContainsFunc(text.ToolCalls, func(call turn.ToolCall) bool {
		return slices.ContainsFunc(r.open, func(o turn.ToolCall) bool { return o.ID == call.ID })
	})
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

// extends checks that the prompt goes on where the one before ended, unless an epoch was opened.
func (r *run) extends(p *prompt.Prompt) error {
	if r.before == nil {
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

// again compiles the prompt once more from the store alone, and once more from memory.
func (r *run) again(p *prompt.Prompt) error {
	other, err := r.eng.Session(r.ctx, "other")
	if err != nil {
		return err
	}
	if _, err := other.Prompt(r.ctx, turnstone.PromptOptions{Preview: true}); err != nil {
		return err
	}
	for range 2 {
		same, err := r.session.Prompt(r.ctx, r.options)
		if err != nil {
			return err
		}
		if same.SHA256 != p.SHA256 || same.Opened != "" {
			return fmt.Errorf("compiled again it is %s (%s)", same.SHA256, same.Opened)
		}
	}
	return nil
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
		r.stats.Rebuilt++
	}
	return nil
}

// refusal checks that a prompt that was refused could not fit: nothing of its recent turns was left that could
// go, but for the last message or unit.
func (r *run) refusal(over *budget.OverBudgetError) error {
	for _, line := range over.Account.Lines {
		if line.Part == budget.Recent && line.Count.Tokens > 2*r.lastBlock()+100 {
			return fmt.Errorf("it was refused though turns could have left it, the last takes about %d: %w", r.lastBlock(), over)
		}
	}
	return nil
}

// lastBlock is about what the last message, or the last unit, takes.
func (r *run) lastBlock() int {
	for seq := r.head; seq > 0; seq-- {
		d := r.said[seq]
		if d.Kind == turn.KindSummary || r.pending(seq) {
			continue
		}
		total := 0
		for s := seq; s > 0; s-- {
			if s == seq || r.together(seq, s) {
				total += 20 + bpe.O200k().Count(fmt.Sprint(r.said[s].Content))
				if _, image := r.said[s].Content.(turn.Image); image {
					total += 5000
				}
			}
		}
		return total
	}
	return 0
}

// together reports whether two turns are of one unit or message.
func (r *run) together(a, b int64) bool {
	if id := r.said[a].MessageID; id != "" {
		return r.said[b].MessageID == id
	}
	return r.unit(a) != 0 && r.unit(a) == r.unit(b)
}

// unit is the call that a turn belongs to, 0 where it is no part of a unit.
func (r *run) unit(seq int64) int64 {
	switch c := r.said[seq].Content.(type) {
	case turn.Text:
		if len(c.ToolCalls) > 0 {
			return seq
		}
	case turn.Result:
		for s := seq - 1; s > 0; s-- {
			text, ok := r.said[s].Content.(turn.Text)
			if ok && slices.ContainsFunc(text.ToolCalls, func(o turn.ToolCall) bool { return o.ID == c.CallID }) {
				return s
			}
		}
	}
	return 0
}
