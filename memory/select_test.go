package memory_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/memory"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// rated is a candidate of which all inputs are given and the same, so that its importance is that
// number.
func rated(typ memory.Type, importance float64) memory.Candidate {
	return memory.Candidate{
		Type: typ, Text: fmt.Sprintf("%s of %v", typ, importance), Source: memory.FromTool,
		Given: memory.Given{Goals: &importance, User: &importance, Confidence: &importance, Novelty: &importance, Actionability: &importance},
	}
}

func selected(t testing.TB, v *memory.View, how memory.Selection, candidates ...memory.Candidate) memory.Selected {
	t.Helper()
	if v == nil {
		v = &memory.View{Now: noon}
	}
	s, err := memory.Select(candidates, v, how)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTC11ImportantStateIsSelected(t *testing.T) {
	s := selected(t, nil, memory.Selection{}, rated(memory.Event, .51), rated("lesson", .6), rated(memory.ToolResult, .51))
	if len(s.Kept) != 3 || len(s.Dropped) != 0 {
		t.Fatalf("kept %d, dropped %+v", len(s.Kept), s.Dropped)
	}
	if got := s.Kept[0]; got.Importance != .51 || got.Text != "event of 0.51" {
		t.Errorf("kept %+v", got)
	}
}

func TestTC12UnimportantStateIsFiltered(t *testing.T) {
	s := selected(t, nil, memory.Selection{}, rated(memory.Event, .29), rated(memory.Event, .3), rated("lesson", .1))
	want := []memory.Dropped{
		{Index: 0, Type: memory.Event, Reason: memory.Unimportant, Importance: .29},
		{Index: 2, Type: "lesson", Reason: memory.Unimportant, Importance: .1},
	}
	if diff := cmp.Diff(want, s.Dropped); diff != "" {
		t.Error(diff)
	}
	if len(s.Kept) != 1 || s.Kept[0].Importance != .3 {
		t.Errorf("kept %+v", s.Kept)
	}
}

func TestTC13RetentionPoliciesEnforced(t *testing.T) {
	tests := []struct {
		typ       memory.Type
		least     float64
		retention time.Duration // 0: for ever
	}{
		{memory.UserData, 0, 0},
		{memory.ToolResult, .5, 30 * day},
		{memory.Observation, .6, 7 * day},
		{memory.Error, .7, 7 * day},
		{memory.ScratchItem, 0, 8 * day},
		{memory.Event, .3, 30 * day},
		{"anything else", .3, 30 * day},
	}
	for _, tt := range tests {
		t.Run(string(tt.typ), func(t *testing.T) {
			s := selected(t, nil, memory.Selection{}, rated(tt.typ, tt.least))
			if len(s.Kept) != 1 {
				t.Fatalf("dropped %+v", s.Dropped)
			}
			e := s.Kept[0]
			if !e.Created.Equal(noon) {
				t.Errorf("made at %v", e.Created)
			}
			if tt.retention == 0 && !e.Expires.IsZero() || tt.retention > 0 && !e.Expires.Equal(noon.Add(tt.retention)) {
				t.Errorf("expires at %v", e.Expires)
			}
			if tt.least == 0 {
				return
			}
			if s = selected(t, nil, memory.Selection{}, rated(tt.typ, tt.least-.000001)); len(s.Kept) != 0 {
				t.Errorf("kept below the threshold: %+v", s.Kept)
			}
		})
	}
}

func TestSelectedItem(t *testing.T) {
	next := 0
	v := &memory.View{
		Now: noon.In(time.FixedZone("", 3600)).Add(1500 * time.Nanosecond), ExportID: "e1", TurnID: "t1",
		NextID: func() string { next++; return fmt.Sprintf("01JC00000000000000000000%02d", next) },
	}
	c := rated("lesson", .5)
	c.Data, c.Tags, c.Links = `{"a": 1}`, []string{"CI", "ci", " web "}, memory.Links{Turns: []string{"t1"}}
	s := selected(t, v, memory.Selection{}, rated(memory.Event, .1), c, rated(memory.Event, .4))
	want := memory.Episode{
		ID: "01JC0000000000000000000001", Type: memory.Event, Text: "lesson of 0.5", Data: `{"a": 1}`, Importance: .5,
		Tags: []string{"ci", "web", "lesson"}, Links: memory.Links{Turns: []string{"t1"}},
		Created: noon.Add(time.Microsecond), Expires: noon.Add(time.Microsecond + 30*day),
		Provenance: memory.Provenance{
			ExportID: "e1", TurnID: "t1", Source: memory.FromTool,
			Inputs: memory.Inputs{Goals: .5, User: .5, Confidence: .5, Novelty: .5, Actionability: .5},
		},
	}
	if diff := cmp.Diff(want, s.Kept[0]); diff != "" {
		t.Error(diff)
	}
	if s.Kept[1].ID != "01JC0000000000000000000002" {
		t.Errorf("second id %s", s.Kept[1].ID)
	}
	for i := range s.Kept {
		if err := s.Kept[i].Check(); err != nil {
			t.Error(err)
		}
	}
}

// A type that the policies do not name is a tag of the event, and where no tag has room for it a note.
func TestSelectedItemSaysWhatTypeItWas(t *testing.T) {
	long := strings.Repeat("x", memory.MaxTag+1)
	full := make([]string, memory.MaxTags)
	for i := range full {
		full[i] = fmt.Sprint("tag", i)
	}
	for _, tt := range []struct {
		name        string
		typ         memory.Type
		tags        []string
		tag, noting string
	}{
		{"a tag", "Lesson", nil, "lesson", ""},
		{"there already", "lesson", append([]string{"lesson"}, full[1:]...), "lesson", ""},
		{"too long", memory.Type(long), nil, "", `type: "` + long + `" is kept as an event`},
		{"too many", "lesson", full, "", `type: "lesson" is kept as an event`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := rated(tt.typ, .9)
			c.Tags = tt.tags
			e := selected(t, nil, memory.Selection{}, c).Kept[0]
			if e.Type != memory.Event || tt.tag != "" && !slices.Contains(e.Tags, tt.tag) {
				t.Errorf("kept as %s with the tags %q, want an event with %q", e.Type, e.Tags, tt.tag)
			}
			if got := strings.Join(e.Provenance.Notes, "; "); got != tt.noting {
				t.Errorf("the notes are %q, want %q", got, tt.noting)
			}
		})
	}
}

