package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
