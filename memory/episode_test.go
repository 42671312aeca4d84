package memory_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/memory"
)

const itemID = "01JC0000000000000000000001"

func episode() memory.Episode {
	return memory.Episode{
		ID: itemID, Type: memory.ToolResult, Text: "search found 3 pages", Data: `{"n": 3.0,"n":3}`, Importance: .512345,
		Tags: []string{"web", "search"}, Links: memory.Links{Turns: []string{"t1", "t2"}, Items: []string{"m1"}},
		Created: time.Date(2026, 11, 1, 12, 0, 0, 123456000, time.UTC), Expires: time.Date(2026, 12, 1, 12, 0, 0, 123456000, time.UTC),
		Provenance: memory.Provenance{
			ExportID: "e1", TurnID: "t1", Source: memory.FromTool,
			Inputs: memory.Inputs{Goals: .5, User: .25, Confidence: .9, Novelty: 1, Actionability: .1},
			Notes:  []string{"text: cut; it is in the log"},
		},
	}
}

func TestEpisodeJSON(t *testing.T) {
	e := episode()
	const want = `{"id":"01JC0000000000000000000001","type":"tool_execution","text":"search found 3 pages","data":{"n": 3.0,"n":3},` +
		`"importance":0.512345,"tags":["web","search"],"links":{"turns":["t1","t2"],"items":["m1"]},` +
		`"created_at":"2026-11-01T12:00:00.123456Z","expires_at":"2026-12-01T12:00:00.123456Z",` +
		`"provenance":{"export_id":"e1","turn_id":"t1","source":"tool","inputs":{"relevance_to_goals":0.5,"relevance_to_user":0.25,` +
		`"confidence":0.9,"novelty":1,"actionability":0.1},"notes":["text: cut; it is in the log"]}}`
	got := string(e.AppendJSON(nil))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	back, err := memory.DecodeEpisode(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e, back); diff != "" {
		t.Error(diff)
	}
}

func TestEpisodeDataOverSeveralLines(t *testing.T) {
	e := episode()
	e.Data = "{\n  \"a\": [1,\r\n 2]\n}"
	line := string(e.AppendJSON(nil))
	if strings.ContainsAny(line, "\r\n") {
		t.Errorf("not one line: %q", line)
	}
	back, err := memory.DecodeEpisode(line)
	if err != nil || back.Data != e.Data {
		t.Errorf("%q, %v", back.Data, err)
	}
}

func TestEpisodeRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(0, 1_000_000).Draw(t, "millionths")) / 1e6 })
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab \n\"\\\u00e9日🎉\u2028")), 1, 40, -1)
		at := rapid.Custom(func(t *rapid.T) time.Time {
			return time.UnixMicro(rapid.Int64Range(0, 4e15).Draw(t, "micros")).UTC()
		})
		e := episode()
		e.Text, e.Importance, e.Created = text.Draw(t, "text"), unit.Draw(t, "importance"), at.Draw(t, "created")
		e.Expires = rapid.SampledFrom([]time.Time{{}, e.Created.Add(day)}).Draw(t, "expires")
		e.Data = rapid.SampledFrom([]string{"", "null", "1.0", "{\"a\":\n[ ] }", " 1\t", `"\u0000\ud800"`}).Draw(t, "data")
		e.Tags = rapid.SampledFrom([][]string{nil, {"a/b", "ü"}}).Draw(t, "tags")
		e.Provenance.Inputs.Goals = unit.Draw(t, "goals")

		back, err := memory.DecodeEpisode(string(e.AppendJSON(nil)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e, back); diff != "" {
			t.Fatal("JSON", diff)
		}
		owner := memory.Owner{Tenant: "acme", Segment: 7, Session: "s", User: "ada"}
		row := e.Row(owner)
		back, whose, err := memory.FromRow(row)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e, back); diff != "" || whose != owner {
			t.Fatal("row", diff, whose)
		}
		if diff := cmp.Diff(row, back.Row(whose)); diff != "" {
			t.Fatal("row again", diff)
		}
		other := episode()
		other.Tags = nil
		if diff := cmp.Diff([]memory.Row{row, other.Row(owner), row}, memory.RowsOf([]memory.Episode{e, other, e}, owner)); diff != "" {
			t.Fatal("rows of several", diff)
		}
	})
}

func TestEpisodeImportanceIsRounded(t *testing.T) {
	e := episode()
	e.Importance = .1234564999
	if row := e.Row(memory.Owner{}); row.Importance != 123456 {
		t.Errorf("stored as %d", row.Importance)
	}
	back, err := memory.DecodeEpisode(strings.Replace(string(e.AppendJSON(nil)), "0.123456", "0.12345651", 1))
	if err != nil || back.Importance != .123457 {
		t.Errorf("%v, %v", back.Importance, err)
	}
}