func TestSelectRelevance(t *testing.T) {
	none, little, enough, sure := 0.0, .19, .2, 1.0
	about := func(typ memory.Type, goals, user, action *float64) memory.Candidate {
		return memory.Candidate{
			Type: typ, Text: "x", Source: memory.FromSystem,
			Given: memory.Given{Goals: goals, User: user, Confidence: &sure, Novelty: &sure, Actionability: action},
		}
	}
	tests := []struct {
		name string
		c    memory.Candidate
		kept bool
	}{
		{"nobody's", about(memory.Event, &none, &none, &little), false},
		{"can be acted on", about(memory.Event, &none, &none, &enough), true},
		{"a goal's", about(memory.Event, &little, &none, &none), true},
		{"the user's", about(memory.Event, &none, &little, &none), true},
		{"scratch items always are", about(memory.ScratchItem, &none, &none, &none), true},
		{"user data always is", about(memory.UserData, &none, &none, &none), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := selected(t, nil, memory.Selection{}, tt.c)
			if kept := len(s.Kept) == 1; kept != tt.kept {
				t.Errorf("kept %v, dropped %+v", kept, s.Dropped)
			}
			if !tt.kept && s.Dropped[0].Reason != memory.Irrelevant {
				t.Errorf("dropped as %s", s.Dropped[0].Reason)
			}
		})
	}
}

