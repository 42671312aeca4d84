package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/turn"
)

// maxRequest bounds one line of light.
const maxRequest = 4 << 20

func (a *app) lightCommand() *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "light",
		Short: "Answer requests for the follow-up context, one a line",
		Long: `Answer requests for the follow-up context: one JSON object a line on standard input, one JSON
object a line on standard output, at once and in the same order. Empty lines are passed over.

  {"session":"tidewatch","action":"store","last_intent":"add_task","last_task_id":"7",
   "pending_fields":["due"],"last_user_message":"Buy milk"}       (on one line)
  {"session":"tidewatch","action":"retrieve"}
  {"session":"tidewatch","action":"clear"}

With a file as store the context lives in this process and ends with it. With PostgreSQL every
process that uses the database sees it.`,
		Example: `  echo '{"session":"tidewatch","action":"retrieve"}' | turnstone light`,
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if timeout <= 0 {
				return usage("give a time such as 30m", "timeout: %s is no time to keep something", timeout)
			}
			return a.light(cmd.Context(), timeout)
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", dialogue.LightTimeout, "how long a context is kept after it was stored")
	return cmd
}

func (a *app) light(ctx context.Context, timeout time.Duration) (err error) {
	p, err := a.storePlace()
	if err != nil {
		return err
	}
	tenant := a.tenant()
	if tenant == "" {
		tenant = turn.DefaultTenant
	}
	if err := ids.CheckName("tenant", tenant); err != nil {
		return err
	}
	if p.url == "" {
		return a.answerLines(ctx, dialogue.NewLight(timeout, nil), tenant)
	}
	st, err := postgres.Open(ctx, p.url, postgres.Config{LightTimeout: timeout})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return a.answerLines(ctx, st.Light(), tenant)
}

func (a *app) answerLines(ctx context.Context, light dialogue.LightStore, tenant string) error {
	for line, err := range a.lines(ctx, maxRequest) {
		var answer []byte
		switch {
		case errors.Is(err, errLongLine):
			answer = fmt.Appendf(nil, `{"success":false,"error":"Request too long: at most %d bytes"}`, maxRequest)
		case err != nil:
			return err
		case len(bytes.TrimSpace(line)) == 0:
			continue
		default:
			answer = dialogue.HandleLight(ctx, light, tenant, line)
			if bytes.HasPrefix(answer, []byte(`{"success":false`)) {
				answer = []byte(a.redact(string(answer))) // a database's error may name where it is
			}
		}
		if err := a.print(append(answer, '\n')); err != nil {
			return err
		}
		if err := a.out.Flush(); err != nil {
			return err
		}
	}
	return nil
}
