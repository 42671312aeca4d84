package chat

import (
	"context"
	"errors"
	"iter"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/markdown"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
)

// send takes the input: says it, or carries it out if it is a command. While something runs, or waits to, it waits for its turn.
func (s *Screen) send() tea.Cmd {
	wait := s.busy || len(s.ahead) > 0
	s.take()
	if wait {
		return nil
	}
	return s.sendAhead()
}

// submit says something, or carries it out.
func (s *Screen) submit(text string) tea.Cmd {
	s.print(s.said(text))
	if Leaves(text) {
		return s.leave()
	}
	text, command := Read(text)
	ctx := s.begin()
	if command {
		s.doing = text
		return tea.Batch(s.command(ctx, text), s.every(s.work))
	}
	s.saying = text
	return tea.Batch(s.stream(ctx, text), s.every(s.work))
}

// begin starts a piece of work that can be cancelled.
func (s *Screen) begin() context.Context {
	ctx, cancel := context.WithCancel(s.ctx)
	s.work++
	s.busy, s.cancelled = true, false
	s.cancel, s.ticks, s.doing, s.thinking = cancel, 0, "preparing the prompt", ""
	s.reply.Reset()
	return ctx
}

// end ends it, asks how the conversation stands now, and goes on with what waits.
func (s *Screen) end() tea.Cmd {
	s.cancel()
	s.busy, s.doing, s.thinking = false, "", ""
	s.reply.Reset()
	return tea.Sequence(s.askStatus(), s.sendAhead())
}

func (s *Screen) command(ctx context.Context, text string) tea.Cmd {
	work := s.work
	return func() tea.Msg {
		shown, err := s.config.Backend.Command(ctx, text)
		return commandMsg{work, shown, err}
	}
}

func (s *Screen) commanded(msg commandMsg) tea.Cmd {
	if !s.busy || msg.work != s.work {
		return nil
	}
	text := strings.TrimRight(msg.text, "\n")
	if msg.err != nil {
		text = s.failed(msg.err)
		s.stopped(msg.err)
	}
	s.print(text)
	return s.end()
}

// stream says something and has what happens handed over, as much at a time as has come since the screen was drawn.
func (s *Screen) stream(ctx context.Context, text string) tea.Cmd {
	events := make(chan eventMsg, 64)
	work := s.work
	run := func() tea.Msg {
		defer close(events)
		pump(ctx, s.ctx, s.config.Backend.Stream(ctx, text), work, events)
		return nil
	}
	var next tea.Cmd
	next = func() tea.Msg {
		msg := eventMsg{work: work, next: next}
		first, ok := <-events
		for ; ok; first, ok = <-events {
			msg.events, msg.err = append(msg.events, first.events...), first.err
			if len(events) == 0 {
				return msg
			}
		}
		msg.over = true
		return msg
	}
	return tea.Batch(run, next)
}

// pump moves events into a channel. The end of ctx does not end it: the stream itself says when it is over, and the
// screen reads until then. When the screen is gone nobody does.
func pump(ctx, screen context.Context, stream iter.Seq2[Event, error], work int, into chan<- eventMsg) {
	put := func(msg eventMsg) bool {
		select {
		case into <- msg:
			return true
		case <-screen.Done():
			return false
		}
	}
	for e, err := range stream {
		if err != nil {
			put(eventMsg{work: work, err: err})
			return
		}
		if !put(eventMsg{work: work, events: []Event{e}}) {
			return
		}
	}
	if err := ctx.Err(); err != nil {
		put(eventMsg{work: work, err: err})
	}
}

// happened shows what happened to the reply.
func (s *Screen) happened(msg eventMsg) tea.Cmd {
	if msg.work != s.work || !s.busy {
		return nil
	}
	for _, e := range msg.events {
		switch e := e.(type) {
		case Text:
			s.doing, s.thinking = "", ""
			s.reply.WriteString(e.Text)
		case Thinking:
			s.thinking += e.Text
		case Doing:
			s.doing = e.What
		case Note:
			s.keep(s.finished()...)
			s.print(s.config.Style.Dim(terminal.Clean(e.Text)))
			s.reply.Reset()
		}
	}
	if msg.err != nil {
		s.keep(s.finished()...)
		s.print(s.failed(msg.err))
		s.reply.Reset()
		s.stopped(msg.err)
		if errors.Is(msg.err, ErrRefused) {
			s.input.precede(s.saying)
		}
	}
	if !msg.over {
		s.keepWhole()
		return msg.next
	}
	s.keep(s.finished()...)
	return s.end()
}

// keepWhole keeps the lines of the reply that are whole. Its last one stays on the screen, with the empty ones around it, and the
// fence of the code that it is in.
func (s *Screen) keepWhole() {
	text := s.reply.String()
	end := strings.LastIndex(strings.TrimRight(text, "\n"), "\n")
	whole := strings.TrimRight(text[:max(end, 0)], "\n")
	if whole == "" {
		return
	}
	s.keep(s.lines(whole)...)
	s.reply.Reset()
	s.reply.WriteString(markdown.Open(whole) + text[len(whole)+1:])
}

func (s *Screen) lines(text string) []string { return markdown.Lines(text, s.width, s.config.Style) }

// finished is what is left of the reply, and the line that parts it from what comes next.
func (s *Screen) finished() []string {
	if strings.TrimSpace(s.reply.String()) == "" {
		return nil
	}
	return append(s.lines(s.reply.String()), "")
}

// said is what the user said, as it is kept.
func (s *Screen) said(text string) string {
	text = strings.ReplaceAll(strings.TrimRight(terminal.Clean(text), "\n"), "\n", "\n  ")
	return s.config.Style.Accent("> " + text)
}

func (s *Screen) failed(err error) string {
	if errors.Is(err, context.Canceled) {
		return s.config.Style.Notice("cancelled; what came is kept")
	}
	return s.config.Style.Alarm("error: ") + line(err)
}
