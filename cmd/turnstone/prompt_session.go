package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
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
	cmd.Flags().IntVar(&to.context, "context", 0, fmt.Sprintf("size of the model's context in `tokens`, at least %s (default that of the last prompt, or by the model)", tokensOf(budget.MinContext)))
	completing(cmd, "model", a.completeModels)
}

func (to addressee) check(cmd *cobra.Command) error {
	if flag := cmd.Flag("context"); (flag.Changed || len(flag.Annotations[fromFile]) > 0) && to.context <= 0 {
		return usage("give a number of tokens such as 8192", "context: %d is no size", to.context)
	}
	return nil
}

// flags are those on the command line, for one that is to mean the same window.
func (to addressee) flags() string {
	text := ""
	if to.model != "" {
		text += " --model " + quoted(to.model)
	}
	if to.context != 0 {
		text += fmt.Sprintf(" --context %d", to.context)
	}
	return text
}

// which says which prompt of a session is meant.
type which struct {
	at     int64 // after this turn, turnstone.Head for now
	number int64 // the one that was compiled as this, 0 for any
}

// prompting is a session whose prompts are counted with what is known of the model that they are for.
type prompting struct {
	engine   *turnstone.Engine
	session  *turnstone.Session
	to       addressee
	profiles *budget.Profiles
	call     *prompt.Call // the one that is meant, where it was compiled earlier
	several  bool         // it is the last of several after its turn
	before   before
}

// before is what held in a session before anything was compiled.
type before struct {
	to      addressee // who its last prompt was for
	session string    // the model that is set for the session
	passes  int64     // how many times turns had left its prompts
}

// withCompression is withPrompts for what is compiled now.
func (a *app) withCompression(ctx context.Context, id string, to addressee, f modelFlags, c compressionFlags, fn func(*prompting) error) error {
	return a.withPrompts(ctx, id, which{at: turnstone.Head}, to, f, c, fn)
}

func (a *app) withPrompts(ctx context.Context, id string, w which, to addressee, f modelFlags, c compressionFlags, fn func(*prompting) error) error {
	k, err := a.known(f)
	if err != nil {
		return err
	}
	st, err := a.openStore(ctx, toFind)
	if err != nil {
		return err
	}
	p := &prompting{to: to}
	var config turnstone.Config
	if err = a.usual(ctx, st, id, w, p); err == nil {
		config, err = k.config(ctx, p.to.model)
		c.configure(&config)
	}
	if err != nil {
		return errors.Join(err, st.Close())
	}
	return a.onEngine(ctx, st, config, func(eng *turnstone.Engine) error {
		s, err := a.find(ctx, eng, id)
		if err != nil {
			return err
		}
		p.engine, p.session, p.profiles = eng, s, config.Profiles
		if _, found := p.profiles.Find(p.to.model); !found {
			a.unheardOf(p.to.model, fmt.Sprintf("it is counted as most models do, and taken to have a context of %s tokens", tokensOf(budget.FallbackContext)))
		}
		return fn(p)
	})
}

// options are those of a prompt for whom it is meant.
func (p *prompting) options() turnstone.PromptOptions {
	return turnstone.PromptOptions{Model: p.to.model, Context: p.to.context}
}

// unheardOf says what a model is taken for that nobody has heard of.
func (a *app) unheardOf(model, taken string) {
	if model != "" {
		a.note("nobody has heard of %s: %s; say what it is in a models file, see turnstone models --help", terminal.CleanLine(model), taken)
	}
}

