package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/turn"
)

type appendOptions struct {
	session, role, form, kind, covers string
	text, file, mediaType             string
	alt, transcript, language         string
	key, messageID                    string
	tokens                            int64
	model                             string
	latency                           time.Duration
	noCreate                          bool
	limits                            limits

	textGiven bool
}

func (a *app) appendCommand() *cobra.Command {
	var o appendOptions
	cmd := &cobra.Command{
		Use:   "append",
		Short: "Append a turn to a session",
		Long: `Append a turn to a session. When the command returns without an error, the turn is on disk.

What was said is given with --text (- reads it from standard input as it stands), as an image or a recording with --file, or as the JSON of the
turn's content on standard input:

  text    {"text":...,"thinking":...,"tool_calls":[{"id":...,"name":...,"arguments":...}]}
  speech  {"transcript":...,"language":...,"confidence":...,"audio":{"media_type":...,"data":...}}
  image   {"media_type":...,"alt":...,"data":...}
  action  {"name":...,"target":...,"payload":...}, or of a tool, with role system,
          {"name":...,"call_id":...,"status":"ok","result":...}

A user may use every form, the agent text only, the system text and action. A session that is not
there is made, unless --no-create says otherwise.`,
		Example: `  turnstone append --session tidewatch --role user --text "Hello"
  turnstone append --session tidewatch --role user --text - < letter.txt
  turnstone append --session tidewatch --role user --file cat.png --alt "A cat asleep"
  echo '{"text":"","tool_calls":[{"id":"c1","name":"search","arguments":{"q":"cats"}}]}' |
    turnstone append --session tidewatch --role agent
  echo '{"name":"search","call_id":"c1","status":"ok","result":["Tom"]}' |
    turnstone append --session tidewatch --role system --form action`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "session", "role"); err != nil {
				return err
			}
			o.textGiven = cmd.Flags().Changed("text")
			return a.append(cmd.Context(), o)
		},
	}
	a.addSessionFlag(cmd, &o.session)
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.role, "role", "", "who says it: user, agent or system")
	flags.StringVar(&o.form, "form", "", "text, speech, image or action (default text, or what --file is)")
	flags.StringVar(&o.text, "text", "", "what is said, or - for standard input as it stands")
	flags.StringVar(&o.file, "file", "", "an image or a recording, by its `path`")
	flags.StringVar(&o.mediaType, "media-type", "", "of the file (default by its name, or else its first bytes)")
	flags.StringVar(&o.alt, "alt", "", "what the image shows, in words")
	flags.StringVar(&o.transcript, "transcript", "", "what the recording says, in words")
	flags.StringVar(&o.language, "language", "", "of the speech, such as en")
	flags.StringVar(&o.key, "idempotency-key", "", "appending again with the same `key` changes nothing")
	flags.StringVar(&o.messageID, "message-id", "", "shared by the turns of one message")
	flags.StringVar(&o.kind, "kind", "", "turn or summary (default turn)")
	flags.StringVar(&o.covers, "covers", "", "the turns a summary stands for, as `FIRST-LAST`")
	flags.Int64Var(&o.tokens, "tokens", 0, "how many tokens it has")
	flags.StringVar(&o.model, "model", "", "which model said it")
	flags.DurationVar(&o.latency, "latency", 0, "how long it took, such as 850ms")
	flags.BoolVar(&o.noCreate, "no-create", false, "fail where there is no such session")
	o.limits.addFlags(cmd)
	choices(cmd, "role", string(turn.User), string(turn.Agent), string(turn.System))
	choices(cmd, "form", string(turn.FormText), string(turn.FormSpeech), string(turn.FormImage), string(turn.FormAction))
	choices(cmd, "kind", string(turn.KindTurn), string(turn.KindSummary))
	return cmd
}

func (a *app) append(ctx context.Context, o appendOptions) error {
	bounds, err := o.limits.turnLimits()
	if err != nil {
		return err
	}
	draft, err := a.draft(ctx, o, bounds)
	if err != nil {
		return flagged(err)
	}
	why := toMake
	if o.noCreate {
		why = toFind
	}
	return a.withEngine(ctx, why, turnstone.Config{Limits: bounds}, func(eng *turnstone.Engine) error {
		s, err := a.sessionToAppend(ctx, eng, o)
		if err != nil {
			return err
		}
		added, err := s.Extend(ctx, draft)
		if err != nil {
			return err
		}
		turns := added.Turns
		a.noteReopened(s.ID(), added.Reopened)
		a.stored = fmt.Sprintf("turn %d is stored", turns[0].Seq)
		if a.json {
			return a.printTurns(turns, nil)
		}
		return a.printf("%s turn %d  %s", s.ID(), turns[0].Seq, a.style().Dim(turns[0].ID))
	})
}

// draft is the turn to append. It is made whole before the store is opened, so that bad input never
// leaves an empty session behind.
func (a *app) draft(ctx context.Context, o appendOptions, bounds turn.Limits) (turn.Draft, error) {
	d := turn.Draft{
		Role: turn.Role(o.role), Kind: turn.Kind(o.kind), IdempotencyKey: o.key, MessageID: o.messageID,
		Meta: turn.Meta{Tokens: o.tokens, Model: o.model, Latency: o.latency},
	}
	var err error
	if o.covers != "" {
		if d.Covers, err = parseRange(o.covers); err != nil {
			return d, err
		}
	}
	if d.Content, err = a.content(ctx, o, bounds); err != nil {
		return d, err
	}
	check := d
	check.ID = a.newID()
	_, err = check.Seal(bounds)
	return d, err
}

func parseRange(text string) (turn.Range, error) {
	first, last, _ := strings.Cut(text, "-")
	from, err := strconv.ParseInt(first, 10, 64)
	to, err2 := strconv.ParseInt(last, 10, 64)
	if err != nil || err2 != nil {
		return turn.Range{}, usage("give the first and the last turn, such as 1-20", "covers: %q is no range", text)
	}
	return turn.Range{From: from, To: to}, nil
}

func (a *app) sessionToAppend(ctx context.Context, eng *turnstone.Engine, o appendOptions) (*turnstone.Session, error) {
	s, err := eng.Find(ctx, o.session)
	if o.noCreate {
		return s, advise(err, turn.ErrNotFound, "see which there are with: "+a.line("session list")+", or leave out --no-create")
	}
	if !errors.Is(err, turn.ErrNotFound) {
		return s, err
	}
	s, err = eng.Create(ctx, turn.SessionInfo{Key: turn.Key{Session: o.session}})
	if errors.Is(err, turn.ErrExists) {
		return eng.Find(ctx, o.session)
	}
	if err != nil {
		return nil, fmt.Errorf("new %w", err)
	}
	a.note("created session %s", o.session)
	return s, nil
}
