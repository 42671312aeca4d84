package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/transcript"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/turn"
)

// maxShown is how many characters of a turn a terminal shows.
const maxShown = 2000

// system is what a run of the command sees of the world.
type system struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	getenv func(string) string
}

// app is one run of the command.
type app struct {
	system
	out *bufio.Writer // standard output; flushed when the run ends
	// stored is what was stored, for when it cannot be printed: turn 5 is stored.
	stored string

	// The global flags, as they were given.
	storeFlag, tenantFlag string
	configFlag            string
	followUp              time.Duration // 0 for the default
	json, noColor, quiet  bool

	filed   map[string]string // what the file of settings has in the place of environment variables that are not set
	origins map[string]string // where the file says it, by --flag and variable

	secrets []string // never shown, whatever prints
	ids     *ids.Source
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, sys system) int {
	a := &app{system: sys, out: bufio.NewWriter(output{sys.stdout}), ids: ids.New(nil)}
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(sys.stdin)
	root.SetOut(a.out)
	root.SetErr(sys.stderr)
	err := a.blame(root.ExecuteContext(ctx))
	if flushed := a.out.Flush(); err == nil {
		err = flushed
	}
	if a.stored != "" && as[*outputError](err) {
		err = fmt.Errorf("%s, but %w", a.stored, err)
	}
	return a.conclude(ctx, err)
}

// conclude reports an error and returns the exit code it stands for.
func (a *app) conclude(ctx context.Context, err error) int {
	if err == nil {
		return exitOK
	}
	row := outcomeOf(ctx, err)
	style := terminal.StyleOf(a.stderr, a.plain())
	a.say(style.Alarm("turnstone:") + " " + row.line(err))
	return row.code
}

// note tells people on standard error what happened beside the answer.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		a.say(fmt.Sprintf(format, args...))
	}
}

// say writes one line to standard error, without secrets.
func (a *app) say(line string) {
	if _, err := io.WriteString(a.stderr, a.redact(line)+"\n"); err != nil {
		// There is nowhere left to say it; the exit code still does.
		a.stderr = io.Discard
	}
}

// plain reports whether the user wants no colours.
func (a *app) plain() bool {
	return a.noColor || a.getenv("NO_COLOR") != "" || a.dumb()
}

// dumb reports whether the terminal takes nothing but text. Windows has no name for its own.
func (a *app) dumb() bool {
	term := a.getenv("TERM")
	return term == "dumb" || term == "" && runtime.GOOS != "windows"
}

func (a *app) format() transcript.Format {
	f := transcript.Format{Style: a.style(), Location: time.Local}
	if terminal.Is(a.stdout) {
		f.Most = maxShown
	}
	return f
}

func (a *app) style() terminal.Style { return terminal.StyleOf(a.stdout, a.plain()) }

// bar draws progress on standard error, for people only.
func (a *app) bar(c progress.Config) *progress.Bar {
	if a.quiet || !terminal.Is(a.stderr) {
		return nil
	}
	c.Width = terminal.Width(a.stderr)
	return progress.New(a.stderr, c)
}

// print writes to standard output.
func (a *app) print(text []byte) error {
	_, err := a.out.Write(text)
	return err
}

// printf writes a line to standard output.
func (a *app) printf(format string, args ...any) error {
	return a.print(fmt.Appendf(nil, format+"\n", args...))
}

// printJSON writes one line of JSON. It is for what has no raw values of its own: turns and
// dialogue state have their own encoders, which keep every byte.
func (a *app) printJSON(v any) error {
	line, err := encodeJSON(v)
	if err != nil {
		return err
	}
	return a.print(append(line, '\n'))
}

// encodeJSON is a value as JSON on one line, without an end.
func encodeJSON(v any) ([]byte, error) {
	line, err := strictjson.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("JSON: %w", err)
	}
	return line, nil
}

// printTurns writes turns as a transcript or, with --json, one a line. Those that are not on the path are marked.
func (a *app) printTurns(turns []turn.Turn, path turn.Path) error {
	if !a.json {
		format := a.format()
		format.Off = path.Off
		return a.print(format.Append(nil, turns))
	}
	for i := range turns {
		line := turns[i].AppendJSON(nil)
		if path.Off(turns[i].Seq) {
			line = append(line[:len(line)-1], `,"off_path":true}`...)
		}
		if err := a.print(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// newID makes an id for something that the command line did not name.
func (a *app) newID() string { return a.ids.Next(time.Now()) }

func timeJSON(t time.Time) string { return t.UTC().Format(turn.TimeFormat) }
