package main

import (
	"bufio"
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/turn"
)

// slash is a command of a conversation. A is a run of its own that prints for it.
type slash struct {
	name, arguments, about string
	do                     func(ctx context.Context, a *app, t *talking, words string) error
}

// slashes are all commands, in the order in which /help has them.
func slashes() []slash {
	return []slash{
		{"/goal", "[TITLE | done]", "show the goal, begin one, or complete it", slashGoal},
		{"/pin", "[TURN | off TURN]", "list pins, or keep a turn in every prompt, or no longer", slashPin},
		{"/history", "[NUMBER]", "the last turns, with their numbers", slashHistory},
		{"/status", "", "how full the context is, and how far to rely on it", slashStatus},
		{"/why", "", "where every token of the prompt goes", slashWhy},
		{"/checkpoints", "[NUMBER]", "what stands for turns that left the prompt", slashCheckpoints},
		{"/compress", "", "let older turns leave the prompt now", slashCompress},
		{"/undo", "[PASS]", "take back the last compression or restore", slashUndo},
		{"/snapshot", "[NAME]", "remember how the conversation stands", slashSnapshot},
		{"/restore", "[NAME]", "list snapshots, or go back to one", slashRestore},
		{"/fork", "[NAME]", "go on in a copy that shares what was said", slashFork},
		{"/search", "WORDS", "find what was said and remembered", slashSearch},
		{"/forget", "TURN [yes]", "remove a turn and all that was made of it, for good", slashForget},
		{"/model", "[NAME]", "list models, or talk with another", slashModel},
		{"/mode", "[NAME]", "what summaries preserve: developer, planning, assistant, debugger", slashMode},
		{"/help", "", "this list", slashHelp},
	}
}

// Command implements [chat.Backend].
func (t *talking) Command(ctx context.Context, line string) (string, error) {
	name, words, _ := strings.Cut(line, " ")
	all := slashes()
	i := slices.IndexFunc(all, func(s slash) bool { return s.name == name })
	if i < 0 {
		return "", usage("see /help", "%s is no command", name)
	}
	if all[i].arguments == "" && strings.TrimSpace(words) != "" {
		return "", usage("leave it out", "%s takes nothing, not %q", name, strings.TrimSpace(words))
	}
	var shown bytes.Buffer
	a := *t.app
	a.stdout, a.stderr, a.out = &shown, &shown, bufio.NewWriter(&shown)
	a.json, a.quiet = false, false
	if err := all[i].do(ctx, &a, t, strings.TrimSpace(words)); err != nil {
		return "", t.explained(err)
	}
	if err := a.out.Flush(); err != nil {
		return "", err
	}
	return t.app.redact(shown.String()), nil
}

func slashHelp(_ context.Context, a *app, _ *talking, _ string) error {
	var rows [][]string
	for _, s := range slashes() {
		rows = append(rows, []string{strings.TrimSpace(s.name + " " + s.arguments), s.about})
	}
	return a.table([]string{"COMMAND", "WHAT IT DOES"}, append(rows, []string{"/quit", "leave; Ctrl-D does too"}, []string{"//TEXT", "say something that begins with a slash"}))
}

func slashGoal(ctx context.Context, a *app, t *talking, words string) error {
	state, err := t.session.Intentions(ctx, false)
	if err != nil {
		return err
	}
	goal, active := state.ActiveGoal()
	change := cortex.GoalChange{By: cortex.ActorUser}
	switch {
	case words == "" && !active:
		return a.printf("no goal; begin one with: /goal TITLE")
	case words == "":
		return a.showGoal(goal)
	case words == "done" && !active:
		return usage("begin one with: /goal TITLE", "there is no goal to complete")
	case words == "done":
		done := cortex.GoalCompleted
		change.ID, change.Status = goal.ID, &done
	default:
		change.Title = &words
	}
	if _, err := t.session.Intend(ctx, cortex.Changes{Goals: []cortex.GoalChange{change}}); err != nil {
		return err
	}
	if words == "done" {
		return a.printf("completed: %s", goal.Title)
	}
	return a.printf("goal: %s", words)
}

