package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/memory"
)

func (a *app) memoryCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "memory",
		Short: "Search, list and forget what is remembered",
		Long: `What exchanges left behind that was worth keeping: facts about the user, results of tools,
observations, errors. Items stay as long as their type says, those about the user until they are
forgotten; what has expired is never found.`,
		Example: `  turnstone memory search window seats
  turnstone memory list --session tidewatch --type user_data`,
	}, a.memorySearchCommand(), a.memoryListCommand(), a.memoryForgetCommand())
}

type memoryOptions struct {
	search       memory.Search
	session      string
	typ, by      string
	since, until string
	limit        int
}

// itemTypes are what an item of memory can be.
var itemTypes = []string{
	string(memory.UserData), string(memory.ToolResult), string(memory.Observation), string(memory.Error),
	string(memory.ScratchItem), string(memory.Event),
}

// check refuses filters that would find everything, or never anything.
func (o *memoryOptions) check(cmd *cobra.Command) error {
	if err := nothingEmpty(cmd, "session", "user", "type", "since", "until", "by", "cursor"); err != nil {
		return err
	}
	if o.typ != "" && !slices.Contains(itemTypes, o.typ) {
		return usage("use "+strings.Join(itemTypes, ", "), "type: %q is none", o.typ)
	}
	return nil
}

func (a *app) addMemoryFlags(cmd *cobra.Command, o *memoryOptions) {
	a.addSessionFlag(cmd, &o.session)
	cmd.Flag("session").Usage = "only of the session with this `id`"
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.search.User, "user", "", "only of this user")
	flags.StringArrayVar(&o.search.Tags, "tag", nil, "only with this tag; may be repeated")
	flags.StringVar(&o.typ, "type", "", "only of this type: "+strings.Join(itemTypes, ", "))
	flags.Float64Var(&o.search.MinImportance, "min-importance", 0, "only so important or more, from 0 to 1")
	flags.StringVar(&o.since, "since", "", "not made before this `time`: 2h (ago), 2006-01-02, 2006-01-02T15:04:05")
	flags.StringVar(&o.until, "until", "", "made before this `time`")
	flags.StringVar(&o.by, "by", string(memory.Newest), "the order: newest or importance")
	flags.IntVar(&o.limit, "limit", 50, "how many at most, 0 for all")
	flags.StringVar(&o.search.Cursor, "cursor", "", "go on where a page ended, as it said")
	flags.BoolVar(&o.search.Archived, "archived", false, "also what made room for more important items")
	choices(cmd, "type", itemTypes...)
	choices(cmd, "by", string(memory.Newest), string(memory.MostImportant))
}

// memoryPage is how many items are asked for at once.
const memoryPage = 1000

// recall prints what the search finds.
func (a *app) recall(ctx context.Context, o memoryOptions) error {
	q := o.search
	q.Type, q.Order = memory.Type(o.typ), memory.Order(o.by)
	var err error
	if q.Since, err = parseMoment("since", o.since); err != nil {
		return err
	}
	if q.Until, err = parseMoment("until", o.until); err != nil {
		return err
	}
	if o.limit < 0 {
		return usage("give 0 for all", "limit: %d is negative", o.limit)
	}
	return a.withEngine(ctx, toUse, turnstone.Config{}, func(eng *turnstone.Engine) error {
		ask := eng.Remembered
		if o.session != "" {
			s, err := a.find(ctx, eng, o.session)
			if err != nil {
				return err
			}
			ask = s.Remembered
		}
		return a.recallPages(ctx, ask, q, o)
	})
}

// asker is the engine's or a session's way to search memory.
type asker func(context.Context, memory.Search) (turnstone.Remembered, error)

func (a *app) recallPages(ctx context.Context, ask asker, q memory.Search, o memoryOptions) error {
	shown, limit := 0, o.limit
	for {
		if q.Limit = memoryPage; limit > 0 {
			q.Limit = min(memoryPage, limit-shown)
		}
		page, err := ask(ctx, q)
		if err != nil {
			return byFlag(err)
		}
		for _, item := range page.Items {
			if err := a.printItem(item); err != nil {
				return err
			}
		}
		shown += len(page.Items)
		q.Cursor = page.Next
		if q.Cursor == "" || limit > 0 && shown >= limit {
			break
		}
	}
	if shown == 0 {
		a.noteNothing(q.Text, o.session)
	}
	if q.Cursor == "" {
		return nil
	}
	q.Limit = 1 // to know whether there is more
	rest, err := ask(ctx, q)
	switch {
	case err != nil || len(rest.Items) == 0:
		return err
	case a.json:
		a.note(`{"next":%q}`, q.Cursor)
	default:
		a.note("more: --cursor %s", q.Cursor)
	}
	return nil
}

// noteNothing says that nothing was found, and where words are found that were said and not remembered.
func (a *app) noteNothing(words, session string) {
	note := "nothing is remembered that matches"
	if words != "" {
		if session == "" {
			session = "SESSION"
		}
		note += "; to search what was said: " + a.line("recall --session "+quoted(session)+" "+quoted(words))
	}
	a.note("%s", terminal.CleanLine(note))
}

// printItem writes an item as two lines, or as one of JSON.
func (a *app) printItem(item turnstone.RememberedItem) error {
	if a.json {
		line := item.AppendJSON(nil)
		line = appendTextMember(line[:len(line)-1], "session_id", item.Owner.Session)
		line = appendTextMember(line, "user_id", item.Owner.User)
		if item.Archived {
			line = append(line, `,"archived":true`...)
		}
		return a.print(append(line, "}\n"...))
	}
	style, format := a.style(), a.format()
	about := fmt.Sprintf("%s  %.2f  %s  %s", item.Type, item.Importance, format.Time(item.Created), item.Owner.Session)
	if item.Owner.User != "" {
		about += " (" + item.Owner.User + ")"
	}
	for _, tag := range item.Tags {
		about += "  #" + tag
	}
	if !item.Expires.IsZero() {
		about += "  until " + format.Time(item.Expires)
	}
	if item.Archived {
		about += "  archived"
	}
	text := item.Text
	if text == "" {
		text = item.Data
	}
	if format.Most > 0 {
		text = short(text, format.Most)
	}
	return a.printf("%s  %s\n    %s", style.Strong(item.ID), style.Dim(terminal.CleanLine(about)), terminal.CleanLine(text))
}

// appendTextMember adds a member to a JSON object that is not closed yet, unless it is empty.
func appendTextMember(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(dst, `,"`+name+`":`...)
	return strictjson.AppendString(dst, value)
}
