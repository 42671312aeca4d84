package turn_test

import (
	"math"
	"testing"

	"github.com/turnstone-dev/turnstone/turn"
)

func TestAKeyNamesATenantAndASession(t *testing.T) {
	k, err := turn.NewKey("", "A-z_0.9:")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "key", k, turn.Key{Tenant: "default", Session: "A-z_0.9:"})
	if k, err = turn.NewKey("acme", long(128)); err != nil {
		t.Fatal(err)
	}
	same(t, "key", k, turn.Key{Tenant: "acme", Session: long(128)})
	for _, c := range []struct{ tenant, session, field string }{
		{"acme", "", "session"}, {"acme", long(129), "session"}, {"acme", "a b", "session"}, {"acme", "é", "session"}, {"acme", "a/b", "session"},
		{long(129), "s", "tenant"}, {"a b", "s", "tenant"}, {"a\x00", "s", "tenant"},
	} {
		k, err := turn.NewKey(c.tenant, c.session)
		refused(t, c.tenant+"/"+c.session, err, c.field, "")
		same(t, "key", k, turn.Key{})
	}
}

func TestDescriptiveFieldsAreBoundedText(t *testing.T) {
	fine := turn.SessionInfo{User: long(256), Title: "é\n", Model: "", Mode: "x"}
	if err := fine.CheckInfo(); err != nil {
		t.Error(err)
	}
	for field, s := range map[string]turn.SessionInfo{
		"user": {User: long(257)}, "title": {Title: "\xff"}, "model": {Model: "\x00"}, "mode": {Mode: long(257)},
	} {
		refused(t, field, s.CheckInfo(), field, "")
	}
}

func TestSpansAreThePathToATurn(t *testing.T) {
	own := turn.SessionInfo{Segment: 7, Head: 5}
	fork := turn.SessionInfo{
		Segment: 9, Head: 8, ForkSeq: 5,
		Inherited: []turn.Span{{Segment: 7, From: 1, To: 3}, {Segment: 8, From: 4, To: 5}},
	}
	fresh := fork
	fresh.Head = 5
	root, middle := fork.Inherited[0], fork.Inherited[1]
	early, later := root, middle // what hangs on a fork point is in the fork's segment
	early.To, later.To = root.To-1, middle.To-1
	span := func(segment, from, to int64) turn.Span { return turn.Span{Segment: segment, From: from, To: to} }
	for _, c := range []struct {
		rule    string
		session turn.SessionInfo
		upTo    int64
		spans   []turn.Span // of turns
		lineage []turn.Span // of what hangs on the segments
	}{
		{"all", own, math.MaxInt64, []turn.Span{span(7, 1, 5)}, []turn.Span{span(7, 1, 5)}},
		{"some", own, 3, []turn.Span{span(7, 1, 3)}, []turn.Span{span(7, 1, 3)}},
		{"none", own, 0, nil, []turn.Span{span(7, 1, 0)}},
		{"before all", own, -1, nil, nil},
		{"all of a fork", fork, 99, []turn.Span{root, middle, span(9, 6, 8)}, []turn.Span{early, later, span(9, 6, 8)}},
		{"some of a fork's own", fork, 7, []turn.Span{root, middle, span(9, 6, 7)}, []turn.Span{early, later, span(9, 6, 7)}},
		{"a fork at its fork point", fork, 5, []turn.Span{root, middle}, []turn.Span{early, later, span(9, 6, 5)}},
		{"a fork inside what it inherited", fork, 4, []turn.Span{root, span(8, 4, 4)}, []turn.Span{early, span(8, 4, 4)}},
		{"a fork at its parent's fork point", fork, 3, []turn.Span{root}, []turn.Span{early, span(8, 4, 3)}},
		{"a fork inside its root", fork, 2, []turn.Span{span(7, 1, 2)}, []turn.Span{span(7, 1, 2)}},
		{"a fork before all", fork, 0, nil, []turn.Span{span(7, 1, 0)}},
		{"a fork without turns of its own", fresh, 99, []turn.Span{root, middle}, []turn.Span{early, later, span(9, 6, 5)}},
	} {
		spans, lineage := c.session.Spans(c.upTo), c.session.Lineage(c.upTo)
		if len(spans)+len(c.spans) > 0 {
			same(t, "spans of "+c.rule, spans, c.spans)
		}
		if len(lineage)+len(c.lineage) > 0 {
			same(t, "lineage of "+c.rule, lineage, c.lineage)
		}
	}
	same(t, "inherited", fork.Inherited, []turn.Span{span(7, 1, 3), span(8, 4, 5)})
}
