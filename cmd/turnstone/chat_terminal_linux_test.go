package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// typist is somebody at a terminal who reads before he types.
type typist struct {
	t       *testing.T
	control *os.File
	cmd     *exec.Cmd
	seen    bytes.Buffer
	read    int // of seen: what was waited for already
}

// sitDown runs the command on a terminal of its own.
func sitDown(t *testing.T, dir, term string, args ...string) *typist {
	t.Helper()
	return sitDownAt(t, unix.Winsize{Row: 30, Col: 110}, dir, term, args...)
}

func sitDownAt(t *testing.T, size unix.Winsize, dir, term string, args ...string) *typist {
	t.Helper()
	return sitDownTyping(t, "", size, dir, term, args...)
}

// sitDownTyping is sitDownAt where something is typed before the command runs.
func sitDownTyping(t *testing.T, keys string, size unix.Winsize, dir, term string, args ...string) *typist {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { control.Close() })
	fd := int(control.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &size); err != nil {
		t.Fatal(err)
	}
	// Its descriptor was asked for, which makes reads wait for ever unless that is taken back.
	if err := unix.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := control.WriteString(keys); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("turnstone", args...)
	cmd.Dir = dir
	cmd.Env = ownHome(t, "TERM="+term, "NO_COLOR=1", "TZ=UTC", "XDG_CONFIG_HOME="+dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := screen.Close(); err != nil {
		t.Fatal(err)
	}
	return &typist{t: t, control: control, cmd: cmd}
}

var escapes = regexp.MustCompile(`\x1b\[[0-9;?<>=u]*[ -/]*[@-~]|\x1b[]P][^\x07\x1b]*(\x07|\x1b\\)|\x1b[=>]`)

// sees waits until the terminal shows something that it did not show before: all of the texts, in whichever order.
func (p *typist) sees(texts ...string) {
	p.t.Helper()
	if err := p.control.SetReadDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		p.t.Fatal(err)
	}
	buf := make([]byte, 4096)
	for {
		shown := escapes.ReplaceAllString(p.seen.String(), "")
		if end, all := behind(shown[min(p.read, len(shown)):], texts); all {
			p.read += end
			return
		}
		n, err := p.control.Read(buf)
		p.seen.Write(buf[:n])
		if err != nil {
			p.gone()
			p.t.Fatalf("%q is not shown: %v\n%s", texts, err, shown)
		}
	}
}

// behind is where the last of the texts ends, if all are there.
func behind(shown string, texts []string) (end int, all bool) {
	for _, text := range texts {
		i := strings.Index(shown, text)
		if i < 0 {
			return 0, false
		}
		end = max(end, i+len(text))
	}
	return end, true
}

func (p *typist) types(keys string) {
	p.t.Helper()
	if _, err := p.control.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// gone ends the command where it did not end by itself: what it talks to waits for it.
func (p *typist) gone() {
	if err := p.cmd.Process.Kill(); err != nil {
		p.t.Log(err)
	}
}

// leaves ends the input, and waits for the command to end well.
func (p *typist) leaves() {
	p.t.Helper()
	p.types("\x04")
	for { // the end of the last program on a terminal reads as an error
		if _, err := p.control.Read(make([]byte, 4096)); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				p.gone()
			}
			break
		}
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("it ended with %v:\n%s", err, p.seen.String())
	}
}

// Where no screen can be drawn, each line is a message.
func TestChatOnADumbTerminal(t *testing.T) {
	for _, term := range []string{"dumb", ""} {
		server := httptest.NewServer((&talker{replies: []string{"Good day.", "Still here."}}).handler())
		t.Cleanup(server.Close)
		dir := t.TempDir()
		p := sitDown(t, dir, term, "--store", filepath.Join(dir, "store.db"), "chat", "--url", server.URL, "--model", "small")
		p.types("Hello\n")
		p.sees("Good day.")
		p.sees("Context: ")
		p.types("And now?\n")
		p.sees("Still here.")
		p.sees("Context: ")
		p.leaves()
		if strings.Contains(p.seen.String(), "\x1b") {
			t.Errorf("TERM=%s: it has escapes: %q", term, p.seen.String())
		}
	}
}