// usual fills in who the prompts of a session are for: of one that was compiled earlier, whom it was compiled
// for; otherwise the session's model, or that of its last prompt or compression, and the context of that one if its model
// is the same. A session that is not there is for the engine to miss.
func (a *app) usual(ctx context.Context, st store.Store, id string, w which, p *prompting) error {
	key, err := turn.NewKey(a.tenant(), id)
	if err != nil {
		return err
	}
	given := p.to
	err = st.View(ctx, func(tx store.Tx) error {
		p.to, p.call, p.several = given, nil, false
		info, err := tx.Log().Session(ctx, key)
		if err != nil {
			return ignore(err, turn.ErrNotFound)
		}
		if err := p.find(ctx, tx.Prompt(), &info, w); err != nil || p.call != nil {
			return err
		}
		if p.before, err = lastBefore(ctx, tx.Prompt(), &info); err != nil {
			return err
		}
		last := p.before.to
		p.to.model = cmp.Or(p.to.model, info.Model, last.model)
		if p.to.context == 0 && p.to.model == last.model {
			p.to.context = last.context
		}
		return nil
	})
	if errors.Is(err, prompt.ErrNotFound) {
		return &advised{err: err, next: "see which there are with: " + a.line("prompt --list --session "+quoted(id))}
	}
	if err != nil {
		return fmt.Errorf("prompts of %s: %w", id, err)
	}
	return nil
}

// lastBefore says who a session's last prompt was compiled for, or who turns left it for or came back for since.
func lastBefore(ctx context.Context, rows prompt.Rows, info *turn.SessionInfo) (before, error) {
	spans := info.Lineage(info.Head)
	var call prompt.Call
	row, err := rows.LastCall(ctx, info.Tenant, spans, info.Head)
	if err == nil {
		call, err = prompt.DecodeCall(row)
	}
	if err := ignore(err, prompt.ErrNotFound); err != nil {
		return before{}, err
	}
	var epoch prompt.Epoch
	opened, err := rows.LastEpoch(ctx, info.Tenant, spans)
	if err == nil {
		epoch, err = prompt.DecodeEpoch(opened)
	}
	if err := ignore(err, prompt.ErrNotFound); err != nil {
		return before{}, err
	}
	b := before{to: addressee{call.Model, int(call.Context)}, session: info.Model, passes: epoch.Passes}
	if epoch.Number > call.Epoch {
		b.to = addressee{epoch.Model, int(epoch.Context)}
	}
	return b, nil
}

// find looks for the prompt that is meant among those that were compiled. One that is named by its number
// must be there.
func (p *prompting) find(ctx context.Context, rows prompt.Rows, info *turn.SessionInfo, w which) error {
	if w.number == 0 && w.at == turnstone.Head {
		return nil
	}
	spans := info.Lineage(info.Head)
	var row prompt.CallRow
	if w.number > 0 {
		page, err := rows.Calls(ctx, info.Tenant, spans, w.number-1, 1)
		if err != nil {
			return err
		}
		if len(page) == 0 || page[0].Number != w.number {
			return fmt.Errorf("prompt %d of %s: %w", w.number, info.Session, prompt.ErrNotFound)
		}
		row = page[0]
	} else {
		var err error
		if row, err = rows.LastCall(ctx, info.Tenant, spans, w.at); err != nil {
			return ignore(err, prompt.ErrNotFound)
		}
		if row.End != w.at {
			return nil
		}
		before, err := rows.Calls(ctx, info.Tenant, spans, row.Number-2, 1)
		if err != nil {
			return err
		}
		p.several = before[0].Number < row.Number && before[0].End == row.End
	}
	call, err := prompt.DecodeCall(row)
	p.call, p.to = &call, addressee{call.Model, int(call.Context)}
	return err
}

// undrawn says how many pictures of a prompt its model only reads about.
func (p *prompting) undrawn(made *prompt.Prompt) string {
	profile, known := p.profiles.Find(made.Model)
	if profile.Vision || made.Model == "" {
		return ""
	}
	pictures := 0
	for i := range made.Messages {
		for _, part := range made.Messages[i].Parts {
			if part.Image != nil {
				pictures++
			}
		}
	}
	model := terminal.CleanLine(made.Model)
	takes := model + " takes no pictures"
	if !known {
		takes = "nobody knows whether " + model + " takes pictures"
	}
	switch pictures {
	case 0:
		return ""
	case 1:
		return takes + ": 1 is described in words"
	}
	return fmt.Sprintf("%s: %s are described in words", takes, tokensOf(pictures))
}

func (a *app) noModel(session, format string) error {
	return usage("say which with --model, or with: "+a.line("session set "+quoted(session)+" --model NAME"), "format %s: the session has no model", format)
}
