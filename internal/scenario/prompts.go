package scenario

import (
	"context"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/prompt"
)

// scenarioModel has a vocabulary of its own, so that counts are the same wherever a transcript is played.
const scenarioModel = "gpt-4o"

func (p *player) prompt(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	o := turnstone.PromptOptions{Model: scenarioModel, Context: 2048}
	for _, option := range args[1:] {
		name, value, _ := strings.Cut(option, "=")
		value = strings.ReplaceAll(value, "+", " ")
		switch name {
		case "system":
			o.Settings = &prompt.Settings{System: value}
		case "late":
			o.Late = append(o.Late, value)
		case "context":
			n, err := number(value)
			if err != nil {
				return "", err
			}
			o.Context = int(n)
		default:
			return "", fmt.Errorf("%w: %q", errScript, option)
		}
	}
	made, err := s.Prompt(ctx, o)
	if err != nil {
		return "", err
	}
	p.sent = made
	return showPrompt(made), nil
}

func (p *player) promptAt(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	at, err := number(args[1])
	if err != nil {
		return "", err
	}
	made, recorded, err := s.PromptAt(ctx, at, turnstone.PromptOptions{Model: scenarioModel, Context: 2048})
	if err != nil {
		return "", err
	}
	if recorded {
		return "as it was\n" + showPrompt(made), nil
	}
	return "as it would have been\n" + showPrompt(made), nil
}

// showPrompt tells what a prompt is made of, a line for each message.
func showPrompt(made *prompt.Prompt) string {
	var out strings.Builder
	fmt.Fprintf(&out, "epoch %d", made.Epoch)
	if made.Opened != "" {
		fmt.Fprintf(&out, " (%s)", made.Opened)
	}
	fmt.Fprintf(&out, ", through turn %d, %d tokens of %d, %s\n", made.End, made.Count.Tokens, made.Window.Usable, made.SHA256[:12])
	for _, m := range made.Messages {
		fmt.Fprintf(&out, "  %s", m.Role)
		for _, seq := range m.Seqs {
			fmt.Fprintf(&out, " %d", seq)
		}
		for _, part := range m.Parts {
			if part.Image != nil {
				fmt.Fprintf(&out, " [%s: %s]", part.Image.MediaType, part.Image.Alt)
				continue
			}
			fmt.Fprintf(&out, " %s", shorten(part.Text))
		}
		for _, c := range m.Calls {
			fmt.Fprintf(&out, " %s=%s(%s)", c.ID, c.Name, c.Arguments)
		}
		if m.CallID != "" {
			fmt.Fprintf(&out, " for %s", m.CallID)
		}
		out.WriteString("\n")
	}
	for _, item := range made.LeftOut {
		fmt.Fprintf(&out, "  left out %s\n", shorten(item))
	}
	return out.String()
}

// shorten quotes a text, of a long one its beginning and its end.
func shorten(text string) string {
	const most = 160
	if len(text) > most {
		text = text[:most/2] + " … " + text[len(text)-most/2:]
	}
	return fmt.Sprintf("%q", text)
}

func (p *player) pin(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	for _, arg := range args[1:] {
		set := s.Pin
		if rest, off := strings.CutPrefix(arg, "-"); off {
			arg, set = rest, s.Unpin
		}
		seq, err := number(arg)
		if err != nil {
			return "", err
		}
		if err := set(ctx, seq); err != nil {
			return "", err
		}
	}
	pins, err := s.Pins(ctx)
	return fmt.Sprintf("pinned %v\n", pins), err
}

// reported tells the engine what a provider counted for the last prompt.
func (p *player) reported(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	n, err := number(args[1])
	if err != nil {
		return "", err
	}
	truncated, err := s.Reported(ctx, p.sent, llm.Usage{Prompt: int(n)})
	if truncated {
		return "prompt-truncated\n", err
	}
	return "learned\n", err
}

func (p *player) status(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	st, err := s.Status(ctx, turnstone.PromptOptions{Model: scenarioModel, Context: 2048})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d/%d %s %.0f%% (%d compressions), %d of %d turns, %d pins\n",
		st.Prompt.Count.Tokens, st.Prompt.Window.Usable, st.Reliability.Level, 100*st.Reliability.Score, st.Passes, st.Shown, st.Turns, st.Pins), nil
}