func TestSelectExchangeQuota(t *testing.T) {
	how := memory.Selection{Quota: memory.Quota{Exchange: 2}}
	s := selected(t, nil, how, rated(memory.Event, .4), rated(memory.Event, .5), rated(memory.UserData, .1), rated(memory.Event, .9),
		rated(memory.Event, .2), rated(memory.Event, .5), rated(memory.UserData, .1))
	var kept []string
	for _, e := range s.Kept {
		kept = append(kept, e.Text)
	}
	if diff := cmp.Diff([]string{"event of 0.5", "user_data of 0.1", "event of 0.9", "user_data of 0.1"}, kept); diff != "" {
		t.Error(diff)
	}
	want := []memory.Dropped{
		{Index: 0, Type: memory.Event, Reason: memory.OverQuota, Importance: .4},
		{Index: 4, Type: memory.Event, Reason: memory.Unimportant, Importance: .2},
		{Index: 5, Type: memory.Event, Reason: memory.OverQuota, Importance: .5},
	}
	if diff := cmp.Diff(want, s.Dropped); diff != "" {
		t.Error(diff)
	}
}

func TestSelectSessionQuota(t *testing.T) {
	tests := []struct {
		live    int64
		quota   int64
		archive int
	}{
		{4094, 0, 0}, {4095, 0, 1}, {5000, 0, 906}, {0, 1, 1}, {10, 12, 0},
	}
	for _, tt := range tests {
		how := memory.Selection{Quota: memory.Quota{Session: tt.quota}}
		s := selected(t, &memory.View{Now: noon, Live: tt.live}, how, rated(memory.Event, .5), rated(memory.UserData, .5), rated(memory.Event, 0))
		if s.Archive != tt.archive {
			t.Errorf("%d live of %d: archive %d, want %d", tt.live, tt.quota, s.Archive, tt.archive)
		}
	}
}

func TestSelectBoundsWhatItLists(t *testing.T) {
	var candidates []memory.Candidate
	for range 250 {
		candidates = append(candidates, rated(memory.Event, .1), rated(memory.Event, .9))
	}
	irrelevant := rated(memory.Event, 0)
	one := 1.0
	irrelevant.Given.Confidence, irrelevant.Given.Novelty = &one, &one
	for range 10 {
		candidates = append(candidates, irrelevant, rated(memory.Event, .8))
	}
	s := selected(t, nil, memory.Selection{}, candidates...)
	if len(s.Kept) != 256 || len(s.Dropped) != memory.MaxDropped {
		t.Errorf("kept %d, dropped %d", len(s.Kept), len(s.Dropped))
	}
	if want := (memory.DropCounts{Unimportant: 150, Irrelevant: 10, OverQuota: 4}); s.Rest != want {
		t.Errorf("the rest: %+v, want %+v", s.Rest, want)
	}
}

func TestSelectTooManyCandidates(t *testing.T) {
	candidates := make([]memory.Candidate, 2*memory.MaxCandidates+1)
	for i := range candidates {
		candidates[i] = memory.Candidate{Type: memory.Event, Text: fmt.Sprint("event ", i)}
	}
	_, err := memory.Select(candidates, &memory.View{Now: noon}, memory.Selection{})
	wantField(t, err, "candidates")
	if !strings.Contains(err.Error(), "20000") {
		t.Errorf("%q does not name the bound", err)
	}
	selected(t, nil, memory.Selection{}, candidates[1:]...)
}

func TestSelectLargeToolResult(t *testing.T) {
	c := rated(memory.ToolResult, .9)
	c.Text = strings.Repeat("é", 5<<20)
	c.Data, c.DataChecked = `"`+strings.Repeat("x", 10<<20)+`"`, true
	s := selected(t, nil, memory.Selection{}, c)
	e := s.Kept[0]
	if len(e.Text) > memory.MaxText || len(e.Text) < memory.MaxText-2 || !strings.HasSuffix(e.Text, "é\n[cut: the text of 10485760 bytes is in the log]") {
		t.Errorf("text of %d bytes ends with %q", len(e.Text), e.Text[len(e.Text)-60:])
	}
	if e.Data != "" {
		t.Errorf("%d bytes of data", len(e.Data))
	}
	want := []string{"text: cut; it is in the log", "data: too large; it is in the log"}
	if diff := cmp.Diff(want, e.Provenance.Notes); diff != "" {
		t.Error(diff)
	}
	// What somebody handed over stands nowhere else: nothing of it may be lost.
	c.DataChecked = false
	_, err := memory.Select([]memory.Candidate{c}, &memory.View{Now: noon}, memory.Selection{})
	wantField(t, err, "candidates[0].text")
	c.Text = "short"
	_, err = memory.Select([]memory.Candidate{c}, &memory.View{Now: noon}, memory.Selection{})
	wantField(t, err, "candidates[0].data")
	c.Text, c.Data = strings.Repeat("x", memory.MaxText), `"`+strings.Repeat("x", memory.MaxData-2)+`"`
	if e = selected(t, nil, memory.Selection{}, c).Kept[0]; e.Text != c.Text || e.Data != c.Data || e.Provenance.Notes != nil {
		t.Errorf("what fits was changed: %d, %d, %q", len(e.Text), len(e.Data), e.Provenance.Notes)
	}
}

