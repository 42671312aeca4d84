package chat

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
)

// Config is what a screen shows and whom it asks. Backend must be given.
type Config struct {
	Backend Backend
	// Questions are what a person has to allow. Defaults to none.
	Questions <-chan Question
	// Notes are lines to keep that nobody asked for. Defaults to none.
	Notes <-chan string
	// Past is what the user said earlier, oldest first, to say it again.
	Past []string
	// Ahead are the lines that the user sent before there was a screen. They go one after the other, as soon as it stands.
	Ahead []string
	// Greeting is printed first.
	Greeting string
	// Style defaults to no colours.
	Style terminal.Style
}

// Screen is the screen of a conversation, a tea.Model. It is used by one goroutine.
type Screen struct {
	config        Config
	ctx           context.Context
	width, height int

	input  editor
	past   past
	status Status
	notice string // below the input until a key is pressed

	// Work is what runs: a reply or a command. Its messages carry its number; those of earlier work are dropped.
	work      int
	busy      bool
	ahead     []string // what was sent and waits for its turn
	cancel    context.CancelFunc
	cancelled bool // by the user
	doing     string
	reply     strings.Builder
	thinking  string
	ticks     int
	question  *Question
	// answering is what is typed of the answer.
	answering string
	leaving   bool
	saying    string // what was said last, to say it again if it is refused
	gone      bool   // nothing is shown any more

	kept []string // lines to be printed above the screen

	// every sends a message after a while.
	every func(work int) tea.Cmd
}

// pace is how often what is being waited for is drawn.
const pace = 200 * time.Millisecond

// The size of a terminal that does not say it.
const usualWidth, usualHeight = 80, 24

// NewScreen makes a screen. When ctx ends, so does all that it waits for.
func NewScreen(ctx context.Context, c Config) *Screen {
	s := &Screen{config: c, ctx: ctx, width: usualWidth, height: usualHeight, past: newPast(c.Past), every: func(work int) tea.Cmd {
		return tea.Tick(pace, func(time.Time) tea.Msg { return tickMsg{work} })
	}}
	s.takeAhead(c.Ahead)
	return s
}

// The messages that a screen sends itself.
type (
	statusMsg struct {
		status Status
		err    error
	}
	eventMsg struct {
		work   int
		events []Event
		err    error
		over   bool
		next   tea.Cmd
	}
	commandMsg struct {
		work int
		text string
		err  error
	}
	questionMsg Question
	noteMsg     string
	tickMsg     struct{ work int }
)

// Init implements tea.Model.
func (s *Screen) Init() tea.Cmd {
	s.print(terminal.Clean(s.config.Greeting))
	begin := []tea.Cmd{s.askStatus(), s.awaitQuestion(), s.awaitNote()}
	if len(s.ahead) > 0 {
		begin = append(begin, s.every(s.work))
	}
	return tea.Batch(begin...)
}

// Update implements tea.Model.
func (s *Screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = max(msg.Width, 20), max(msg.Height, 6)
	case tea.PasteMsg:
		s.input.insert(msg.Content)
	case tea.KeyPressMsg:
		return s, s.key(msg)
	case eventMsg:
		return s, s.happened(msg)
	case commandMsg:
		return s, s.commanded(msg)
	case statusMsg:
		s.status = msg.status // also where there are no numbers: those before are not true any more
		if msg.err != nil {
			s.notice = line(msg.err)
		}
	case questionMsg:
		q := Question(msg)
		s.question = &q
		// What the model said before it asks stands before the question.
		s.keep(s.finished()...)
		s.reply.Reset()
		s.print("? " + terminal.Clean(q.Text))
	case noteMsg:
		s.print(s.config.Style.Dim(terminal.Clean(string(msg))))
		return s, tea.Batch(s.askStatus(), s.awaitNote())
	case tickMsg:
		switch {
		case msg.work != s.work:
		case s.busy:
			s.ticks++
			return s, s.every(s.work)
		default:
			return s, s.sendAhead()
		}
	}
	return s, nil
}

// print keeps a text above the screen.
func (s *Screen) print(text string) {
	if text != "" {
		s.keep(strings.Split(text, "\n")...)
	}
}

// keep keeps lines above the screen, broken where they do not fit it.
func (s *Screen) keep(lines ...string) {
	for _, l := range lines {
		if lipgloss.Width(l) > s.width {
			l = lipgloss.Wrap(l, s.width-1, "")
		}
		s.kept = append(s.kept, strings.Split(l, "\n")...)
	}
}

func (s *Screen) askStatus() tea.Cmd {
	return func() tea.Msg {
		status, err := s.config.Backend.Status(s.ctx)
		return statusMsg{status, err}
	}
}

func (s *Screen) awaitQuestion() tea.Cmd {
	if s.config.Questions == nil {
		return nil
	}
	return func() tea.Msg {
		select {
		case q := <-s.config.Questions:
			return questionMsg(q)
		case <-s.ctx.Done():
			return nil
		}
	}
}

func (s *Screen) awaitNote() tea.Cmd {
	if s.config.Notes == nil {
		return nil
	}
	return func() tea.Msg {
		select {
		case n := <-s.config.Notes:
			return noteMsg(n)
		case <-s.ctx.Done():
			return nil
		}
	}
}

// line is an error on one line that cannot move the cursor.
func line(err error) string { return terminal.CleanLine(err.Error()) }
