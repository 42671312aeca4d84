package trace_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/trace"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// clock goes on by a millisecond each time it is looked at.
func clock() func() time.Time {
	now := noon.Add(-time.Millisecond)
	return func() time.Time {
		now = now.Add(time.Millisecond)
		return now
	}
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func TestRecorder(t *testing.T) {
	r := trace.NewRecorder("talk", "turn", clock()) // 0 ms
	r.Begin("complete")                             // 1 ms
	r.Note(trace.Tool, "ls ok")                     // 2 ms
	r.End(errors.New("slow"))                       // 3 ms
	r.Begin("reflect")                              // 4 ms
	r.Begin("select")                               // ends reflect at 5, begins at 6 ms
	first := r.Take("export", "complete")
	want := trace.TurnTrace{
		TurnID: "turn", Session: "talk", ExportID: "export", Status: "complete", Started: noon,
		Spans: []trace.Span{
			{Phase: "complete", Start: ms(1), Length: ms(2), Error: "slow"},
			{Phase: "reflect", Start: ms(4), Length: ms(1)},
		},
		Entries: []trace.Entry{{At: ms(2), Kind: trace.Tool, Phase: "complete", Text: "ls ok"}},
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("first part (-want +got):\n%s", diff)
	}
	r.End(nil)                     // 7 ms
	r.Note(trace.Failure, "after") // 8 ms
	r.End(nil)
	second := r.Take("export", "")
	if len(second.Spans) != 1 || second.Spans[0] != (trace.Span{Phase: "select", Start: ms(6), Length: ms(1)}) || second.Entries[0].Phase != "" {
		t.Errorf("second part %+v", second)
	}
	whole := trace.Join(first, second)
	if len(whole.Spans) != 3 || whole.Status != "complete" || whole.End() != ms(8) {
		t.Errorf("whole %+v, ends at %s", whole, whole.End())
	}
}

// TestPartsAreTakenApart lengthens a part that was taken while the recorder goes on, and the other way round.
func TestPartsAreTakenApart(t *testing.T) {
	r := trace.NewRecorder("talk", "turn", clock())
	record := func(phase string) {
		r.Begin(phase)
		r.Note(trace.Tool, phase)
		r.End(nil)
	}
	record("first")
	first := r.Take("", "")
	record("second")
	longer := trace.TurnTrace{
		Spans:   append(first.Spans, trace.Span{Phase: "of another"}),
		Entries: append(first.Entries, trace.Entry{Text: "of another"}),
	}
	record("third")
	second := r.Take("", "")
	for _, part := range []struct {
		trace.TurnTrace
		want []string
	}{{first, []string{"first"}}, {longer, []string{"first", "of another"}}, {second, []string{"second", "third"}}} {
		var phases, texts []string
		for _, s := range part.Spans {
			phases = append(phases, s.Phase)
		}
		for _, e := range part.Entries {
			texts = append(texts, e.Text)
		}
		if !slices.Equal(phases, part.want) || !slices.Equal(texts, part.want) {
			t.Errorf("phases %q and entries %q, want %q", phases, texts, part.want)
		}
	}
}

func TestLongTextsAreCutAtACharacter(t *testing.T) {
	r := trace.NewRecorder("talk", "turn", clock())
	r.Note(trace.Failure, strings.Repeat("日", trace.MaxText))
	text := r.Take("", "").Entries[0].Text
	if len(text) > trace.MaxText || !utf8.ValidString(text) || !strings.HasSuffix(text, "…") {
		t.Errorf("%d bytes, ends %q", len(text), text[len(text)-6:])
	}
}

func TestJoinLaysPartsOnOneClock(t *testing.T) {
	begun := trace.TurnTrace{TurnID: "turn", Session: "talk", Status: "complete", Started: noon, Spans: []trace.Span{{Phase: "complete"}}}
	later := trace.TurnTrace{TurnID: "turn", Session: "talk", Started: noon.Add(time.Second), Entries: []trace.Entry{{At: ms(5), Kind: trace.Delivered, Text: "ok"}}}
	want := trace.TurnTrace{
		TurnID: "turn", Session: "talk", Status: "complete", Started: noon,
		Spans: []trace.Span{{Phase: "complete"}}, Entries: []trace.Entry{{At: ms(1005), Kind: trace.Delivered, Text: "ok"}},
	}
	for _, parts := range [][]trace.TurnTrace{{begun, later}, {later, begun}} {
		if diff := cmp.Diff(want, trace.Join(parts...)); diff != "" {
			t.Errorf("joined (-want +got):\n%s", diff)
		}
	}
	if later.Entries[0].At != ms(5) {
		t.Error("a part was changed")
	}
}

// What an exchange came to that was tried again is not what its first try came to, however late the end of that was stored.
func TestJoinTellsOfTheLastTry(t *testing.T) {
	part := func(export, status string, after time.Duration) trace.TurnTrace {
		return trace.TurnTrace{TurnID: "turn", ExportID: export, Status: status, Started: noon.Add(after)}
	}
	first, end, again := part("b", "failed", 0), part("b", "failed", ms(9)), part("a", "complete", ms(5))
	for _, parts := range [][]trace.TurnTrace{{first, end, again}, {first, again, end}, {again, first, end}, {end, again, first}} {
		if whole := trace.Join(parts...); whole.ExportID != "a" || whole.Status != "complete" {
			t.Errorf("%+v", whole)
		}
	}
}

func TestJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 20, 60)
		micros := rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "micros")) * time.Microsecond
		})
		want := trace.TurnTrace{
			TurnID: text.Draw(t, "turn"), Session: text.Draw(t, "session"), ExportID: text.Draw(t, "export"), Status: text.Draw(t, "status"), Started: noon.Add(micros.Draw(t, "started")),
			Spans: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) trace.Span {
				return trace.Span{Phase: text.Draw(t, "phase"), Start: micros.Draw(t, "start"), Length: micros.Draw(t, "length"), Error: text.Draw(t, "error")}
			}), 1, 4).Draw(t, "spans"),
			Entries: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) trace.Entry {
				return trace.Entry{At: micros.Draw(t, "at"), Kind: trace.Decision, Phase: text.Draw(t, "phase"), Text: text.Draw(t, "text")}
			}), 1, 4).Draw(t, "entries"),
			Elsewhere: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) trace.Exchange {
				return trace.Exchange{Session: text.Draw(t, "session"), ExportID: text.Draw(t, "export")}
			}), 1, 3).Draw(t, "elsewhere"),
		}
		body := string(want.AppendJSON(nil))
		got, err := trace.Decode(body)
		if err != nil || strings.ContainsAny(body, "\r\n") {
			t.Fatalf("%v: %s", err, body)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
	if _, err := trace.Decode(`{"started":`); err == nil {
		t.Error("half a trace was read")
	}
	if _, err := trace.Decode(`{"started":"2026-03-01T12:00:00Z","added_later":1}`); err != nil {
		t.Errorf("a field of a later version: %v", err)
	}
}