// fixed is a scorer that has made up its mind.
type fixed memory.Inputs

func (f fixed) Score(*memory.Candidate, *memory.View) memory.Inputs { return memory.Inputs(f) }

func TestSelectRefuses(t *testing.T) {
	fine, bad := rated(memory.Event, .5), rated(memory.Event, .5)
	bad.Data = "{"
	nan := rated(memory.Event, math.NaN())
	bare := memory.Candidate{Type: memory.Event, Text: "x"}
	tests := []struct {
		name       string
		candidates []memory.Candidate
		how        memory.Selection
		field      string
	}{
		{"data", []memory.Candidate{fine, bad}, memory.Selection{}, "candidates[1].data"},
		{"a blank text", []memory.Candidate{fine, {Type: memory.UserData, Text: " "}}, memory.Selection{}, "candidates[1].text"},
		{"a source", []memory.Candidate{{Type: memory.UserData, Text: "x", Source: "crm"}}, memory.Selection{}, "candidates[0].source"},
		{"a given NaN", []memory.Candidate{nan}, memory.Selection{}, "candidates[0].inputs.relevance_to_goals"},
		{"a scorer's NaN", []memory.Candidate{bare}, memory.Selection{Scorer: fixed{Novelty: math.NaN()}}, "candidates[0].novelty"},
		{"a scorer over 1", []memory.Candidate{bare}, memory.Selection{Scorer: fixed{User: 2}}, "candidates[0].relevance_to_user"},
		{"weights", nil, memory.Selection{Weights: memory.Weights{Goals: .5}}, "weights"},
		{"policies", nil, memory.Selection{Policies: memory.Policies{{}}}, "policies[0].type"},
		{"quota", nil, memory.Selection{Quota: memory.Quota{Session: -1}}, "quota"},
		{"quota of an exchange", nil, memory.Selection{Quota: memory.Quota{Exchange: -1}}, "quota"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := memory.Select(tt.candidates, &memory.View{Now: noon}, tt.how)
			wantField(t, err, tt.field)
			if s.Kept != nil {
				t.Error("something was selected")
			}
		})
	}
}

func TestSelectWithOwnScorerAndTables(t *testing.T) {
	how := memory.Selection{
		Scorer:   fixed{Goals: 1},
		Weights:  memory.Weights{Goals: 1},
		Policies: memory.Policies{{Type: "lesson", Threshold: 1, Retention: time.Hour}},
	}
	s := selected(t, nil, how, memory.Candidate{Type: "lesson", Text: "x"})
	if len(s.Kept) != 1 || s.Kept[0].Type != "lesson" || s.Kept[0].Importance != 1 || !s.Kept[0].Expires.Equal(noon.Add(time.Hour)) {
		t.Errorf("kept %+v, dropped %+v", s.Kept, s.Dropped)
	}
}