func TestDecodeEpisodeRefuses(t *testing.T) {
	whole := episode()
	valid := string(whole.AppendJSON(nil))
	tests := []struct{ name, old, new, field string }{
		{"unknown field", `"type":`, `"kind":`, "kind"},
		{"no id", `"id":"01JC0000000000000000000001",`, ``, "id"},
		{"no type", `"type":"tool_execution",`, ``, "type"},
		{"importance", `0.512345`, `1.5`, "importance"},
		{"importance as text", `0.512345`, `"high"`, "importance"},
		{"time", `2026-11-01T12:00:00.123456Z`, `yesterday`, "created_at"},
		{"no time", `"created_at":"2026-11-01T12:00:00.123456Z",`, ``, "created_at"},
		{"expires", `2026-12-01`, `2026-10-01`, "expires_at"},
		{"tag", `"web"`, `"` + strings.Repeat("x", 65) + `"`, "tags[0]"},
		{"tag's type", `"search"]`, `7]`, "tags[1]"},
		{"empty tag", `"web"`, `" "`, "tags[0]"},
		{"empty link", `"m1"`, `""`, "links.items[0]"},
		{"unknown link", `"items"`, `"goals"`, "links.goals"},
		{"input", `"novelty":1`, `"novelty":1.1`, "provenance.inputs.novelty"},
		{"unknown input", `"novelty":1`, `"news":1`, "provenance.inputs.news"},
		{"unknown provenance", `"export_id"`, `"export"`, "provenance.export"},
		{"long id", `"e1"`, `"` + strings.Repeat("e", 129) + `"`, "provenance.export_id"},
		{"data twice", `"importance"`, `"data_text":"1","importance"`, "data_text"},
		{"data in text", `"data":{"n": 3.0,"n":3}`, `"data_text":"{"`, "data"},
		{"NUL", `3 pages`, `3\u0000pages`, "text"},
		{"NUL note", `text: cut`, `\u0000`, "provenance.notes[0]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			broken := strings.Replace(valid, tt.old, tt.new, 1)
			if broken == valid {
				t.Fatal("nothing was replaced")
			}
			_, err := memory.DecodeEpisode(broken)
			wantField(t, err, tt.field)
		})
	}
	if _, err := memory.DecodeEpisode(valid + "x"); err == nil {
		t.Error("what follows the object is not refused")
	}
}

func TestEpisodeCheckBounds(t *testing.T) {
	e := episode()
	e.Text = strings.Repeat("x", memory.MaxText)
	if err := e.Check(); err != nil {
		t.Errorf("as long as can be: %v", err)
	}
	e.Text += "x"
	wantField(t, e.Check(), "text")
	e = episode()
	e.Data = `"` + strings.Repeat("x", memory.MaxData) + `"`
	wantField(t, e.Check(), "data")
	e = episode()
	e.Text, e.Data = "", ""
	if err := e.Check(); err != nil {
		t.Errorf("an item whose data was left out: %v", err)
	}
	e.Provenance.Notes = nil
	wantField(t, e.Check(), "text")
}

func TestFromRowNamesTheItem(t *testing.T) {
	e := episode()
	row := e.Row(memory.Owner{})
	row.About = `{"tags":["a"],"more":1}`
	_, _, err := memory.FromRow(row)
	wantField(t, err, "about.more")
	if !strings.Contains(err.Error(), itemID) {
		t.Errorf("%q does not name the item", err)
	}
}

// TestDataIsKeptOnce: the result of a tool is the end of the text that is remembered of it.
func TestDataIsKeptOnce(t *testing.T) {
	for _, tt := range []struct{ name, text, data, kept string }{
		{"the end of the text", `lookup: {"open":true}`, `{"open":true}`, ">8"},
		{"all of the text", `{"open":true}`, `{"open":true}`, ">0"},
		{"elsewhere in the text", `{"open":true} it said`, `{"open":true}`, `{"open":true}`},
		{"not in the text", "lookup", `{"open":true}`, `{"open":true}`},
		{"as short as a mark", "the answer: 42", "42", "42"},
		{"none", "lookup: nothing", "", ""},
	} {
		e := episode()
		e.Text, e.Data = tt.text, tt.data
		row := e.Row(memory.Owner{Tenant: "t"})
		if row.Text != tt.text || row.Data != tt.kept {
			t.Errorf("%s: kept as %q, %q", tt.name, row.Text, row.Data)
		}
		if back, _, err := memory.FromRow(row); err != nil || back.Text != tt.text || back.Data != tt.data {
			t.Errorf("%s: read as %q, %q: %v", tt.name, back.Text, back.Data, err)
		}
		recent := new(memory.Recent)
		recent.AddRow(&row)
		if got := score(memory.Candidate{Type: memory.ToolResult, Text: tt.text, Data: tt.data}, &memory.View{Recent: recent}).Novelty; got != 0 {
			t.Errorf("%s: the same again has a novelty of %v", tt.name, got)
		}
	}
	for _, mark := range []string{">", ">x", ">-1", ">99", ">3"} {
		e := episode()
		e.Text, e.Data = "lookup: {}", ""
		row := e.Row(memory.Owner{})
		row.Data = mark
		if _, _, err := memory.FromRow(row); err == nil {
			t.Errorf("%s was read", mark)
		}
	}
}
