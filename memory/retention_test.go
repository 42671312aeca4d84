package memory_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/memory"
)

const day = 24 * time.Hour

func TestDefaultPolicies(t *testing.T) {
	tests := []struct {
		typ       memory.Type
		threshold float64
		retention time.Duration
		archive   time.Duration
		stored    memory.Type
	}{
		{memory.UserData, 0, 0, 0, memory.UserData},
		{memory.ToolResult, .5, 30 * day, 0, memory.ToolResult},
		{memory.Observation, .6, 7 * day, 0, memory.Observation},
		{memory.Error, .7, 7 * day, 0, memory.Error},
		{memory.ScratchItem, 0, 8 * day, day, memory.ScratchItem},
		{memory.Event, .3, 30 * day, 0, memory.Event},
		{"lesson", .3, 30 * day, 0, memory.Event},
	}
	for _, tt := range tests {
		p := memory.DefaultPolicies.For(tt.typ)
		if p.Type != tt.stored || p.Threshold != tt.threshold || p.Retention != tt.retention || p.ArchiveAfter != tt.archive {
			t.Errorf("%s: %+v", tt.typ, p)
		}
		if exempt := tt.typ == memory.UserData; p.QuotaExempt != exempt {
			t.Errorf("%s: out of quotas %v", tt.typ, p.QuotaExempt)
		}
		if always := tt.threshold == 0; p.Always != always {
			t.Errorf("%s: always kept %v", tt.typ, p.Always)
		}
	}
	if len(memory.DefaultPolicies) != 6 {
		t.Errorf("%d policies for 6 types", len(memory.DefaultPolicies))
	}
	if err := memory.DefaultPolicies.Check(); err != nil {
		t.Error(err)
	}
}

func TestPoliciesWithoutEvents(t *testing.T) {
	own := memory.Policies{{Type: "lesson", Threshold: .9}}
	if p := own.For("lesson"); p.Threshold != .9 {
		t.Errorf("own policy %+v", p)
	}
	if diff := cmp.Diff(memory.DefaultPolicies.For(memory.Event), own.For("other")); diff != "" {
		t.Error(diff)
	}
}

func TestArchive(t *testing.T) {
	want := []memory.Type{memory.ToolResult, memory.Observation, memory.Error, memory.ScratchItem, memory.Event}
	if diff := cmp.Diff(want, memory.DefaultPolicies.Archivable()); diff != "" {
		t.Error(diff)
	}
	// What a table does not name is kept as an event.
	own := memory.Policies{{Type: memory.UserData, QuotaExempt: true}, {Type: "a"}}
	if diff := cmp.Diff([]memory.Type{"a", memory.Event}, own.Archivable()); diff != "" {
		t.Error(diff)
	}
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	due := memory.DefaultPolicies.ArchiveDue("acme", now, 10)
	if diff := cmp.Diff([]memory.Filter{{Tenant: "acme", Type: memory.ScratchItem, Until: now.Add(-day), Limit: 10, Now: now}}, due); diff != "" {
		t.Error(diff)
	}
}

func TestArchiveForSpace(t *testing.T) {
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	filters := memory.DefaultPolicies.ArchiveForSpace("acme", 7, now, 2)
	if len(filters) != 5 {
		t.Fatalf("%d filters", len(filters))
	}
	for _, f := range filters {
		want := memory.Filter{Tenant: "acme", Segment: 7, Type: f.Type, Lowest: true, Limit: 2, Now: now}
		if diff := cmp.Diff(want, f); diff != "" || f.Type == memory.UserData || f.Type == "" {
			t.Errorf("%s: %s", f.Type, diff)
		}
	}
}

func TestPoliciesCheck(t *testing.T) {
	tests := []struct {
		policies memory.Policies
		field    string
	}{
		{memory.Policies{{}}, "policies[0].type"},
		{memory.Policies{{Type: " "}}, "policies[0].type"},
		{memory.Policies{{Type: "a"}, {Type: "a"}}, "policies[1].type"},
		{memory.Policies{{Type: "a", Threshold: 1.5}}, "policies[0].threshold"},
		{memory.Policies{{Type: "a", Retention: -1}}, "policies[0].retention"},
		{memory.Policies{{Type: "a", ArchiveAfter: -1}}, "policies[0].retention"},
	}
	for _, tt := range tests {
		wantField(t, tt.policies.Check(), tt.field)
	}
}
