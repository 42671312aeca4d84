package scratch_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/scratch"
)

// staged applies changes to a page and fails if one is refused.
func staged(t *testing.T, p *scratch.Page, ch scratch.Changes, now time.Time) scratch.Staged {
	t.Helper()
	s := p.Stage(ch, now, counter())
	if len(s.Refused) > 0 {
		t.Fatal(s.Refused)
	}
	return s
}

func TestEveryStepOfAnObservation(t *testing.T) {
	course := []scratch.Status{scratch.Active, scratch.PendingReview, scratch.Resolved, scratch.Archived}
	later := start.Add(time.Hour)
	for i, from := range course {
		if diff := cmp.Diff(course[i+1:], from.Next()); diff != "" {
			t.Errorf("after %s: %s", from, diff)
		}
		for j, to := range append(course, "done") {
			page := staged(t, &scratch.Page{}, puts(note("o")), start).Next
			change := scratch.Changes{Put: []scratch.Change{{ID: "o", Status: &from}, {ID: "o", Status: &to}}}
			s := page.Stage(change, later, nil)
			// What is archived takes no change at all.
			want := j < len(course) && j >= i && from != scratch.Archived
			if got := len(s.Refused) == 0; got != want {
				t.Errorf("%s→%s: %v, want %v (%v)", from, to, got, want, s.Refused)
			}
			if !want {
				continue
			}
			expires := later.Add(24 * time.Hour)
			if to == scratch.Archived {
				expires = later.Add(7 * 24 * time.Hour)
			}
			if r := s.Rows[0]; r.Status != to || !r.Expires.Equal(expires) || !r.At.Equal(later) {
				t.Errorf("%s→%s: %+v", from, to, r)
			}
			if _, live := s.Next.Observation("o"); live != (to != scratch.Archived) || (len(s.Archived) == 1) == live || (len(s.Updated) == 1) != live {
				t.Errorf("%s→%s: archived %v, updated %v, live %v", from, to, s.Archived, s.Updated, live)
			}
		}
	}
	if next := scratch.Status("odd").Next(); next != nil {
		t.Errorf("after odd: %v", next)
	}
}

