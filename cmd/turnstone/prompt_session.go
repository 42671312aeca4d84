package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// addressee is who a prompt is for.
type addressee struct {
	model   string
	context int
}

func (a *app) addAddresseeFlags(cmd *cobra.Command, to *addressee) {
	cmd.Flags().StringVar(&to.model, "model", "", "who it is for (default the session's model, or that of its last prompt)")
	cmd.Flags().IntVar(&to.context, "context", 0, "size of the model's context in `tokens` (default that of the last prompt, or by the model)")
	completing(cmd, "model", a.completeModels)
}

func (to addressee) check(cmd *cobra.Command) error {
	if cmd.Flags().Changed("context") && to.context <= 0 {
		return usage("give a number of tokens such as 8192", "context: %d is no size", to.context)
	}
	return nil
}

// withPrompts runs fn on a session whose prompts are counted with what is known of the model that they are for.
func (a *app) withPrompts(
	ctx context.Context, id string, to addressee, f modelFlags, fn func(*turnstone.Engine, *turnstone.Session, addressee) error,
) error {
	k, err := a.known(f)
	if err != nil {
		return err
	}
	st, err := a.openStore(ctx, toFind)
	if err != nil {
		return err
	}
	var config turnstone.Config
	if to, err = a.usual(ctx, st, id, to); err == nil {
		config, err = k.config(ctx, to.model)
	}
	if err != nil {
		return errors.Join(err, st.Close())
	}
	return a.onEngine(ctx, st, config, func(eng *turnstone.Engine) error {
		s, err := a.find(ctx, eng, id)
		if err != nil {
			return err
		}
		return fn(eng, s, to)
	})
}

// usual fills in who the prompts of a session are for: its model, or that of its last prompt, and the
// context of that one if its model is the same. A session that is not there is for the engine to miss.
func (a *app) usual(ctx context.Context, st store.Store, id string, given addressee) (to addressee, err error) {
	key, err := turn.NewKey(a.tenant(), id)
	if err != nil {
		return given, err
	}
	err = st.View(ctx, func(tx store.Tx) error {
		to = given
		info, err := tx.Log().Session(ctx, key)
		if err != nil {
			return ignore(err, turn.ErrNotFound)
		}
		if to.model == "" {
			to.model = info.Model
		}
		row, err := tx.Prompt().LastCall(ctx, key.Tenant, info.Lineage(info.Head), info.Head)
		if err != nil {
			return ignore(err, prompt.ErrNotFound)
		}
		last, err := prompt.DecodeCall(row)
		if err != nil {
			return err
		}
		if to.model == "" {
			to.model = last.Model
		}
		if to.context == 0 && to.model == last.Model {
			to.context = int(last.Context)
		}
		return nil
	})
	if err != nil {
		return to, fmt.Errorf("last prompt of %s: %w", id, err)
	}
	return to, nil
}

func (a *app) noModel(session, format string) error {
	return usage("say which with --model, or with: "+a.line("session set "+quoted(session)+" --model NAME"), "format %s: the session has no model", format)
}