// What ends a chat from outside keeps what had come.
func TestChatThatIsEndedFromOutside(t *testing.T) {
	server := httptest.NewServer((&talker{replies: []string{"Half a\n!hang\n"}}).handler())
	t.Cleanup(server.Close)
	dir := t.TempDir()
	store := filepath.Join(dir, "store.db")
	p := sitDown(t, dir, "xterm-256color", "--store", store, "chat", "--session", "work", "--url", server.URL, "--model", "small")
	p.sees("Context: ")
	p.types("Which port?\r")
	p.sees("Half a")
	if err := p.cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.sees("turnstone: interrupted; what was said is kept, and what had come of a reply")
	var exit *exec.ExitError
	if err := p.cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Errorf("it ended with %v", err)
	}
	if kept := mustRun(t, store, "history", "--session", "work"); !strings.Contains(kept, "Which port?") || !strings.Contains(kept, "Half a") {
		t.Errorf("kept: %s", kept)
	}
}

func TestChatOnATerminal(t *testing.T) {
	talk := &talker{replies: []string{
		"The port is **5433**.", "Half a\n!hang\n", "!call write_file {\"path\":\"made.txt\",\"text\":\"by the model\"}\n", "It is written.",
	}}
	server := httptest.NewServer(talk.handler())
	t.Cleanup(server.Close)
	dir := t.TempDir()
	store := filepath.Join(dir, "store.db")
	p := sitDown(t, dir, "xterm-256color", "--store", store, "chat", "--session", "work", "--url", server.URL, "--model", "small", "--files")
	p.sees("Session work, 0 turns, with small.")
	p.sees("Context: ")
	p.types("Which port?\r")
	p.sees("> Which port?")
	p.sees("The port is **5433**.")
	p.types("Go on\r")
	p.sees("Half a")
	p.types("\x03")
	p.sees("cancelled; what came is kept")
	p.types("Write it\r")
	p.sees(`The model wants to call write_file with {"path":"made.txt","text":"by the model"}`)
	p.types("y\r")
	p.sees("allowed", "[write_file] ok", "It is written.") // the answer is noted beside the work that it allows
	p.types("/mode debugger\r")
	p.sees("mode: debugger")
	p.leaves()
	if made, err := os.ReadFile(filepath.Join(dir, "made.txt")); err != nil || string(made) != "by the model" {
		t.Errorf("made.txt holds %q, %v", made, err)
	}
	history := mustRun(t, store, "history", "--session", "work", "--turns", "20")
	for _, want := range []string{"The port is **5433**.", "Half a", "It is written."} {
		if !strings.Contains(history, want) {
			t.Errorf("the history does not hold %q:\n%s", want, history)
		}
	}
}

// The terminal is not the screen's own until it stands, and makes ends of lines of Enter that the screen does not get to see as keys.
func TestWhatIsTypedBeforeTheScreenStandsIsSent(t *testing.T) {
	server := httptest.NewServer((&talker{replies: []string{"Good day.", "Still here.", "Two lines.", "The last one."}}).handler())
	t.Cleanup(server.Close)
	dir := t.TempDir()
	store := filepath.Join(dir, "store.db")
	// The second to last is no end of a message, and the last has none yet.
	p := sitDownTyping(t, "Helo\x7flo\r\r/mode debugger\rAnd now?\rOne\\\rtwo\rThe e", unix.Winsize{Row: 30, Col: 110}, dir, "xterm-256color",
		"--store", store, "chat", "--session", "work", "--url", server.URL, "--model", "small")
	p.sees("> Hello", "Good day.")
	p.sees("> /mode debugger", "mode: debugger")
	p.sees("> And now?", "Still here.")
	p.sees("> One", "two", "Two lines.")
	p.types("nd\r")
	p.sees("> The end", "The last one.")
	p.leaves()
	if left, err := unix.IoctlGetTermios(int(p.control.Fd()), unix.TCGETS); err != nil || left.Iflag&unix.ICRNL == 0 || left.Lflag&unix.ICANON == 0 {
		t.Errorf("the terminal is left as %+v, %v: Enter ends no line on it any more", left, err)
	}
	history := mustRun(t, store, "history", "--session", "work", "--turns", "20")
	for _, want := range []string{"user    Hello\n", "user    And now?\n", "user    One\n", "user    The end\n"} {
		if !strings.Contains(history, want) {
			t.Errorf("the history does not hold %q:\n%s", want, history)
		}
	}
}

