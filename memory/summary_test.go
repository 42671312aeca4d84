package memory_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/memory"
)

func TestSummarise(t *testing.T) {
	tests := []struct {
		name string
		turn memory.Turn
		want string
	}{
		{"an exchange", memory.Turn{
			Input: "Move the sessions table to the new schema. Take your time.",
			Reply: "Done.\nAll 14 columns of the sessions table are there. Anything else?",
			Tools: []memory.ToolRun{{Name: "migrate"}, {Name: "check"}, {Name: "migrate"}},
		}, "User: Move the sessions table to the new schema. Agent: Done. All 14 columns of the sessions table are there. Ran: migrate, check\n" +
			"Topics: sessions, table, schema, time, columns"},
		{"failures", memory.Turn{
			Input: "Deploy", Tools: []memory.ToolRun{{Name: "build"}, {Name: "deploy", Error: "permission denied\nstack trace"}},
			Errors: []string{"the budget is spent"},
		}, "User: Deploy Failed: deploy: permission denied stack trace (and 1 more) Ran: build\nTopics: Deploy"},
		{"decisions", memory.Turn{
			Input:     "Let's use PostgreSQL for this. Have we decided on a host?",
			Reply:     "We have not decided on one. Agreed: PostgreSQL it is!  We decided not to shard.",
			Decisions: []string{"Keep the  API\nstable"},
		}, "User: Let's use PostgreSQL for this. Agent: We have not decided on one.\n" +
			"Topics: PostgreSQL, host, shard\n" +
			"Decided: Keep the API stable\nDecided: Let's use PostgreSQL for this.\nDecided: Agreed: PostgreSQL it is!\nDecided: We decided not to shard."},
		{"numbers", memory.Turn{Input: "Order 4711 of 2026-01-27 and 20_000 of x86_64 for room-101"},
			"User: Order 4711 of 2026-01-27 and 20_000 of x86_64 for room-101\nTopics: Order, x86_64, room-101"},
		{"parts of words", memory.Turn{Input: "I am undecided on the colour. The committee disagreed but we agreed to wait."},
			"User: I am undecided on the colour.\nTopics: undecided, colour, committee, disagreed, wait\n" +
				"Decided: The committee disagreed but we agreed to wait."},
		{"nothing", memory.Turn{}, "Nothing was said."},
		{"only space", memory.Turn{Input: " \n\t", Reply: "\x00"}, "Nothing was said."},
		{"no decisions", memory.Turn{Input: "Agreed.", Reply: "If we agreed on it, fine. They never decided anything."},
			"User: Agreed. Agent: If we agreed on it, fine."},
		{"Chinese", memory.Turn{Input: "我们决定保持接口稳定。客户端不需要升级。"}, "User: 我们决定保持接口稳定。\nTopics: 客户端不需要升级"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, manager.Turn(tt.turn).String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSummaryOfLongTexts(t *testing.T) {
	s := manager.Turn(memory.Turn{
		Input: strings.Repeat("wörter ", 1e5), Reply: strings.Repeat("x", 1e6),
		Tools:     []memory.ToolRun{{Name: strings.Repeat("tool", 100), Error: strings.Repeat("e", 1e5)}},
		Decisions: []string{strings.Repeat("decided on a thing ", 1000)},
	})
	if len(s.Line) > 400 || !strings.Contains(s.Line, "wörter… Agent: x") {
		t.Errorf("%d bytes: %s", len(s.Line), s.Line)
	}
	if d := s.Decided[0]; len(d) > 160 || !strings.HasSuffix(d, "…") {
		t.Errorf("%d bytes: %s", len(d), d)
	}
}

// saying draws what meets in conversations and what breaks lines.
func saying() *rapid.Generator[string] {
	pieces := []string{
		"we decided to", "use", "PostgreSQL", ". ", "? ", "! ", "\n", "\r\n", "Topics: a, b", "Decided: x", "not", ",", " ", "\"", "\\",
		"日本語。", "é", "\u2028", "\u0085", "\x00", "\xff", "agreed", "a-b_c", "1234", strings.Repeat("long ", 100),
	}
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String()), 0, 30).Draw(t, "pieces"), "")
	})
}

func drawTurn(t *rapid.T, seq int64) memory.Turn {
	turn := memory.Turn{
		Seq: seq, TurnID: rapid.SampledFrom([]string{"", itemID, strings.Repeat("i", 128)}).Draw(t, "id"),
		Input: saying().Draw(t, "input"), Reply: saying().Draw(t, "reply"),
		Decisions: rapid.SliceOfN(saying(), 0, 10).Draw(t, "decisions"), Errors: rapid.SliceOfN(saying(), 0, 2).Draw(t, "errors"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "tools") {
		turn.Tools = append(turn.Tools, memory.ToolRun{Name: saying().Draw(t, "name"), Error: saying().Draw(t, "error")})
	}
	return turn
}

func TestSummariesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := manager.Turn(drawTurn(t, 1))
		if len(s.Line) == 0 || len(s.Line) > 400 || len(s.Topics) > 6 || len(s.Decided) > 8 {
			t.Fatalf("out of bounds: %+v", s)
		}
		text := s.String()
		if !utf8.ValidString(text) || strings.ContainsFunc(strings.ReplaceAll(text, "\n", ""), unicode.IsControl) {
			t.Fatalf("%q is no clean text", text)
		}
		if diff := cmp.Diff(s, memory.ParseSummary(text), cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestParseForeignSummary(t *testing.T) {
	got := memory.ParseSummary("The user asked\r\nfor a report.\n\nTopics: report, , report,a\tb\nDecided:\nDecided:  weekly \nDecided: weekly\nDecided: " + "\n")
	want := memory.Summary{Line: "The user asked for a report. Decided:", Topics: []string{"report", "a b"}, Decided: []string{"weekly"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := memory.ParseSummary(""); got.Line == "" {
		t.Error("an empty summary has an empty line")
	}
}
