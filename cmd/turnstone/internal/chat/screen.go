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
	// Print keeps lines above the screen. Defaults to tea.Println.
	Print func(text string) tea.Cmd
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

	// every sends a message after a while.
	every func(work int) tea.Cmd
}

// pace is how often what is being waited for is drawn.
const pace = 200 * time.Millisecond

// The size of a terminal that does not say it.
const usualWidth, usualHeight = 80, 24

// NewScreen makes a screen. When ctx ends, so does all that it waits for.
func NewScreen(ctx context.Context, c Config) *Screen {
	if c.Print == nil {
		c.Print = lineByLine
	}
	s := &Screen{config: c, ctx: ctx, width: usualWidth, height: usualHeight, past: newPast(c.Past), every: func(work int) tea.Cmd {
		return tea.Tick(pace, func(time.Time) tea.Msg { return tickMsg{work} })
	}}
	s.takeAhead(c.Ahead)
	return s
}

// lineByLine prints above the screen, a line at a time: Bubble Tea loses the screen when what is printed at once and the
// screen together are taller than the terminal. The screen itself always leaves a line.
func lineByLine(text string) tea.Cmd {
	var lines []tea.Cmd
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" {
			line = " " // nothing is what Bubble Tea prints of nothing
		}
		lines = append(lines, tea.Println(line))
	}
	return tea.Sequence(lines...)
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
	begin := []tea.Cmd{s.print(terminal.Clean(s.config.Greeting)), s.askStatus(), s.awaitQuestion(), s.awaitNote()}
	if len(s.ahead) > 0 {
		// Not before the first frame: see Run.
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
		if msg.err != nil {
			s.notice = line(msg.err)
			return s, nil
		}
		s.status = msg.status
	case questionMsg:
		q := Question(msg)
		s.question = &q
		// What the model said before it asks stands before the question.
		said := s.print(s.finished())
		s.reply.Reset()
		return s, tea.Sequence(said, s.print("? "+terminal.Clean(q.Text)))
	case noteMsg:
		return s, tea.Batch(s.print(s.config.Style.Dim(terminal.Clean(string(msg)))), s.askStatus(), s.awaitNote())
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

// print keeps a text above the screen, in lines that fit it.
func (s *Screen) print(text string) tea.Cmd {
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if lipgloss.Width(l) > s.width {
			lines[i] = lipgloss.Wrap(l, s.width-1, "")
		}
	}
	return s.config.Print(strings.Join(lines, "\n"))
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