// What is sent while a reply comes is not lost with it.
func TestWhatIsTypedDuringAReplyThatIsCancelledComesBack(t *testing.T) {
	server := httptest.NewServer((&talker{replies: []string{"Half a\n!hang\n", "Both of them."}}).handler())
	t.Cleanup(server.Close)
	dir := t.TempDir()
	store := filepath.Join(dir, "store.db")
	p := sitDown(t, dir, "xterm-256color", "--store", store, "chat", "--session", "work", "--url", server.URL, "--model", "small")
	p.sees("Context: ")
	p.types("Go on\r")
	p.sees("Half a")
	p.types("two\rthree\r\x03")
	p.sees("cancelled; what came is kept")
	p.types("\r")
	p.sees("Both of them.")
	p.leaves()
	if kept := mustRun(t, store, "history", "--session", "work", "--json"); !strings.Contains(kept, `"two\nthree"`) {
		t.Errorf("what waited was not brought back and sent: %s", kept)
	}
}

// A serial line and some tools that run programs on a terminal of their own say nothing of its size.
func TestChatOnATerminalWithoutASize(t *testing.T) {
	server := httptest.NewServer((&talker{replies: []string{"Good day."}}).handler())
	t.Cleanup(server.Close)
	dir := t.TempDir()
	p := sitDownAt(t, unix.Winsize{}, dir, "xterm-256color", "--store", filepath.Join(dir, "store.db"), "chat", "--session", "work", "--url", server.URL, "--model", "small")
	p.sees(strings.Repeat("-", 80))
	p.sees("Context: ")
	p.types("Hello\r")
	p.sees("> Hello", "Good day.")
	p.leaves()
}

var upwards = regexp.MustCompile(`\x1b\[(\d+)A`)

// What is as tall as the terminal must not be printed at once: the cursor would be sent above its top, stay there, and
// everything after that be drawn in the wrong place. Nothing that commands show is wider than 80 columns either.
func TestTallOutputOnASmallTerminal(t *testing.T) {
	server := httptest.NewServer((&talker{replies: []string{strings.Repeat("- a line\n", 40) + "The end."}}).handler())
	t.Cleanup(server.Close)
	dir := t.TempDir()
	size := unix.Winsize{Row: 18, Col: 80}
	p := sitDownAt(t, size, dir, "xterm-256color", "--store", filepath.Join(dir, "store.db"), "chat", "--session", "work", "--url", server.URL, "--model", "small")
	p.sees("Context: ")
	p.types("/help\r")
	p.sees("/quit")
	p.types("/snapshot\r")
	p.sees("took a snapshot")
	p.types("/restore\r")
	p.sees("AFTER TURN  TAKEN")
	p.types("/why\r")
	p.sees("turns are shown")
	p.types("/goal\r")
	p.sees("no goal; begin one")
	p.types("Tell me\r")
	p.sees("The end.")
	p.leaves()
	for _, up := range upwards.FindAllStringSubmatch(p.seen.String(), -1) {
		if n, err := strconv.Atoi(up[1]); err != nil || n >= int(size.Row) {
			t.Errorf("the cursor goes up %s lines of %d", up[1], size.Row)
		}
	}
}

