package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/compress/extract"
)

func (a *app) extractCommand() *cobra.Command {
	var tokens int
	var model, focus string
	var c modelFlags
	cmd := &cobra.Command{
		Use:   "extract [FILE]",
		Short: "Summarise a conversation in its own words, without a model",
		Long: `Summarise a conversation in its own words within a number of tokens, from FILE or, without it or as -,
from standard input. No model takes part, and the same input always gives the same summary.

The input is JSON Lines: turns such as {"time": "Monday", "speaker": "Ann", "text": "Hello"}, or messages of chat
completions with role, content, tool_calls and tool_call_id. Other members are passed over. Whatever else turnstone
import reads is taken too: what turnstone history --json and turnstone export write, lists of messages and so on.`,
		Example: `  turnstone extract --budget 2000 talk.jsonl
  turnstone history --session tidewatch --all --json | turnstone extract --budget 500`,
		Args: arguments("[FILE]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "budget"); err != nil {
				return err
			}
			if tokens < 1 {
				return usage("give how many tokens the summary may have", "--budget: %d is no such number", tokens)
			}
			file := stdio
			if len(args) > 0 {
				file = args[0]
			}
			return a.extract(cmd.Context(), file, model, c, extract.Options{Budget: tokens, Focus: focus})
		},
	}
	cmd.Flags().IntVar(&tokens, "budget", 0, "`tokens` that the summary may have")
	cmd.Flags().StringVar(&focus, "focus", "", "`words` that matter more")
	cmd.Flags().StringVar(&model, "model", "", "`name` of the model whose tokens are meant (default: as most count)")
	c.addFlags(cmd)
	completing(cmd, "model", a.completeModels)
	return cmd
}

func (a *app) extract(ctx context.Context, file, model string, c modelFlags, o extract.Options) error {
	k, err := a.known(c)
	if err != nil {
		return err
	}
	profiles, err := k.learned(ctx, model)
	if err != nil {
		return err
	}
	profile, _ := profiles.Find(model)
	counter, err := a.counter(ctx, k, profile)
	if err != nil {
		return err
	}
	o.Count = func(text string) int { return counter.Tokens(counter.Text(text)).Upper() }
	if file == stdio && terminal.Is(a.stdin) {
		return usage("name a file or send a conversation to standard input", "extract: there is nothing to summarise")
	}
	text, err := a.countedText(ctx, file)
	if err != nil {
		return err
	}
	lines, err := extractLines([]byte(text))
	if err != nil {
		// What is no such lines may be a conversation in a format that import reads.
		turns := importedLines(ctx, text)
		if len(turns) == 0 {
			return errors.Join(ctx.Err(), err)
		}
		lines = turns
	}
	summary := extract.Summarise(lines, o)
	if summary.Text == "" {
		a.note("a --budget of %s is too small to say anything; give more", progress.Count(int64(o.Budget), "token"))
	}
	if a.json {
		return a.printJSON(struct {
			Text   string `json:"text"`
			Tokens int    `json:"tokens"`
		}{summary.Text, summary.Tokens})
	}
	return a.print([]byte(summary.Text))
}

// extractLine is a turn or a message of the input.
type extractLine struct {
	Time, Speaker, Text, Role, Name string
	Content                         json.RawMessage
	CallID                          string `json:"tool_call_id"`
	ToolCalls                       []struct {
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

func extractLines(data []byte) ([]extract.Line, error) {
	if err := checkLines(data); err != nil {
		return nil, err
	}
	var lines []extract.Line
	names := make(map[string]string) // of tools, by call
	scanner := bufio.NewScanner(bytes.NewReader(data))
	scanner.Buffer(nil, len(data)+1)
	for n := int64(1); scanner.Scan(); n++ {
		if len(bytes.TrimSpace(scanner.Bytes())) == 0 {
			continue
		}
		var in extractLine
		if err := json.Unmarshal(scanner.Bytes(), &in); err != nil {
			return nil, usage(jsonLines, "line %d: %s", n, badLine(err))
		}
		line := extract.Line{Seq: n, Speaker: in.Speaker, Time: in.Time, Text: in.Text, Name: in.Name}
		if in.Role != "" {
			line.Text, line.Speaker, line.User = in.content(), in.Role, in.Role == "user"
		}
		if in.Role == "tool" {
			line.Kind, line.ID = extract.Result, in.CallID
			if line.Name == "" {
				line.Name = names[in.CallID]
			}
		}
		if strings.TrimSpace(line.Text) != "" {
			lines = append(lines, line)
		}
		for _, call := range in.ToolCalls {
			names[call.ID] = call.Function.Name
			lines = append(lines, extract.Line{
				Seq: n, Time: in.Time, Kind: extract.Call, ID: call.ID, Name: call.Function.Name, Text: call.Function.Arguments,
			})
		}
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	if len(lines) == 0 {
		return nil, usage(jsonLines+", with text, or with role and content", "input: has no turns")
	}
	return lines, nil
}

// content is the text of a message: a string, or the texts of its parts.
func (l *extractLine) content() string {
	var text string
	if json.Unmarshal(l.Content, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	if json.Unmarshal(l.Content, &parts) != nil {
		return ""
	}
	var texts []string
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}
