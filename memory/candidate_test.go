package memory_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

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
