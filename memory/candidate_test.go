package memory_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/memory"
)

func TestCandidateJSON(t *testing.T) {
	half, none := .5, 0.0
	c := memory.Candidate{
		Type: memory.Observation, Text: "the build is slow", Data: `{"s": 90}`, Tags: []string{"ci"},
		Links: memory.Links{Turns: []string{"t1"}}, Source: memory.FromAgent,
		Given: memory.Given{Goals: &half, Novelty: &none},
	}
	const want = `{"type":"observation","text":"the build is slow","data":{"s": 90},"tags":["ci"],"links":{"turns":["t1"]},` +
		`"source":"agent","inputs":{"relevance_to_goals":0.5,"novelty":0}}`
	got := string(c.AppendJSON(nil))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	back, err := memory.DecodeCandidate(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, back); diff != "" {
		t.Error(diff)
	}
	if back, err = memory.DecodeCandidate(`{"type":"event","text":"x"}`); err != nil || back.Given != (memory.Given{}) {
		t.Errorf("%+v, %v", back, err)
	}
}

func TestDecodeCandidateRefuses(t *testing.T) {
	tests := []struct{ json, field string }{
		{`{"type":"event","text":"x","score":1}`, "score"},
		{`{"type":"event","text":"x","inputs":{"novel":1}}`, "inputs.novel"},
		{`{"type":"event","text":"x","inputs":{"novelty":-1}}`, "inputs.novelty"},
		{`{"type":"event","text":"x","inputs":{"novelty":"1"}}`, "inputs.novelty"},
		{`{"type":"event","text":"x","links":{"turns":"t"}}`, "links.turns"},
		{`{"type":1,"text":"x"}`, "type"},
		{`{"text":"x"}`, "type"},
		{`{"type":"event"}`, "text"},
		{`{"type":"event","text":" \u3000\n"}`, "text"},
		{`{"type":"event","text":" ","data":1}`, "text"},
		{`{"type":"event","text":"\u200b\ufeff"}`, "text"}, // nobody sees it, and no search finds it
		{`{"type":"event","text":"x","source":"usr"}`, "source"},
		{`{"type":"event","text":"x","source":" user"}`, "source"},
	}
	for _, tt := range tests {
		_, err := memory.DecodeCandidate(tt.json)
		wantField(t, err, tt.field)
	}
}

func TestCandidateCheck(t *testing.T) {
	nan, over := math.NaN(), 1.1
	many := func(n int, text string) []string { return slices.Repeat([]string{text}, n) }
	tests := []struct {
		name  string
		set   func(c *memory.Candidate)
		field string // empty: legal
	}{
		{"plain", func(*memory.Candidate) {}, ""},
		{"no source", func(c *memory.Candidate) { c.Source = "" }, ""},
		{"another type", func(c *memory.Candidate) { c.Type = "lesson" }, ""},
		{"data alone", func(c *memory.Candidate) { c.Text, c.Data = "", "1" }, ""},
		{"nothing", func(c *memory.Candidate) { c.Text = "" }, "text"},
		{"no type", func(c *memory.Candidate) { c.Type = "" }, "type"},
		{"blank type", func(c *memory.Candidate) { c.Type = " \t" }, "type"}, // it would be an empty tag, which no reader takes
		{"long type", func(c *memory.Candidate) { c.Type = memory.Type(strings.Repeat("x", 129)) }, "type"},
		{"long source", func(c *memory.Candidate) { c.Source = memory.Source(strings.Repeat("x", 129)) }, "source"},
		{"broken text", func(c *memory.Candidate) { c.Text = "\xff" }, "text"},
		{"NUL", func(c *memory.Candidate) { c.Text = "a\x00" }, "text"},
		{"broken data", func(c *memory.Candidate) { c.Data = "{" }, "data"},
		{"two values", func(c *memory.Candidate) { c.Data = "1 2" }, "data"},
		{"checked data", func(c *memory.Candidate) { c.Data, c.DataChecked = "{", true }, ""},
		{"data too large to look at", func(c *memory.Candidate) { c.Data = strings.Repeat("{", memory.MaxData+1) }, ""},
		{"32 tags", func(c *memory.Candidate) { c.Tags = many(32, strings.Repeat("x", 64)) }, ""},
		{"33 tags", func(c *memory.Candidate) { c.Tags = many(33, "x") }, "tags"},
		{"long tag", func(c *memory.Candidate) { c.Tags = []string{"a", strings.Repeat("x", 65)} }, "tags[1]"},
		{"broken tag", func(c *memory.Candidate) { c.Tags = []string{"\xff"} }, "tags[0]"},
		{"64 links", func(c *memory.Candidate) { c.Links.Items = many(64, "x") }, ""},
		{"65 links", func(c *memory.Candidate) { c.Links.Items = many(65, "x") }, "links.items"},
		{"long link", func(c *memory.Candidate) { c.Links.Turns = many(1, strings.Repeat("x", 129)) }, "links.turns[0]"},
		{"NaN", func(c *memory.Candidate) { c.Given.User = &nan }, "inputs.relevance_to_user"},
		{"over 1", func(c *memory.Candidate) { c.Given.Actionability = &over }, "inputs.actionability"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := memory.Candidate{Type: memory.Event, Text: "x", Source: memory.FromTool}
			tt.set(&c)
			err := c.Check()
			if tt.field != "" {
				wantField(t, err, tt.field)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func ExampleDecodeCandidate() {
	c, err := memory.DecodeCandidate(`{"type":"user_data","text":"I work in Lisbon","source":"user"}`)
	fmt.Println(c.Type, c.Text, err)
	// Output: user_data I work in Lisbon <nil>
}

// What was stored before it was refused where it comes in can still be read.
func TestStoredItemsKeepBlankTextsAndOtherSources(t *testing.T) {
	c := memory.Candidate{Type: memory.Event, Text: " \n", Source: "crm"}
	if err := c.Check(); err != nil {
		t.Error(err)
	}
	e := memory.Episode{
		ID: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Type: memory.Event, Text: " \n", Created: time.Unix(1, 0).UTC(),
		Provenance: memory.Provenance{Source: "crm"},
	}
	back, _, err := memory.FromRow(e.Row(memory.Owner{Tenant: "default", Session: "s"}))
	if err != nil || back.Text != e.Text || back.Provenance.Source != "crm" {
		t.Errorf("%+v, %v", back, err)
	}
}

func TestCandidateCheckNew(t *testing.T) {
	for _, source := range []memory.Source{"", memory.FromUser, memory.FromAgent, memory.FromTool, memory.FromSystem, memory.FromDaemon} {
		for _, text := range []string{"x", "é", "👩‍👩‍👧", "!", " x ", "東京"} {
			c := memory.Candidate{Type: memory.Event, Text: text, Source: source}
			if err := c.CheckNew(); err != nil {
				t.Errorf("%q from %q: %v", text, source, err)
			}
		}
	}
	alone := memory.Candidate{Type: memory.Event, Data: "1"}
	if err := alone.CheckNew(); err != nil {
		t.Errorf("data alone: %v", err)
	}
	unknown := memory.Candidate{Type: memory.Event, Text: "x", Source: "usr"}
	wantField(t, unknown.CheckNew(), "source")
	if err := unknown.CheckNew(); !strings.Contains(err.Error(), "use user, agent, tool, system or daemon") {
		t.Errorf("does not say which there are: %v", err)
	}
	broken := memory.Candidate{Type: memory.Event, Text: "\xff"}
	wantField(t, broken.CheckNew(), "text")
}
