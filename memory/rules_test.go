package memory_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/memory"
)

func score(c memory.Candidate, v *memory.View) memory.Inputs { return memory.Rules{}.Score(&c, v) }

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

func TestRelevanceToGoals(t *testing.T) {
	goals := memory.NewInterests(
		memory.Subject{Weight: memory.HighPriority, Title: "Migrate the sessions", Texts: []string{"Move every table to the new schema", "review columns"}},
		memory.Subject{Weight: memory.LowPriority, Title: "Write documentation", Texts: []string{"new tutorial"}},
	)
	saturated := func(weight float64) float64 { return 1 - math.Exp(-weight/2) }
	idf := math.Log(2) / math.Log(3) // of a word that both goals have
	tests := []struct {
		name, text string
		want       float64
	}{
		{"nothing in common", "lunch is at noon", 0},
		{"stop words", "the to every", saturated(1)}, // every is none
		{"only stop words", "the to and of", 0},
		{"a word of the title", "sessions", saturated(2)},
		{"another form of it", "migrating", saturated(2)},
		{"case", "SESSIONS", saturated(2)},
		{"said twice", "sessions sessions session", saturated(2)},
		{"a word of the text", "schema", saturated(1)},
		{"a milestone", "column", saturated(1)},
		{"all of it", "migration of sessions: move every table to the schema", saturated(8)},
		{"a goal of less priority", "documentation", .6 * saturated(2)},
		{"the more relevant goal", "schema documentation", saturated(1)},
		{"a word of both", "new", saturated(idf)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := score(memory.Candidate{Type: memory.Event, Text: tt.text}, &memory.View{Goals: goals}).Goals
			if !near(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

func TestRelevanceInOtherScripts(t *testing.T) {
	goals := memory.NewInterests(memory.Subject{Weight: 1, Title: "数据库迁移", Texts: []string{"Größe der Schlüssel", "база данных"}})
	for text, relevant := range map[string]bool{
		"新的数据库": true, "新数": false, "GRÖSSE": false, "größe": true, "База": true, "данные": false, "": false,
	} {
		got := score(memory.Candidate{Type: memory.Event, Text: text, Data: "1"}, &memory.View{Goals: goals}).Goals
		if (got > 0) != relevant {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestRelevanceOfData(t *testing.T) {
	v := &memory.View{Goals: memory.NewInterests(memory.Subject{Weight: 1, Title: "schema"})}
	if got := score(memory.Candidate{Type: memory.ToolResult, Data: `{"schema":1}`}, v).Goals; got == 0 {
		t.Error("data is not looked at where there is no text")
	}
	if got := score(memory.Candidate{Type: memory.ToolResult, Text: "done", Data: `{"schema":1}`}, v).Goals; got != 0 {
		t.Errorf("data counts besides text: %v", got)
	}
	if got := score(memory.Candidate{Type: memory.ToolResult, Text: strings.Repeat("x ", 512) + "schema"}, v).Goals; got != 0 {
		t.Errorf("what comes after the first KiB counts: %v", got)
	}
}

func TestNoInterests(t *testing.T) {
	c := memory.Candidate{Type: memory.Event, Text: "sessions"}
	for _, in := range []*memory.Interests{nil, {}, memory.NewInterests(), memory.NewInterests(memory.Subject{Weight: 1})} {
		if got := score(c, &memory.View{Goals: in, User: in, Input: in}); got.Goals != 0 || got.User != 0 {
			t.Errorf("relevant to nothing: %+v", got)
		}
	}
	over := memory.NewInterests(memory.Subject{Weight: 7, Title: "sessions"})
	if got := score(c, &memory.View{Goals: over}).Goals; got > 1 {
		t.Errorf("a weight of 7 gives %v", got)
	}
}

func TestManySubjects(t *testing.T) {
	var subjects []memory.Subject
	for i := range 100 {
		subjects = append(subjects, memory.Subject{Weight: .5, Title: fmt.Sprintf("goal%d", i)})
	}
	subjects[99].Weight = 1
	in := memory.NewInterests(subjects...)
	for title, counts := range map[string]bool{"goal0": true, "goal62": true, "goal63": false, "goal99": true} {
		got := score(memory.Candidate{Type: memory.Event, Text: title}, &memory.View{Goals: in}).Goals
		if (got > 0) != counts {
			t.Errorf("%s: %v", title, got)
		}
	}
	if subjects[0].Title != "goal0" || subjects[1].Title != "goal1" {
		t.Error("the caller's subjects were moved")
	}
}

func TestRelevanceToUser(t *testing.T) {
	v := &memory.View{
		User:  memory.NewInterests(memory.Subject{Weight: 1, Texts: []string{"prefers tea"}}),
		Input: memory.NewInterests(memory.Subject{Weight: 1, Texts: []string{"book a table in Lisbon"}}),
	}
	tests := []struct {
		c        memory.Candidate
		relevant float64
	}{
		{memory.Candidate{Type: memory.ToolResult, Source: memory.FromTool, Text: "tea"}, 1 - math.Exp(-.5)},
		{memory.Candidate{Type: memory.ToolResult, Source: memory.FromTool, Text: "table in Lisbon"}, 1 - math.Exp(-1)},
		{memory.Candidate{Type: memory.ToolResult, Source: memory.FromTool, Text: "coffee"}, 0},
		{memory.Candidate{Type: memory.Observation, Source: memory.FromUser, Text: "coffee"}, 1},
		{memory.Candidate{Type: memory.UserData, Source: memory.FromAgent, Text: "coffee"}, 1},
	}
	for _, tt := range tests {
		if got := score(tt.c, v).User; !near(got, tt.relevant) {
			t.Errorf("%s %q: %v, want %v", tt.c.Source, tt.c.Text, got, tt.relevant)
		}
	}
}

func TestNovelty(t *testing.T) {
	text := func(i int) string {
		return fmt.Sprintf("alpha%d beta%d gamma%d delta%d epsilon%d zeta%d eta%d theta%d", i, i, i, i, i, i, i, i)
	}
	recent := new(memory.Recent)
	for i := range 10 {
		recent.AddRow(&memory.Row{Text: text(i), Data: fmt.Sprintf(`{"number":%d}`, i)})
	}
	tests := []struct {
		name       string
		text, data string
		from, to   float64
	}{
		{"the same again", text(3), `{"number":3}`, 0, 0},
		{"other words", text(77), `{"count":77}`, .8, 1},
		{"one word more", text(3) + " iota", `{"number":3}`, 0, .35},
		{"other data", text(3), `{"kilograms":7777,"colour":"red","size":"large","weight":true}`, .1, .8},
		{"half of it", "alpha3 beta3 gamma3 delta3 uno due tre quattro", `{"number":3}`, .3, .9},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := score(memory.Candidate{Type: memory.ToolResult, Text: tt.text, Data: tt.data}, &memory.View{Recent: recent}).Novelty
			if got < tt.from || got > tt.to {
				t.Errorf("%v, want %v to %v", got, tt.from, tt.to)
			}
		})
	}
	if got := score(memory.Candidate{Type: memory.Event, Text: text(1)}, &memory.View{}).Novelty; got != 1 {
		t.Errorf("novelty where nothing is stored: %v", got)
	}
}

func TestNoveltyOfDataThatDiffersLate(t *testing.T) {
	data := func(word string) string {
		return `["` + strings.Repeat("common words ", 40) + `","` + strings.Repeat(word+"x "+word+"y "+word+"z "+word+"w ", 40) + `"]`
	}
	recent := new(memory.Recent)
	recent.AddRow(&memory.Row{Text: "list pages", Data: data("a")})
	got := score(memory.Candidate{Type: memory.ToolResult, Text: "list pages", Data: data("b")}, &memory.View{Recent: recent}).Novelty
	if got < .3 {
		t.Errorf("novelty %v", got)
	}
}

func TestRecentForgetsTheOldest(t *testing.T) {
	recent := new(memory.Recent)
	for i := range memory.RecentSize + 1 {
		recent.Add(&memory.Episode{Text: fmt.Sprintf("item number%d", i), Data: fmt.Sprint(i)})
	}
	if recent.Len() != memory.RecentSize {
		t.Errorf("%d remembered", recent.Len())
	}
	novelty := func(i int) float64 {
		return score(memory.Candidate{Type: memory.Event, Text: fmt.Sprintf("item number%d", i), Data: fmt.Sprint(i)}, &memory.View{Recent: recent}).Novelty
	}
	if novelty(0) == 0 {
		t.Error("the oldest is still known")
	}
	for _, i := range []int{1, 2, memory.RecentSize - 1, memory.RecentSize} {
		if got := novelty(i); got != 0 {
			t.Errorf("item %d: novelty %v", i, got)
		}
	}
}

// TestRepetitionInOneExchange has one repetition just after the first and one far away.
func TestRepetitionInOneExchange(t *testing.T) {
	var candidates []memory.Candidate
	for i := range 300 {
		candidates = append(candidates, memory.Candidate{
			Type: memory.UserData, Source: memory.FromUser, Text: fmt.Sprintf("fact%d about%d thing%d", i, i*7, i*13),
		})
	}
	candidates = append(candidates, candidates[299], candidates[0])
	candidates[1] = candidates[0]
	s := selected(t, nil, memory.Selection{}, candidates...)
	for i, e := range s.Kept {
		repeated := i == 1 || i >= 300
		if got := e.Provenance.Inputs.Novelty; (got == 0) != repeated {
			t.Errorf("item %d: novelty %v", i, got)
		}
	}
	// What was dropped is not stored, and so nothing repeats it.
	unwanted := memory.Candidate{Type: memory.Error, Text: "x y z", Source: memory.FromAgent}
	wanted := unwanted
	wanted.Type = memory.UserData
	if s = selected(t, nil, memory.Selection{}, unwanted, wanted); len(s.Kept) != 1 || s.Kept[0].Provenance.Inputs.Novelty != 1 {
		t.Errorf("%+v", s)
	}
}

func TestConfidence(t *testing.T) {
	tests := []struct {
		source memory.Source
		typ    memory.Type
		want   float64
	}{
		{memory.FromUser, memory.UserData, .95},
		{memory.FromUser, memory.Observation, .95},
		{memory.FromTool, memory.ToolResult, .9},
		{memory.FromTool, memory.Error, .8},
		{memory.FromAgent, memory.Observation, .6},
		{memory.FromAgent, memory.Error, .5},
		{memory.FromDaemon, memory.Observation, .7},
		{memory.FromSystem, memory.Event, .8},
		{"", memory.Event, .8},
		{memory.FromTool, memory.ScratchItem, .5},
	}
	for _, tt := range tests {
		if got := score(memory.Candidate{Type: tt.typ, Source: tt.source, Text: "x"}, &memory.View{}).Confidence; got != tt.want {
			t.Errorf("%s by %q: %v, want %v", tt.typ, tt.source, got, tt.want)
		}
	}
}

func TestActionability(t *testing.T) {
	tests := []struct {
		typ  memory.Type
		text string
		want float64
	}{
		{memory.Event, "it rained", .1},
		{memory.ToolResult, "it rained", .15},
		{memory.Observation, "it rained", .2},
		{memory.Error, "it broke", .3},
		{memory.ScratchItem, "it broke", .3},
		{memory.UserData, "I like tea", .5},
		{memory.Error, "permission refused", .55},
		{memory.Error, "package missing, install it", .7},
		{memory.Error, "package missing, install it: `go get x`", .9},
		{memory.Error, "no such file store/tx.go", .5},
		{memory.Error, `no such file C:\x`, .5},
		{memory.Error, "either / or", .3},
		{memory.UserData, "you should install it and run /bin/x", 1},
	}
	for _, tt := range tests {
		if got := score(memory.Candidate{Type: tt.typ, Text: tt.text}, &memory.View{}).Actionability; !near(got, tt.want) {
			t.Errorf("%s %q: %v, want %v", tt.typ, tt.text, got, tt.want)
		}
	}
}

func TestGivenInputsReplaceTheScorers(t *testing.T) {
	f := .123
	tests := []struct {
		given memory.Given
		got   func(memory.Inputs) float64
	}{
		{memory.Given{Goals: &f}, func(in memory.Inputs) float64 { return in.Goals }},
		{memory.Given{User: &f}, func(in memory.Inputs) float64 { return in.User }},
		{memory.Given{Confidence: &f}, func(in memory.Inputs) float64 { return in.Confidence }},
		{memory.Given{Novelty: &f}, func(in memory.Inputs) float64 { return in.Novelty }},
		{memory.Given{Actionability: &f}, func(in memory.Inputs) float64 { return in.Actionability }},
	}
	for i, tt := range tests {
		c := memory.Candidate{Type: memory.UserData, Source: memory.FromUser, Text: "I like tea", Given: tt.given}
		in := selected(t, nil, memory.Selection{}, c).Kept[0].Provenance.Inputs
		if tt.got(in) != f {
			t.Errorf("given input %d is %v", i, tt.got(in))
		}
		c.Given = memory.Given{}
		if plain := score(c, &memory.View{}); tt.got(plain) == f {
			t.Errorf("input %d is %v anyway", i, f)
		}
	}
}

// TestSelectionJudges shows the default rules at work on one exchange.
func TestSelectionJudges(t *testing.T) {
	v := session()
	tests := []struct {
		c    memory.Candidate
		kept bool
	}{
		{memory.Candidate{Type: memory.UserData, Source: memory.FromUser, Text: "I am on holiday from Friday on"}, true},
		{memory.Candidate{Type: memory.ToolResult, Source: memory.FromTool, Text: "migration of sessions: 14 tables moved to the new schema"}, true},
		{memory.Candidate{Type: memory.ToolResult, Source: memory.FromTool, Text: "weather: sunny, 21 degrees"}, false},
		{memory.Candidate{Type: memory.Error, Source: memory.FromTool, Text: "session migration on staging: permission denied on schema; run `grant`"}, true},
		{memory.Candidate{Type: memory.Error, Source: memory.FromTool, Text: "connection reset"}, false},
		{memory.Candidate{Type: memory.Observation, Source: memory.FromAgent, Text: "the user types fast"}, false},
		{memory.Candidate{Type: memory.Observation, Source: memory.FromAgent, Text: "the migration must run on staging before sessions can use the new schema"}, true},
	}
	for _, tt := range tests {
		s := selected(t, v, memory.Selection{}, tt.c)
		if kept := len(s.Kept) == 1; kept != tt.kept {
			t.Errorf("%q: kept %v, %+v", tt.c.Text, kept, score(tt.c, v))
		}
	}
}