// TestSelectIsPure also holds every selection to its rules.
func TestSelectIsPure(t *testing.T) {
	types := []memory.Type{memory.UserData, memory.ToolResult, memory.Observation, memory.Error, memory.ScratchItem, memory.Event, "lesson"}
	sources := []memory.Source{memory.FromUser, memory.FromAgent, memory.FromTool, memory.FromSystem, memory.FromDaemon, ""}
	candidate := rapid.Custom(func(t *rapid.T) memory.Candidate {
		c := memory.Candidate{
			Type: rapid.SampledFrom(types).Draw(t, "type"), Source: rapid.SampledFrom(sources).Draw(t, "source"),
			Text: strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"run", "the", "migration", "/etc/x", "sessions", "日本語", "é", "retry"}), 1, 8).Draw(t, "words"), " "),
		}
		if rapid.Bool().Draw(t, "given") {
			f := rapid.Float64Range(0, 1).Draw(t, "goals")
			c.Given.Goals = &f
		}
		return c
	})
	rapid.Check(t, func(t *rapid.T) {
		candidates := rapid.SliceOfN(candidate, 0, 20).Draw(t, "candidates")
		how := memory.Selection{Quota: memory.Quota{Exchange: rapid.IntRange(1, 10).Draw(t, "exchange"), Session: 1005}}
		view := session()
		s, err := memory.Select(candidates, view, how)
		if err != nil {
			t.Fatal(err)
		}
		again, err := memory.Select(candidates, view, how)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, again, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(memory.Selected{})); diff != "" {
			t.Fatal(diff)
		}
		if len(s.Kept)+len(s.Dropped) != len(candidates) {
			t.Fatalf("%d kept and %d dropped of %d", len(s.Kept), len(s.Dropped), len(candidates))
		}
		counted := 0
		for _, e := range s.Kept {
			policy := memory.DefaultPolicies.For(e.Type)
			if e.Importance < policy.Threshold || e.Importance > 1 {
				t.Fatalf("%s kept with %v", e.Type, e.Importance)
			}
			if score, err := memory.Score(memory.DefaultWeights, e.Provenance.Inputs); err != nil || math.Abs(score-e.Importance) > 1e-6 {
				t.Fatalf("the inputs give %v, %v, the importance is %v", score, err, e.Importance)
			}
			if !policy.QuotaExempt {
				counted++
			}
		}
		if counted > how.Quota.Exchange {
			t.Fatalf("%d kept of at most %d", counted, how.Quota.Exchange)
		}
		if s.Archive != max(0, 1000+len(s.Kept)-1005) {
			t.Fatalf("archive %d for %d", s.Archive, len(s.Kept))
		}
		for _, d := range s.Dropped {
			if candidates[d.Index].Type == memory.UserData {
				t.Fatalf("user data dropped: %+v", d)
			}
		}
	})
}

// TestTagsThatGrowWhenTheyAreFolded: in lower case some letters have more bytes.
func TestTagsThatGrowWhenTheyAreFolded(t *testing.T) {
	for _, n := range []int{memory.MaxTag / 3, memory.MaxTag / 2} {
		tag := strings.Repeat("Ⱥ", n)
		c := memory.Candidate{Type: memory.UserData, Text: "x", Tags: []string{tag}}
		selected, err := memory.Select([]memory.Candidate{c}, &memory.View{Now: time.Unix(0, 0), NextID: func() string { return "01ARZ3NDEKTSV4RRFFQ69G5FAV" }}, memory.Selection{})
		if err != nil {
			if n == memory.MaxTag/3 || !strings.HasPrefix(err.Error(), "candidates[0].tags[0]: is 96 bytes long") {
				t.Errorf("%d letters: %v", n, err)
			}
			continue
		}
		if _, _, err := memory.FromRow(selected.Kept[0].Row(memory.Owner{Tenant: "acme"})); err != nil {
			t.Errorf("%d letters: %v", n, err)
		}
	}
}

// What was checked is not checked again; what comes before it is.
func TestSelectChecksWhatWasNot(t *testing.T) {
	wrong := memory.Candidate{Type: memory.UserData, Text: "Ada lives in Oslo", Source: "nobody"}
	candidates := []memory.Candidate{wrong, wrong}
	for checked, want := range []string{"candidates[0].source", "candidates[0].source", ""} {
		_, err := memory.Select(candidates, &memory.View{Checked: checked}, memory.Selection{})
		if name := fieldOf(err); name != want {
			t.Errorf("with %d checked it refuses %q, want %q: %v", checked, name, want, err)
		}
	}
	candidates[0].Source = ""
	if _, err := memory.Select(candidates, &memory.View{}, memory.Selection{}); fieldOf(err) != "candidates[1].source" {
		t.Errorf("the second is not checked: %v", err)
	}
}

// fieldOf is the field that an error names, empty without one.
func fieldOf(err error) string {
	var field *memory.FieldError
	if errors.As(err, &field) {
		return field.Name
	}
	return ""
}
