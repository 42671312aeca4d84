package commit

import (
	"slices"
	"testing"

	"github.com/turnstone-dev/turnstone/memory"
)

// Of what was added only that is known to go first which goes before the last that was found: behind it there may be others.
func TestWhatGoesFirst(t *testing.T) {
	found := []ranked{{1, "a"}, {3, "b"}, {5, "c"}}
	added := &addition{items: []ranked{{9, "z"}, {3, "a"}}, before: &addition{items: []ranked{{2, "x"}, {3, "b"}}}}
	for _, test := range []struct {
		name string
		room room
		n    int
		ids  string
		left int
		ok   bool
	}{
		{"of those found", room{least: found}, 2, "ab", 1, true},
		{"as many as were found", room{least: found}, 3, "abc", 0, true},
		{"more than were found", room{least: found}, 4, "", 0, false},
		{"more than there are", room{least: found, all: true}, 4, "abc", 0, true},
		{"with some added", room{least: found, added: added}, 3, "axa", 2, true},
		{"with all that are known to go first", room{least: found, added: added}, 5, "axabc", 0, true},
		{"with one that others may go before", room{least: found, added: added}, 6, "", 0, false},
		{"with all that there are", room{least: found, added: added, all: true}, 9, "axabcz", 0, true},
		{"none was found", room{added: added}, 1, "", 0, false},
		{"there were none", room{added: added, all: true}, 2, "xa", 2, true},
	} {
		ids, rest, ok := test.room.take(test.n)
		got := ""
		for _, id := range ids {
			got += id
		}
		if got != test.ids || ok != test.ok || len(rest.least) != test.left || ok && rest.all != test.room.all || rest.added != nil {
			t.Errorf("%s: %q, %v, %t", test.name, got, rest, ok)
		}
	}
	if !slices.Equal(found, []ranked{{1, "a"}, {3, "b"}, {5, "c"}}) {
		t.Errorf("what standings share was changed: %v", found)
	}
}

// Before the first look nothing is noted, and what is never archived not at all.
func TestWhatIsNotedOfWhatIsAdded(t *testing.T) {
	rows := []memory.Row{{ID: "f", Type: memory.UserData, Importance: 1}, {ID: "e", Type: memory.Event, Importance: 2}}
	if got := (room{}).with(rows, memory.DefaultPolicies); got.added != nil {
		t.Errorf("before a look: %v", got.added)
	}
	for _, looked := range []room{{all: true}, {least: []ranked{{1, "a"}}}} {
		got := looked.with(rows, memory.DefaultPolicies)
		if got.added == nil || !slices.Equal(got.added.items, []ranked{{2, "e"}}) || got.all != looked.all || len(got.least) != len(looked.least) {
			t.Errorf("after a look: %+v", got)
		}
		if again := got.with(rows[:1], memory.DefaultPolicies); again.added != got.added {
			t.Errorf("of nothing: %+v", again.added)
		}
	}
}