func slashPin(ctx context.Context, a *app, t *talking, words string) error {
	if words == "" {
		pins, err := t.session.Pins(ctx)
		if err != nil {
			return err
		}
		if len(pins) == 0 {
			return a.printf("no pins; pin a turn with: /pin TURN; /history shows the numbers")
		}
		return a.listPins(ctx, t.session)
	}
	number, remove := strings.CutPrefix(words, "off ")
	seq, err := turnNumber(number)
	if err != nil {
		return err
	}
	return a.setPins(ctx, t.session, []int64{seq}, remove, "/history")
}

func turnNumber(word string) (int64, error) {
	if word == "" {
		return 0, usage("give the number of a turn, as /history shows it", "which turn is missing")
	}
	seq, err := strconv.ParseInt(strings.TrimSpace(word), 10, 64)
	if err != nil || seq < 1 {
		return 0, usage("give the number of a turn, as /history shows it", "%q is no turn number", word)
	}
	return seq, nil
}

// prompting is the conversation as commands about prompts take it.
func (t *talking) prompting() *prompting {
	return &prompting{engine: t.engine, session: t.session, to: addressee{t.voice.name, t.options.context}, profiles: t.voice.known.profiles}
}

func slashStatus(ctx context.Context, a *app, t *talking, _ string) error {
	status, err := t.session.Status(ctx, t.promptOptions())
	if err != nil {
		return err
	}
	if err := a.printStatus(t.prompting(), status); err != nil {
		return err
	}
	return a.printf("%s", t.reliabilityReason(status))
}

func slashCheckpoints(ctx context.Context, a *app, t *talking, words string) error {
	if words == "" {
		return a.listCheckpoints(ctx, t.session)
	}
	found, err := agedOf(ctx, t.session, words, "/checkpoints")
	if err != nil {
		return err
	}
	c, err := found.version(0)
	if err != nil {
		return err
	}
	return a.showCheckpoint(t.session, found, c)
}

func slashMode(ctx context.Context, a *app, t *talking, words string) error {
	if words == "" {
		info, err := t.session.Info(ctx)
		if err != nil {
			return err
		}
		if info.Mode == "" {
			return a.printf("no mode; set one with: /mode %s", strings.Join(compress.Modes(), " | "))
		}
		return a.printf("mode: %s", info.Mode)
	}
	if err := t.session.Describe(ctx, turn.SessionInfo{Mode: words}); err != nil {
		return err
	}
	return a.printf("mode: %s", words)
}

func slashSearch(ctx context.Context, a *app, t *talking, words string) error {
	if words == "" {
		return usage("give words: /search which port", "there is nothing to search for")
	}
	return a.recallHits(ctx, t.session, words, recallOptions{recall: turnstone.RecallOptions{Limit: 5}})
}

func slashModel(ctx context.Context, a *app, t *talking, words string) error {
	if words == "" {
		return t.listVoices(ctx, a)
	}
	options := t.options
	options.voice.model = words
	v, err := t.app.voice(ctx, options, "")
	if err != nil {
		return err
	}
	there, err := v.there(ctx)
	if err != nil {
		return err
	}
	if there {
		if err := t.session.Describe(ctx, turn.SessionInfo{Model: v.name}); err != nil {
			return err
		}
	}
	t.untried = !there
	t.changing.Lock()
	t.voice = v
	t.changing.Unlock()
	t.current.Store(&v)
	if _, found := t.voice.known.profiles.Find(v.name); !found {
		return a.printf("talking with %s, of which nothing is known: it is taken to have a context of %s tokens", v.name, tokensOf(budget.FallbackContext))
	}
	return a.printf("talking with %s", v.name)
}

// listVoices lists the models of the server.
func (t *talking) listVoices(ctx context.Context, a *app) error {
	if t.voice.known.server == nil {
		if err := a.printf("talking with %s; name another with: /model NAME", t.voice.name); err != nil || t.voice.url == "" {
			return err
		}
		names, err := a.openAIModels(ctx, t.voice.url, t.options.voice.keyEnv)
		if err != nil || len(names) == 0 {
			return err
		}
		return a.printf("the server has %s", terminal.CleanLine(short(strings.Join(names, ", "), maxLine)))
	}
	list, err := t.voice.known.server.client.List(ctx)
	if err != nil {
		return err
	}
	rows := make([][]string, len(list))
	for i, m := range list {
		rows[i] = []string{strings.TrimSuffix(m.Name, ":latest"), ""}
		if rows[i][0] == t.voice.name {
			rows[i][1] = "talking"
		}
	}
	return a.table([]string{"MODEL", ""}, rows)
}
