package compress

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/compress/extract"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/turn"
)

// Model summarises with a language model. The turns are cut to what fits into the model's own window,
// between units, and the summaries of the parts are merged; a unit that does not fit by itself is
// shortened first.
type Model struct {
	LLM llm.Model
	// Window is how many tokens a question and its answer may take together. The model is asked for a context
	// of that size. Defaults to 4,096, in the context that the model has without being asked.
	Window int
	// MaxCalls bounds how often the model is asked for one summary. Turns that need more are shortened
	// before. Defaults to 16.
	MaxCalls int
}

const (
	defaultSummariserWindow = 4096
	defaultCalls            = 16
	// wordsPerTenTokens is how many words a model is told that it has for ten tokens of its budget.
	wordsPerTenTokens = 6
	// margin is how many tokens of the window are left to what a template wraps around the question.
	margin = 64
)

// ErrNoWindow says that not even the question fits into the summariser's window.
var ErrNoWindow = errors.New("the summariser's window is too small to ask for a summary")

// Summarise asks the model. Errors are the model's, or [ErrNoWindow].
func (m Model) Summarise(ctx context.Context, r Request) (string, error) {
	window := m.Window
	if window <= 0 {
		window = defaultSummariserWindow
	}
	q := question{
		Goal: r.Goal, Insights: r.Insights, Guide: r.Guide, Draft: r.Draft, Problems: r.Problems,
		Words: max(r.Budget*wordsPerTenTokens/10, 1), Facts: newChecker(&r).must.facts,
	}
	room, err := q.room(&r, window)
	if err != nil {
		return "", err
	}
	a := asker{model: m.LLM, request: &r, window: m.Window, room: room}
	parts := a.parts(m.calls())
	if len(parts) == 1 {
		return a.ask(ctx, q, parts[0])
	}
	return a.merge(ctx, q, parts)
}

// calls is how often the model is asked for one summary at most.
func (m Model) calls() int {
	if m.MaxCalls <= 0 {
		return defaultCalls
	}
	return m.MaxCalls
}

// room is how many tokens of turns fit into one question. What is least needed is left out of the
// question until some do.
func (q *question) room(r *Request, window int) (int, error) {
	for _, leave := range []func(){
		func() {}, func() { q.Insights = nil }, func() { q.Guide = "" }, func() { q.Draft, q.Problems = "", nil },
		func() { q.Facts = nil }, func() { q.Goal = nil },
	} {
		leave()
		text, err := q.prompt()
		if err != nil {
			return 0, err
		}
		if room := window - r.Count(text) - r.Budget - margin; room >= window/4 {
			return room, nil
		}
	}
	return 0, ErrNoWindow
}

// asker asks a model for one summary.
type asker struct {
	model   llm.Model
	request *Request
	window  int // the model's own where it is 0
	room    int
}

func (a *asker) ask(ctx context.Context, q question, text string) (string, error) {
	// Nothing that was said may look like the end of what is to be summarised.
	q.Text = strings.ReplaceAll(text, "</conversation>", "(/conversation)")
	prompt, err := q.prompt()
	if err != nil {
		return "", err
	}
	if t := a.request.Timeout; t > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t)
		defer cancel()
	}
	answer, err := llm.Complete(ctx, a.model, llm.Request{
		Messages: []llm.Message{{Role: llm.User, Text: prompt}}, Context: a.window, MaxTokens: a.request.Budget,
	})
	if err != nil {
		return "", fmt.Errorf("summary by the model: %w", err)
	}
	return strings.TrimSpace(answer.Text), nil
}

// parts cuts the turns, between units, into texts of at most room tokens: one, or fewer than calls, so
// that one call is left to merge their summaries.
func (a *asker) parts(calls int) []string {
	s := &a.request.Source
	var texts []string
	for _, unit := range Units(s.Turns) {
		if text := a.unit(unit); text != "" {
			texts = append(texts, text)
		}
	}
	parts := join(texts, a.room, a.request.Count)
	most := max(calls-1, 1)
	if len(parts) <= most {
		return parts
	}
	// Lines of at most a quarter of the room fill at least three quarters of each part but the last.
	var lines []extract.Line
	for i := range s.Turns {
		if t := &s.Turns[i]; counts(t) {
			lines = appendLines(lines, t)
		}
	}
	texts = texts[:0]
	for line := range strings.SplitAfterSeq(a.shorten(lines, most*a.room*3/4), "\n") {
		texts = append(texts, a.bounded(line, a.room/4))
	}
	return join(texts, a.room, a.request.Count)
}

// unit writes one unit, shortened if it does not fit by itself.
func (a *asker) unit(unit []turn.Turn) string {
	var b strings.Builder
	var lines []extract.Line
	for i := range unit {
		if counts(&unit[i]) {
			b.WriteString(transcript(&unit[i]))
			lines = appendLines(lines, &unit[i])
		}
	}
	if a.request.Count(b.String()) <= a.room {
		return b.String()
	}
	return a.shorten(lines, a.room)
}

// shorten keeps what says most of the lines.
func (a *asker) shorten(lines []extract.Line, most int) string {
	return extract.Summarise(lines, extract.Options{Budget: most, Count: a.request.Count}).Text
}

// join puts texts that follow each other together as long as they take at most room tokens.
func join(texts []string, room int, count func(string) int) []string {
	var joined []string
	size := 0
	for _, text := range texts {
		n := count(text)
		if last := len(joined) - 1; last >= 0 && size+n <= room {
			joined[last] += text
			size += n
			continue
		}
		joined = append(joined, text)
		size = n
	}
	return joined
}

// merge asks for a summary of every part and then for one of these.
func (a *asker) merge(ctx context.Context, q question, parts []string) (string, error) {
	part := q
	part.Facts, part.Draft, part.Problems = nil, "", nil
	var summaries []string
	for _, text := range parts {
		summary, err := a.ask(ctx, part, text)
		if err != nil {
			return "", err
		}
		summaries = append(summaries, a.bounded(summary+"\n", a.room/len(parts)))
	}
	q.Merge = true
	if a.request.Generations != nil {
		a.request.Generations(2)
	}
	return a.ask(ctx, q, strings.Join(summaries, ""))
}

// bounded shortens a text that takes more than its part of a question.
func (a *asker) bounded(text string, most int) string {
	if a.request.Count(text) <= most {
		return text
	}
	return a.shorten([]extract.Line{{Text: text}}, most)
}