func TestRender(t *testing.T) {
	tr := trace.TurnTrace{
		TurnID: "TURN", Session: "talk", ExportID: "EXPORT", Status: "complete", Started: noon,
		Spans: []trace.Span{
			{Phase: "complete", Start: 0, Length: ms(1)},
			{Phase: "persist", Start: ms(1), Length: ms(3), Error: "memory was put off"},
			{Phase: "notify", Start: ms(4), Length: 0},
		},
		Entries:   []trace.Entry{{At: ms(2), Kind: trace.Policy, Phase: "select", Text: "1 of 2\ncandidates kept"}},
		Elsewhere: []trace.Exchange{{Session: "fork", ExportID: "OTHER"}},
	}
	want := `turn TURN  session talk  complete
began 2026-03-01 12:00:00.000  export EXPORT
the turn opened an exchange elsewhere too: session fork  export OTHER

phase         at ms  took ms
complete      0.000    1.000  #######
persist       1.000    3.000         #######################
           memory was put off
notify        4.000    0.000                               #

   2.000  policy          1 of 2 candidates kept
`
	if diff := cmp.Diff(want, trace.Render(tr, trace.Style{Width: 10, ASCII: true})); diff != "" {
		t.Errorf("drawn (-want +got):\n%s", diff)
	}
	if drawn := trace.Render(tr, trace.Style{Width: 100}); !strings.Contains(drawn, "█") || strings.Contains(drawn, "#") {
		t.Errorf("drawn with blocks:\n%s", drawn)
	}
	if drawn := trace.Render(trace.TurnTrace{TurnID: "TURN"}, trace.Style{}); !strings.HasPrefix(drawn, "turn TURN") {
		t.Errorf("an empty trace:\n%s", drawn)
	}
}

// TestRenderOfOddTimes: clocks go back, and traces come from files.
func TestRenderOfOddTimes(t *testing.T) {
	const far = 200 * 365 * 24 * time.Hour
	odd := trace.TurnTrace{Spans: []trace.Span{
		{Phase: "a", Start: -time.Hour, Length: time.Second}, {Phase: "b", Start: time.Second, Length: -time.Hour},
		{Phase: "c", Start: time.Second, Length: time.Second}, {Phase: "d", Start: far, Length: time.Second}, {Phase: "e", Start: -far, Length: far},
	}}
	for _, trace := range []trace.TurnTrace{odd, {Spans: odd.Spans[:3]}} {
		for line := range strings.Lines(render(trace)) {
			if utf8.RuneCountInString(line) > 100 { // the numbers are that wide
				t.Errorf("%q is longer than a line", line)
			}
		}
	}
}

func render(t trace.TurnTrace) string { return trace.Render(t, trace.Style{Width: 80}) }