// Who comes back sees what was said last, and that its reply is not whole.
func TestComingBack(t *testing.T) {
	talk := &talker{replies: []string{"Half a\n!die\n", "Whole."}}
	server := httptest.NewServer(talk.handler())
	t.Cleanup(server.Close)
	dir := t.TempDir()
	store := filepath.Join(dir, "store.db")
	args := []string{"--store", store, "chat", "--session", "work", "--url", server.URL, "--model", "small"}
	p := sitDown(t, dir, "xterm-256color", args...)
	p.sees("Context: ")
	p.types("Which port?\r")
	p.sees("interrupted")
	p.leaves()
	p = sitDown(t, dir, "xterm-256color", args...)
	p.sees("   1  user    Which port?")
	p.sees("   2  agent   (interrupted) Half a")
	p.sees("The last reply was interrupted; what had come of it is kept.")
	p.sees("Context: ") // before that the terminal is not its own
	p.types("Again\r")
	p.sees("Whole.")
	p.leaves()
	mustRun(t, store, "append", "--session", "work", "--role", "user", "--text", "And now?")
	p = sitDown(t, dir, "xterm-256color", args...)
	p.sees("And now?")
	p.sees("This last message has no reply")
	p.sees("Session work, 5 turns, with small.") // without the two summaries
	p.sees("Context: ")
	p.leaves()
}

// until reads on until the display is as it is meant to be.
func (p *typist) until(d *display, meant string, is func() bool) {
	p.t.Helper()
	if err := p.control.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		p.t.Fatal(err)
	}
	for buf := make([]byte, 4096); ; {
		if len(d.rest) == 0 && is() {
			return
		}
		n, err := p.control.Read(buf)
		d.feed(buf[:n])
		if err != nil {
			p.gone()
			p.t.Fatalf("%s: %v\n%s", meant, err, strings.Join(d.lines(), "\n"))
		}
	}
}

// inputAtTheEnd reports whether the rule, an input of nothing, and the status are the last lines of the terminal.
func (d *display) inputAtTheEnd() bool { return d.inputStands() && d.shown()[d.height-1] != "" }

// inputStands reports whether they are the last lines shown.
func (d *display) inputStands() bool {
	shown := d.shown()
	last := len(shown) - 1
	for last > 0 && shown[last] == "" {
		last--
	}
	return last >= 2 && isRule(shown[last-2]) && shown[last-1] == ">" && strings.HasPrefix(shown[last], "Context: ")
}

func isRule(line string) bool { return line != "" && strings.Trim(line, "-") == "" }

// countLines is how many lines of all that a display showed are so.
func (d *display) countLines(is func(string) bool) (n int) {
	for _, line := range d.lines() {
		if is(line) {
			n++
		}
	}
	return n
}

// pacedReply is a server of models whose reply has a line for each number that it is sent.
func pacedReply(t *testing.T) (server *httptest.Server, lines chan<- int) {
	numbers := make(chan int)
	mux := http.NewServeMux()
	mux.Handle("/", (&talker{}).handler())
	mux.HandleFunc("POST /api/chat", func(w http.ResponseWriter, r *http.Request) {
		say := func(message map[string]any, done bool) {
			fmt.Fprintln(w, encoded(map[string]any{"model": "small", "message": message, "done": done}))
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
		}
		for {
			var n int
			select {
			case n = <-numbers:
			case <-r.Context().Done():
				return
			}
			if n == 0 {
				break
			}
			say(map[string]any{"role": "assistant", "content": fmt.Sprintf("- line %02d of the reply is about as long ", n)}, false)
			say(map[string]any{"role": "assistant", "content": fmt.Sprintf("as a sentence would be #%02d\n", n)}, false)
		}
		say(map[string]any{"role": "assistant", "content": ""}, true)
	})
	server = httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server, numbers
}

// sitDownBelow is sitDownAt on a terminal that was used before, with what it shows.
func sitDownBelow(t *testing.T, size unix.Winsize, url string) (*typist, *display) {
	dir := t.TempDir()
	d := newDisplay(int(size.Col), int(size.Row))
	for i := range 40 {
		d.feed(fmt.Appendf(nil, "earlier %d\r\n", i+1))
	}
	p := sitDownAt(t, size, dir, "xterm-256color", "--store", filepath.Join(dir, "store.db"), "chat", "--session", "work", "--url", url, "--model", "small")
	p.until(d, "the screen stands", d.inputAtTheEnd)
	return p, d
}

