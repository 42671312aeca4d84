package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/turn"
)

// endless repeats a text for ever. A long text is faster to read.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		c := copy(p[n:], e.text[e.at:])
		n, e.at = n+c, (e.at+c)%len(e.text)
	}
	return n, nil
}

// allocated returns how many bytes f allocates, freed ones included.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// squeezed compresses what a reader gives.
func squeezed(t testing.TB, r io.Reader, options ...zstd.EOption) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out, options...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(z, r); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestEndlessLinesAreRefused(t *testing.T) {
	head, _, _ := bytes.Cut(golden(t, "v1-trip.bundle"), []byte("\n"))
	manifest := string(head) + "\n"
	for _, tt := range []struct {
		name  string
		begin string
		fill  string
		pack  bool
		line  int
	}{
		{"manifest", `{"turnstone_bundle":1,"x":"`, "x", false, 1},
		{"turn", manifest + `{"turn":{"turn_id":"`, "x", true, 2},
		{"blob", manifest + `{"blob":{"data":"`, "AAAA", false, 2},
		{"brackets", manifest + `{"turn":`, "[", false, 2},
		{"nothing at all", "", "\x00", true, 1},
	} {
		bomb := io.MultiReader(strings.NewReader(tt.begin), io.LimitReader(&endless{text: strings.Repeat(tt.fill, 1<<14)}, 100<<20))
		if tt.pack {
			packed := squeezed(t, bomb)
			if len(packed) > 64<<10 {
				t.Fatalf("%s: a bomb of %d bytes", tt.name, len(packed))
			}
			bomb = bytes.NewReader(packed)
		}
		var err error
		used := allocated(func() { _, err = replay.Verify(t.Context(), bomb, replay.VerifyOptions{}) })
		if want := fmt.Sprintf("line %d: is longer than %d bytes", tt.line, 64<<20); !errors.Is(err, replay.ErrDamaged) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", tt.name, err, want)
		}
		// A buffer that doubles allocates twice its last size on the way.
		if used > 160<<20 {
			t.Errorf("%s: %d MiB allocated", tt.name, used>>20)
		}
	}
}

func TestManyShortLinesNeedLittleMemory(t *testing.T) {
	head, _, _ := bytes.Cut(golden(t, "v1-trip.bundle"), []byte("\n"))
	for _, line := range []string{"\n", "{}\n", `{"bookmark":{"name":"a","seq":1,"at":"2026-11-14T09:30:12.000250Z"}}` + "\n"} {
		r := io.MultiReader(strings.NewReader(string(head)+"\n"), io.LimitReader(&endless{text: line}, 1<<30))
		used := allocated(func() {
			if _, err := replay.Verify(t.Context(), r, replay.VerifyOptions{}); !errors.Is(err, replay.ErrDamaged) {
				t.Errorf("%q: %v", line, err)
			}
		})
		if used > 1<<20 {
			t.Errorf("%q: %d bytes allocated", line, used)
		}
	}
}

func TestLargeWindowsAreRefused(t *testing.T) {
	// A window is only as large as it says where the content does not fit a smaller one.
	bomb := squeezed(t, io.LimitReader(&endless{text: "x"}, 1<<20), zstd.WithWindowSize(64<<20))
	var err error
	used := allocated(func() { _, err = replay.Verify(t.Context(), bytes.NewReader(bomb), replay.VerifyOptions{}) })
	if !errors.Is(err, replay.ErrDamaged) || !strings.Contains(err.Error(), "unpacking needs more than 32 MiB") {
		t.Errorf("got %v", err)
	}
	if used > 8<<20 {
		t.Errorf("%d MiB allocated", used>>20)
	}
}

func TestBundlesPackedByOthersAreRead(t *testing.T) {
	plain := golden(t, "v1-trip.bundle")
	for _, level := range []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedBestCompression} {
		if _, err := verify(squeezed(t, bytes.NewReader(plain), zstd.WithEncoderLevel(level), zstd.WithWindowSize(32<<20))); err != nil {
			t.Errorf("level %v: %v", level, err)
		}
	}
	half := len(plain) / 2
	if _, err := verify(append(pack(t, plain[:half]), pack(t, plain[half:])...)); err != nil {
		t.Errorf("two frames: %v", err)
	}
}

func TestLargeTurnsAndBlobsPass(t *testing.T) {
	w := newWorld(t, t.Context())
	k := w.create("large")
	w.say(k,
		text(turn.User, strings.Repeat("four", 1<<20)),
		turn.Draft{Role: turn.User, Content: turn.Image{MediaType: "image/png", Blob: turn.Blob{Data: bytes.Repeat([]byte{0xfb, 0xff}, 10<<20)}}},
		// Every byte of the text takes seven in the line: escaped in JSON that is escaped in JSON.
		turn.Draft{Role: turn.Agent, Content: turn.Text{
			Text: strings.Repeat("\x01", 64<<10), ToolCalls: []turn.ToolCall{call("c", "look", "[\n]")},
		}})
	file, _ := w.bundle(k, replay.WriteOptions{Compress: true})
	here := newWorld(t, t.Context())
	here.imported(file, replay.ImportOptions{})
	if !bytes.Equal(records(here.plain(k)), records(w.plain(k))) {
		t.Error("imported otherwise than written")
	}
}

func TestRaisedLimitsRaiseTheLineLimit(t *testing.T) {
	head, _, _ := bytes.Cut(golden(t, "v1-trip.bundle"), []byte("\n"))
	for _, limits := range []turn.Limits{{Text: 9 << 20}, {Blob: 36 << 20}} {
		r := io.MultiReader(strings.NewReader(string(head)+"\n"), io.LimitReader(&endless{text: strings.Repeat("[", 1<<14)}, 1<<30))
		_, err := replay.Verify(t.Context(), r, replay.VerifyOptions{Limits: limits})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("line 2: is longer than %d bytes", 72<<20)) {
			t.Errorf("%+v: %v", limits, err)
		}
	}
}

func TestTooManyOpenCallsAreRefused(t *testing.T) {
	manifest := `{"turnstone_bundle":1,"created_at":"2026-11-14T09:30:18.000250Z","session":{"session_id":"s","tenant":"t","status":"active",` +
		`"created_at":"2026-11-14T09:30:01.000250Z","last_activity":"2026-11-14T09:30:17.000250Z","head":1000}}` + "\n"
	var file strings.Builder
	file.WriteString(manifest)
	for n := range 300 {
		fmt.Fprintf(&file, `{"turn":{"turn_id":"0100000000000000000000%04d","seq":%d,"role":"agent","form":"text","content":{"text":"","tool_calls":[`, n, n+1)
		for c := range 256 {
			fmt.Fprintf(&file, `%s{"id":"%d-%d","name":"f","arguments":1}`, strings.Repeat(",", min(c, 1)), n, c)
		}
		fmt.Fprintf(&file, `]},"created_at":"2026-11-14T09:30:02.000250Z","unit":%d}}`+"\n", n+1)
	}
	_, err := verify([]byte(file.String()))
	if !errors.Is(err, replay.ErrDamaged) || !strings.Contains(err.Error(), "line 258: turn 257: content.tool_calls: more than 65536 calls wait for a result") {
		t.Errorf("got %v", err)
	}
}