func TestPut(t *testing.T) {
	now := start.Add(time.Minute)
	base := staged(t, &scratch.Page{}, puts(note("o"), insight("i", "f")), start).Next
	was, _ := base.Observation("o")
	want := scratch.Observation{
		ID: "o", Type: "alert", Content: "about o", Status: scratch.Active, Confidence: 0.5,
		ExpiresAt: start.Add(24 * time.Hour), CreatedAt: start, UpdatedAt: start,
	}
	if diff := cmp.Diff(want, was); diff != "" {
		t.Fatal(diff)
	}
	for _, test := range []struct {
		name   string
		change scratch.Change
		want   func(*scratch.Observation)
		refuse string
	}{
		{name: "touched", change: scratch.Change{ID: "o"}, want: func(*scratch.Observation) {}},
		{name: "everything", change: scratch.Change{
			ID: "o", Type: ptr("alert"), Content: ptr("a\nb"), Source: ptr("tool"), Owner: ptr("agent"), Status: ptr(scratch.PendingReview), Confidence: ptr(1.0),
			ContextRefs: &[]string{"turn:1"}, Tags: &[]string{"x", "y"}, ExpiresAt: ptr(now.Add(time.Hour)),
		}, want: func(o *scratch.Observation) {
			o.Content, o.Source, o.Owner, o.Status, o.Confidence = "a\nb", "tool", "agent", scratch.PendingReview, 1
			o.ContextRefs, o.Tags, o.ExpiresAt = []string{"turn:1"}, []string{"x", "y"}, now.Add(time.Hour)
		}},
		{name: "no confidence", change: scratch.Change{ID: "o", Confidence: ptr(0.0)}, want: func(o *scratch.Observation) { o.Confidence = 0 }},

		{name: "not a number", change: scratch.Change{ID: "o", Confidence: ptr(math.NaN())}, refuse: "confidence: NaN is out of range; give a number from 0 to 1"},
		{name: "endless below", change: scratch.Change{ID: "o", Confidence: ptr(math.Inf(-1))}, refuse: "confidence: -Inf is out of range"},
		{name: "endless", change: scratch.Change{ID: "o", Confidence: ptr(math.Inf(1))}, refuse: "confidence: +Inf is out of range"},
		{name: "negative", change: scratch.Change{ID: "o", Confidence: ptr(-0.1)}, refuse: "confidence: -0.1 is out of range"},
		{name: "too sure", change: scratch.Change{ID: "o", Confidence: ptr(1.1)}, refuse: "confidence: 1.1 is out of range"},
		{name: "no content", change: scratch.Change{ID: "o", Content: ptr(" \n")}, refuse: "content: is empty; say what was noticed"},
		{name: "content", change: scratch.Change{ID: "o", Content: ptr(strings.Repeat("x", scratch.MaxContent+1))}, refuse: "content: is 16385 bytes long, at most 16384"},
		{name: "source", change: scratch.Change{ID: "o", Source: ptr("\xff")}, refuse: "source: is not valid UTF-8"},
		{name: "owner", change: scratch.Change{ID: "o", Owner: ptr("\x00")}, refuse: "owner: has a NUL character"},
		{name: "status", change: scratch.Change{ID: "o", Status: ptr(scratch.Status("done"))}, refuse: `status: "done" is none; use active, pending_review, resolved or archived`},
		{name: "backwards", change: scratch.Change{ID: "i", Status: ptr(scratch.Status(""))}, refuse: `status: "" is none`},
		{name: "tags", change: scratch.Change{ID: "o", Tags: &[]string{"x", "x"}}, refuse: `tags[1]: "x" stands twice`},
		{name: "refs", change: scratch.Change{ID: "o", ContextRefs: &[]string{""}}, refuse: "context_refs[0]: is empty"},
		{name: "many tags", change: scratch.Change{ID: "o", Tags: ptr(make([]string, scratch.MaxRefs+1))}, refuse: "tags: would be 33, at most 32"},
		{name: "expired", change: scratch.Change{ID: "o", ExpiresAt: &now}, refuse: "expires_at: does not lie within 24h0m0s from now"},
		{name: "for ever", change: scratch.Change{ID: "o", ExpiresAt: ptr(now.Add(24*time.Hour + time.Microsecond))}, refuse: "expires_at: does not lie within"},
		{name: "another type", change: scratch.Change{ID: "o", Type: ptr("note")}, refuse: `type: observation "o" is of type alert and stays so`},
		{name: "no flow any more", change: scratch.Change{ID: "i", ContextRefs: &[]string{}}, refuse: "context_refs: name no flow; a flow_insight needs one such as flow:<flow id>"},
		{name: "new without a type", change: scratch.Change{ID: "n", Content: ptr("x")}, refuse: `type: is missing, and there is no observation "n" to change`},
		{name: "new without a type or an id", change: scratch.Change{Content: ptr("x")}, refuse: `type: is missing; give one to add it`},
		{name: "new without content", change: scratch.Change{ID: "n", Type: ptr("x")}, refuse: `content: is missing, and there is no observation "n" to change`},
		{name: "empty type", change: scratch.Change{ID: "n", Type: ptr(""), Content: ptr("x")}, refuse: "type: is empty"},
		{name: "id", change: note("a b"), refuse: `id: "a b" holds ' '`},
		{name: "no id", change: note(""), refuse: "id: is empty"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := base.Stage(puts(test.change, scratch.Change{ID: "i", Source: ptr("other")}), now, nil)
			if again, _ := base.Observation("o"); !cmp.Equal(was, again) {
				t.Fatal("staging changed the page")
			}
			if other, _ := s.Next.Observation("i"); other.Source != "other" {
				t.Error("the other change was not applied")
			}
			want := was
			if test.refuse != "" {
				if len(s.Refused) != 1 || !strings.Contains(s.Refused[0].Reason, test.refuse) {
					t.Errorf("refused %v, want %s", s.Refused, test.refuse)
				} else if r := s.Refused[0]; r.ID != test.change.ID || !json.Valid(r.Change) {
					t.Errorf("refusal is %+v", r)
				}
			} else {
				want.UpdatedAt, want.ExpiresAt = now, now.Add(24*time.Hour)
				test.want(&want)
				if diff := cmp.Diff([]string{"o", "i"}, s.Updated); diff != "" {
					t.Error(diff)
				}
			}
			got, _ := s.Next.Observation("o")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestARefusalSaysWhatWasAskedFor(t *testing.T) {
	s := (&scratch.Page{}).Stage(puts(scratch.Change{ID: "a", Confidence: ptr(0.7)}), start, nil)
	if len(s.Refused) != 1 || string(s.Refused[0].Change) != `{"id":"a","confidence":0.7}` {
		t.Errorf("refused %+v", s.Refused)
	}
}

func TestARefusedStepNamesThoseThatAreLegal(t *testing.T) {
	review := note("o")
	review.Status = ptr(scratch.PendingReview)
	s := (&scratch.Page{}).Stage(puts(review, scratch.Change{ID: "o", Status: ptr(scratch.Active)}), start, nil)
	if len(s.Refused) != 1 || s.Refused[0].Reason != "status: an observation that is pending_review cannot become active; legal: resolved or archived" {
		t.Errorf("refused %+v", s.Refused)
	}
}

func TestNewIDs(t *testing.T) {
	s := staged(t, &scratch.Page{}, puts(note(""), note("")), start)
	if diff := cmp.Diff([]string{"n001", "n002"}, s.Updated); diff != "" {
		t.Error(diff)
	}
}

func TestArchive(t *testing.T) {
	page := staged(t, &scratch.Page{}, puts(note("a"), note("b"), note("c")), start).Next
	s := page.Stage(scratch.Changes{Put: []scratch.Change{{ID: "a", Source: ptr("x")}, {ID: "b", Source: ptr("x")}}, Archive: []string{"a", "a", "nobody"}}, start, nil)
	if len(s.Refused) != 1 || s.Refused[0].ID != "nobody" || s.Refused[0].Reason != `archive: there is no observation "nobody" on the page; use an id that is` ||
		string(s.Refused[0].Change) != `{"archive":["nobody"]}` {
		t.Errorf("refused %+v", s.Refused)
	}
	if diff := cmp.Diff([]string{"a"}, s.Archived); diff != "" || len(s.Rows) != 2 || s.Rows[0].Status != scratch.Archived {
		t.Errorf("archived %v, rows %v", s.Archived, s.Rows)
	}
	if diff := cmp.Diff([]string{"b"}, s.Updated); diff != "" {
		t.Error(diff)
	}
	if !s.Rows[0].Expires.Equal(start.Add(scratch.ArchivedRetention)) {
		t.Errorf("expires %v", s.Rows[0].Expires)
	}
	if len(s.Next.Observations()) != 2 {
		t.Errorf("live: %v", s.Next.Observations())
	}
}

func TestClearIsAllOrNothing(t *testing.T) {
	page := staged(t, &scratch.Page{}, puts(note("a"), note("b"), note("c")), start).Next
	page = staged(t, page, puts(scratch.Change{ID: "a", Status: ptr(scratch.Resolved)}), start).Next
	s := page.Stage(scratch.Changes{Clear: []string{"a", "b", "nobody"}}, start, nil)
	want := `clear: not resolved: "b" (active), "nobody" (not on the page); none was cleared; resolve them first, or leave them out`
	if len(s.Refused) != 1 || s.Refused[0].Reason != want || len(s.Rows) > 0 || len(s.Cleared) > 0 || len(s.Next.Observations()) != 3 {
		t.Errorf("refused %+v, cleared %v", s.Refused, s.Cleared)
	}
	if string(s.Refused[0].Change) != `{"clear":["a","b","nobody"]}` {
		t.Errorf("refused %s", s.Refused[0].Change)
	}
	s = staged(t, page, scratch.Changes{Put: []scratch.Change{{ID: "b", Status: ptr(scratch.Resolved)}}, Clear: []string{"a", "b"}}, start)
	if diff := cmp.Diff([]string{"a", "b"}, s.Cleared); diff != "" || len(s.Updated) > 0 || len(s.Archived) > 0 || len(s.Next.Observations()) != 1 {
		t.Errorf("cleared %v, updated %v, archived %v", s.Cleared, s.Updated, s.Archived)
	}
	for _, r := range s.Rows {
		if r.Status != scratch.Archived || !r.Expires.Equal(start.Add(scratch.ArchivedRetention)) {
			t.Errorf("cleared row is %+v", r)
		}
	}
}

func TestFullPage(t *testing.T) {
	var ch scratch.Changes
	for i := range scratch.MaxLive + 1 {
		ch.Put = append(ch.Put, note(fmt.Sprintf("o%03d", i)))
	}
	s := (&scratch.Page{}).Stage(ch, start, nil)
	if len(s.Refused) != 1 || s.Refused[0].ID != "o100" || len(s.Rows) != 100 ||
		s.Refused[0].Reason != "the page is full: 100 observations are live; archive some, or clear those that are resolved" {
		t.Fatalf("%d rows, refused %+v", len(s.Rows), s.Refused)
	}
	// A full page takes changes of what is there, and what comes archived.
	full := staged(t, s.Next, puts(scratch.Change{ID: "o000", Source: ptr("x")}, scratch.Change{ID: "z", Type: ptr("t"), Content: ptr("c"), Status: ptr(scratch.Archived)}), start).Next
	// Expiry makes room.
	if s := full.Stage(puts(note("new")), start.Add(scratch.LiveRetention), nil); len(s.Refused) > 0 || len(s.Next.Observations()) != 1 {
		t.Errorf("refused %v, live %d", s.Refused, len(s.Next.Observations()))
	}
}

func TestInsights(t *testing.T) {
	var page = &scratch.Page{}
	for i := range 5 {
		page = staged(t, page, puts(insight(fmt.Sprintf("z%d", 9-i), "f")), start.Add(time.Duration(i)*time.Second)).Next
	}
	page = staged(t, page, puts(insight("other", "g"), note("n")), start).Next
	s := staged(t, page, puts(insight("sixth", "f")), start.Add(time.Minute))
	if diff := cmp.Diff([]string{"z9"}, s.Archived); diff != "" || len(s.Rows) != 2 {
		t.Errorf("archived %v, %d rows", s.Archived, len(s.Rows))
	}
	var ids []string
	for _, o := range scratch.Insights(s.Next, "f") {
		if o.Flow() != "f" {
			t.Errorf("%+v", o)
		}
		ids = append(ids, o.ID)
	}
	if diff := cmp.Diff([]string{"z8", "z7", "z6", "z5", "sixth"}, ids); diff != "" {
		t.Error(diff)
	}
	if all := scratch.Insights(s.Next, ""); len(all) != 6 {
		t.Errorf("%d insights", len(all))
	}
	// What is no insight takes the place of none.
	about := note("about")
	about.ContextRefs = &[]string{scratch.FlowRef("f")}
	if s := staged(t, s.Next, puts(about), start.Add(time.Hour)); len(s.Archived) > 0 {
		t.Errorf("a note archived %v", s.Archived)
	}
	// One that changes stays, one that comes from another flow pushes the oldest out.
	s = staged(t, s.Next, puts(scratch.Change{ID: "sixth", Content: ptr("more")}), start.Add(time.Hour))
	if len(s.Archived) > 0 {
		t.Errorf("a change archived %v", s.Archived)
	}
	s = staged(t, s.Next, puts(scratch.Change{ID: "other", ContextRefs: &[]string{scratch.FlowRef("f")}}), start.Add(time.Hour))
	if diff := cmp.Diff([]string{"z8"}, s.Archived); diff != "" {
		t.Error(diff)
	}
}

func TestFullScratchpad(t *testing.T) {
	var ch scratch.Changes
	for i := range scratch.MaxInsights {
		ch.Put = append(ch.Put, insight(fmt.Sprintf("i%03d", i), fmt.Sprint("f", i/scratch.MaxFlowInsights)))
	}
	page := staged(t, &scratch.Page{}, ch, start).Next
	s := page.Stage(puts(insight("more", "new flow"), note("n"), insight("again", "f0")), start, nil)
	if len(s.Refused) != 1 || s.Refused[0].Reason != "the scratchpad is full: 64 insights are live; archive those of flows that are done" {
		t.Errorf("refused %+v", s.Refused)
	}
	if diff := cmp.Diff([]string{"i000"}, s.Archived); diff != "" {
		t.Error(diff)
	}
}