// What is below the reply stays where it is, while the reply comes and when it is over.
func TestTheInputStaysAtTheEndOfTheTerminal(t *testing.T) {
	server, lines := pacedReply(t)
	p, d := sitDownBelow(t, unix.Winsize{Row: 30, Col: 100}, server.URL)
	p.types("Tell me\r")
	for n := 1; n <= 12; n++ {
		lines <- n
		end := fmt.Sprintf("#%02d", n)
		p.until(d, end, func() bool { return strings.Contains(strings.Join(d.shown(), "\n"), end) && d.inputAtTheEnd() })
	}
	close(lines)
	p.until(d, "the reply is over", func() bool {
		shown := d.shown()
		return strings.HasSuffix(shown[25], "#12") && shown[26] == "" && d.inputAtTheEnd()
	})
	if rules := d.countLines(isRule); rules != 1 {
		t.Errorf("%d rules:\n%s", rules, strings.Join(d.lines(), "\n"))
	}
	p.leaves()
}

// Every line of a reply is printed once, however often the terminal is resized meanwhile, and nothing that was there is lost.
func TestResizingDuringAReply(t *testing.T) {
	server, lines := pacedReply(t)
	p, d := sitDownBelow(t, unix.Winsize{Row: 30, Col: 100}, server.URL)
	p.types("Tell me\r")
	sizes := []unix.Winsize{{Row: 30, Col: 60}, {Row: 30, Col: 100}, {Row: 12, Col: 70}, {Row: 40, Col: 140}, {Row: 20, Col: 41}, {Row: 10, Col: 120}, {Row: 30, Col: 100}}
	const most = 28
	for n := 1; n <= most; n++ {
		lines <- n
		end := fmt.Sprintf("#%02d", n)
		p.until(d, end, func() bool { return strings.Contains(strings.Join(d.shown(), "\n"), end) && d.inputStands() })
		if n%4 == 0 {
			size := sizes[n/4-1]
			d.resize(int(size.Col), int(size.Row))
			if err := errors.Join(unix.IoctlSetWinsize(int(p.control.Fd()), unix.TIOCSWINSZ, &size), unix.SetNonblock(int(p.control.Fd()), true),
				p.cmd.Process.Signal(unix.SIGWINCH)); err != nil {
				t.Fatal(err)
			}
			p.until(d, "it is drawn again", func() bool {
				return d.countLines(isRule) == 1 && d.countLines(func(line string) bool { return line == strings.Repeat("-", d.width) }) == 1 && d.inputStands()
			})
		}
	}
	close(lines)
	p.until(d, "the reply is over", func() bool {
		return d.inputStands() && strings.Contains(strings.Join(d.shown(), "\n"), "\n\n-")
	})
	all := strings.ReplaceAll(strings.Join(d.lines(), ""), " ", "") // words may be broken anywhere
	for n := 1; n <= most; n++ {
		for _, text := range []string{fmt.Sprintf("-line%02dof", n), fmt.Sprintf("#%02d", n)} {
			if count := strings.Count(all, text); count != 1 {
				t.Errorf("%q is there %d times", text, count)
			}
		}
	}
	for n := 1; n <= 40; n++ {
		if !slices.Contains(d.lines(), fmt.Sprintf("earlier %d", n)) {
			t.Errorf("earlier %d is lost", n)
		}
	}
	if t.Failed() {
		t.Log(strings.Join(d.lines(), "\n"))
	}
	p.leaves()
}

// A draft that is taken back leaves nothing.
func TestAClearedDraftLeavesNoRule(t *testing.T) {
	server := httptest.NewServer((&talker{}).handler())
	t.Cleanup(server.Close)
	p, d := sitDownBelow(t, unix.Winsize{Row: 30, Col: 100}, server.URL)
	p.types("one\x1b\rtwo\x1b\rthree")
	p.until(d, "the draft is written", func() bool {
		return strings.Contains(strings.Join(d.shown(), "\n"), "> one\n  two\n  three\nContext: ")
	})
	p.types("\x03")
	p.until(d, "the draft is gone", func() bool {
		shown := strings.Join(d.shown(), "\n")
		return strings.Contains(shown, "-\n>\nContext: ") && !strings.Contains(shown, "three")
	})
	if rules := d.countLines(isRule); rules != 1 {
		t.Errorf("%d rules:\n%s", rules, strings.Join(d.lines(), "\n"))
	}
	p.leaves()
}
