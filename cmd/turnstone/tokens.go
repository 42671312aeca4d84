package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/budget/bpe"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// maxCounted bounds the text that tokens counts.
const maxCounted = 1 << 30

func (a *app) tokensCommand() *cobra.Command {
	var model string
	var c modelFlags
	cmd := &cobra.Command{
		Use:   "tokens [FILE]",
		Short: "Count the tokens of a text for a model",
		Long: `Count the tokens of a text for a model, from FILE or, without it or as -, from standard input.

The answer says how sure it is:

  exact       by the model's own vocabulary: those of OpenAI are built in, those of local models are asked
              of the Ollama server that --url, TURNSTONE_URL or OLLAMA_HOST names
  calibrated  by o200k and what providers reported for prompts of the store, within the margin in nineteen
              of twenty
  estimated   by o200k, with a wide margin

The text alone is counted, without what a model's template puts around a message.`,
		Example: `  turnstone tokens --model gpt-4o letter.txt
  git diff | turnstone tokens --model llama3.2 --url http://127.0.0.1:11434
  turnstone tokens --model claude-sonnet-4 --json < letter.txt`,
		Args: arguments("[FILE]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			file := stdio
			if len(args) > 0 {
				file = args[0]
			}
			return a.tokens(cmd.Context(), file, model, c)
		},
	}
	cmd.Flags().StringVar(&model, "model", "", "`name` of the model (default none: an estimate for most)")
	c.addFlags(cmd)
	completing(cmd, "model", a.completeModels)
	return cmd
}

type tokensJSON struct {
	Tokens    int     `json:"tokens"`
	Certainty string  `json:"certainty"`
	Margin    float64 `json:"margin"`
	Upper     int     `json:"upper"`
	Bytes     int     `json:"bytes"`
	Model     string  `json:"model,omitempty"`
	Known     bool    `json:"known"`
}

func (a *app) tokens(ctx context.Context, file, model string, c modelFlags) error {
	k, err := a.known(c)
	if err != nil {
		return err
	}
	text, err := a.countedText(ctx, file)
	if err != nil {
		return err
	}
	profiles, err := k.learned(ctx, model)
	if err != nil {
		return err
	}
	profile, found := profiles.Find(model)
	counter, err := a.counter(ctx, k, profile)
	if err != nil {
		return err
	}
	if !found {
		a.unheardOf(model, "it is counted as most models do")
	}
	count := counter.Tokens(counter.Text(text))
	if a.json {
		return a.printJSON(tokensJSON{count.Tokens, string(count.Certainty), count.Margin, count.Upper(), len(text), model, found})
	}
	line := progress.Count(int64(count.Tokens), "token") + ", " + certainty(count)
	if count.Upper() > count.Tokens {
		line += ": at most " + progress.Thousands(int64(count.Upper()))
	}
	return a.printf("%s", line)
}

func (a *app) countedText(ctx context.Context, file string) (string, error) {
	if file != stdio {
		return readText(file, maxCounted)
	}
	if terminal.Is(a.stdin) {
		return "", usage("name a file or send text to standard input", "tokens: there is nothing to count")
	}
	data, err := a.readInput(ctx, maxCounted, "")
	return string(data), err
}

// counter is what a model is counted with: its own vocabulary where a server has it, and what a store
// learned of it.
func (a *app) counter(ctx context.Context, k known, p budget.Profile) (*budget.Counter, error) {
	var own *bpe.Encoding
	if k.server != nil && p.Tokenizer == budget.AskOllama {
		enc, err := k.server.vocabulary(ctx, p.Name)
		switch {
		case err == nil:
			own = enc
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
		// Otherwise the count is less sure, and that was said.
	}
	counter := budget.NewCounter(p, own, own != nil, budget.Calibration{})
	if counter.Tokens(counter.Text("a")).Certainty == budget.Exact || p.Name == "" {
		return counter, nil
	}
	learned, err := a.calibration(ctx, p.Name)
	if err != nil {
		a.note("what was learned of %s cannot be read: %s", terminal.CleanLine(p.Name), terminal.CleanLine(oneLine(err.Error())))
		return counter, ctx.Err()
	}
	return budget.NewCounter(p, own, own != nil, learned), nil
}

// calibration is what the user's store learned of a model. A store that is not there is not made for it.
func (a *app) calibration(ctx context.Context, model string) (learned budget.Calibration, err error) {
	p, err := a.storePlace()
	if err != nil || p.isNew() {
		return learned, nil
	}
	st, err := p.open(ctx, toUse)
	if err != nil {
		return learned, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	tenant := a.tenant()
	if tenant == "" {
		tenant = turn.DefaultTenant
	}
	err = st.View(ctx, func(tx store.Tx) error {
		row, ok, err := tx.Budget().Calibration(ctx, tenant, model)
		if err != nil || !ok {
			return err
		}
		learned, err = budget.DecodeCalibration(row.Doc)
		return err
	})
	if err != nil {
		return learned, fmt.Errorf("calibration: %w", err)
	}
	return learned, nil
}
